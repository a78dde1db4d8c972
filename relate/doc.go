// Package relate declares references between documents: one document stores the ids of
// others. A declaration gives the reference's queries, updates, indexes, checks and
// repairs.
//
// # Choosing
//
//	A parent lists up to some thousand children, in order               [ChildRefs]
//	A child names its one parent, and a parent has any number           [ParentRef]
//	One to many, stored on both sides                                   [TwoWay]
//	Many to many, stored on both sides, some thousand links a document  [ManyToMany]
//	A link has fields of its own, or links have no bound                [JoinCollection]
//	Load what many documents in memory refer to                         [Join], [Then]
//	Find and repair references to missing documents                     [Dangling]
//	Delete a document that others refer to                              [OnDelete]
//	Move the relation of a live collection to the other side            [NewInvert]
//	Move embedded documents into a collection, or back                  [NewExtract], [NewAbsorb]
//
// # Costs
//
// Queries use _id or the declared indexes. If a write matches nothing, Run sends up to
// three more commands. Checks read whole collections: see [model.Check.In].
//
// # Consistency
//
// Plans write the child before the reference, and delete the reference before the child.
// A crash can leave a child without a reference, never a reference to a missing document.
//
// # Limits
//
// Ids are compared as BSON values: an int32 equals an int64, and a string never equals an
// ObjectID.
package relate
