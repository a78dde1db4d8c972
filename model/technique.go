package model

import (
	"fmt"
	"slices"

	"github.com/docmodel/docmodel/internal/core"
)

// A Technique gives a [Model] the indexes, relations, checks and paths of a declared
// pattern. Most types with a New function in packages such as embed and denorm are
// techniques. [Entity] makes a technique of a collection.
type Technique interface {
	Indexes() []Index        // needed by the queries and writes
	Relations() []Relation   // drawn in diagrams
	Checks() []Check         // find and repair violations
	Footprints() []Footprint // the used paths
}

// Parts implements [Technique]. Embed Parts in your own technique type.
type Parts struct {
	indexes    func() []Index
	relations  func() []Relation
	checks     func() []Check
	footprints func() []Footprint
	needs      []Need
	keys       []KeyedDocs
	docs       []*core.Docs
	reactions  func() []Reaction
	instead    string // what to use instead of a store
}

// NewParts returns the Parts for a technique's constructor. Each function must return new
// values. A nil function means no values. As needs, pass the server features that
// [Model.Needs] can't derive from the indexes.
func NewParts(
	indexes func() []Index, relations func() []Relation, checks func() []Check, footprints func() []Footprint, needs ...Need,
) Parts {
	return Parts{
		indexes: indexes, relations: relations, checks: checks, footprints: footprints, needs: slices.Clone(needs),
	}
}

// WithDocs returns the parts of a technique that uses documents of the given collections:
// see [Collection.Docs]. [New] compares the declarations of all techniques.
//
// If several Go types share a collection, declare it by Parts that have nothing else:
//
//	model.New("shop", names, totals,
//		model.NewParts(nil, nil, nil, nil).WithDocs(orders.Docs(), orderSummaries.Docs()))
func (p Parts) WithDocs(collections ...*core.Docs) Parts {
	for i, d := range collections {
		if d == nil || d.IsZero() {
			core.Fail(fmt.Sprintf("collection %d is nil or zero", i), "Parts.WithDocs",
				"give the Docs of collections that are declared with NewCollection")
		}
	}
	p.docs = slices.Clone(collections)
	return p
}

// documents returns the collections of WithDocs, and whether the parts have nothing else.
func (p Parts) documents() (docs []*core.Docs, only bool) {
	return p.docs, p.reactions == nil && p.indexes == nil && p.relations == nil &&
		p.checks == nil && p.footprints == nil
}

// Indexes returns the needed indexes.
func (p Parts) Indexes() []Index { return called(p.indexes) }

// Relations returns the relations that the technique stores, for [Model.Diagram].
func (p Parts) Relations() []Relation { return called(p.relations) }

// Checks returns the checks that find, and usually repair, violations of the technique's
// rules.
func (p Parts) Checks() []Check { return called(p.checks) }

// Footprints returns the [Technique]'s paths in documents.
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
	FromPath, ToPath string // the path that stores the reference, and the path it refers to
	FromEnd, ToEnd   Cardinality
	Label            string // text for diagrams, for example "history"
}

// Entity returns a Technique that shows all fields of a collection in [Model.Diagram].
//
// Pass the indexes that no other technique declares: see [NewIndex]. Entity panics with a
// [*DeclarationError] for an index of another collection.
func Entity[D, K any](c *Collection[D, K], indexes ...Index) Technique {
	indexes = slices.Clone(indexes)
	e := entity{NewParts(func() []Index { return slices.Clone(indexes) }, nil, nil, nil).WithDocs(c.Docs()), declOf(c)}
	for _, i := range indexes {
		if i.Collection != e.c.Name() {
			core.Fail("an index of "+i.Collection, "Entity of "+e.c.Name(),
				"pass it to the Entity of its own collection")
		}
	}
	return e
}

type entity struct {
	Parts
	c declaration
}
