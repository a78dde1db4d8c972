package advise

// None sets a number of a [Relation] to a known zero. A zero field is unknown: [Choose]
// assumes its default, and lists it in [Advice.Assumed].
const None = -1

// A Relation describes two kinds of documents that belong together: a parent has
// children. Give Parent.Has, Child.Has or Tree. Swapped ends get the same answer: see
// [Advice.Parent].
//
// Shares are of 1: 0.3 is three reads in ten. Use math.Inf(1) as the ratio for something
// that never changes.
type Relation struct {
	Parent, Child End

	// ReadsPerAdd is the number of reads of a parent with its children, for each child
	// added or removed. The default is 10.
	ReadsPerAdd float64

	// LinkBytes is the size of fields of a pair, such as a role or quantity. The default
	// is 0.
	LinkBytes int64

	// Atomic means that a parent and its children, or both ends of a link, must change in
	// one step without a transaction. It doesn't overrule size limits.
	Atomic bool

	// Tree describes a tree of one collection's documents. Then Child is empty, and
	// Parent has only Name, Has, Bytes and IDBytes of the nodes.
	Tree Tree

	// Now is how the relation is stored today, for [Advice.Migration]. The zero value
	// means that it isn't stored yet.
	Now Choice
}

// An End is one of the two kinds of documents of a [Relation].
type End struct {
	Name string // a plural, for texts: "people"; the default is "parents" or "children"

	// Has counts the documents of the other end for one of this end: Parent.Has counts
	// children. The default is one.
	Has Count

	Bytes   int64 // BSON size of a document without the other end ([Budget.Size]); the default is 512
	IDBytes int64 // size of an _id value without type and name; the default is 12

	// Alone is the share of this end's reads that find a document by its own id or
	// fields. The default is 1 for an end with several documents of the other, and for
	// the parent of a one-to-one relation, else 0. In a one-to-one relation, the end with
	// more may embed the other.
	Alone float64

	// Shows is the share of this end's reads that show documents of the other end, not
	// only a [Total]. The default is 1 for an end with several documents of the other,
	// and for both ends of a one-to-one relation. For other ends it is 1 if something of
	// the other end is shown there, else 0.
	Shows float64

	// ReadsPerChange is the number of reads of a document for each change of its fields.
	// The default is 100.
	ReadsPerChange float64

	Value   bool    // a plain value: a tag, a phone number
	Kinds   int64   // kinds with different fields; the default is 1
	Ordered bool    // the other end keeps an order made by hand: a playlist
	Days    float64 // days after which a document may be deleted; the default is never

	Versions bool // every version is kept
	Log      bool // changes are stored as events
	Sharded  bool // sharded by the document of the other end
	Events   bool // each change is sent to other systems

	// Copied and the fields below say what of this end is shown with the other end. The
	// default is nothing.
	Copied Copied // a few fields
	Newest Newest // the first few documents
	Page   int64  // ordered pages of this many documents, which seldom change
	Total  Total  // a count, a sum
}

// A Count says how many documents of the other end a document has.
type Count struct {
	Typical int64 // the median; the default is P99 or Max, and 3001 if nothing bounds the count
	P99     int64 // 99 in 100 have at most this many; the default is Max
	Max     int64 // the greatest count today; the default is five times Typical

	Fixed     bool    // the application limits the number to Max: eleven players
	Unbounded bool    // nothing limits the number; Max is the greatest seen
	PerDay    float64 // how many the fastest-growing document gains in a day; the default is 0
	Days      float64 // days of growth; the default is 3650; only with PerDay

	// PerSecond is how many are added to one document in its busiest second. The default
	// is 0.
	PerSecond float64

	// AtLeast means that Max and P99 come from a sample, and may be exceeded.
	AtLeast bool
}

// Copied names fields that the other end shows, and may store too.
type Copied struct {
	Fields string // names, for texts: "name, thumbnail"; "" means none
	Bytes  int64  // of values and names in one copy; the default is 64

	// ReadsPerChange is the number of reads that show the fields, for each change at the
	// source, over all copies. The default is 100 for each.
	ReadsPerChange float64

	Strong bool // readers must never see an old value
	Whole  bool // the source has no other fields
}

// Newest means that the first few documents are shown with their owner.
type Newest struct {
	N             int64   // how many; 0 means none
	Bytes         int64   // shown of each document; the default is the whole document
	ReadsPerWrite float64 // reads that show them for each addition; the default is ReadsPerAdd
	Drop          bool    // older documents may be lost
}

// A Total is a number made of an end's documents, and shown with their owner.
type Total struct {
	ReadsPerChange float64 // reads that show it, for each change; 0 means none
	Distinct       bool    // counts different members
	ByTime         bool    // shown by hour, day or month of the documents
	Rough          bool    // may be off by a few percent
}

// A Tree says how a tree of documents is read and written.
type Tree struct {
	Nodes  int64 // in the largest tree; 0 means that the relation isn't a tree
	Levels int64 // in the deepest tree; the default is 5

	// Shares of the reads of nodes that need more than the node and its children.
	Whole    float64 // the whole tree at once; the default is 0
	Below    float64 // all nodes below one; the default is 0
	Above    float64 // all nodes above one, up to the root; the default is 0
	Preorder bool    // descendants are needed in the order of the tree
	Ordered  bool    // children have an order kept by hand

	// ReadsPerMove is the number of reads of the tree for each changed node. The default
	// is 100.
	ReadsPerMove float64
}

// Limits of the rules: see the package's comment. "A few" is three here.
const (
	FewLimit  = 300  // children to embed (004 rule 3)
	ManyLimit = 3000 // ids in an array (004 rule 3)

	AccessLimit = 0.1 // share of reads from which a way of access counts
	WriteLimit  = 1.0 // reads per write below which data isn't embedded
	CopyLimit   = 10. // reads per change from which a copy pays, with few copies

	ArrayLimit = 1 << 20  // bytes of an array in a document
	WasteLimit = 16 << 10 // bytes that an average read loads but doesn't show
	HotLimit   = 100      // writes to one document in a second

	NestedLimit = 1000 // reads per change from which a tree's nodes may be numbered
)

// An Assumption is the value that [Choose] assumed for a missing field.
type Assumption struct {
	Field string  // as in [Change]
	Value float64 // in the field's unit; 0 means none
}

// String returns "ReadsPerAdd 10", or "Child.Alone none".
func (a Assumption) String() string {
	if a.Value == 0 {
		return a.Field + " none"
	}
	return a.Field + " " + ratioText(a.Value)
}
