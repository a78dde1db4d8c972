// Package denorm declares data that is stored more than once, or beside where it belongs, because it is read there: copies that
// follow their source, numbers kept with what they count, arrays that stay bounded, sequences kept by the page, tables that find
// documents by another field, and documents made flat.
//
// # Choosing
//
//	Fields of another document, which change seldom                                           [Copy]
//	The same for copies of any shape, kept by the changes of their source, whoever writes it  [Feed]
//	The last, first or top n of something, inside the document that it is read with           [Bounded]
//	The first few children in their parent, and all of them beside it                         [Subset]
//	The newest elements in their parent, and all of them in pages beside it                   [SubsetPages]
//	All of it, without end, read page by page: a document for each page                       [Bucket]
//	States that are made from what happened: appended at a version, replayed                  [EventLog]
//	A view of each of these states, queried by its fields, rebuilt while events come in       [Projection]
//	An array that few documents outgrow: the first n in it, the rest of those few beside it   [Outlier]
//	A many-to-many relation read from both ends by time, with names: who likes what           [WideRow]
//	How many children a parent has, their sum, average, smallest and greatest                 [Counter]
//	How many different members a group has: the visitors of each site                         [UniqueCount]
//	A counter or a stock that many change at once, exact, in several documents                [Slots]
//	Totals of events by hour, day and month: the page views of each page                      [Rollup]
//	A count of more events than a document can be written                                     [Approximate]
//	Documents found by another field, where no secondary index can serve                      [IndexTable]
//	A value that one document may hold, across shards or collections                          [IndexTable], unique
//	Documents by several fields' values, intersected, united and subtracted                   [Inverted]
//	Properties that differ from document to document, queried by any of them                  [Attributes]
//	A list of small documents for a store or an index that knows flat documents only          [Numbered]
//	Words that stand together in one element of a list                                        [Proximity]
//	Every version of a document: who changed it, when and why                                 [History]
//	Events of a change, stored by the change's own write and handed on at least once         [Outbox], [Relay]
//	Events that are delivered several times, and must have their effect once                 [Inbox]
//	Documents for readers that know tables: a column for each value                           [Columns]
//	Documents for readers that know tables: rows in several collections                       [Normalized]
//
// # Tasks
//
//   - Store a copy, take one away: [Copy.Attach], [Copy.Detach], [Copy.Snapshot], [Copy.Fields]
//   - Change a source and its copies: [Copy.Set]; bring copies up to date: [Copy.Propagate], [Copy.PropagateJob], [Copy.Refresh]
//   - Find and mend copies that differ: [Copy.Checks], [Copy.Rebuild]
//   - See whether copies pay: [Copy.Spread], [CopySpread.BreakEven]; do away with the sources: [Copy.Unfolded], [Copy.Fold]
//   - Keep copies by a change stream, or by polling: [Feed.Stream]; fill them or make them good: [Feed.Rebuild]
//   - See the plan of a change: [Feed.Plan]
//   - Push and keep n: [Bounded.Push]; and count with it: [Bounded.PushWith]
//   - Read the newest few of the kept ones: [Bounded.Slice]
//   - Take elements out by key: [Bounded.Remove]
//   - Find and mend documents over the bound: [Bounded.Checks]
//   - Let the server hold the bound too: [Bounded.Validator]
//   - Store, change, move and delete a child that its parent may hold: [Subset.Insert], [Subset.Set], [Subset.Delete]
//   - Page on from where the parent ends: [Subset.Rest], [Subset.Children]
//   - Find and mend parents that hold others: [Subset.Checks], [Subset.Refresh]
//   - Append an element to its page and its parent, change it, take it out: [SubsetPages.Append], [SubsetPages.Set],
//     [SubsetPages.Remove], [SubsetPages.Delete]
//   - Page on from where the parent ends: [SubsetPages.Rest]; find and mend parents that hold others: [SubsetPages.Checks],
//     [SubsetPages.Refresh]
//   - Append to a sequence of pages: [Bucket.Append], [Bucket.AppendTo]
//   - Read its pages: [Bucket.Oldest], [Bucket.Newest], [Bucket.Page], [Bucket.Between]
//   - Read what is on them: [Bucket.Elements], [Bucket.Holding], [Bucket.Totals]
//   - Find and mend pages that don't add up: [Bucket.Checks], [Bucket.Validator]
//   - Append events at a version: [EventLog.Append]; decide them from the state: [EventLog.Decide]
//   - Read a state, now and as it was: [EventLog.Load], [EventLog.At], [EventLog.AsOf]; the events: [EventLog.Commits],
//     [EventLog.Version]; write a snapshot: [EventLog.Refresh]; find gaps and wrong snapshots: [EventLog.Checks]
//   - Keep views of states: [Projection.Stream], [Projection.CatchUp]; read them: [Projection.Load], [Projection.Generations],
//     [Projection.In]; make them anew: [Projection.Rebuild], [Projection.Switch], [Projection.Drop]
//   - Append to an array that can overflow, remove, delete it all: [Outlier.Append], [Outlier.Remove], [Outlier.Delete]
//   - Read it whole, count it: [Outlier.Elements], [Outlier.Holding], [Outlier.Count]
//   - Move what outgrew its document: [Outlier.Split], [Outlier.Settle]; find and mend what doesn't go together:
//     [Outlier.Checks]
//   - Link and unlink, and read either side's page by time: [WideRow.Link], [WideRow.Unlink], [RowSide.Newest],
//     [RowSide.Oldest]; see whether a pair is linked: [WideRow.Linked]; count: [RowSide.Count]
//   - Renew copied fields, find and mend old ones and half links: [RowSide.Refresh], [WideRow.Checks]
//   - Store, change, move and delete a child, and keep its parents' numbers: [Counter.Insert], [Counter.Set], [Counter.Move],
//     [Counter.Delete]
//   - Count anew, find and mend what differs: [Counter.Recount], [Counter.Checks]
//   - Finish what was cut: [Counter.Pending], [Counter.Settle]
//   - Count each member once: [UniqueCount.Visit]; ask for one: [UniqueCount.Seen]; read counts:
//     [UniqueCount.Count], [UniqueCount.Counts], [UniqueCount.PerPeriod]; keep months when days go: [UniqueCount.Rollup],
//     [UniqueCount.Expire]
//   - Add to a number and take from a stock that is kept in several documents: [Slots.Add], [Slots.Take]; read it:
//     [Slots.Total], [Slots.Totals]; divide it anew: [Slots.Resize]; find and mend what was cut: [Slots.Checks]
//   - Store an event: [Rollup.Insert]; add what waits to the bins: [Rollup.Roll]; read them: [Rollup.Bins], [Rollup.Total];
//     delete events: [Rollup.Expire]; count anew: [Rollup.Rebuild], [Rollup.Checks]
//   - Count once in n: [Approximate.Count]; the error of it: [Approximate.Deviation]
//   - Store, change and delete a document with its entries: [IndexTable.Insert], [IndexTable.Set], [IndexTable.Delete]
//   - Find by value, with or without the documents: [IndexTable.Lookup], [IndexTable.Documents]
//   - Fill an index table, find and mend what differs: [IndexTable.Rebuild], [IndexTable.Checks]
//   - Keep inverted indexes of several fields: [Inverted.Insert], [Inverted.Set], [Inverted.Delete], [Inverted.Rebuild], [Inverted.Checks]; query
//     them: [Inverted.Is], [Inverted.IDs], [Inverted.Documents], [Inverted.Count]; report by category: [Inverted.Report]
//   - Give, change and take off properties: [Attributes.Set], [Attributes.Unset]
//   - Query by properties: [Attributes.Equal], [Attributes.Match], [Attributes.Has]
//   - See what properties there are: [Attributes.Survey]; mend repeated ones: [Attributes.Checks]
//   - Store a list as numbered fields: [Numbered.Insert], [Numbered.Set], [Numbered.Append]; nested again:
//     [Numbered.Documents], [Numbered.Back]
//   - Query by several fields of one element: [Numbered.Equal], [Numbered.Match]
//   - Make nested documents flat in place, and back: [Numbered.Convert], [Numbered.Restore]; mend: [Numbered.Checks]
//   - Keep a list as text too: [Proximity.Insert], [Proximity.Add], [Proximity.Remove]; find words that stand together:
//     [Proximity.Near], [Proximity.Equal]; mend texts: [Proximity.Checks]; read one back: [Proximity.Back]
//   - Change a document and keep its versions: [History.Insert], [History.Set], [History.Change], [History.Delete],
//     [History.Restore]; read them: [History.AsOf], [History.Version], [History.Revisions], [History.Between], [History.Diff]
//   - Erase a person's data from documents and versions, and prove it: [History.Erase], [History.Traces]
//   - Store an event with its change: [Outbox.Publish], [Outbox.Outgoing]; hand events on: [Relay.Run]; see what waits:
//     [Outbox.Depth], [Outbox.Parked]; try again, or give up: [Outbox.Retry], [Outbox.Drop]
//   - Handle an event once: [Inbox.Handle], [Inbox.Insert]; with an effect on several documents: [Inbox.Once]
//   - Store documents as columns: [Columns.Store], [Columns.Rebuild]; see what is refused: [Columns.Flatten]; what columns there
//     are: [Columns.Survey]; back: [Columns.Back]; take out what is gone: [Columns.Checks]
//   - Divide documents into rows of several collections: [Normalized.Plan]; whole again: [Normalized.Documents]; find and
//     mend what differs: [Normalized.Checks]
//
// # Costs
//
// Each method says how many commands it sends and documents it writes. In short, in commands:
//
//	Copy         a change of a copied field: 2, and every document that holds a copy is written
//	Feed         its plans, and one more in a hundred changes
//	Bounded      a push: 1; the document is rewritten: keep the bound to what one page shows
//	Subset       a new child: 2; another change: 3 to 6
//	SubsetPages  an append: 4; another change: 3 to 6; a page: 1, one document
//	Bucket       an append: 2, 3 with a key; a page: 1, one document
//	EventLog     an append: 2, one document; a decision: 4; a state: 2
//	Projection   a commit: 3 by its stream, 5 by hand; a view: 2
//	Outlier      an append: 2 while there is room in the array, 3 beside it, 4 with a key
//	WideRow      a link: 6; a page: 1
//	Counter      a new child: 4; another change: 5
//	UniqueCount  a visit: 1; a document for each member of a group and period
//	Slots        an operation: 1, or 5 if another slot gives stock; a total: 1, which reads all slots
//	Rollup       an event: 1; a batch of 500: 7; a total: 1
//	Approximate  1, once in n events
//	IndexTable   a document stored or deleted: 3, another value: 4; a lookup: 1
//	Inverted     a document stored or deleted: 2 for each path, and 1; a query: 1
//	Attributes, Numbered, Proximity  a write: 1, an append to a numbered list 2; a query: 1
//	History      a change: 3, two of them writes; a version: 1
//	Outbox, Inbox  nothing beside the write that they are part of; a relay: 1 for each document with events
//	Columns, Normalized  as many as there are batches or collections
//
// A check is one command that reads a whole collection, and looks up what belongs to each of its documents, most by _id.
// Where it is by another field, as the children of a parent ([Counter.Checks], [Subset.Checks], [Outlier.Checks]) or what a
// source lists ([Copy.Checks]), the index of Indexes must be there: without it the server reads the whole of the other
// collection for each document.
//
// # Consistency
//
// What is one document is one atomic update: a push and what it drops, an append with its counts and totals, a list stored flat
// with its count. What was dropped is gone: store it elsewhere first if it is to be kept.
//
// What is two documents is two writes, and every technique says which comes first and what a cut leaves. Its check finds that,
// and its repair mends it; no repair loses what somebody wrote meanwhile, but for flat documents and rows, which the next run
// stores again.
//
//   - A copy and its source: readers see the old value until the second write. Copies carry their source's version, so that no
//     older change overwrites a newer one, in whatever order they arrive.
//   - A feed's copies are late, by as much as its progress reports. It runs each change's plan at least once, those of a
//     document in order; killed anywhere and run again it comes to the same end.
//   - A child and the parent that holds it: an array is replaced only as it was read. A deletion that meets a change of the same
//     child can leave its element; the check finds it.
//   - An array and its overflow: the flag is set first, so that no reader who sees none misses anything.
//   - A link of a wide row is two columns in two documents, of which the left one says what is true.
//   - A counter's child and parent: the child says that it is pending until its parents were told, each once by the operation's
//     token. The next operation on the child, or a job, finishes what was cut.
//   - Two slots of a number: stock leaves one as a numbered transfer, and comes to the other once. Whoever meets a
//     transfer finishes it. Each operation changes one slot's sum, so that the total is exact.
//   - An index table's entry and its document: the entry comes first and goes last, so that a cut leaves an entry too many, which
//     lookups of documents pass over.
//   - Columns and rows for other readers are as fresh as the last run that stored them.
//
// With a key for each element, or an operation's token, an append or a change that was cut is run again and counts once.
//
// # Limits
//
// A document has 16 MiB: a bound times the size of an element must stay well below. Buckets, wide rows and outliers can be given
// a bound in bytes for that. A key has up to 10,000,000,000 buckets, in each period. A value of an index table is no null or
// regular expression; an array is entered by its elements. A number has up to 1024 slots, each of which remembers the latest
// 100 operations, or as many as are asked for. A parent of a counter remembers the latest 100 operations, or as many
// as are asked for. A feed that polls sees no deletions; one that falls behind the server's history of changes stops, or goes
// through all documents again, which doesn't show deletions either. A list of numbered fields has up to 60 positions, each with
// an index of its own, and an element of it no list. A query by words reads every text; its pattern has up to 32,000 bytes.
// Columns are of documents with up to 1000 properties and 127 levels, unless other limits are declared. An inverted query
// combines up to 256 values, and groups their ids in the server's memory.
package denorm
