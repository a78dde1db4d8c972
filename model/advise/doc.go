// Package advise says how to store a relation between two kinds of documents, and why.
// Package design decides all relations of an application by the price of operations.
//
// # Choosing
//
// [Choose] takes a [Relation] and returns an [Advice]. Each kind of documents is one end
// of the relation. In short:
//
//	few children, read with their parent   [Embed]               embed.Embedded, embed.One
//	few kept, others dropped               [Embed]|[Bounded]     denorm.Bounded
//	plain values, such as tags             [Values]              an array with an index
//	few in 99 of 100 parents, many in 1    [Outlier]             denorm.Outlier
//	many children of one parent            [ParentRef]           relate.ParentRef
//	many, ordered by hand or bounded       [ChildRefs]           relate.ChildRefs
//	shared, queried from one end           [ChildRefs]           relate.ChildRefs
//	shared, queried from both ends         [TwoWay]              relate.ManyToMany
//	lists too long, or links with fields   [Links]               relate.JoinCollection
//	too many for an array, read in pages   [Bucket]              denorm.Bucket
//	a tree                                 [DocumentTree] etc.   package paths
//
//	the other end's fields, seldom changed [CopyIntoParent] etc. denorm.Copy
//	a parent that has only copied fields   [Fold]                denorm.Copy.Fold
//	the newest few shown with the parent   [Subset]              denorm.Subset
//	a number shown with the parent         [Counter], [Slots]    denorm.Counter, denorm.Slots
//	a number of different children         [Distinct]            denorm.UniqueCount
//	a rough number                         [Approximate]         denorm.Approximate
//	children of several kinds              [Kinds]               embed.Kinds, embed.Union
//	every version kept                     [Versions]            denorm.History
//	states computed from events            [Log]                 denorm.EventLog
//	numbers by hour, day and month         [Binned]              denorm.Rollup
//	a parent's children on several shards  [SpreadKey]           keys.Spread
//	each change sent to other systems      [Events]              denorm.Outbox
//	children that are useful for some days [Expiry]              schema.Expiry
//
// # Rules
//
// Each [Reason] of an [Advice] names a rule and the compared numbers. The rules' sources:
//
//	001        a text on wide rows: one row per user, one column per liked item
//	002        "NoSQL Data Modeling Techniques", by its sections
//	000        data modeling for Azure Cosmos DB; 003 is its newer version
//	004        "6 Rules of Thumb for MongoDB Schema Design", parts 1 to 3
//	manual     MongoDB's manual, "Data Modeling", by its pages
//	Azure      Azure Architecture Center, by its patterns
//	Firestore  Firestore's documentation, by its pages
//
// The rules' limits are constants such as [FewLimit]. [Advice.Want] checks an advice in a
// unit test.
//
// # Sizes
//
// A [Budget] computes the size of the largest document from a Go type and [Bound] values.
// [Budget.Breaches] returns the bounds that a document violates.
//
// # Live data
//
// A [Survey] measures a relation in a database, by samples. [SurveyDatabase] finds and
// measures all relations.
//
// # Limits
//
// A budget ignores nesting within an interface, bson.D, bson.Raw or custom marshaler. A
// survey can't measure how often documents are read. A survey computes growth from
// ObjectIDs or dates, and ignores deletions and seasons.
package advise
