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
//	Move a relation from one side to the other, or out of and into documents    [Invert], [Extract], [Absorb]
//
// # Tasks
//
//   - Add, insert at a place, reorder, remove ids: [ChildRefs.Add], [ChildRefs.InsertAt], [ChildRefs.Reorder],
//     [ChildRefs.Remove]
//   - Children of a document in hand: [ChildRefs.Children]; by its id, in stored order: [ChildRefs.ChildrenOf]
//   - Which documents refer to this one: [ChildRefs.ParentsOf], [ParentRef.Children]
//   - Newest n: [ParentRef.Newest]; page after page: [ParentRef.Children], with model.Find's Limited and After; of links
//     [JoinCollection.OfLeft], [JoinCollection.RightsOf]
//   - Move a child: [ParentRef.Move], [ParentRef.MoveAll]
//   - Parents with their children: in one command [ChildRefs.Load], [ParentRef.Load], [Join.Pipeline]; in the application
//     [Join.Load], and of a stream [Join.Each]
//   - Create or delete a child with its reference: [ChildRefs.InsertChild], [ChildRefs.DeleteChild]
//   - Assign, reassign, take away: [TwoWay.Assign], [TwoWay.Unassign], [ManyToMany.Link], [ManyToMany.Unlink]
//   - Find and mend what two sides don't agree on: [TwoWay.Checks], [ManyToMany.Checks]
//   - Store, change, move and delete links with fields of their own: [JoinCollection.Link], [JoinCollection.Ensure],
//     [JoinCollection.Update], [JoinCollection.Move], [JoinCollection.Unlink]
//   - Count children, or links: [ParentRef.Counts], [JoinCollection.LeftCounts], [JoinCollection.RightCounts]
//   - Find and mend references that lead nowhere: [Dangling.Checks], [JoinCollection.Checks]; count them by the missing id:
//     [Dangling.Missing]
//   - Say what goes with a document: [Restrict], [Cascade], [Nullify], [Owns]; see what a deletion would reach:
//     [OnDelete.Reach]; delete: [OnDelete.Delete], [OnDelete.Sweep]
//   - Change how a live collection stores a relation: [Migration.Copy], [Migration.Verify], [Migration.Drop], of
//     [Invert.ToRefs], [Invert.ToLists], [NewExtract], [NewAbsorb]
//
// # Costs
//
// Each method says how many commands it sends and documents it writes; model's Cost methods say the same of the value
// that it returns. Reads are served by the indexes that each technique declares, or by _id. Checks read whole collections,
// unless [model.Check.In] narrows them.
//
// A check looks up what belongs to each document that it reads, most by _id. Where it is by another field, as
// [Migration.Verify] does, the index of Indexes must be there: without it the server reads the whole of the other
// collection for each document.
//
// # Consistency
//
// A reference and the document that it names are two documents: one can be there without the other. Plans of this package
// write the child before the reference and delete the reference before the child, so that a cut leaves a child that
// nobody lists, and not a reference that leads nowhere. What it can leave else, each method says.
//
// A relation that both sides store is two documents that say the same. With bare ids, two operations on one pair that
// interleave can leave one side without the other, whatever the order of the writes; the checks find it, a repair believes
// one side, and a transaction avoids it. With versioned elements ([Link]) one side decides by a compare-and-set, and no
// interleaving leaves a half-link; a process that dies half way can, and a second call or a repair finishes its operation.
//
// # Limits
//
// A list of ids shares its document's 16 MiB: some thousand ids are fine, more belong into a parent reference or a join
// collection (rule three of the MongoDB blog's six rules of thumb). Ids are compared as BSON values: an int32 equals an
// int64, a string never equals an ObjectID.
package relate
