package advise

import "strings"

// A Choice says how to store a relation, by one structure and additions to it:
//
//	advise.ParentRef | advise.Subset
//
// The zero Choice means that nothing is chosen.
type Choice uint32

// The structures of a [Choice].
const (
	Embed     Choice = 1 + iota // children in the parent: embed.Embedded, embed.One
	Values                      // an array of plain values in the parent
	Outlier                     // Embed with overflow documents: denorm.Outlier
	ChildRefs                   // the parent lists the children's ids: relate.ChildRefs
	ParentRef                   // each child has the parent's id: relate.ParentRef
	TwoWay                      // both sides have ids: relate.TwoWay, relate.ManyToMany
	Links                       // a document for each pair: relate.JoinCollection, denorm.WideRow
	Bucket                      // documents with many children each: denorm.Bucket

	DocumentTree     // a tree within one document: paths.DocumentTree
	ParentTree       // a node has the parent's id: paths.NewParentTree
	ChildTree        // a node has the ids of parent and children: paths.NewChildTree
	AncestorArray    // a node lists all ancestors: paths.NewAncestorArray
	MaterializedPath // a node has the path from the root: paths.NewMaterializedPath
	NestedSet        // each node has a range of numbers: paths.NewNestedSet

	structure Choice = 0xf
)

// The additions to the structure of a [Choice].
const (
	Bounded        Choice = 1 << (4 + iota) // only the newest children are kept: denorm.Bounded
	Subset                                  // the newest children, copied into the parent: denorm.Subset
	CopyIntoParent                          // the children's fields, copied into the parent: denorm.Copy
	CopyIntoChild                           // the parent's fields, copied into each child: denorm.Copy
	Fold                                    // no parent documents, only their copies: denorm.Copy.Fold
	Counter                                 // the parent has a total of its children: denorm.Counter
	CountInChild                            // each child has a total of its parents: denorm.Counter
	Distinct                                // a count of different children: denorm.UniqueCount
	Approximate                             // an estimated count with few writes: denorm.Approximate
	Slots                                   // an exact total, split over several documents: denorm.Slots
	Kinds                                   // children of several kinds: embed.Union, embed.Kinds
	Versions                                // all versions of a document: denorm.History
	Log                                     // states computed from events: denorm.EventLog
	Binned                                  // totals by hour, day and month: denorm.Rollup
	SpreadKey                               // a parent's children on several shards: keys.Spread
	Events                                  // changes are sent to other systems: denorm.Outbox
	Expiry                                  // old children are deleted: schema.Expiry
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

// Structure returns c without its additions: [Embed] for Embed|Counter.
func (c Choice) Structure() Choice { return c & structure }

// Has reports whether c has the structure (such as [Embed]) and all additions (such as
// [Counter]) of the choice part. A part without a structure fits any structure of c.
func (c Choice) Has(part Choice) bool {
	if s := part & structure; s != 0 && s != c&structure {
		return false
	}
	return c&(part&^structure) == part&^structure
}

// String returns the choice in words: "parent reference, the newest in the parent".
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

// mirrored are pairs that mean the same for swapped ends.
var mirrored = [][2]Choice{{CopyIntoParent, CopyIntoChild}, {Counter, CountInChild}}

// turned returns the choice that stores the same documents with swapped ends. References
// change sides.
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
