package model

import (
	"fmt"
	"strings"
)

// An IndexSet lists a model's indexes. [IndexSet.Ensure] doesn't create those in Dropped.
type IndexSet struct {
	Needed  []Index
	Dropped []DroppedIndex
}

// A DroppedIndex is a needed index that isn't created, because another index covers it.
type DroppedIndex struct {
	Index Index
	By    string // covering index's name
	Why   string
}

// String returns the set as mongosh commands. The indexes in Dropped become comments.
func (s IndexSet) String() string {
	var b strings.Builder
	for _, x := range s.Needed {
		b.WriteString(x.String() + "\n")
	}
	for _, d := range s.Dropped {
		fmt.Fprintf(&b, "// %s.%s is covered by %s: %s\n", d.Index.Collection, d.Index.Name, d.By, d.Why)
	}
	return b.String()
}

// An IndexDiff is the difference between an [IndexSet] and the indexes of a database.
type IndexDiff struct {
	Missing []Index  // indexes that don't exist, even under other names
	Changed []Index  // indexes that exist with other keys or options
	Extra   []string // unneeded indexes in the set's collections, as "collection.name"
}

// Empty reports whether no index is missing or changed.
func (d IndexDiff) Empty() bool { return len(d.Missing) == 0 && len(d.Changed) == 0 }
