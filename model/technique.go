package model

// A Technique is a declared way of modeling: what [Indexes] and other walks over a model need of it. Every type of
// packages relate, denorm and paths is one.
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
