// Package denorm declares data that is stored more than once, or away from its usual
// place, so that it can be read there: copies, computed numbers, bounded arrays,
// sequences in pages, tables that find documents by another field, and flat documents.
//
// # Choosing
//
//	Copy of fields of another document that seldom change        [Copy]
//	Copies of any shape, kept by the source's change stream      [Feed]
//	The first, last or top n elements, in the document           [Bounded]
//	The first children in their parent, all in a collection      [Subset]
//	The newest elements in their parent, all in pages            [SubsetPages]
//	An endless sequence, one document for each page              [Bucket]
//	States computed from events that are appended                [EventLog]
//	A view of each state, queried by its fields                  [Projection]
//	An array that few documents outgrow, with overflow           [Outlier]
//	A many-to-many relation, read from both ends by time         [WideRow]
//	Count, sum, average, minimum, maximum of the children        [Counter]
//	How many distinct members a group has                        [UniqueCount]
//	A busy counter or stock, exact, in several documents         [Slots]
//	Totals of events by hour, day and month                      [Rollup]
//	A count of more events than a document takes writes          [Approximate]
//	Documents by another field, without a secondary index        [IndexTable]
//	A value that is unique across shards or collections          [IndexTable], unique
//	Intersections and unions of several fields' values           [Inverted]
//	Properties that differ from document to document             [Attributes]
//	A list of small documents, stored as flat fields             [Numbered]
//	Words that occur together in one element of a list           [Proximity]
//	Every version of a document: who, when and why               [History]
//	Events stored with a change and delivered at least once      [Outbox], [Relay]
//	Events delivered several times and applied once              [Inbox]
//	Documents as columns, for readers that know tables           [Columns]
//	Documents as rows of several collections                     [Normalized]
//
// # Costs
//
// Each method documents its commands and documents. In short, in commands:
//
//	Copy         a change of a copied field: 2, and a write of every document with a copy
//	Feed         its plans, and one more in a hundred changes
//	Bounded      a push: 1
//	Subset       a new child: 2; another change: 3 to 6
//	SubsetPages  an append: 4; another change: 3 to 6; a page: 1
//	Bucket       an append: 2, 3 with a key; a page: 1
//	EventLog     an append: 2; a decision: 4; a state: 2
//	Projection   a commit: 3 by its stream, 5 by hand; a view: 2
//	Outlier      an append: 2 in the array, 3 in the overflow, 4 with a key
//	WideRow      a link: 6; a page: 1
//	Counter      a new child: 4; another change: 5
//	UniqueCount  a visit: 1
//	Slots        an operation: 1, or 5 if another slot gives stock; a total: 1
//	Rollup       an event: 1; a batch of 500: 7; a total: 1
//	Approximate  1 in n events
//	IndexTable   an insert or delete: 3; another value: 4; a lookup: 1
//	Inverted     an insert or delete: 2 for each path, and 1; a query: 1
//	Attributes, Numbered, Proximity  a write: 1, an append to a list: 2; a query: 1
//	History      a change: 3; a version: 1
//	Outbox, Inbox  nothing beside the write that they join; a relay: 1 for each document
//	Columns, Normalized  as many as batches or collections
//
// A check sends one command that reads a collection and looks up the related documents.
// If the lookup isn't by _id ([Copy.Checks], [Counter.Checks], [Subset.Checks] and
// [Outlier.Checks]), create the indexes first. Without them the server reads the whole
// other collection for each document.
//
// # Consistency
//
// A change of one document is one atomic update. A change of two documents is two writes.
// Each type documents their order and what a crash between them leaves. The type's Checks
// find it, and their jobs repair it without overwriting concurrent changes. A repair can
// delete a flat document or row that was just stored. The next run stores it again.
//
//   - Copy: readers see the old value until the second write. A version keeps older
//     values from overwriting newer ones.
//   - Feed: copies are late. The feed runs the plan of each change at least once, and the
//     changes of a document in order.
//   - Subset: an array is replaced only as it was read. A deletion that meets a change of
//     the same child can leave its element, which the check finds.
//   - Outlier: the flag is set first, so that a reader who sees no flag misses nothing.
//   - WideRow: a link is stored in two documents. The left one is authoritative.
//   - Counter: a child is marked until its parents are updated, once for each token. The
//     next operation on the child, or a job, finishes an operation that was cut.
//   - Slots: stock moves between slots by a numbered transfer, applied once. An operation
//     that meets a transfer finishes it. Totals are exact.
//   - IndexTable: an entry is written before its document and deleted after it. A crash
//     leaves a surplus entry, which lookups of documents skip.
//   - Columns, Normalized: as fresh as the last run.
//
// An append or a change with a key or a token can be run again, and counts once.
//
// # Limits
//
// A document has at most 16 MiB, so that a bound times the size of an element must stay
// well below. A value of an index table isn't null or a regular expression, and each
// element of an array is an entry. An inverted query combines at most 256 values, and
// groups their ids in the server's memory.
package denorm
