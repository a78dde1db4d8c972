// Package relate declares references. A reference is a document's id, stored in another
// document. A declaration gives queries, updates, indexes, checks and repairs.
//
// # Choosing
//
//	A parent lists up to some thousand children, in order               [ChildRefs]
//	A child names its one parent, and a parent has any number           [ParentRef]
//	One to many, stored on both sides                                   [TwoWay]
//	Many to many: each document lists up to some thousand others        [ManyToMany]
//	A link has fields of its own, or links have no bound                [JoinCollection]
//	Load the documents that documents in memory refer to                [Join], [Then]
//	Find and repair references to missing documents                     [Dangling]
//	Delete a document that others refer to                              [OnDelete]
//	Move the relation of a live collection to the other side            [NewInvert]
//	Move embedded documents into a collection, or back                  [NewExtract], [NewAbsorb]
//
// # Costs
//
// Queries use _id or the declared indexes. A write that matches nothing costs up to three
// more commands. Checks read whole collections, unless you use [model.Check.In].
//
// # Consistency
//
// A [model.Store] writes both sides of a relation, and applies the rules of [OnDelete].
//
// # Limits
//
// Ids are compared as BSON values. An int32 equals an int64. A string never equals an
// ObjectID.
package relate
