package model

import "slices"

// A Technique is a declared modeling technique with the information that a [Model] needs.
// The types of packages embed, relate, denorm, paths, keys, schema and geofield that have
// a New function are techniques, except embed.Union, relate.Join, paths.Forest and
// paths.RollUp. [Entity] makes one of a collection. To write your own technique, embed
// [Parts].
type Technique interface {
	Indexes() []Index        // that its queries and writes need
	Relations() []Relation   // that it stores, for diagrams
	Checks() []Check         // that find and repair violations of its rules
	Footprints() []Footprint // the documents and paths that it uses
}

// Parts implements [Technique]. Each technique embeds Parts, and its type comment
// describes them.
type Parts struct {
	indexes    func() []Index
	relations  func() []Relation
	checks     func() []Check
	footprints func() []Footprint
	needs      []Need
}

// NewParts returns the Parts of a technique, for its constructor. Each function must
// return fresh values, or be nil. needs are the needs that [Model.Needs] can't derive
// from the indexes, without their Technique.
func NewParts(
	indexes func() []Index, relations func() []Relation, checks func() []Check, footprints func() []Footprint, needs ...Need,
) Parts {
	return Parts{indexes, relations, checks, footprints, slices.Clone(needs)}
}

// Indexes returns the indexes that the technique needs. [Model.Indexes] returns the
// indexes of a model.
func (p Parts) Indexes() []Index { return called(p.indexes) }

// Relations returns the relations that the technique stores, for [Model.Diagram].
func (p Parts) Relations() []Relation { return called(p.relations) }

// Checks returns the checks that find and repair violations of the technique's rules.
func (p Parts) Checks() []Check { return called(p.checks) }

// Footprints returns the documents and paths that the technique uses, for [New].
func (p Parts) Footprints() []Footprint { return called(p.footprints) }

func (p Parts) needed() []Need { return slices.Clone(p.needs) }

func called[T any](f func() []T) []T {
	if f == nil {
		return nil
	}
	return f()
}

// Cardinality is the number of documents at one end of a relation.
type Cardinality uint8

const (
	ZeroOrOne Cardinality = iota
	ExactlyOne
	Many
)

// A Relation connects two collections, for diagrams and checks.
type Relation struct {
	From, To         string // collections
	FromPath, ToPath string // the stored path, and the path that it refers to
	FromEnd, ToEnd   Cardinality
	Label            string // the relation's name, for example the technique
}
