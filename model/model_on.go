package model

import "github.com/docmodel/docmodel/internal/core"

// On returns a database that reaches only the model's collections. A command that uses
// another collection, even in a $lookup, returns a [*ConflictError] and isn't sent. On,
// [Scope.On] and [WithTransactions] combine in any order:
//
//	db := scope.On(shop.On(database))
//
// In a collection sharded by a keys.Shard, filters on _id also get fields of the shard
// key: see [ShardKey].
func (m *Model) On(db DB) DB {
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
