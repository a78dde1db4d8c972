package model

import "github.com/docmodel/docmodel/internal/core"

// A Footprint says how a technique uses a path of a collection's documents. [New] compares the footprints of a model's
// techniques, and refuses what can't hold together.
type Footprint struct {
	Collection string

	// Path is a path of the documents; what lies below it is meant too. [Whole] means that documents are inserted, replaced or deleted.
	Path string

	// Document is the _id of the one document that is meant, as text, in a collection where each technique has a document of its own.
	// "" means every document.
	Document string

	Use Use
}

// Whole is the Path of a [Footprint] of whole documents.
const Whole = "*"

// Use is how a technique uses a path.
type Use uint8

const (
	Reads  Use = iota // a filter of a query, a write or a check asks for it
	Mends             // checks, conversions and rebuilding write it; methods only if it is among Writes too
	Writes            // methods write it, and others may too
	Owns              // only this technique's own methods may write it: another write breaks its rules
	Guards            // it is a version that each write of a document counts up, as those of this technique do
	Spares            // others may write it without counting up what the technique Guards
)

// In returns the footprints of one use of some paths. "" and _id, which nobody changes, are left out.
func (u Use) In(collection string, paths ...string) (out []Footprint) {
	for _, p := range paths {
		if p != "" && p != "_id" {
			out = append(out, Footprint{Collection: collection, Path: p, Use: u})
		}
	}
	return out
}

// String is the use as a verb: owns.
func (u Use) String() string {
	if int(u) < len(useNames) {
		return useNames[u]
	}
	return "uses"
}

var useNames = [...]string{"reads", "mends", "writes", "owns", "guards", "spares"}

// String says what the technique does with the path: owns orders.total.
func (f Footprint) String() string {
	s := f.Use.String() + " " + f.Collection
	switch {
	case f.Document != "":
		s += " " + shell(f.Document)
	case f.Path == Whole:
		return s
	}
	return s + "." + f.Path
}

// meets reports whether two footprints are about the same values.
func (f Footprint) meets(g Footprint) bool {
	return f.Collection == g.Collection && (f.Document == g.Document || f.Document == "" || g.Document == "") &&
		(f.Path == Whole || g.Path == Whole || core.Overlap(f.Path, g.Path))
}
