package model

import (
	"cmp"
	"slices"

	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/runctx"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A DB is what things run on: a *mongo.Database, or what [Scope.On] and [Observer.On] make of one. Anything else is refused.
type DB interface {
	Name() string
	Client() *mongo.Client
}

// A Scope is what holds for everything that an application reads and writes: a tenant, soft deletion, stamps. State it once, where a
// request begins, and hand on what [Scope.On] returns in the place of the database:
//
//	db := model.Scope{
//		Tenant: bson.D{{Key: "tenant", Value: tenant}},
//		Set:    bson.D{{Key: "updatedAt", Value: now}},
//		Delete: bson.D{{Key: "deletedAt", Value: now}},
//	}.On(database)
//
// A document that is out of scope doesn't exist: reads don't find it, [ErrNotFound] says nothing more of it, and no write reaches it.
// Values are given, not computed: a scope is as pure as what it is applied to. Fields are top-level ones. The zero Scope adds nothing.
//
// A write that itself gives one of these fields another value is refused with a [*ConflictError], but for an update by a pipeline,
// which is given them by a last stage, and for a replacement, which keeps what it has of an Insert field (createdAt).
type Scope struct {
	// Tenant says whose the documents are. It is ANDed to every filter, in a pipeline to those of all collections that it reads, and
	// given to every new document. An empty value (nil, "", the zero ObjectID) is refused. They lead the keys of
	// the indexes: see [Scope.Indexes]. But an _id is unique among all tenants' documents, and an insert of another tenant's tells that it
	// is taken: make it random, or of the tenant.
	Tenant bson.D

	Filter bson.D // further conditions, ANDed like the tenant's
	Insert bson.D // further fields of every document that is inserted or replaced
	Set    bson.D // fields that every update, replacement and insert sets

	// Delete turns deletes into updates that set these fields, but for those that are [Write.Final], and hides the documents in which
	// one of them has a value other than null. Nil deletes. A document that is marked keeps its _id, which can't be inserted again,
	// but no key of a unique index that [Scope.Indexes] makes.
	Delete bson.D

	Collections []string // the collections it holds for; nil means all
}

// On returns the database under the scope. Each query, pipeline, write and plan that runs on it is under the scope, and so are the
// reads and plans of each [Change], [Job], tree, join and check. A database can be under several scopes; all of them hold. A document that is
// deleted gets the marks of each of them, and is hidden under each. None may name a field of another's Tenant in Insert, Set or Delete.
//
// A scope with a bad field refuses each run on the database, with a [*ValueError] or a [*ConflictError]. Under a good one, these are
// refused with a [*ConflictError] before anything is sent:
//   - $where, $function and $accumulator,
//   - a filter that names a field of Tenant with another value,
//   - a pipeline that begins with $documents, or with another stage that must be first,
//   - a stage that isn't known to stay within the collections it names,
//   - an $out, and the cases that the comments of [MergeInto] and [Stream.Run] list.
//
// A lock document ([Lease]), a checkpoint ([JobOptions]) and the state of a migration belong to the tenant. Two tenants don't share
// them. They hold no user's data, and have no other field of the scope.
func (s Scope) On(db DB) DB {
	own, err := s.compiled()
	return own.on(db, err)
}

// on is the database under one scope more, or on which everything is refused.
func (s *scope) on(db DB, err error) DB {
	h := core.HandleOf(db)
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
	all := append(slices.Clip(outer), s)
	h.Scopes, h.Tenant = all, tenantText(all)
	return h
}

// tenantText is one text for one tenant, however often and in whichever order its scopes are put on.
func tenantText(scopes []*scope) string {
	var fields bson.D
	for _, s := range scopes {
		for _, e := range s.tenant {
			if !hasKey(fields, e.Key) {
				fields = append(fields, e)
			}
		}
	}
	if len(fields) == 0 {
		return ""
	}
	slices.SortFunc(fields, func(a, b bson.E) int { return cmp.Compare(a.Key, b.Key) })
	return shell(fields)
}

// Plan returns the plan as it is sent under the scope, for a [Stream], whose events are of several tenants' documents. Everything else
// is run on what [Scope.On] returns.
func (s Scope) Plan(p Plan) Plan {
	own, err := s.compiled()
	if err != nil {
		return NewPlan(Refused("", err))
	}
	return own.plan(p)
}

// A scope is a Scope ready to be applied, with values of its own, so that nothing that runs under it changes with the caller's.
type scope struct {
	tenant   bson.D   // whose the documents are
	reaching bson.D   // the conditions on documents, those that are marked as deleted among them
	filter   bson.D   // the conditions on those that are not
	insert   bson.D   // the fields of new documents, the tenant's first, less those that set gives
	set      bson.D   // the fields of every write
	gives    bson.D   // Insert as it was given
	mark     bson.D   // the fields that mark a document as deleted; nil deletes
	only     []string // the collections it holds for; nil means all
	tests    bool     // it is that of [everywhere]

	model string          // the name of the model whose collections alone are reached; "" for none
	known map[string]bool // its collections

	sharded map[string]ShardKey // those of them that are sharded
}

// compiled checks a scope's fields and copies them.
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
	for _, e := range s.Tenant {
		if core.EmptyID(e.Value) || !isEquality(e.Value) {
			return nil, &ValueError{Field: "Scope.Tenant." + e.Key, Value: e.Value, Reason: "can't be a tenant: give the value that the tenant's documents have"}
		}
		if hasKey(s.Insert, e.Key) || hasKey(s.Set, e.Key) || hasKey(s.Delete, e.Key) {
			return nil, &ValueError{Field: "Scope.Tenant." + e.Key, Value: e.Value, Reason: "is given in another part of the scope too: name it in Tenant only"}
		}
	}
	for _, e := range s.Delete {
		if hasKey(s.Insert, e.Key) || hasKey(s.Set, e.Key) {
			return nil, &ValueError{Field: "Scope.Delete." + e.Key, Value: e.Value, Reason: "is also set by Delete, and would hide new documents: name it in Delete only"}
		}
	}
	out := &scope{tenant: s.Tenant, set: s.Set, gives: s.Insert, only: slices.Clone(s.Collections)}
	out.insert = slices.DeleteFunc(slices.Concat(s.Tenant, s.Insert), func(e bson.E) bool { return hasKey(s.Set, e.Key) })
	out.reaching = And(s.Tenant, s.Filter)
	out.filter = out.reaching
	for _, e := range s.Delete {
		out.filter = And(out.filter, bson.D{{Key: e.Key, Value: nil}})
	}
	if len(s.Delete) > 0 {
		out.mark = s.Delete
	}
	return out, nil
}

