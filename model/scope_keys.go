package model

import (
	"reflect"
	"slices"
	"strings"

	"github.com/docmodel/docmodel/internal/core"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Under a scope with a Tenant, the _ids of a keyed collection carry the tenant: see
// [core.KeyID]. Scopes change the _ids in filters, inserts and pipelines. Results have
// the _ids without the tenant.

// keys reports whether the scope puts its tenant into the _ids of a keyed collection.
func (s *scope) keys(collection string) bool { return len(s.tenant) > 0 && s.holds(collection) }

// keyTenant returns the tenant in the _ids of a keyed collection, or nil.
func keyTenant(db DB, collection string) (fields bson.D) {
	for _, s := range scopesOf(db) {
		if s.keys(collection) {
			fields = core.NewKeyID(core.NewKeyID(nil, fields), s.tenant).Fields()
			fields = fields[:len(fields)-1]
		}
	}
	return fields
}

// withKeyed returns the scope for a command that uses keyed collections.
func (s *scope) withKeyed(keyed []string) *scope {
	if len(keyed) == 0 || len(s.tenant) == 0 {
		return s
	}
	out := *s
	out.keyIn = keyed
	return &out
}

// isKeyed reports whether the command's _ids in a collection carry the scope's tenant.
func (s *scope) isKeyed(collection string) bool {
	return slices.Contains(s.keyIn, collection) && s.keys(collection)
}

// isKeyedLookup reports whether a stage is a $lookup in a keyed collection.
func (s *scope) isKeyedLookup(stage bson.D) (args bson.D, ok bool) {
	if len(s.keyIn) == 0 || len(stage) != 1 || stage[0].Key != "$lookup" {
		return nil, false
	}
	args, ok = asDocument(stage[0].Value)
	from, _ := asString(valueOf(args, "from"))
	return args, ok && s.isKeyed(from)
}

// keyedFilter puts the tenant into a filter's conditions on _id.
func (s *scope) keyedFilter(filter bson.D) bson.D {
	out := slices.Clone(filter)
	for i, e := range filter {
		switch e.Key {
		case "_id":
			out[i] = s.keyedCondition(e.Value)
		case "$and", "$or", "$nor":
			if list, ok := asPipeline(e.Value); ok {
				parts := make(bson.A, len(list))
				for j, part := range list {
					parts[j] = s.keyedFilter(part)
				}
				out[i].Value = parts
			}
		case "$expr":
			out[i].Value = withoutTenant(e.Value)
		default:
			if rest, ok := strings.CutPrefix(e.Key, "_id."); ok && !strings.HasPrefix(rest, core.KeyOf+".") {
				out[i].Key = "_id." + core.KeyOf + "." + rest
			}
		}
	}
	return out
}

// keyedCondition puts the tenant into the condition on _id. A pattern is compared with
// the _id's part without the tenant.
func (s *scope) keyedCondition(v any) bson.E {
	if isEquality(v) {
		if d, ok := asOperators(v); ok {
			return bson.E{Key: "_id", Value: bson.D{{Key: "$eq", Value: s.keyID(d[0].Value)}}}
		}
		return bson.E{Key: "_id", Value: s.keyID(v)}
	}
	d, ok := asOperators(v)
	if !ok {
		return bson.E{Key: "_id." + core.KeyOf, Value: v} // a regular expression
	}
	out := slices.Clone(d)
	var first, last *any
	for i, e := range d {
		switch e.Key {
		case "$eq", "$ne":
			out[i].Value = s.keyID(e.Value)
		case "$gt", "$gte":
			out[i].Value = s.keyID(e.Value)
			first = &out[i].Value
		case "$lt", "$lte":
			out[i].Value = s.keyID(e.Value)
			last = &out[i].Value
		case "$in", "$nin":
			out[i].Value = s.keyIDs(e.Value)
		case "$exists":
		default:
			return bson.E{Key: "_id." + core.KeyOf, Value: v}
		}
	}
	switch {
	case first != nil && last == nil:
		out = append(out, bson.E{Key: "$lte", Value: (*first).(core.KeyID).WithKey(bson.MaxKey{})})
	case last != nil && first == nil:
		out = append(out, bson.E{Key: "$gte", Value: (*last).(core.KeyID).WithKey(bson.MinKey{})})
	}
	return bson.E{Key: "_id", Value: out}
}

// asOperators returns a condition of operators as a document.
func asOperators(v any) (bson.D, bool) {
	switch v.(type) {
	case core.KeyID:
		return nil, false
	case bson.D, bson.Raw, bson.RawValue, bson.M:
		d, ok := asDocument(v)
		return d, ok && len(d) > 0 && strings.HasPrefix(d[0].Key, "$")
	}
	return nil, false
}

func (s *scope) keyID(v any) any { return core.NewKeyID(v, s.tenant) }

// keyIDs is keyID for each value of a list.
func (s *scope) keyIDs(list any) any {
	var out bson.A
	switch list := list.(type) {
	case bson.RawValue:
		arr, _ := list.ArrayOK()
		values, _ := arr.Values()
		for _, v := range values {
			out = append(out, s.keyID(v))
		}
		return out
	default:
		v := reflect.ValueOf(list)
		if v.Kind() != reflect.Slice && v.Kind() != reflect.Array {
			return list // the server refuses it
		}
		out = make(bson.A, v.Len())
		for i := range out {
			out[i] = s.keyID(v.Index(i).Interface())
		}
		return out
	}
}

// withoutTenant replaces the _id in an expression by the _id without the tenant.
func withoutTenant(v any) any {
	switch v := v.(type) {
	case string:
		switch v {
		case "$_id":
			return core.KeyPath{}
		case "$$ROOT":
			return bson.D{{Key: "$mergeObjects", Value: bson.A{"$$ROOT", bson.D{{Key: "_id", Value: core.KeyPath{}}}}}}
		}
	case bson.D:
		out := slices.Clone(v)
		for i, e := range v {
			if e.Key != "$literal" {
				out[i].Value = withoutTenant(e.Value)
			}
		}
		return out
	case bson.A:
		out := slices.Clone(v)
		for i, e := range v {
			out[i] = withoutTenant(e)
		}
		return out
	}
	return v
}

// keyed puts the tenant into the _id of an inserted document.
func (s *scope) keyed(w Write, doc any) (any, error) {
	raw, ok := doc.(bson.Raw)
	if !w.Keyed || !s.keys(w.Collection) || !ok {
		return doc, nil
	}
	id := raw.Lookup("_id")
	if id.Type == 0 {
		return doc, nil
	}
	under := w.scoping()
	if own, ok := core.SplitKeyID(id, under.keys); ok {
		id = own
	}
	return core.WithKeyID(raw, core.NewKeyID(core.NewKeyID(id, under.keys), s.tenant))
}

// keysWith returns the tenant in the _ids of a write's collection.
func (s *scope) keysWith(w Write, tenant bson.D) bson.D {
	if !w.Keyed || !s.keys(w.Collection) {
		return tenant
	}
	fields := core.NewKeyID(core.NewKeyID(nil, tenant), s.tenant).Fields()
	return fields[:len(fields)-1]
}

// beforeKeys are the stages before which a pipeline's documents have their stored _ids.
var beforeKeys = map[string]bool{"$match": true, "$sort": true, "$limit": true, "$skip": true}

// keyedPipeline puts the tenant into the conditions on _id of a pipeline's first stages.
// After the first stages, documents have their _ids without the tenant.
func (s *scope) keyedPipeline(stages mongo.Pipeline) mongo.Pipeline {
	out := slices.Clone(stages)
	for i, stage := range stages {
		if len(stage) != 1 || !beforeKeys[stage[0].Key] {
			if isKeyPath(stage) {
				return out
			}
			return slices.Insert(out, i, keyPathStage())
		}
		if filter, ok := asDocument(stage[0].Value); ok && stage[0].Key == "$match" {
			out[i] = bson.D{{Key: "$match", Value: s.keyedFilter(filter)}}
		}
	}
	return append(out, keyPathStage())
}

func keyPathStage() bson.D {
	return bson.D{{Key: "$set", Value: bson.D{{Key: "_id", Value: core.KeyPath{}}}}}
}

func isKeyPath(stage bson.D) bool {
	set, ok := stage[0].Value.(bson.D)
	if !ok || len(set) != 1 {
		return false
	}
	_, ok = set[0].Value.(core.KeyPath)
	return ok
}

// lookedUp returns a $lookup by the _ids of a keyed collection, with the stage before it
// that computes the _id from the local field. It takes that stage off the stages before.
func (s *scope) lookedUp(before mongo.Pipeline, args bson.D) (mongo.Pipeline, bson.D) {
	foreign, _ := asString(valueOf(args, "foreignField"))
	local, ok := asString(valueOf(args, "localField"))
	as, _ := asString(valueOf(args, "as"))
	if foreign != "_id" || !ok {
		return before, args
	}
	expr := core.NewKeyExpr("$"+local, s.tenant)
	if n := len(before); n > 0 {
		if set, ok := before[n-1][0].Value.(bson.D); ok && len(set) == 1 && set[0].Key == local {
			if e, ok := set[0].Value.(core.KeyExpr); ok {
				before, expr, as = before[:n-1], e.With(s.tenant), local
			}
		}
	}
	out := slices.Clone(args)
	for i := range out {
		if out[i].Key == "localField" {
			out[i].Value = as
		}
	}
	return append(slices.Clip(before), bson.D{{Key: "$set", Value: bson.D{{Key: as, Value: expr}}}}), out
}

// keyedTarget adds the stage that puts the tenant into the _ids which a $merge writes.
func (s *scope) keyedTarget(head mongo.Pipeline) mongo.Pipeline {
	for i, stage := range head {
		set, ok := stage[0].Value.(bson.D)
		if !ok || len(set) != 1 || set[0].Key != "_id" {
			continue
		}
		if e, ok := set[0].Value.(core.KeyExpr); ok {
			out := slices.Clone(head)
			out[i] = bson.D{{Key: "$set", Value: bson.D{{Key: "_id", Value: e.With(s.tenant)}}}}
			return out
		}
	}
	return append(head, bson.D{{Key: "$set", Value: bson.D{{Key: "_id", Value: core.NewKeyExpr("$_id", s.tenant)}}}})
}

// keyedID returns the filter for an _id without the tenant.
func (u scoped) keyedID(id any) bson.D {
	if len(u.keys) == 0 {
		return bson.D{{Key: "_id", Value: id}}
	}
	return bson.D{(&scope{tenant: u.keys}).keyedCondition(id)}
}
