package advise

import "strings"

// A Choice is how a relation is stored: one structure, and what is added to it. Compare choices with ==, or ask for a part
// of one with [Choice.Has]:
//
//	advise.ParentRef | advise.Subset
//
// The zero Choice is none.
type Choice uint32

// Structures. A choice has one.
const (
	Embed     Choice = 1 + iota // children are within their parent: embed.Embedded, or embed.One if there is one
	Values                      // an array of plain values in the parent
	Outlier                     // children are within their parent, and the rest of the few largest beside it: denorm.Outlier
	ChildRefs                   // the parent lists the ids of its children: relate.ChildRefs
	ParentRef                   // each child holds the id of its parent: relate.ParentRef
	TwoWay                      // both sides hold ids: relate.TwoWay, or relate.ManyToMany for shared children
	Links                       // a document for each pair: relate.JoinCollection, or denorm.WideRow with copies
	Bucket                      // children are stored a page to a document: denorm.Bucket

	DocumentTree     // a tree within one document: paths.DocumentTree
	ParentTree       // each node holds its parent's id: paths.NewParentTree
	ChildTree        // each node also lists its children: paths.NewChildTree
	AncestorArray    // each node lists all its ancestors: paths.NewAncestorArray
	MaterializedPath // each node holds its path from the root: paths.NewMaterializedPath
	NestedSet        // each node holds two numbers around those of the nodes below it: paths.NewNestedSet

	structure Choice = 0xf
)

// Additions.
const (
	Bounded        Choice = 1 << (4 + iota) // the array keeps the newest, and drops the rest: denorm.Bounded
	Subset                                  // the newest are in the parent too: denorm.Subset
	CopyIntoParent                          // fields of the children are copied to where the parent lists them: denorm.Copy
	CopyIntoChild                           // fields of the parent are copied into each child: denorm.Copy
	Fold                                    // all of the parent is copied, and it has no document of its own: denorm.Copy.Fold
	Counter                                 // a number made of the children is kept in the parent: denorm.Counter
	CountInChild                            // a number made of the parents is kept in each child: denorm.Counter
	Distinct                                // different children are counted: denorm.UniqueCount
	Approximate                             // a rough count is written once in n times: denorm.Approximate
	Slots                                   // an exact number that changes too often for one document: denorm.Slots
	Kinds                                   // children of several kinds: embed.Union, or embed.Kinds
	Versions                                // every version of a document is kept: denorm.History
	Log                                     // states are made of events: denorm.EventLog
	Binned                                  // numbers by hour, day and month: denorm.Rollup
	SpreadKey                               // children of one parent on several shards: keys.Spread
	Events                                  // each change is told to others: denorm.Outbox
	Expiry                                  // children are deleted when their time is over: schema.Expiry
)

var structureNames = [...]string{
	Embed: "embed", Values: "an array of values", Outlier: "embed, with overflow", ChildRefs: "child references",
	ParentRef: "parent reference", TwoWay: "two-way references", Links: "a document for each link", Bucket: "buckets",
	DocumentTree: "a tree in one document", ParentTree: "parent links", ChildTree: "parent links and lists of children",
	AncestorArray: "ancestor arrays", MaterializedPath: "materialized paths", NestedSet: "nested sets",
}

var additions = []struct {
	c    Choice
	name string
}{
	{Bounded, "bounded"}, {Subset, "the newest in the parent"}, {CopyIntoParent, "copies in the parent"},
	{CopyIntoChild, "copies in the children"}, {Fold, "the parent folded away"}, {Counter, "a counter in the parent"},
	{CountInChild, "a counter in each child"}, {Distinct, "a count of different children"},
	{Approximate, "an approximate counter"}, {Slots, "a counter in several documents"}, {Kinds, "several kinds"}, {Versions, "every version"},
	{Events, "an outbox"}, {SpreadKey, "a spread key"}, {Log, "an event log"}, {Binned, "roll-ups"}, {Expiry, "expiry"},
}

// Structure is the choice without additions.
func (c Choice) Structure() Choice { return c & structure }

// Has reports whether the choice has the structure and all the additions of part. Either may be missing in part.
func (c Choice) Has(part Choice) bool {
	if s := part & structure; s != 0 && s != c&structure {
		return false
	}
	return c&(part&^structure) == part&^structure
}

// String is the choice in words: "parent reference, the newest in the parent".
func (c Choice) String() string {
	s := c & structure
	if s == 0 || int(s) >= len(structureNames) {
		return "none"
	}
	words := []string{structureNames[s]}
	for _, a := range additions {
		if c&a.c != 0 {
			words = append(words, a.name)
		}
	}
	return strings.Join(words, ", ")
}

// mirrored pairs say the same of swapped ends.
var mirrored = [][2]Choice{{CopyIntoParent, CopyIntoChild}, {Counter, CountInChild}}

// turned is the choice for the same documents with the ends swapped. Of the structures, references change sides.
func (c Choice) turned() Choice {
	s, out := c&structure, c&^structure
	switch s {
	case ChildRefs:
		s = ParentRef
	case ParentRef:
		s = ChildRefs
	}
	for _, m := range mirrored {
		if has, other := c&m[0] != 0, c&m[1] != 0; has != other {
			out ^= m[0] | m[1]
		}
	}
	return s | out
}
