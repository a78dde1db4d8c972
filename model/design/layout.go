package design

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// A Layout says how each relation of a workload is stored. Relations that it doesn't name are references. The zero Layout is the
// normalized one: a collection for each entity, and a reference for each relation.
type Layout struct {
	Name   string
	Stored map[string]Storage // by the relation's name: "bids.item"
}

// A Storage is how a relation is stored.
type Storage struct {
	As Structure

	// Copy are fields of the parent that each child holds a copy of (denorm.Copy). They are the parent's own fields or
	// relations, by name.
	Copy []string

	// Newest is how many of its children the parent holds as well, whole: those with the greatest values of the field By (denorm.Subset).
	Newest int64
	By     string

	// Page is how many children a document holds, if they are Paged.
	Page int64

	// Count says that the parent holds how many children it has, in a field named after its list: bidsCount (denorm.Counter).
	Count bool
}

// A Structure is where a relation is kept.
type Structure uint8

const (
	// Reference: the child holds the _id of its parent (relate.ParentRef). If the relation is Ordered, the parent lists the _ids of
	// its children instead (relate.ChildRefs).
	Reference Structure = iota
	Embedded            // the children are elements of an array in their parent (embed.Embedded)
	Paged               // the children are kept in the order of insertion, so many to a document (denorm.Bucket)
)

// String is the structure as the documents of this library call it.
func (s Structure) String() string {
	if int(s) < len(structureNames) {
		return structureNames[s]
	}
	return "unknown"
}

var structureNames = [...]string{"reference", "embedded", "paged"}

// String is the layout in one line: what isn't a plain reference.
func (l Layout) String() string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(l.Stored)) {
		if s := l.Stored[name]; !s.plain() {
			parts = append(parts, name+" "+s.String())
		}
	}
	return cmp.Or(strings.Join(parts, "; "), "references only")
}

// String is the storage in words: "embedded", "reference with a copy of name".
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
	if s.Count {
		with = append(with, "a count in the parent")
	}
	if with == nil {
		return s.As.String()
	}
	return s.As.String() + " with " + strings.Join(with, " and ")
}

// plain reports whether a relation is stored once, as a reference.
func (s Storage) plain() bool {
	return s.As == Reference && len(s.Copy) == 0 && s.Newest == 0 && !s.Count
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