// checkScopeFields refuses the fields that a whole document can't be given.
func checkScopeFields(part string, fields bson.D) error {
	for i, e := range fields {
		reason := ""
		if err := core.CheckKey(e.Key); err != nil {
			reason = "must be a top-level field"
		} else if e.Key == "_id" {
			reason = "differs in each document: name another field"
		} else if hasKey(fields[:i], e.Key) {
			reason = "is given twice: give each field once"
		} else if part == "Delete" && e.Value == nil {
			reason = "is null, which doesn't mark a document as deleted: give another value"
		}
		if reason != "" {
			return &ValueError{Field: "Scope." + part + "." + e.Key, Value: e.Value, Reason: reason}
		}
	}
	return nil
}

// inside refuses a scope that contradicts one it lies in.
func (s *scope) inside(outer *scope) error {
	for _, e := range s.tenant {
		if v, ok := fieldOf(outer.tenant, e.Key); ok && !sameValue(v, e.Value) {
			return &ConflictError{Paths: [2]string{"tenant " + shell(outer.tenant), "tenant " + shell(s.tenant)}, Reason: "the database is already under another tenant's scope"}
		}
	}
	return cmp.Or(s.leavesTenant(outer), outer.leavesTenant(s))
}

// leavesTenant refuses a scope that gives documents a field of the other's tenant: it would hand them to another tenant.
func (s *scope) leavesTenant(other *scope) error {
	for _, e := range other.tenant {
		for _, fields := range []bson.D{s.gives, s.set, s.mark} {
			if hasKey(fields, e.Key) {
				return &ConflictError{Paths: [2]string{"scope " + shell(fields), "tenant " + shell(other.tenant)}, Reason: "the field is the Tenant of another scope: name it in Tenant only"}
			}
		}
	}
	return nil
}

func fieldOf(d bson.D, key string) (any, bool) {
	i := slices.IndexFunc(d, func(e bson.E) bool { return e.Key == key })
	if i < 0 {
		return nil, false
	}
	return d[i].Value, true
}

// knows refuses a collection that the model doesn't have.
func (s *scope) knows(collection string) error {
	if s.model == "" || s.known[collection] {
		return nil
	}
	return &ConflictError{Collection: collection, Reason: "isn't a collection of the model " + s.model + ": give New the technique that uses it, or model.Entity of it"}
}

func (s *scope) holds(collection string) bool {
	return s.only == nil || slices.Contains(s.only, collection)
}

// scopesOf are the scopes that a database is under, the outermost first.
func scopesOf(db DB) []*scope {
	if h, ok := db.(*core.Handle); ok {
		if h == nil { // which is refused where the command would be sent
			return nil
		}
		list, _ := h.Scopes.([]*scope)
		return list
	}
	return everywhere()
}

// everywhere are the scopes of a database that is under none. Tests set one, to run as a tenant: see CONTRIBUTING.md.
func everywhere() []*scope {
	s, ok := runctx.Everywhere.(Scope)
	if !ok {
		return nil
	}
	own, err := s.compiled()
	if err != nil {
		panic(err)
	}
	own.tests = true
	return []*scope{own}
}

// bare is the database without scopes and transactions, for what the library keeps for itself, and for writes that were put under the
// scopes before.
func bare(db DB) DB {
	if len(scopesOf(db)) == 0 && !core.Transacts(db) {
		return db
	}
	h := core.HandleOf(db)
	h.Scopes, h.Tx = nil, false
	return h
}

// marking is the database on which nothing is put into a transaction by itself.
func marking(db DB) DB {
	if !core.Transacts(db) {
		return db
	}
	h := core.HandleOf(db)
	h.Tx = false
	return h
}

// tenantName is the name of a document that the library keeps for itself (a place, a checkpoint): two tenants don't share one.
func tenantName(db DB, name string) string {
	if t := core.Tenant(db); t != "" {
		return name + " " + t
	}
	return name
}

// tenantID is [tenantName] for an _id of any type.
func tenantID(db DB, id any) any {
	t := core.Tenant(db)
	if t == "" {
		return id
	}
	if name, ok := id.(string); ok {
		return tenantName(db, name)
	}
	return bson.D{{Key: "of", Value: id}, {Key: "tenant", Value: t}}
}
