// Package advise says how to store a relation between two kinds of documents, and why.
// For all relations of an application together, use package design.
//
// # Choosing
//
// [Choose] takes a [Relation] of parents and children, and returns an [Advice]. Each line
// shows a case, the [Choice] and a type. Below the gap are additions to a Choice.
//
//	few children, read with their parent   [Embed]               embed.Embedded, embed.One
//	few children kept, older ones deleted  [Embed]|[Bounded]     bounded.Bounded
//	plain values, such as tags             [Values]              an array with an index
//	many children, but in few parents only [Outlier]             outlier.Outlier
//	many children of one parent            [ParentRef]           parentref.ParentRef
//	many children, ordered or limited      [ChildRefs]           childrefs.ChildRefs
//	shared children, queried from one end  [ChildRefs]           childrefs.ChildRefs
//	shared, queried from both ends         [TwoWay]              twosided.ManyToMany
//	lists too long, or links with fields   [Links]               joincollection.JoinCollection
//	too many for an array, read in pages   [Bucket]              bucket.Bucket
//	a tree                                 [DocumentTree] etc.   package paths
//
//	copies of fields that seldom change    [CopyIntoParent] etc. copies.Copy
//	a parent whose fields are all copied   [Fold]                copies.Copy.Fold
//	the newest few shown with the parent   [Subset]              subset.Subset
//	a number shown with the parent         [Counter], [Slots]    counter.Counter, slots.Slots
//	a number of different children         [Distinct]            uniquecount.UniqueCount
//	a rough number                         [Approximate]         approximate.Approximate
//	children of several kinds              [Kinds]               embed.Kinds, embed.Union
//	every version kept                     [Versions]            history.History
//	states computed from events            [Log]                 eventlog.EventLog
//	numbers by hour, day and month         [Binned]              rollup.Rollup
//	a parent's children on several shards  [SpreadKey]           keys.Spread
//	each change sent to other systems      [Events]              outbox.Outbox
//	children that are useful for some days [Expiry]              schema.Expiry
//
// # Rules
//
// Each [Reason] in an Advice names a rule. The rules' sources are:
//
//	001        a text on wide rows: one row per user, one column per liked item
//	002        "NoSQL Data Modeling Techniques", by its sections
//	000        data modeling for Azure Cosmos DB; 003 is its newer version
//	004        "6 Rules of Thumb for MongoDB Schema Design", parts 1 to 3
//	manual     MongoDB's manual, "Data Modeling", by its pages
//	Azure      Azure Architecture Center, by its patterns
//	Firestore  Firestore's documentation, by its pages
//
// The rules' limits are constants such as [FewLimit]. To test an Advice, use
// [Advice.Want].
//
// # Sizes
//
// A [Budget] computes the largest document's size and depth from a Go type and [Bound]
// values. The depth doesn't count levels within an interface, bson.D, bson.Raw or custom
// marshaler.
//
// # Live data
//
// A [Survey] measures a relation in a database, by samples. [SurveyDatabase] finds and
// measures a database's relations.
//
// A Survey can't measure how often documents are read. A Survey computes growth from
// ObjectIDs or dates, and ignores deletions and seasons.
package advise
