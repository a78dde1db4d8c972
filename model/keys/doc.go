// Package keys declares keys that say more than which document is meant: made of several values whose order they keep, and
// chosen for where documents are stored.
//
// # Choosing
//
//	An _id of several values, listed, counted and paged through by the first of them     [Composite]
//	The same as a document, whose values keep their types                                [DocumentKey]
//	Messages or events of one owner, numbered: the one before and after, ranges, by day  [Sequence]
//	Numbers for many goroutines, a block to a command                                    [Allocator]
//	By which fields documents are divided among shards, and what that means for queries  [Shard]
//	A key that many documents share, divided over n parts of an index or of shards       [Spread]
//
// Where documents have an _id anyway, a compound index on ordinary fields ({state: 1, city: 1, _id: 1}) serves the same queries:
// at the cost of an index, and without moving a document when its city changes. A composite key saves that index, says by itself
// where a document belongs, makes the combination unique, and keeps neighbours side by side on one shard.
//
// # Tasks
//
//   - Make a key, of a document or of values: [Composite.Key], [Composite.KeyOf]; read it: [Composite.Scan]
//   - Store documents under their keys: [Composite.Insert], [Composite.InsertMany]; change a part: [Composite.Move]
//   - List by the first parts: [Composite.Prefix]; and by a range of the next: [Composite.Range], [Composite.StartingWith]
//   - The last first, the one before and the one after: [Composite.Prefix] with Sorted and After
//   - Count by state, by city of a state: [Composite.Counts]
//   - See whether a document is under its own key: [Composite.Key]; bring all under theirs, or a collection that has other _ids:
//     [Composite.Rekey]
//   - Store under the next number: [Sequence.Take], [Allocator.Next], [Sequence.Insert]; without a gap: [Sequence.Append]
//   - Page both ways: [Sequence.Previous], [Sequence.Following], [Sequence.Range]; by day: [Days.Pack], [Days.Range],
//     [Days.Packed], [Days.Unpacked]
//   - Find and mend counters, and find foreign keys: [Sequence.Checks], [Sequence.Raise]; numbers that are missing: [Sequence.Gaps]
//   - Shard a collection: [Shard.Command]; by another key: [Shard.Reshard]
//   - Spread a hot key: [Spread.Insert], [Spread.InsertAt], [Spread.Key], [Spread.KeyAt]; read it: [Spread.Point], [Spread.Find];
//     over another number of parts: [Spread.Checks]
//   - See which shards a query, write or plan is sent to: [Shard.Find], [Shard.Aggregate], [Shard.Write], [Shard.Modify], [Shard.Plan]
//   - Find keys for a collection of a model: [ShardCandidates]; see which unique indexes a key leaves: [Shard.Check]
//   - See how documents would lie, and what is wrong with a key: [Shard.Distribution]; a hash: [HashedValue]
//
// # Costs
//
// Every query of a composite key is one command, served by the index on _id; an insert is one, a move two. What a [Shard] tells is
// computed, and sends nothing. A number of a sequence is one command, or one for a block; a gapless append is one transaction of
// three; a page is one command, by _id.
//
// # Consistency
//
// A key is stored with the fields that it is made of, in one document. A move is two documents, in a transaction.
//
// Numbers of a sequence are unique and only grow. One that was taken and not used is a gap, unless it is appended in a transaction;
// a document that was stored and not packed into its day is found. A counter is only ever raised.
//
// # Limits
//
// Keys compare bytewise: the collection must not have a collation. Times in keys are of the years 0 to 9999, in milliseconds.
// There are no descending parts. Numbers have up to 18 digits, as many as they begin with; one owner's are as fast as one document
// can be written. A day bucket holds some 300,000 keys.
//
// What a [Shard] says are the rules of MongoDB's manual; nothing of it has been run against a cluster. A server may target more
// than is told; zones and the balancer's settings are not looked at.
package keys
