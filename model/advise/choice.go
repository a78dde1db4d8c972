package advise

import "strings"

// A Choice is how a relation is stored: one structure, and what is added to it. Compare choices with ==, or ask for a part of one
// with [Choice.Has]:
//
//	advise.ParentRef | advise.Subset
//
// The zero Choice is none.
type Choice uint16

// Structures. A choice has one.
const (
	Embed     Choice = 1 + iota // the children are within their parent: embed.Embedded
	ChildRefs                   // the parent lists the ids of its children: relate.ChildRefs
	ParentRef                   // a child holds the id of its parent, or the ids of its few parents: relate.ParentRef
	TwoWay                      // both: relate.TwoWay, or relate.ManyToMany for shared children
	Links                       // a document for each pair: relate.JoinCollection, or denorm.WideRow with copies
	Bucket                      // the children are stored a page to a document: denorm.Bucket

	structure Choice = 0xf
)

// Additions.
const (
	Bounded        Choice = 1 << (4 + iota) // the array keeps the newest, and drops the rest: denorm.Bounded
	Subset                                  // the newest are in the parent too: denorm.Subset
	CopyIntoParent                          // fields of the children are copied to where the parent lists them: denorm.Copy
	CopyIntoChild                           // fields of the parent are copied into each child: denorm.Copy
	Fold                                    // all of the parent is, and it has no document of its own: denorm.Copy.Fold
	Counter                                 // a number made of the children is kept in the parent: denorm.Counter
)

var structureNames = [...]string{
	Embed: "embed", ChildRefs: "child references", ParentRef: "parent reference", TwoWay: "two-way references",
	Links: "a document for each link", Bucket: "buckets",
}

var additions = []struct {
	c    Choice
	name string
	typ  string
}{
	{Bounded, "bounded", "denorm.Bounded"}, {Subset, "the newest in the parent", "denorm.Subset"},
	{CopyIntoParent, "copies in the parent", "denorm.Copy"}, {CopyIntoChild, "copies in the children", "denorm.Copy"},
	{Fold, "the parent folded away", "denorm.Copy.Fold"}, {Counter, "a counter in the parent", "denorm.Counter"},
}

// Structure is the choice without what is added.
func (c Choice) Structure() Choice { return c & structure }

// Has reports whether the choice has a structure and all additions of another, either of which may be missing there.
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

// types are the library's types that store what was chosen. shared says that a child has several parents.
func (c Choice) types(shared bool) []string {
	var out []string
	add := func(name string) {
		if len(out) == 0 || out[len(out)-1] != name {
			out = append(out, name)
		}
	}
	copies := c & (CopyIntoParent | CopyIntoChild)
	switch s := c & structure; {
	case s == Embed && c&Bounded == 0:
		add("embed.Embedded")
	case s == ChildRefs, s == ParentRef && shared:
		add("relate.ChildRefs") // for shared children, declared from the child's side
	case s == ParentRef:
		add("relate.ParentRef")
	case s == TwoWay && shared:
		add("relate.ManyToMany")
	case s == TwoWay:
		add("relate.TwoWay")
	case s == Links && copies != 0:
		add("denorm.WideRow")
		c &^= copies
	case s == Links:
		add("relate.JoinCollection")
	case s == Bucket:
		add("denorm.Bucket")
	}
	for _, a := range additions {
		if c&a.c != 0 {
			add(a.typ)
		}
	}
	return out
}
