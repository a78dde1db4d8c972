package model

import "slices"

// A Technique is a declared way of modeling: what a [Model] needs to know of it. Each type of packages
// embed, relate, denorm, paths, keys, schema and geofield that a New function declares is one, but for those that only read or compute
// (relate.Join, paths.Forest, paths.RollUp), and embed.Union. Of this package, [Entity] makes one. A technique of your own embeds
// [Parts].
type Technique interface {
	Indexes() []Index        // that its queries and writes need
	Relations() []Relation   // that it stores, for diagrams
	Checks() []Check         // that find and mend what breaks its rules
	Footprints() []Footprint // what it uses of which documents
}

// Parts are what belongs to a technique. Each technique embeds its own; the comment of its type says what they are.
type Parts struct {
	indexes    func() []Index
	relations  func() []Relation
	checks     func() []Check
	footprints func() []Footprint
	needs      []Need
}

// NewParts makes the Parts of a technique, for its constructor. Each function returns fresh values; nil stands for none. The needs are
// those that [Model.Needs] doesn't see in the indexes, without their Technique.
func NewParts(
	indexes func() []Index, relations func() []Relation, checks func() []Check, footprints func() []Footprint, needs ...Need,
) Parts {
	return Parts{indexes, relations, checks, footprints, slices.Clone(needs)}
}

// Indexes returns the indexes that the technique needs: see [Model.Indexes] for the indexes of a whole model.
func (p Parts) Indexes() []Index { return called(p.indexes) }

// Relations returns the relations that the technique stores, for [Model.Diagram].
func (p Parts) Relations() []Relation { return called(p.relations) }

// Checks returns the checks that find and mend what breaks the technique's rules.
func (p Parts) Checks() []Check { return called(p.checks) }

// Footprints returns what the technique uses of which documents, for [New].
func (p Parts) Footprints() []Footprint { return called(p.footprints) }

func (p Parts) needed() []Need { return slices.Clone(p.needs) }

func called[T any](f func() []T) []T {
	if f == nil {
		return nil
	}
	return f()
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
