// Package relate declares references between documents: which document holds the ids of which, and the queries, updates
// and indexes that follow from it.
//
// # Choosing
//
//	The one side has few to some thousand children, and lists them in order     [ChildRefs]
//	A child belongs to one parent, and there may be squillions of children      [ParentRef]
//
// # Tasks
//
//   - Add, insert at a place, reorder, remove ids: [ChildRefs.Add], [ChildRefs.InsertAt], [ChildRefs.Reorder],
//     [ChildRefs.Remove]
//   - Children of a document in hand: [ChildRefs.Children]; by its id, in stored order: [ChildRefs.ChildrenOf]
//   - Which documents refer to this one: [ChildRefs.ParentsOf], [ParentRef.Children]
//   - Newest n, page after page: [ParentRef.Newest], with model.Find's After
//   - Move a child: [ParentRef.Move], [ParentRef.MoveAll]
//   - Parents with their children in one command: [ChildRefs.Load], [ParentRef.Load]
//   - Create or delete a child with its reference: [ChildRefs.InsertChild], [ChildRefs.DeleteChild]
//
// # Costs
//
// Each method says how many commands it sends and documents it writes; model's Cost methods say the same of the value
// that it returns. All reads of this package are served by the indexes that the technique declares ([ChildRefs.Indexes],
// [ParentRef.Indexes]) or by _id.
//
// # Consistency
//
// A reference and the document that it names are two documents: one can be there without the other. Plans of this package
// write the child before the reference and delete the reference before the child, so that a cut leaves a child that
// nobody lists, never a reference that leads nowhere.
//
// # Limits
//
// A list of ids shares its document's 16 MiB: some thousand ids are fine, more belong into a parent reference (rule three
// of the MongoDB blog's six rules of thumb). Ids are compared as BSON values: an int32 equals an int64, a string never
// equals an ObjectID.
package relate
