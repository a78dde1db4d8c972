package model

import (
	"cmp"
	"slices"

	"github.com/docmodel/docmodel/internal/bsondoc"
	"github.com/docmodel/docmodel/internal/core"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// A Scope applies a tenant, soft deletion and fixed fields to all reads and writes. Use
// the database that [Scope.On] returns:
//
//	db := model.Scope{
//		Tenant: bson.D{{Key: "tenant", Value: tenant}},
//		Set:    bson.D{{Key: "updatedAt", Value: now}},
//		Delete: bson.D{{Key: "deletedAt", Value: now}},
//	}.On(database)
//
// Documents outside the scope count as missing ([ErrNotFound]).
//
// A write with another value for a field of Tenant, Insert or Set returns a
// [*ConflictError]. There is no error in three cases:
//
//   - In inserts and replacements, the scope's Set values win.
//   - If an Insert field isn't in Tenant or Filter, replacements can change it.
//   - In updates by a pipeline, the scope's Tenant and Set values win. The pipeline can
//     change Insert fields.
//
// # Collations
//
// If a value of Tenant is a string, no collation joins two tenants. If the caller gives a
// command a collation, the command also matches the tenant by a pattern, because patterns
// ignore collations. A collection whose default collation isn't the simple one gives a
// [*ConflictError] before anything is read or written. Create such a collection with the
// simple collation, or give the tenants ids that aren't strings.
//
// Cost: before the first command in a collection, one listCollections command at the
// primary. The Cost of a value doesn't count this command, but [Operation].Actual does. The
// answer is kept for the *mongo.Client. If you drop a collection and create it with another
// default collation, make a new client. The library asks again for a collection that
// doesn't exist yet. The database user needs the action listCollections, which the role
// readWrite contains.
type Scope struct {
	// Tenant is a condition for every filter and pipeline. New documents get Tenant's
	// fields. Use random _ids, because a failed insert reveals another tenant's _id. The
	// _ids that techniques make of keys carry the tenant: see [Write].Keyed and
	// [MoveKeys]. The documents of a keys.Sequence, keys.Composite or keys.DocumentKey
	// need a database of [Model.On].
	//
	// A value is a non-empty string, an ObjectID, an integer or a UUID. Each other value
	// gives a [*ValueError]. Integers of all types, and whole floats, are stored as int64.
	Tenant bson.D

	Filter bson.D // conditions for every filter and pipeline
	Insert bson.D // fields for new documents and replacements

	// Set lists fields that every write sets. The values are fixed: for a time, make a
	// new Scope per request. Don't copy these fields to other documents: the copy would
	// have the value before the write.
	Set bson.D

	// Delete lists fields that mark a document as deleted. A delete only sets the fields,
	// except with [Write.Final]. If any listed field isn't null, the document is hidden.
	// A hidden document's _id stays taken.
	Delete bson.D

	Collections []string // the collections that the scope applies to; nil means all
}

// On returns a database that applies the scope to all commands. If db has a scope, both
// scopes apply. Each tenant gets its own [Lease] documents, checkpoints and migration
// states.
//
// If the scope is invalid, each run returns an error. A [*ConflictError] comes from
//
//   - $where, $function and $accumulator
//   - a filter that gives a Tenant field another condition
//   - $geoNear or a [Stream] on a collection that the scope filters
//   - rare pipeline stages, such as $search and $currentOp
//   - $merge or $out in an [Aggregate]
//   - a [MergeInto] into documents outside the scope
//   - a string tenant in a collection with a default collation: see [Scope]
//   - a tenant in a collection of a keys.Sequence, keys.Composite or keys.DocumentKey, if
//     the database isn't from [Model.On] of a model that declares the collection
func (s Scope) On(db DB) DB {
	own, err := s.compiled()
	return own.on(db, err)
}

// on returns the database under one more scope, or a database that refuses everything.
func (s *scope) on(db DB, err error) DB {
	h := handleOf(db)
	if h.Err != nil {
		return h
	}
	outer := scopesOf(db)
	for _, o := range outer {
		if err == nil {
			err = s.inside(o)
		}
	}
	if err != nil {
		h.Err = err
		return h
	}
	s.tests, h.Tests = h.Tests, false
	all := underModels(append(slices.Clip(outer), s))
	h.rewrites, h.Scoped = scopes(all), true
	if !s.tests {
		h.Tenant = tenantText(all)
	}
	if h.TextTenant == "" && !s.tests {
		h.TextTenant = s.text
	}
	return h
}

// Plan applies the scope to p's steps and returns the new plan. In a [Stream] with events
// of several tenants, apply each tenant's scope to the plans for its events. If a model's
// database says that _ids carry the tenant, they do so when the plan runs there. A
// [MergeInto] gets the tenant only in the collections of MergeInto.Keyed, and can't use
// the documents of a keys.Sequence, keys.Composite or keys.DocumentKey without it.
func (s Scope) Plan(p Plan) Plan {
	own, err := s.compiled()
	if err != nil {
		return NewPlan(Refused("", err))
	}
	own.alone = true
	return own.plan(p)
}

// A scope is a checked copy of a Scope. Later changes to the caller's values don't affect
// it.
type scope struct {
	tenant   bson.D   // identifies the tenant's documents, in the canonical form
	text     string   // a field of the tenant whose value is a string, which a collation could fold, or ""
	reaching bson.D   // the conditions on documents, deleted ones included
	filter   bson.D   // the conditions on documents that aren't deleted
	insert   bson.D   // the fields of new documents, the tenant's first, without those of set
	set      bson.D   // the fields of every write
	gives    bson.D   // the caller's Insert
	mark     bson.D   // the fields that mark a document as deleted, or nil
	only     []string // the collections that it applies to, or nil for all
	tests    bool     // tests set it everywhere: see [core.Everywhere]
	keyIn    []string // the keyed collections of the command that the scope is applied to
	used     *[]use   // collects where the command compares the tenant: see [use]

	model string          // the name of the only reachable model, or ""
	known map[string]bool // the model's collections

	modeled bool            // a model is among the scopes of the database
	keyed   map[string]bool // the collections that a model of the database declares: true if they are keyed
	alone   bool            // of [Scope.Plan]: the database and its model aren't known

	sharded  map[string]ShardKey      // the model's shard keys, by collection
	reacting map[string]*reactingDocs // the model's collections in which techniques have reactions
}

// compiled checks and copies a scope's fields.
func (s Scope) compiled() (*scope, error) {
	for _, part := range []struct {
		name   string
		fields *bson.D
	}{{"Tenant", &s.Tenant}, {"Filter", &s.Filter}, {"Insert", &s.Insert}, {"Set", &s.Set}, {"Delete", &s.Delete}} {
		own, err := (*core.Codec)(nil).CopyD(*part.fields)
		if err != nil {
			return nil, &ValueError{Field: "Scope." + part.name, Value: shell(*part.fields), Reason: err.Error()}
		}
		if *part.fields = own; part.name == "Filter" {
			continue
		}
		if err := checkScopeFields(part.name, own); err != nil {
			return nil, err
		}
	}
	if err := cmp.Or(s.checkTenant(), s.checkCollections()); err != nil {
		return nil, err
	}
	for _, e := range s.Delete {
		if bsondoc.HasKey(s.Insert, e.Key) || bsondoc.HasKey(s.Set, e.Key) {
			return nil, &ValueError{
				Field: "Scope.Delete." + e.Key, Value: e.Value,
				Reason: "is also set by Delete, and would hide new documents: name it in Delete only",
			}
		}
	}
	out := &scope{tenant: s.Tenant, set: s.Set, gives: s.Insert, only: slices.Clone(s.Collections)}
	if exact := exactTenant(s.Tenant); len(exact) > 0 {
		out.text = exact[0].Key
	}
	out.insert = slices.DeleteFunc(slices.Concat(s.Tenant, s.Insert), func(e bson.E) bool {
		return bsondoc.HasKey(s.Set, e.Key)
	})
	out.reaching = bsondoc.JoinFilters(s.Tenant, s.Filter)
	out.filter = out.reaching
	for _, e := range s.Delete {
		out.filter = bsondoc.JoinFilters(out.filter, bson.D{{Key: e.Key, Value: nil}})
	}
	if len(s.Delete) > 0 {
		out.mark = s.Delete
	}
	return out, nil
}

// checkScopeFields refuses fields that can't be added to every document.
func checkScopeFields(part string, fields bson.D) error {
	for i, e := range fields {
		reason := ""
		if err := core.CheckKey(e.Key); err != nil {
			reason = "must be a top-level field"
		} else if e.Key == "_id" {
			reason = "differs in each document: name another field"
		} else if bsondoc.HasKey(fields[:i], e.Key) {
			reason = "is given twice: give each field once"
		} else if part == "Delete" && marksNothing(e.Value) {
			reason = "is or contains null, which doesn't mark a document as deleted: give another value"
		}
		if reason != "" {
			return &ValueError{Field: "Scope." + part + "." + e.Key, Value: e.Value, Reason: reason}
		}
	}
	return nil
}

// marksNothing reports whether the condition {field: null} matches a field with this
// value.
func marksNothing(v any) bool {
	raw, err := bsondoc.Encode(v)
	if err != nil {
		return false
	}
	return raw.Type == bson.TypeNull || raw.Type == bson.TypeUndefined ||
		slices.ContainsFunc(core.Elements(raw), func(e bson.RawValue) bool {
			return e.Type == bson.TypeNull || e.Type == bson.TypeUndefined
		})
}

// knows refuses a collection that isn't in the model.
func (s *scope) knows(collection string) error {
	if s.model == "" || s.known[collection] {
		return nil
	}
	return &ConflictError{
		Collection: collection,
		Reason: "isn't a collection of the model " + s.model +
			": give New the technique that uses it, or model.Entity of it",
	}
}

func (s *scope) holds(collection string) bool {
	return s.only == nil || slices.Contains(s.only, collection)
}
