// Package advise says how to store a relation: by which structure, why, and what would have to change for another one to be the
// better choice; how large documents get; and what a live database says of both.
//
// For all relations of an application at once, by the price of its operations, see package design.
//
// # Choosing
//
// [Choose] takes a [Relation]: how many children a parent has, how large they are, how both ends are read and written. It assumes
// what isn't known, and says so. In short:
//
//	few children, read with their parent                   [Embed]             embed.Embedded, embed.One
//	few of them kept, the others dropped                   [Embed]|[Bounded]   denorm.Bounded
//	plain values, such as tags                             [Values]            an array with an index
//	few children, but in one parent of a hundred           [Outlier]           denorm.Outlier
//	many children of one parent                            [ParentRef]         relate.ParentRef
//	many, in an order kept by hand or with a fixed bound   [ChildRefs]         relate.ChildRefs
//	shared children, asked for from one end                [ChildRefs]         relate.ChildRefs
//	shared children, asked for from both ends              [TwoWay]            relate.ManyToMany
//	neither end can list the other; links with fields      [Links]             relate.JoinCollection, denorm.WideRow
//	too many for an array, read page by page               [Bucket]            denorm.Bucket
//	a tree                                                 [DocumentTree] to [NestedSet]   package paths
//
//	fields of the other end shown, which change seldom     [CopyIntoParent], [CopyIntoChild]   denorm.Copy
//	such fields that are all there is of the parent        [Fold]              denorm.Copy.Fold
//	the newest few shown with the parent                   [Subset]            denorm.Subset
//	a number of them shown with the parent                 [Counter], [Distinct], [Approximate], [Slots]   denorm.Counter, …
//	children of several kinds                              [Kinds]             embed.Kinds, embed.Union
//	every version kept, with who changed it                [Versions]          denorm.History
//	states that are made of events                         [Log]               denorm.EventLog
//	numbers by hour, day and month                         [Binned]            denorm.Rollup
//	children of one parent on several shards               [SpreadKey]         keys.Spread
//	each change told to other systems                      [Events]            denorm.Outbox
//	children that are of use for some days                 [Expiry]            schema.Expiry
//
// # Rules
//
// Each [Reason] of an [Advice] names its rule and the figures that were compared. The rules quote their sources by these names:
//
//	001        rows by one id with columns by the other: users who like items
//	002        "NoSQL Data Modeling Techniques", by its sections
//	000        data modeling for document databases (Azure Cosmos DB); 003 is its newer version
//	004        "6 Rules of Thumb for MongoDB Schema Design", parts 1 to 3; the six rules are in part 3
//	manual     MongoDB's manual, "Data Modeling", by its pages
//	Firestore  Firestore's documentation, by its pages
//
//	limit                                     figure             published as
//	[FewLimit], children to embed             300                "a few hundred" (004 rule 3)
//	[ManyLimit], ids in an array              3000               "a few thousand" (004 rule 3)
//	[ArrayLimit], bytes of an array           1 MiB              the largest document of Firestore (limits); documents are read whole
//	[WasteLimit], bytes a read doesn't show   16 KiB             "data that is accessed together" (the same)
//	model.MaxDocument                         16 MiB             the server's limit (004 part 1)
//	[HotLimit], writes a second               100                a document's rate is limited (Firestore, distributed counters)
//	[AccessLimit], a way of access counts     1 read in 10       "need to access an object on its own" (004 rules 2, 6)
//	[WriteLimit], reads per write             1                  "changes infrequently" (000), "appended all the time" (002 §3)
//	[CopyLimit], reads per change of a copy   10, and as many    "read much more often than updated" (004 rule 5); with more
//	                                          as hold a copy     holders the ratio matters more (004 part 2)
//	[NestedLimit], reads per change           1000               "best for static trees" (manual, nested sets)
//
// Where a source gives words and no figure, the figure is this package's.
//
// An advice names its runners-up, and what leads to each: a [Flip] is announced at the boundary, one step after the last value that
// keeps the choice. Where publishers disagree, their answers are among the runners-up.
//
// # Sizes
//
// A [Budget] computes from a Go type and the bounds that are declared for its strings, arrays and maps how large a document gets,
// to the byte; what has no bound is named by its path, with how many items it can have until 16 MB. An array's element costs its
// value, a byte of type, and its index in decimal as a name.
//
//   - The size of a value: [Budget.Size]; the largest document: [Budget.Worst]; in a test: [Worst.Fits]
//   - One element at its worst, the Bytes of an End: [Budget.Item]
//   - How many there is room for: [Budget.Room]; how long that lasts: [Budget.Days]
//   - What breaks the bounds: [Budget.Breaches]
//
// # Live data
//
// A [Survey] fills in a relation from the database, by samples:
//
//	found, err := survey.Run(ctx, db)
//	relation := found.Relation
//	relation.Child.Alone = 0.2   // what only the application knows
//	advice := advise.Choose(relation)
//
// [SurveyDatabase] finds the relations of a database by itself, and surveys each.
//
// A [Spread] says how sure it is. Of a collection that was read whole everything is known. Of a sample of n, a quantile lies
// between two of the sampled values with the survey's confidence, whatever the distribution, if the sample is one of documents: on
// DocumentDB, whose $sample takes neighbours, set SurveySpec.Scan. The largest sampled value is a lower
// bound of the largest of all, and the share of documents beyond it at most 1 - (1-confidence)^(1/n): 0.3 % for a thousand. Such a
// bound is marked in the relation ([Count].AtLeast), and in each figure of an advice that it is compared in.
//
// [Growth] is told by the times in ObjectIDs: of each parent whose first child is older than 90 days (SurveySpec.Window), how many
// came within the last 90. A burst counts for nothing, and the greatest of many counts is drawn towards their mean. A survey
// expects growth for as long again as children have been added until now. [SurveyResult.RunnersUp] are the answers within the error of
// the growth and of all that was measured. Where there are no times, or all
// children or all parents are younger than the window, growth is left unknown: Choose then assumes none, and lists it as assumed.
//
// # Costs
//
// Choose and Budget compute. They send nothing, and take microseconds to some milliseconds. A survey of embedded children sends
// 3 commands; one of references 7, and 3 more for each further thousand of the sample. It counts nothing by reading, and writes nothing.
//
// # Consistency
//
// An advice is as true as its relation. Keep the relation in a unit test with [Advice.Want], and renew its figures by a survey now
// and then. A survey is no snapshot: documents that change meanwhile are counted as they are met.
//
// # Limits
//
// A budget knows what Go types say. Of an interface, bson.D, bson.Raw or a custom marshaler it knows the bytes that are declared,
// and not how deep they are nested. A type within itself (a comment with replies) has no worst case. Strings are counted in bytes
// of UTF-8, of which a character has up to four. A survey can't see how often anything is read. What is deleted doesn't show in
// its growth, nor do years: a season is what its window shows. The time of an ObjectID is that of the machine that made it. Where
// documents may refer to a parent by many children and no index serves the reference, each thousand sampled parents read the whole
// collection.
package advise
