package advise

// None is the value for a number of a [Relation] that is known to be zero. A field that
// is 0 means unknown: [Choose] assumes its default, and lists it in Assumed of [Advice].
const None = -1

// A Relation describes two kinds of documents that belong together: parents and children.
// Set one or more of Parent.Has, Child.Has and Tree.
//
// A share is a number from 0 to 1. In a ratio such as ReadsPerChange, math.Inf(1) means
// that there are no changes.
type Relation struct {
	Parent, Child End

	// ReadsPerAdd is a ratio: reads of a parent with its children, per child added or
	// removed. The default is 10.
	ReadsPerAdd float64

	// LinkBytes is the size of fields that belong to a pair of parent and child, such as
	// a role or quantity.
	LinkBytes int64

	// Atomic means that a parent and its children, or both ends of a link, must change in
	// one step without a transaction. Size limits still apply.
	Atomic bool

	// Set Tree if documents of one collection form a tree. Leave Child empty. Parent
	// describes the nodes: set only Name, Has, Bytes and IDBytes of Parent.
	Tree Tree

	// Now is how the relation is stored today, for Migration of [Advice]. Zero means that
	// the relation isn't stored yet.
	Now Choice
}

// An End is one of the two kinds of documents of a [Relation].
type End struct {
	Name string // a plural, for texts: "people"; the default is "parents" or "children"

	// Has is how many documents of the other end one document of this end has: Parent.Has
	// counts a parent's children. The default is one.
	Has Count

	Bytes   int64 // BSON size of a document without the other end ([Budget.Size]); the default is 512
	IDBytes int64 // size of an _id value without type and name; the default is 12

	// Alone is the share of this end's reads that find a document by its own id or
	// fields, not by a document of the other end. [None] means 0. In a one-to-one
	// relation, the end with the greater Alone becomes the parent. The default is
	//
	//   - many-to-many: 1 for both ends
	//   - one-to-many: 1 for the "one" end, 0 for the "many" end
	//   - one-to-one: 1 for the parent, 0 for the child
	Alone float64

	// Shows is the share of this end's reads that show documents of the other end. Reads
	// that show only a [Total] don't count. [None] means 0. The default is 1 in these
	// cases, otherwise 0:
	//
	//   - A document of this end has several documents of the other end.
	//   - The relation is one-to-one.
	//   - The other end's Copied, Newest or Page is set.
	Shows float64

	// ReadsPerChange is how often a document of this end is read for each change of its
	// fields. The default is 100.
	ReadsPerChange float64

	Value   bool    // a plain value: a tag, a phone number
	Kinds   int64   // kinds with different fields; the default is 1
	Ordered bool    // a document of the other end orders these documents: a playlist
	Days    float64 // days for which a document is needed; the default is forever

	Versions bool // every version is kept
	Log      bool // changes are stored as events
	Sharded  bool // the shard key is the reference to the other end's document
	Events   bool // each change is sent to other systems

	// Copied, Newest, Page and Total say what documents of the other end show of this
	// end's documents.
	Copied Copied // a few fields of each document
	Newest Newest // the first few documents
	Page   int64  // ordered pages of this many documents, which seldom change
	Total  Total  // a count, a sum
}

// A Count, the type of [End].Has, says how many documents of the other end one document
// has: how many children a parent has.
type Count struct {
	Typical int64 // the median; the default is P99, or else Max, or else 3001
	P99     int64 // 99 of 100 documents have at most this many; the default is Max
	Max     int64 // the greatest count today; the default is five times Typical, or P99 if greater

	Fixed     bool    // the application limits the number to Max: eleven players
	Unbounded bool    // nothing limits the number; Max is the greatest seen
	PerDay    float64 // how many the fastest-growing document gains in a day; the default is 0
	Days      float64 // for how many days PerDay continues; the default is 3650

	// PerSecond is how many documents of the other end one document gains in its busiest
	// second.
	PerSecond float64

	// AtLeast means that Max and P99 come from a sample. Other documents can have more.
	AtLeast bool
}

// Copied describes fields of an [End] that the other end shows.
type Copied struct {
	Fields string // names, for texts: "name, thumbnail"; "" means none
	Bytes  int64  // of values and names in one copy; the default is 64

	// ReadsPerChange is how many reads show the fields for each change of the fields.
	// Count the reads of all copies. The default is 100 times the number of copies.
	ReadsPerChange float64

	Strong bool // readers must never see an old value
	Whole  bool // the source has no other fields
}

// Newest describes reads that show only the newest documents of an [End]. For articles
// shown with their last comments, set Newest in the End that describes the comments.
type Newest struct {
	N             int64   // how many; 0 means none
	Bytes         int64   // shown of each document; the default is the whole document
	ReadsPerWrite float64 // reads that show them for each addition; the default is ReadsPerAdd
	Drop          bool    // older documents may be lost
}

// A Total of an [End] is a number computed from that end's documents. It is shown with a
// document of the other end: an article with the count of its comments.
type Total struct {
	ReadsPerChange float64 // reads of the total for each change; 0 means no total
	Distinct       bool    // counts each member once: the visitors of a site, not the visits
	ByTime         bool    // shown by hour, day or month of the documents
	Rough          bool    // may be off by a few percent
}

// A Tree describes a tree of documents: its size, and how it is read and changed.
type Tree struct {
	Nodes  int64 // in the largest tree; 0 means that the relation isn't a tree
	Levels int64 // in the deepest tree; the default is 5

	// Whole, Below and Above are shares of all reads. The default is 0. All other reads
	// need one node, or a node and its children.
	Whole    float64 // reads of the whole tree
	Below    float64 // reads of the nodes below a node
	Above    float64 // reads of the nodes from a node up to the root
	Preorder bool    // descendants are needed in the order of the tree
	Ordered  bool    // children have an order kept by hand

	// ReadsPerMove is the number of reads of the tree for each node that is inserted,
	// moved or deleted. The default is 100.
	ReadsPerMove float64
}

// Limits of the rules of [Choose]. The package's comment names the sources.
const (
	FewLimit  = 300  // children to embed (004 rule 3)
	ManyLimit = 3000 // ids in an array (004 rule 3)

	AccessLimit = 0.1 // a kind of reads with a smaller share is ignored (004 rules 2, 6)
	WriteLimit  = 1.0 // minimum reads per write to embed data (000, 002 §3)
	CopyLimit   = 10. // minimum reads per change to store up to 10 copies (004 rule 5)

	ArrayLimit = 1 << 20  // bytes of an array in a document (Firestore)
	WasteLimit = 16 << 10 // bytes that an average read loads but doesn't show (manual)
	HotLimit   = 100      // writes to one document in a second (Firestore)

	NestedLimit = 1000 // minimum reads per change of a tree to use a NestedSet (manual)
)

// An Assumption is the value that [Choose] assumed for a missing field.
type Assumption struct {
	Field string  // as in [Change]
	Value float64 // in the field's unit; 0 means zero, not unknown
}

// String returns "ReadsPerAdd 10", or "Child.Alone none" for the value 0.
func (a Assumption) String() string {
	if a.Value == 0 {
		return a.Field + " none"
	}
	return a.Field + " " + ratioText(a.Value)
}
