package advise

import "strings"

// A Choice says how to store a relation. It is one structure, and any additions:
//
//	advise.ParentRef | advise.Subset
//
// The zero Choice means that nothing is chosen.
type Choice uint32

// The structures of a [Choice].
const (
	Embed     Choice = 1 + iota // children in the parent: embed.Embedded, embed.One
	Values                      // plain values in the parent's array
	Outlier                     // Embed, and extra documents for long arrays: outlier.Outlier
	ChildRefs                   // children's ids in the parent: childrefs.ChildRefs
	ParentRef                   // the parent's id in each child: parentref.ParentRef
	TwoWay                      // ids on both sides: twosided.TwoWay, twosided.ManyToMany
	Links                       // links in extra documents: joincollection.JoinCollection, widerow.WideRow
	Bucket                      // many children in each document: bucket.Bucket

	DocumentTree     // a tree in one document: paths.DocumentTree
	ParentTree       // the parent's id in each node: paths.NewParentTree
	ChildTree        // the parent's and children's ids in each node: paths.NewChildTree
	AncestorArray    // all ancestors' ids in each node: paths.NewAncestorArray
	MaterializedPath // the path from the root in each node: paths.NewMaterializedPath
	NestedSet        // a range of numbers in each node: paths.NewNestedSet

	structure Choice = 0xf
)

// Additions to a [Choice]'s structure.
const (
	Bounded        Choice = 1 << (4 + iota) // only the newest children: bounded.Bounded
	Subset                                  // copies of the newest children in the parent: subset.Subset
	CopyIntoParent                          // copies of children's fields in the parent: copies.Copy
	CopyIntoChild                           // copies of the parent's fields in each child: copies.Copy
	Fold                                    // deletes parents; children keep copies: copies.Copy.Fold
	Counter                                 // the parent stores its children's total: counter.Counter
	CountInChild                            // each child stores its parents' total: counter.Counter
	Distinct                                // a count of distinct children: uniquecount.UniqueCount
	Approximate                             // an estimated count with few writes: approximate.Approximate
	Slots                                   // an exact total in several documents: slots.Slots
	Kinds                                   // children with different fields: embed.Union, embed.Kinds
	Versions                                // every version of a document: history.History
	Log                                     // states computed from events: eventlog.EventLog
	Binned                                  // totals by hour, day and month: rollup.Rollup
	SpreadKey                               // a parent's children on several shards: keys.Spread
	Events                                  // messages to other systems for each change: outbox.Outbox
	Expiry                                  // deletion of old children: schema.Expiry
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
	{Approximate, "an approximate counter"}, {Slots, "a counter in several documents"}, {Kinds, "several kinds"},
	{Versions, "every version"}, {Events, "an outbox"}, {SpreadKey, "a spread key"}, {Log, "an event log"},
	{Binned, "roll-ups"}, {Expiry, "expiry"},
}

// Structure returns c without its additions: [Embed] for Embed|Counter.
func (c Choice) Structure() Choice { return c & structure }

// Has reports whether c has part's structure (such as [Embed]) and all of part's
// additions (such as [Counter]). If part has no structure, Has compares only additions.
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
