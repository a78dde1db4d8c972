// Package keys declares keys that say more than which document is meant: made of several values whose order they keep, and
// chosen for where documents are stored.
//
// # Choosing
//
//	An _id of several values, listed, counted and paged through by the first of them    [Composite]
//	The same as a document, whose values keep their types                               [DocumentKey]
//
// Where documents have an _id anyway, a compound index on ordinary fields ({state: 1, city: 1, _id: 1}) serves the same queries:
// at the cost of an index, and without moving a document when its city changes. A composite key saves that index, says by itself
// where a document belongs, makes the combination unique, and keeps neighbours side by side on one shard.
//
// # Tasks
//
//   - Make a key, of a document or of values: [Composite.Key], [Composite.KeyOf]; read it: [Composite.Scan], [Composite.Values]
//   - Store documents under their keys: [Composite.Insert], [Composite.InsertMany]; change a part: [Composite.Move]
//   - List by the first parts: [Composite.Prefix]; and by a range of the next: [Composite.Range], [Composite.StartingWith]
//   - The last first: [Composite.Descending]; the one before and after: [Composite.Previous], [Composite.Next]
//   - Count by state, by city of a state: [Composite.Counts]
//   - See whether a document is under its own key: [Composite.Check]
//
// # Costs
//
// Every query is one command, served by the index on _id; an insert is one, a move two.
//
// # Consistency
//
// A key is stored with the fields that it is made of, in one document. A move is two documents, in a transaction.
//
// # Limits
//
// Keys compare bytewise: the collection must not have a collation. Times in keys are of the years 0 to 9999, in milliseconds.
// There are no descending parts.
package keys
