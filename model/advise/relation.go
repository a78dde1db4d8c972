package advise

// None means that a share, ratio or growth in a [Relation] is known to be zero. In most
// fields, 0 means unknown. For an unknown number, [Choose] assumes the default, and lists
// most defaults in Advice.Assumed.
const None = -1

// A Relation describes two kinds of documents that belong together: parents and children.
// Set at least one of Parent.Has, Child.Has and Tree.
//
// A share in an [End] is from 0 to 1. If the data never changes, set ReadsPerAdd and each
// End's ReadsPerChange to math.Inf(1).
type Relation struct {
	Parent, Child End

	// ReadsPerAdd is how often a parent and its children are read together, per child
	// added or removed. The default is 10.
	ReadsPerAdd float64

	LinkBytes int64 // bytes of fields about a parent-child pair, such as a role

	// Atomic means that parent and children must change together, without a transaction.
	Atomic bool

	// Tree describes a tree of documents in one collection. For a tree, leave Child
	// empty, and set only Parent's Name, Has, Bytes and IDBytes.
	Tree Tree

	Now Choice // how the relation is stored today; zero means not stored yet
}

// An End describes the parents or the children of a [Relation]. A parent's partners are
// its children. A child's partners are its parents. For a share or ratio of zero, pass
// [None].
type End struct {
	Name string // a plural, such as "people"; the default is "parents" or "children"

	// Has counts a parent's children or a child's parents. The default is one.
	Has Count

	Bytes   int64 // BSON size of a document's own fields ([Budget.Size]); the default is 512
	IDBytes int64 // size of an _id value without type and name; the default is 12

	// Alone is the share of reads that find a document by its own id or fields. If the
	// relation is one-to-one, the End with the greater Alone usually becomes the parent.
	// The default is 1 in these cases, otherwise 0:
	//
	//   - A document has several partners (see [End]).
	//   - The relation is one-to-one, and this End is in Relation.Parent.
	Alone float64

	// Shows is the share of this End's reads that show partners (the other End's
	// documents). Showing only a [Total] doesn't count. The default is 1 in these cases,
	// otherwise 0:
	//
	//   - A document has several partners.
	//   - The relation is one-to-one.
	//   - The partners' End has Copied, Newest or Page.
	Shows float64

	// ReadsPerChange is a document's reads, divided by the changes of the document's
	// fields. The default is 100.
	ReadsPerChange float64

	Value   bool    // a document is a plain value, such as a tag or phone number
	Kinds   int64   // number of variants with different fields; the default is 1
	Ordered bool    // this End's documents are ordered, like a playlist's songs
	Days    float64 // how many days a document is needed; the default is forever

	Versions bool // every version of a document is kept
	Log      bool // changes are stored as events
	Sharded  bool // the shard key refers to the other End's documents
	Events   bool // each change is sent to other systems

	// Copied, Newest, Page and Total describe this End's data that partners show.
	Copied Copied // a few fields of each document
	Newest Newest // reads of the newest documents
	Page   int64  // number of documents on a page, if reads are paged
	Total  Total  // count or sum of the documents, if shown
}

// A Count says how many children a parent has, or how many parents a child has: see
// [End].Has.
type Count struct {
	Typical int64 // the median; the default is P99, else Max, else ManyLimit + 1
	P99     int64 // 99 of 100 documents have at most P99; the default is Max plus growth
	Max     int64 // the greatest count today; the default is 5 × Typical, but at least P99

	Fixed     bool    // the application allows at most Max: a team has 11 players
	Unbounded bool    // the count has no limit
	PerDay    float64 // greatest growth of one document's count in a day; the default is 0
	Days      float64 // how many days PerDay continues; the default is 3650

	// PerSecond is how much one document's count grows in a second, at most.
	PerSecond float64

	// AtLeast means that Max and P99 come from a sample.
	AtLeast bool
}

// Copied describes an [End]'s fields, shown with the other End's documents.
type Copied struct {
	Fields string // comma-separated names: "name, thumbnail"; "" means no fields
	Bytes  int64  // size of one copy with field names; the default is 64

	// ReadsPerChange is how often one document's copies are read between two changes.
	// The default is 100 × the number of copies.
	ReadsPerChange float64

	Strong bool // readers must never see an old value
	Whole  bool // the End's documents have no other fields
}

// Newest describes reads that show only the newest documents of an [End]. If articles
// are shown with their newest comments, set Newest in the comments' End.
type Newest struct {
	N             int64   // number of newest documents; 0 means none
	Bytes         int64   // bytes shown of each document; the default is the whole document
	ReadsPerWrite float64 // reads per added document; the default is Relation.ReadsPerAdd
	Drop          bool    // older documents needn't be kept
}

// A Total is a number computed from documents of an [End] and shown at the other End: a
// count of comments, shown with the article.
type Total struct {
	ReadsPerChange float64 // reads of the total per change of the total; 0 means no total
	Distinct       bool    // counts different values: a site's visitors, not the visits
	ByTime         bool    // one total for each hour, day or month
	Rough          bool    // an error of a few percent is acceptable
}

// A Tree describes a tree of documents. The zero Tree means that the relation isn't a
// tree.
type Tree struct {
	Nodes  int64 // the largest tree's number of nodes; required
	Levels int64 // the deepest tree's number of levels; the default is 5

	Whole    float64 // share of all reads that read the whole tree, from 0 to 1
	Below    float64 // share of all reads that read descendants, from 0 to 1
	Above    float64 // share of all reads that read ancestors, from 0 to 1
	Preorder bool    // reads need the nodes in depth-first order
	Ordered  bool    // users choose the order of children

	// ReadsPerMove is the number of reads per inserted, moved or deleted node. The
	// default is 100.
	ReadsPerMove float64
}

// Limits of the rules in [Choose]. Each [Reason] names its rule's source.
const (
	FewLimit  = 300  // maximum embedded children per parent
	ManyLimit = 3000 // maximum ids in an array

	AccessLimit = 0.1 // a smaller share of reads counts as 0
	WriteLimit  = 1.0 // minimum reads per write for embedding
	CopyLimit   = 10. // minimum reads per change; above 10 copies, the number of copies

	ArrayLimit = 1 << 20  // maximum bytes of an array
	WasteLimit = 16 << 10 // maximum unused bytes per read, on average
	HotLimit   = 100      // maximum writes per second to one document

	NestedLimit = 1000 // minimum reads per tree change for a NestedSet
)

// An Assumption is the value that [Choose] assumed for a missing field.
type Assumption struct {
	Field string  // path of the field, as in [Change]
	Value float64 // in the field's unit; 0 means zero, not unknown
}

// text returns Field and Value: "ReadsPerAdd 10". Value 0 gives "none".
func (a Assumption) text() string {
	if a.Value == 0 {
		return a.Field + " none"
	}
	return a.Field + " " + ratioText(a.Value)
}
