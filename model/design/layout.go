package design

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// A Layout says how each relation of a workload is stored. A relation that isn't in
// Stored has the structure [Reference].
type Layout struct {
	Name   string
	Stored map[string]Storage // the storage of each relation, by the relation's name: "bids.item"
}

// A Storage says how one relation is stored.
type Storage struct {
	As Structure

	// Copy names the parent's fields, including references, that each child copies
	// (copies.Copy). Copy needs As = Reference.
	Copy []string

	// Newest is how many children the parent also stores, without copied fields (Copy).
	// By names the field that sorts the children, greatest first. If As is Paged, the
	// technique is bounded.Bounded, otherwise subset.Subset. The zero values mean no
	// stored children.
	Newest int64
	By     string

	// If As is Paged, Page is the number of children in one document.
	Page int64

	// With Totals, the parent stores totals listed in Access.Fields, such as
	// "count(bids)" (counter.Counter).
	Totals bool
}

// A Structure says where the children of a relation are stored.
type Structure uint8

const (
	// Reference means that a child contains its parent's _id (parentref.ParentRef). With
	// Relation.Ordered, a parent lists its children's _ids (childrefs.ChildRefs). In a
	// many-to-many relation, a child lists its parents' _ids (childrefs.ChildRefs). With
	// Storage.Copy, such a child lists copies of its parents (embed.Embedded).
	Reference Structure = iota
	Embedded            // children are in an array of their parent (embed.Embedded)
	Paged               // a document contains several children of one parent, in insertion order (bucket.Bucket)
)

// text returns the structure as a word: "embedded".
func (s Structure) text() string {
	if int(s) < len(structureNames) {
		return structureNames[s]
	}
	return "unknown"
}

var structureNames = [...]string{"reference", "embedded", "paged"}

// String describes the layout in one line. It leaves out relations that are stored only
// as references.
func (l Layout) String() string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(l.Stored)) {
		if s := l.Stored[name]; !s.plain() {
			parts = append(parts, name+" "+s.text())
		}
	}
	return cmp.Or(strings.Join(parts, "; "), "references only")
}

// text describes the storage: "reference with a copy of name".
func (s Storage) text() string {
	var with []string
	if len(s.Copy) > 0 {
		with = append(with, "a copy of "+strings.Join(s.Copy, ", "))
	}
	if s.Newest > 0 {
		with = append(with, fmt.Sprintf("the newest %d by %s in the parent", s.Newest, s.By))
	}
	if s.Page > 0 {
		with = append(with, fmt.Sprintf("%d to a document", s.Page))
	}
	if s.Totals {
		with = append(with, "totals in the parent")
	}
	if with == nil {
		return s.As.text()
	}
	return s.As.text() + " with " + strings.Join(with, " and ")
}

// plain reports whether a relation is only a reference.
func (s Storage) plain() bool {
	return s.As == Reference && len(s.Copy) == 0 && s.Newest == 0 && !s.Totals
}

// with returns the layout with another storage of one relation.
func (l Layout) with(relation string, s Storage) Layout {
	stored := maps.Clone(l.Stored)
	if stored == nil {
		stored = map[string]Storage{}
	}
	stored[relation] = s
	return Layout{Name: l.Name, Stored: stored}
}
