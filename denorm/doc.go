// Package denorm declares data that is stored twice or in a special form, such as copies,
// totals, bounded arrays and index tables.
//
// # Choosing
//
//	Copy of fields of another document that seldom change        [Copy]
//	Copies of any shape, updated after each source change        [Feed]
//	The first, last or top n elements, in the document           [Bounded]
//	Children in a collection, the first also in their parent     [Subset]
//	Elements in pages, the newest also in their parent           [SubsetPages]
//	An endless sequence, one document for each page              [Bucket]
//	States computed from events that are appended                [EventLog]
//	A view of each state, queried by its fields                  [Projection]
//	An array that is too long in a few documents                 [Outlier]
//	A many-to-many relation, read from both ends by time         [WideRow]
//	Count, sum, average, minimum, maximum of the children        [Counter]
//	How many distinct members a group has                        [UniqueCount]
//	A busy counter or stock, exact, in several documents         [Slots]
//	Totals of events by hour, day and month                      [Rollup]
//	An approximate count of events, with few writes              [Approximate]
//	Documents by another field, without a secondary index        [IndexTable]
//	A value that is unique across shards or collections          [IndexTableSpec].Unique
//	Intersections and unions of several fields' values           [Inverted]
//	Properties that differ from document to document             [Attributes]
//	A list of small documents, stored as flat fields             [Numbered]
//	Words that occur together in one element of a list           [Proximity]
//	Every version of a document: who, when and why               [History]
//	Events stored with a change and delivered at least once      [Outbox], [Relay]
//	Events delivered several times and applied once              [Inbox]
//	Flat documents, for programs that read tables                [Columns]
//	Documents as rows of several collections                     [Normalized]
//
// # Consistency and costs
//
// After a crash between two writes, documents can disagree. To repair documents, run the
// jobs of the type's Checks. The jobs don't overwrite concurrent changes.
//
// A token is an ObjectID that identifies an operation. A retry with the same token counts
// once.
//
// Before you run checks of [Copy], [Counter], [Subset] or [Outlier], create the type's
// Indexes. Without them, the server reads the whole related collection for each document.
package denorm
