package model

import (
	"cmp"
	"slices"
	"strings"

	"github.com/docmodel/docmodel/internal/bsondoc"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/keyed"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Under a scope with a Tenant, the _ids of a keyed collection carry the tenant: see
// [core.KeyID]. Scopes change the _ids in filters, inserts, updates and pipelines. Results
// have the _ids without the tenant. A collection is keyed if the command says so, or the
// model of the handle.

// keys reports whether the scope puts its tenant into the _ids of a command's collection.
// keyed says that the command asks for it.
func (s *scope) keys(collection string, keyed bool) bool {
	if len(s.tenant) == 0 || !s.holds(collection) {
		return false
	}
	return keyed || s.keyed[collection] || s.tests && core.IsKeyedName(collection)
}

// underModels returns the scopes of one database with what their models know of keyed
// collections.
func underModels(scopes []*scope) []*scope {
	keyed, modeled := map[string]bool{}, false
	for _, s := range scopes {
		modeled = modeled || s.model != ""
		if s.model != "" {
			for name, is := range s.keyed {
				keyed[name] = keyed[name] || is
			}
		}
	}
	if !modeled {
		return scopes
	}
	out := make([]*scope, len(scopes))
	for i, s := range scopes {
		own := *s
		own.keyed, own.modeled, out[i] = keyed, true, &own
	}
	return out
}

// admits refuses a tenant's command on a collection whose model isn't known, if only the
// model tells that the _ids carry the tenant. keyed says that the command does too.
func (s *scope) admits(collection string, keyed bool) error {
	if len(s.tenant) == 0 || !s.holds(collection) || s.tests || s.alone && keyed || !core.NeedsModel(collection) {
		return nil
	}
	if !s.modeled {
		return needsModel(collection)
	}
	if is, declared := s.keyed[collection]; !declared || keyed && !is {
		return &ConflictError{Collection: collection, Reason: carryTenant +
			"give the database's model the technique that makes the _ids, with the same Collection value"}
	}
	return nil
}

// reaches is knows and admits for a collection of a pipeline.
func (s *scope) reaches(collection string) error {
	return cmp.Or(s.knows(collection), s.admits(collection, slices.Contains(s.keyIn, collection)))
}

// keyTenant returns the tenant in the _ids of a keyed collection, or nil.
func keyTenant(db DB, collection string) (fields bson.D) {
	for _, s := range scopesOf(db) {
		if s.keys(collection, true) {
			fields = core.JoinTenants(fields, s.tenant)
		}
	}
	return fields
}

// withKeyed returns the scope for a command that uses keyed collections.
func (s *scope) withKeyed(keyed []string) *scope {
	out := *s
	out.keyIn = keyed
	return &out
}

// isKeyed reports whether the command's _ids in a collection carry the scope's tenant.
func (s *scope) isKeyed(collection string) bool {
	return s.keys(collection, slices.Contains(s.keyIn, collection))
}

// keying puts the tenant into the _ids of a write.
func (s *scope) keying(w Write) (Write, error) {
	if w.stored {
		return w, nil
	}
	under := w.scoping()
	carries := w.Keyed || s.keyed[w.Collection] // without a tenant of its own, the scope knows a model
	var tenant bson.D
	if s.keys(w.Collection, w.Keyed) {
		tenant = s.tenant
	}
	if carries {
		tenant, under.unkeyed = core.JoinTenants(under.unkeyed, tenant), nil
	}
	if len(tenant) == 0 {
		if s.alone && s.holds(w.Collection) && len(s.tenant) > 0 {
			under.unkeyed = core.JoinTenants(under.unkeyed, s.tenant)
			w.under = &under
		}
		return w, nil
	}
	k := keyed.Keyer{Tenant: tenant, Before: under.keys}
	out := w
	var err error
	if out.Model, err = k.Model(w.Collection, w.Model); err != nil {
		return w, err
	}
	out.Done = k.Filter(w.Done)
	out.Reasons = slices.Clone(w.Reasons)
	for i := range out.Reasons {
		out.Reasons[i].If = k.Filter(out.Reasons[i].If)
	}
	under.plain, under.covered = w.unscoped(), out.Model
	under.keys = core.JoinTenants(under.keys, tenant)
	out.under = &under
	return out, nil
}

// refuseUnkeyed refuses a write of [Scope.Plan] that the database's model doesn't admit.
func (l scopes) refuseUnkeyed(w Write) error {
	own := scope{tenant: w.under.unkeyed}
	for _, s := range l {
		own.modeled, own.keyed, own.tests = own.modeled || s.modeled, s.keyed, own.tests || s.tests
	}
	return own.admits(w.Collection, false)
}

// beforeKeys are the stages before which a pipeline's documents have their stored _ids.
var beforeKeys = map[string]bool{"$match": true, "$sort": true, "$limit": true, "$skip": true}

// keyedPipeline puts the tenant into the conditions on _id of a pipeline's first stages.
// After the first stages, documents have their _ids without the tenant.
func (s *scope) keyedPipeline(stages mongo.Pipeline) mongo.Pipeline {
	out, k := slices.Clone(stages), keyed.Keyer{Tenant: s.tenant}
	first := slices.IndexFunc(stages, func(stage bson.D) bool { return len(stage) != 1 || !beforeKeys[stage[0].Key] })
	switch {
	case first < 0:
		out, first = append(out, keyPathStage()), len(out)
	case isKeyPath(stages[first]):
		k.Before = s.tenant // an outer scope did it
	default:
		out = slices.Insert(out, first, keyPathStage())
	}
	for i, stage := range out[:first] {
		d, ok := bsondoc.Document(stage[0].Value)
		switch {
		case !ok:
		case stage[0].Key == "$match":
			out[i] = bson.D{{Key: "$match", Value: k.Filter(d)}}
		case stage[0].Key == "$sort":
			out[i] = bson.D{{Key: "$sort", Value: k.Paths(d)}}
		}
	}
	return out
}

func keyPathStage() bson.D {
	return bson.D{{Key: "$set", Value: bson.D{{Key: "_id", Value: core.KeyPath{}}}}}
}

func isKeyPath(stage bson.D) bool {
	if len(stage) != 1 {
		return false
	}
	set, ok := stage[0].Value.(bson.D)
	if !ok || len(set) != 1 {
		return false
	}
	_, ok = set[0].Value.(core.KeyPath)
	return ok
}

// isKeyedInner reports whether an outer scope put its tenant into a stage's inner pipeline.
func isKeyedInner(args bson.D) bool {
	stages, ok := bsondoc.Pipeline(bsondoc.Value(args, "pipeline"))
	return ok && slices.ContainsFunc(stages, isKeyPath)
}

// joinsKeyed returns the arguments of a stage that reads a keyed collection.
func (s *scope) joinsKeyed(stage bson.D, name string) (args bson.D, ok bool) {
	if len(s.tenant) == 0 || len(stage) != 1 || stage[0].Key != name {
		return nil, false
	}
	args, ok = bsondoc.Document(stage[0].Value)
	from, _ := bsondoc.String(bsondoc.Value(args, "from"))
	return args, ok && s.isKeyed(from)
}

// lookedUp returns a $lookup by the _ids of a keyed collection, with the stage before it
// that computes the _id from the local field. It takes that stage off the stages before.
func (s *scope) lookedUp(before mongo.Pipeline, args bson.D) (mongo.Pipeline, bson.D) {
	foreign, _ := bsondoc.String(bsondoc.Value(args, "foreignField"))
	local, ok := bsondoc.String(bsondoc.Value(args, "localField"))
	as, _ := bsondoc.String(bsondoc.Value(args, "as"))
	if rest, below := strings.CutPrefix(foreign, "_id."); below && !isKeyedInner(args) {
		return before, bsondoc.SetField(args, "foreignField", keyed.Below+rest)
	}
	if foreign != "_id" || !ok {
		return before, args
	}
	expr := core.NewKeyExpr("$"+local, s.tenant)
	if n := len(before); n > 0 {
		if set, ok := before[n-1][0].Value.(bson.D); ok && len(set) == 1 && set[0].Key == local {
			if e, ok := set[0].Value.(core.KeyExpr); ok {
				before, expr, as = before[:n-1], e.WithTenant(s.tenant), local
			}
		}
	}
	set := bson.D{{Key: "$set", Value: bson.D{{Key: as, Value: expr}}}}
	return append(slices.Clip(before), set), bsondoc.SetField(args, "localField", as)
}

// A storedPath is a path in a $graphLookup as it is stored.
type storedPath string

// graphed returns a $graphLookup in a keyed collection, and the stage after it that takes
// the tenant off the _ids of the documents. The search compares the _ids' parts without
// the tenant, which the index on _id doesn't serve.
func (s *scope) graphed(args bson.D) (bson.D, mongo.Pipeline) {
	for _, key := range []string{"connectFromField", "connectToField"} {
		if _, done := bsondoc.Value(args, key).(storedPath); done {
			return args, nil
		}
		if path, _ := bsondoc.String(bsondoc.Value(args, key)); path == "_id" || strings.HasPrefix(path, "_id.") {
			args = bsondoc.SetField(args, key, storedPath(keyed.Part+path[len("_id"):]))
		} else {
			args = bsondoc.SetField(args, key, storedPath(path))
		}
	}
	as, _ := bsondoc.String(bsondoc.Value(args, "as"))
	plain := bson.D{{
		Key:   "$mergeObjects",
		Value: bson.A{"$$this", bson.D{{Key: "_id", Value: core.KeyPath{Doc: "$$this."}}}},
	}}
	return args, mongo.Pipeline{{{Key: "$set", Value: bson.D{{
		Key: as, Value: bson.D{{Key: "$map", Value: bson.D{{Key: "input", Value: "$" + as}, {Key: "in", Value: plain}}}},
	}}}}}
}

// keyedTarget adds the stage that puts the tenant into the _ids which a $merge writes.
func (s *scope) keyedTarget(head mongo.Pipeline) mongo.Pipeline {
	if i := slices.IndexFunc(head, isKeyTarget); i >= 0 {
		e, _ := head[i][0].Value.(bson.D)[0].Value.(core.KeyExpr)
		out := slices.Clone(head)
		out[i] = bson.D{{Key: "$set", Value: bson.D{{Key: "_id", Value: e.WithTenant(s.tenant)}}}}
		return out
	}
	return append(head, bson.D{{Key: "$set", Value: bson.D{{Key: "_id", Value: core.NewKeyExpr("$_id", s.tenant)}}}})
}

// isKeyTarget reports whether a stage puts a tenant into the _ids which a $merge writes.
func isKeyTarget(stage bson.D) bool {
	if len(stage) != 1 {
		return false
	}
	set, ok := stage[0].Value.(bson.D)
	if !ok || len(set) != 1 || set[0].Key != "_id" {
		return false
	}
	_, ok = set[0].Value.(core.KeyExpr)
	return ok
}

// mergesKeyed takes the tenant off the _ids in the expressions of a $merge into a keyed
// collection.
func mergesKeyed(args bson.D) bson.D {
	out := slices.Clone(args)
	for i, e := range args {
		switch e.Key {
		case "let":
			out[i].Value = keyed.WithoutTenant(e.Value)
		case "whenMatched":
			if update, ok := bsondoc.Pipeline(e.Value); ok {
				out[i].Value = keyed.Update(update, "$$ROOT", "$$CURRENT", "$$new")
			}
		}
	}
	return out
}
