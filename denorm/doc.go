// Package denorm declares data that is stored more than once, or away from its usual
// place, so that it can be read there: copies, computed numbers, bounded arrays, index
// tables.
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
//	An approximate count of events, with few writes              [Approximate]
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
// # Consistency and costs
//
// Before you run [Copy.Checks], [Counter.Checks], [Subset.Checks] or [Outlier.Checks],
// create the indexes. Without them the server reads the whole related collection for each
// document.
//
// A change of one document is one atomic update. A change of two documents is two writes.
// The type's Checks find what a crash between them leaves, and the checks' jobs repair it
// without overwriting concurrent changes. Most repairs write one document per finding, by
// _id. [model.Check] says what checks cost.
//
// An append with a key, or a change with a token, can be run again and
// counts once.
package denorm
