package model

import "github.com/docmodel/docmodel/internal/core"

// On returns a database that reaches only the model's collections. Commands on any other
// collection, even by a $lookup, give a [*ConflictError] and aren't sent. On, [Scope.On]
// and [WithTransactions] combine in any order:
//
//	db := scope.On(shop.On(database))
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
	for _, key := range m.ShardKeys() {
		sharded[key.Collection] = key
	}
	return (&scope{model: m.name, known: known, sharded: sharded}).on(db, nil)
}
