package model

import "github.com/docmodel/docmodel/internal/core"

// A Footprint says how a technique uses a path. [New] panics if footprints conflict.
type Footprint struct {
	Collection string

	// Path means a field with all fields below it. For inserts, replacements and
	// deletions, Path is [Whole].
	Path string

	// Document is the _id (as text) of a document that only this technique uses. ""
	// means every document.
	Document string

	Use Use
}

// Whole, as the Path of a [Footprint], means whole documents.
const Whole = "*"

// Use says how a [Footprint]'s path is used.
type Use uint8

const (
	Reads  Use = iota // the path is read
	Mends             // repairs, conversions and rebuilds write the path
	Writes            // several techniques' methods can write the path
	Owns              // only this technique's methods can write the path
	Guards            // the path is a version that each write of the document increments
	Spares            // the path's changes need no new document version
)

// In returns footprints with the use u, one for each path in paths. It skips "" and _id.
func (u Use) In(collection string, paths ...string) (out []Footprint) {
	for _, p := range paths {
		if p != "" && p != "_id" {
			out = append(out, Footprint{Collection: collection, Path: p, Use: u})
		}
	}
	return out
}

// verb returns the use as a verb: "owns".
func (u Use) verb() string {
	if int(u) < len(useNames) {
		return useNames[u]
	}
	return "uses"
}

var useNames = [...]string{"reads", "mends", "writes", "owns", "guards", "spares"}

// text says what the technique does with the path, such as "owns orders.total".
func (f Footprint) text() string {
	s := f.Use.verb() + " " + f.Collection
	switch {
	case f.Document != "":
		s += " " + shell(f.Document)
	case f.Path == Whole:
		return s
	}
	return s + "." + f.Path
}

// meets reports whether two footprints have documents and paths in common.
func (f Footprint) meets(g Footprint) bool {
	return f.Collection == g.Collection && (f.Document == g.Document || f.Document == "" || g.Document == "") &&
		(f.Path == Whole || g.Path == Whole || core.Overlap(f.Path, g.Path))
}
