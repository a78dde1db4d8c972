package advise

// None says that a number of a [Relation] is known and is zero: no document of this end is read on its own, nothing is
// added. A field's zero value says that the number isn't known. [Choose] then assumes what the field's comment says, and
// lists it in [Advice.Assumed].
const None = -1

// A Relation describes how documents of two kinds belong together: a parent has children. Give at least one of
// Parent.Has and Child.Has, or Tree. If it is asked with its ends swapped, the answer is the same, and [Advice.Parent] says
// which end the answer treats as the parent.
//
// A Relation holds plain values: two of them can be compared, and a copy shares nothing. Shares are of 1: 0.3 is three
// reads in ten. Ratios count both sides in the same time. The ratio of something that never changes is math.Inf(1).
type Relation struct {
	Parent, Child End

	// ReadsPerAdd is how often a parent and its children are read together for each child that is added to it or removed
	// from it. The default is 10.
	ReadsPerAdd float64

	// LinkBytes is the size of fields that belong to a pair and to neither end: a role, a quantity. The default is none.
	LinkBytes int64

	// Atomic says that a parent and its children, or both ends of a link, must change in one step without a transaction.
	// It can't make children fit that are too many or too large to embed.
	Atomic bool

	// Tree is set if both ends are one collection, whose documents form a tree. Then Parent describes the nodes by Name, Has,
	// Bytes and IDBytes alone, and Child stays empty.
	Tree Tree

	// Now is how the relation is stored today, with the end named Parent as the parent. [Advice.Migration] then says how to
	// get from there to the advice. The zero value says that nothing is stored yet.
	Now Choice
}

// An End is one of the two kinds of documents of a [Relation].
type End struct {
	Name string // in the plural, for the text: "people", "addresses"; the default is "parents" or "children"

	// Has counts the documents of the other end that belong to one document of this end: Parent.Has counts children. The
	// default is one.
	Has Count

	Bytes   int64 // the BSON size of one document without the other end's ([Budget.Size]), at most 16 MB; the default is 512
	IDBytes int64 // the size of an _id as a value, without type and name; the default is 12, an ObjectID's

	// Alone is the share of this end's reads that begin here: a document is found by its own id or fields. Other reads come
	// from a document of the other end. The default is 1 for an end that has several documents of the other and for the
	// parent of a one-to-one relation. For other ends it is none. In a one-to-one relation, the end with more of such
	// reads is the one that may embed the other.
	Alone float64

	// Shows is the share of this end's reads that show documents of the other end too. A [Total] shows no documents. The default
	// is 1 for an end that has several documents of the other, and for both ends of a one-to-one relation. For an end that
	// has one document of several ends it is none, or 1 if something of the other end is shown there.
	Shows float64

	// ReadsPerChange is how often a document of this end is read for each time that one of its fields changes. The
	// default is 100.
	ReadsPerChange float64

	Value   bool    // a plain value with no identity and no fields of its own: a tag, a phone number
	Kinds   int64   // how many kinds of documents with different fields there are; the default is 1
	Ordered bool    // the document of the other end keeps these in an order made by hand: a playlist
	Days    float64 // how many days a document is of use, after which it may be deleted; the default is forever

	Versions bool // every version of a document is kept: who changed it, when and why
	Log      bool // what happens to a document is stored as events, and its state is made of them
	Sharded  bool // these are divided among shards by the document of the other end
	Events   bool // each change of a document is told to other systems, and none may be lost

	// Copied and the fields below it say what of this end's documents is shown where the other end is read. The default is
	// nothing.
	Copied Copied // a few fields
	Newest Newest // the first few documents by some order
	Page   int64  // documents in their order, this many at a time; a document seldom changes once it was added
	Total  Total  // a number made of them: how many, their sum
}

