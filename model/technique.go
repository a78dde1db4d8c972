package model

// A Technique is a declared way of modeling: what [Indexes] and other walks over a model need of it. Each type of packages
// relate, denorm, paths, keys, schema and geofield that a New function declares is one, but for those that only read or compute
// (relate.Join, paths.Forest, paths.RollUp) and denorm.Feed, which stores what a function of yours says: it has indexes, and no
// relations. Of this package, [Embedded], [EmbeddedOne], [Nested], [Kinds] and [Versioned] are, and what [Entity] makes.
type Technique interface {
	Indexes() []Index
	Relations() []Relation
}

// Cardinality says how many documents stand at one end of a relation.
type Cardinality uint8

const (
	ZeroOrOne Cardinality = iota
	ExactlyOne
	Many
)

// A Relation ties two collections, for diagrams and checks.
type Relation struct {
	From, To         string // collections
	FromPath, ToPath string // the paths that tie them; the stored one and what it points at
	FromEnd, ToEnd   Cardinality
	Label            string // what the relation is called, e.g. the technique
}
