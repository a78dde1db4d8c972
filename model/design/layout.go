package design

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// A Layout says how each relation of a workload is stored. A relation that is not in Stored
// is a Reference. The zero Layout is the normalized one: every entity has a collection, and
// every relation is a reference.
type Layout struct {
	Name   string
	Stored map[string]Storage // by the relation's name: "bids.item"
}

// A Storage says how one relation is stored.
type Storage struct {
	As Structure

	// Copy lists fields and relations of the parent. Every child holds a copy of them
	// (denorm.Copy). It needs a Reference, and a parent with a collection of its own.
	Copy []string

	// Newest is the number of children that the parent holds too, beside the place where all
	// children are stored: the children with the greatest values of the field By. They have
	// all their fields and relations, but no copies, because a denorm.Copy does not reach
	// into them (denorm.Subset; denorm.Bounded if the children are Paged).
	Newest int64
	By     string

	// Page is the number of children in one document, if the relation is Paged.
	Page int64

	// Totals means that the parent holds the totals that operations show (denorm.Counter), in
	// fields that are named after the list: bidsCount, bidsMaxPrice.
	Totals bool
}

// A Structure says where a relation is stored.
type Structure uint8

const (
	// Reference: the child holds the _id of its parent (relate.ParentRef). If the relation is
	// Ordered, the parent holds a list of the _ids of its children, and if it is many-to-many,
	// the child holds a list of the _ids of its parents (relate.ChildRefs; embed.Embedded if
	// it holds copies).
	Reference Structure = iota
	Embedded            // the children are elements of an array in their parent (embed.Embedded)
	Paged               // a document holds Page children of one parent, in the order of insertion (denorm.Bucket)
)

// String returns the structure as a word: embedded.
func (s Structure) String() string {
	if int(s) < len(structureNames) {
		return structureNames[s]
	}
	return "unknown"
}

var structureNames = [...]string{"reference", "embedded", "paged"}

// String describes the layout in one line. Plain references are left out.
func (l Layout) String() string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(l.Stored)) {
		if s := l.Stored[name]; !s.plain() {
			parts = append(parts, name+" "+s.String())
		}
	}
	return cmp.Or(strings.Join(parts, "; "), "references only")
}

// String describes the storage: "reference with a copy of name".
func (s Storage) String() string {
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
		return s.As.String()
	}
	return s.As.String() + " with " + strings.Join(with, " and ")
}

// plain reports whether a relation is stored once, as a reference.
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
