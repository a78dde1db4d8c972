// Package relate is the directory of the packages that declare references. A reference is a
// document's id, stored in another document. A declaration gives queries, updates, indexes,
// checks and repairs. A program compiles only the packages that it imports. Package relate
// itself has what several of them use: [Referrer], [Loader] and three results.
//
// # Choosing
//
//	A parent lists up to some thousand children, in order               childrefs.ChildRefs
//	A child names its one parent, and a parent has any number           parentref.ParentRef
//	One to many, stored on both sides                                   twosided.TwoWay
//	Many to many: each document lists up to some thousand others        twosided.ManyToMany
//	A link has fields of its own, or links have no bound                joincollection.JoinCollection
//	Load the documents that documents in memory refer to                join.Join, join.Then
//	Find and repair references to missing documents                     dangling.Dangling
//	Delete a document that others refer to                              ondelete.OnDelete
//	Move the relation of a live collection to the other side            migrate.NewInvert
//	Move embedded documents into a collection, or back                  migrate.NewExtract, migrate.NewAbsorb
//
// # Costs
//
// Queries use _id or the declared indexes. A write that matches nothing costs up to three
// more commands. Checks read whole collections, unless you use [model.Check.In].
//
// # Consistency
//
// A [model.Store] writes both sides of a relation, and applies the rules of package
// ondelete.
//
// # Limits
//
// Ids are compared as BSON values. An int32 equals an int64. A string never equals an
// ObjectID.
package relate