// A Count says how many documents of the other end one document has.
type Count struct {
	Typical int64 // the median; the default is P99 or Max, and 3001 if nothing bounds the count
	P99     int64 // 99 in 100 have at most so many; the default is Max
	Max     int64 // of the one that has most, today; the default is five times Typical

	Fixed     bool    // a rule of the application keeps their number at or below Max: eleven players, ten pictures
	Unbounded bool    // nothing ends their number; Max is then the most that was seen
	PerDay    float64 // how many the one that has most gains in a day; the default is none
	Days      float64 // how many days it goes on gaining; the default is 3650, ten years. Only with PerDay

	// PerSecond is how many are added to one document in its busiest second. The default is none worth mentioning.
	PerSecond float64

	// AtLeast says that Max and P99 are of a sample: there may be documents with more.
	AtLeast bool
}

// Copied names fields that are shown with the other end, and may be stored there a second time.
type Copied struct {
	Fields string // their names, for the text: "name, thumbnail"; "" means that no fields are shown
	Bytes  int64  // of their values and names in one copy; the default is 64

	// ReadsPerChange is how many reads show the fields for each change of one of them at its source, in all the documents that
	// would hold a copy. The default is 100 for each of these documents.
	ReadsPerChange float64

	Strong bool // readers must never see an old value
	Whole  bool // nothing else of the source is kept: it needs no document of its own
}

// Newest says that the first few documents by some order are shown with the document that they belong to.
type Newest struct {
	N             int64   // how many; 0 means that a reader of the other end isn't shown the first few
	Bytes         int64   // of what is shown of one of them; the default is the size of the whole document
	ReadsPerWrite float64 // reads that show them for each document that is added; the default is ReadsPerAdd
	Drop          bool    // documents that are no longer among them may be lost
}

// A Total is a number that is made of an end's documents and shown with the document that they belong to.
type Total struct {
	ReadsPerChange float64 // reads that show it for each change of the number; 0 means that no number is shown
	Distinct       bool    // it counts different members, however often each comes
	ByTime         bool    // it is shown by the hour, day or month in which the documents were added
	Rough          bool    // it may be off by a few parts in a hundred
}

// A Tree says how documents of one collection, each of which has at most one parent, are read and written as a tree.
type Tree struct {
	Nodes  int64 // in the largest tree; 0 means that the relation isn't a tree
	Levels int64 // in the deepest tree; the default is 5

	// Shares of the reads of nodes that ask for more than the node itself and its children.
	Whole    float64 // for the whole tree, to show it at once; the default is none
	Below    float64 // for all nodes below one; the default is none
	Above    float64 // for all nodes above one, up to the root; the default is none
	Preorder bool    // what is below is wanted in the order of the tree
	Ordered  bool    // the children of a node have an order of their own, kept by hand

	// ReadsPerMove is how often the tree is read for each node that is added, moved or deleted. The default is 100.
	ReadsPerMove float64
}

// Limits of the rules. The texts say "a few hundred" and "a few thousand"; a few is three here. Limits without a source
// are this package's own.
const (
	FewLimit  = 300  // children that may be embedded: "more than a few hundred documents on the many side: don't embed" (004 rule 3)
	ManyLimit = 3000 // ids in an array: "more than a few thousand: don't use an array of ObjectID references" (004 rule 3)

	AccessLimit = 0.1 // the share of reads from which on a way of access counts: one read in ten
	WriteLimit  = 1.0 // reads per write below which data doesn't belong into what it is read with (000, 002 §3, 004 part 2)
	CopyLimit   = 10. // reads per change from which on a copy pays, if few documents hold it: "much more often" (004 rule 5)

	ArrayLimit = 1 << 20  // bytes of an array within a document, which every read of it takes into memory whole (Firestore, limits)
	WasteLimit = 16 << 10 // bytes that a read takes into memory, on average, and doesn't show
	HotLimit   = 100      // writes to one document in a second

	NestedLimit = 1000 // reads per change from which on a tree's nodes may be numbered: "best for static trees" (MongoDB)
)

// An Assumption is what [Choose] took a field for that the relation doesn't give.
type Assumption struct {
	Field string  // as in [Change]
	Value float64 // in the field's unit; 0 is none
}

// String is "ReadsPerAdd 10", or "Child.Alone none".
func (a Assumption) String() string {
	if a.Value == 0 {
		return a.Field + " none"
	}
	return a.Field + " " + ratioText(a.Value)
}
