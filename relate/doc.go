// Package relate declares references between documents: which document holds the ids of which, and the queries, updates,
// indexes, checks and repairs that follow from it.
//
// # Choosing
//
//	The one side has few to some thousand children, and lists them in order     [ChildRefs]
//	A child belongs to one parent, and there may be squillions of children      [ParentRef]
//	Both sides are read from, one to many                                       [TwoWay]
//	Both sides are read from, many to many, some thousand links per document    [ManyToMany]
//	A link has fields of its own, or there is no bound on links                 [JoinCollection]
//	Load what many documents in hand refer to                                   [Join], [Then]
//	Find and mend references that lead nowhere                                  [Dangling]
//	Delete a document that others refer to                                      [OnDelete]
//	Move a relation from one side to the other, or out of and into documents    [NewInvert], [NewExtract], [NewAbsorb]
//
// # Tasks
//
//   - Add, insert at a place, reorder, remove ids: [ChildRefs.Add], [ChildRefs.InsertAt], [ChildRefs.Reorder],
//     [ChildRefs.Remove]
//   - Children of a document in hand: [ChildRefs.Children]; by its id, in stored order: [ChildRefs.ChildrenOf]
//   - Which documents refer to this one: [ChildRefs.ParentsOf], [ParentRef.Children]
//   - Newest n, and page after page: [ParentRef.Children], with model.Find's Limited and After; of links [JoinSide.Links]
//   - Documents on the other side of a relation: [Side.Others], [Side.Listed]; with their links: [JoinSide.Others]
//   - Move a child: [ParentRef.Move], [ParentRef.MoveAll]
//   - Parents with their children: in one command [ParentRef.Load], [Join.Pipeline]; in the application [Join.Load], and
//     of a stream [Join.Each]
//   - Create or delete a child with its reference: [ChildRefs.InsertChild], [ChildRefs.DeleteChild]
//   - Assign, reassign, unassign: [TwoWay.Assign], [TwoWay.Unassign], [ManyToMany.Link], [ManyToMany.Unlink]
//   - Find and mend where two sides disagree: [TwoWay.Checks], [ManyToMany.Checks]
//   - Store, change, move and delete links with fields of their own: [JoinCollection.Link], [JoinCollection.Ensure],
//     [JoinCollection.Update], [JoinCollection.Move], [JoinCollection.Unlink]
//   - Count children, or links: [ParentRef.Counts], [JoinSide.Counts]
//   - Find and mend references that lead nowhere: [Dangling.Checks], [JoinCollection.Checks]; count them by the missing id:
//     [Dangling.Missing]
//   - Declare what is deleted with a document: [OnDeleteSpec]; see what a deletion would reach, and delete: [OnDelete.Delete],
//     [OnDelete.Sweep]
//   - Change how a live collection stores a relation: [Migration.Copy], [Migration.Verify], [Migration.Drop], of
//     [NewInvert], [NewExtract], [NewAbsorb]
//
// # Costs
//
// Each method says how many commands it sends and how many documents it writes; model's Cost methods say the same of the
// value that it returns. Reads are served by the indexes that each technique declares, or by _id. Checks read whole
// collections, unless [model.Check.In] narrows them.
//
// A check looks up what belongs to each document that it reads, most by _id. [Migration.Verify] looks up by other fields:
// without the index of Indexes, the server reads the whole other collection for each document.
//
// # Consistency
//
// A reference and its document are two documents: one can exist without the other. Plans of this package
// write the child before the reference and delete the reference before the child. A cut therefore leaves a child that
// no document lists, not a reference that leads nowhere. Each method says if it can leave anything else.
//
// A relation that both sides store is two documents that say the same. With bare ids, two operations on one pair that
// interleave can leave one side without the other. The checks find that, and mending believes one side; a transaction
// avoids it. With versioned elements one side decides by a compare-and-set: see [Link].
//
// # Limits
//
// A list of ids shares its document's 16 MiB: some thousand ids are fine. More belong into a parent reference or a join
// collection (rule three of the MongoDB blog's six rules of thumb). Ids are compared as BSON values: an int32 equals an
// int64, a string never equals an ObjectID.
package relate
