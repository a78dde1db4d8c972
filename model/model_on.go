package model

import "github.com/docmodel/docmodel/internal/core"

// On returns the database on which only the model's collections are reached: what reads or writes another one, by a $lookup too, is
// refused with a [*ConflictError] before it is sent. So nothing passes by the techniques unseen, and none is left out of the model's
// indexes and its [Model.Audit]. Together with a [Scope] and [WithTransactions], in any order, it is the database of a repository:
//
//	db := scope.On(shop.On(database))
//
// Filters of collections that a keys.Shard of the model divides are sent with the shard
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
