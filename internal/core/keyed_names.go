package core

import "sync"

// The names of keyed collections, of all declarations of the process. A command that names
// a collection without its declaration can't tell whether the _ids are made of keys. Model.On
// knows them from its techniques. Other handles only know these names, and use them to refuse a
// command rather than to send it with a wrong _id.
var keyedNames sync.Map // true for a collection that needs a model's handle under a tenant

// NoteKeyed records that a collection is keyed. A collection that NoteShared recorded stays
// shared.
func NoteKeyed(collection string) { keyedNames.LoadOrStore(collection, false) }

// NoteShared records that a collection is keyed, and that several techniques use it.
func NoteShared(collection string) { keyedNames.Store(collection, true) }

// IsKeyedName reports whether a keyed collection has this name. Tests that run as a tenant
// use it, because they have no model's handle.
func IsKeyedName(collection string) bool {
	_, keyed := keyedNames.Load(collection)
	return keyed
}

// NeedsModel reports whether commands on a collection of this name need a model's handle
// under a tenant.
func NeedsModel(collection string) bool {
	shared, _ := keyedNames.Load(collection)
	return shared == true
}
