package model

import "github.com/docmodel/docmodel/internal/core"

// On returns a database that reaches only the model's collections. Commands on any other
// collection, even by a $lookup, give a [*ConflictError] and aren't sent. On, [Scope.On]
// and [WithTransactions] combine in any order:
//
//	db := scope.On(shop.On(database))
//
// The model knows in which collections _ids carry the tenant of a scope: see
// [Write].Keyed. All commands on the database treat these collections as keyed. In a
// $graphLookup that compares such _ids, no index serves the comparison.
//
// An insert, a replacement or a deletion of a [Collection] gives a [*ConflictError] if a
// technique of the model must take part in it: write by a [Store]. So does an update of a
// path that such a technique owns or follows.
//
// In a collection of a keys.Shard, On adds the shard key's fields to filters on _id: see
// [ShardKey].
func (m *Model) On(db DB) DB {
	m.mustExist("Model.On")
	known := map[string]bool{}
	for _, name := range m.Collections() {
		known[name] = true
	}
	if len(known) == 0 {
		core.Fail("the model has no collections", "Model.On", "make the model with New from the program's techniques")
	}
	sharded := map[string]ShardKey{}
	for _, key := range m.shardKeys() {
		sharded[key.Collection] = key
	}
	told := m.keyedCollections()
	for _, t := range m.techniques {
		for _, d := range documentsOf(t) {
			told[d.Name()] = told[d.Name()] // false for a declared collection that isn't keyed
		}
	}
	own := &scope{model: m.name, known: known, keyed: told, sharded: sharded, reacting: m.reactingCollections()}
	return own.on(db, nil)
}

// keyedCollections returns the collections whose _ids carry the tenant under a scope.
func (m *Model) keyedCollections() map[string]bool {
	out := map[string]bool{}
	for _, t := range m.techniques {
		for _, d := range documentsOf(t) {
			if d.IsKeyed() {
				out[d.Name()] = true
			}
		}
	}
	for n := -1; n < len(out); { // an _id can contain an _id that contains an _id
		n = len(out)
		for _, t := range m.techniques {
			if own, ok := t.(interface{ keyed() []KeyedDocs }); ok {
				for _, k := range own.keyed() {
					if k.isKeyed(out) {
						out[k.Collection] = true
					}
				}
			}
		}
	}
	return out
}

// noteKeyed says which collections need the model's handle under a tenant, because their
// _ids contain _ids of documents that several techniques use.
func (m *Model) noteKeyed() {
	all := m.keyedCollections()
	for _, t := range m.techniques {
		if own, ok := t.(interface{ keyed() []KeyedDocs }); ok {
			for _, k := range own.keyed() {
				if len(k.From) > 0 && all[k.Collection] {
					core.NoteShared(k.Collection)
				}
			}
		}
	}
}
