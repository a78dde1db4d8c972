// Package denorm is the directory of the packages that store data twice or in a special
// form, such as copies, totals, bounded arrays and index tables. Each technique is a
// package below this one, with a function New. A program compiles only the techniques that
// it imports. Package denorm itself has what several of them use: [Period], [Count],
// [Counted], [Use] and two errors.
//
// # Choosing
//
//	Copy of fields of another document that seldom change        copies.Copy
//	Copies of any shape, updated after each source change        feed.Feed
//	The first, last or top n elements, in the document           bounded.Bounded
//	Children in a collection, the first also in their parent     subset.Subset
//	Elements in pages, the newest also in their parent           subsetpages.SubsetPages
//	An endless sequence, one document for each page              bucket.Bucket
//	States computed from events that are appended                eventlog.EventLog
//	A view of each state, queried by its fields                  eventlog.Projection
//	An array that is too long in a few documents                 outlier.Outlier
//	A many-to-many relation, read from both ends by time         widerow.WideRow
//	Count, sum, average, minimum, maximum of the children        counter.Counter
//	How many distinct members a group has                        uniquecount.UniqueCount
//	A busy counter or stock, exact, in several documents         slots.Slots
//	Totals of events by hour, day and month                      rollup.Rollup
//	An approximate count of events, with few writes              approximate.Approximate
//	Documents by another field, without a secondary index        indextable.IndexTable
//	A value that is unique across shards or collections          indextable.Spec.Unique
//	Intersections and unions of several fields' values           inverted.Inverted
//	Properties that differ from document to document             attributes.Attributes
//	A list of small documents, stored as flat fields             numbered.Numbered
//	Words that occur together in one element of a list           proximity.Proximity
//	Every version of a document: who, when and why               history.History
//	Events stored with a change and delivered at least once      outbox.Outbox, outbox.Relay
//	Events delivered several times and applied once              inbox.Inbox
//	Flat documents, for programs that read tables                columns.Columns
//	Documents as rows of several collections                     normalized.Normalized
//
// # Consistency and costs
//
// After a crash between two writes, documents can disagree. To repair documents, run the
// jobs of the type's Checks. The jobs don't overwrite concurrent changes.
//
// A token is an ObjectID that identifies an operation. A retry with the same token counts
// once.
//
// Before you run checks of copies, counters, subsets or outliers, create the type's
// Indexes. Without them, the server reads the whole related collection for each document.
package denorm
