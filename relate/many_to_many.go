package relate

import (
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/relate/internal/idref"
	"github.com/docmodel/docmodel/relate/internal/twosided"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// ManyToMany is a relation of two collections, such as authors and books. Both sides
// store lists of bare ids (_ids) or versioned links ([Link]).
//
// With bare ids, concurrent operations on one pair can leave a half-link, which only one
// side lists. Transactions or versioned links prevent half-links.
//
// In a [model.Store] of bare ids, write either list: the store writes the other lists. For
// versioned links, use [ManyToMany.Link] and [ManyToMany.Unlink].
//
// To store a document's number of links, use a [JoinCollection], and count the links with
// a denorm.Counter.
//
// Source: texts on Azure Cosmos DB.
type ManyToMany[L, LK, R, RK any] struct {
	model.Parts

	left  Side[L, LK, R, RK]
	right Side[R, RK, L, LK]
	count *core.Reader[int64] // nil for bare ids
	in    twosided.ManyToMany
}

// ManyToManySpec contains the options of a [ManyToMany]. The zero value is for bare ids
// (lists of _ids). Versioned links (lists of [Link]) need Version.
type ManyToManySpec struct {
	// Version is the path of an int64 in left documents. It counts list changes.
	Version string

	// MaxLeft and MaxRight are the maximum lengths of a left list and a right list. 0
	// means no maximum. Repairs can exceed the maximum.
	MaxLeft  int
	MaxRight int

	// TrustRight makes the repairs change the left side to match the right side.
	// Don't set it for lists of [Link].
	TrustRight bool
}

// NewManyToMany declares that documents of two collections list each other. The arrays at
// leftPath and rightPath contain _ids (bare ids) or the type [Link] (versioned links).
// For versioned links, pass the collection with fewer concurrent changes as left. An
// invalid path or spec panics with a [*model.DeclarationError].
func NewManyToMany[L, LK, R, RK any](left *model.Collection[L, LK], leftPath string, right *model.Collection[R, RK], rightPath string, spec ManyToManySpec) *ManyToMany[L, LK, R, RK] {
	m := &ManyToMany[L, LK, R, RK]{in: twosided.ManyToMany{
		Version: spec.Version, TrustRight: spec.TrustRight,
		Left:  twosided.End{Docs: left.Docs(), Path: leftPath, Links: isLink[RK](left.Docs().CheckArray(leftPath)), Max: spec.MaxLeft},
		Right: twosided.End{Docs: right.Docs(), Path: rightPath, Links: isLink[LK](right.Docs().CheckArray(rightPath)), Max: spec.MaxRight},
	}}
	m.in.Declare()
	m.left, m.right = newSide(left, right, m.in.Side(true)), newSide(right, left, m.in.Side(false))
	if m.in.Left.Links {
		m.count = core.NewReader[int64](left.Docs(), spec.Version)
		idref.Single(m.in.Place(), m.count.Field())
	}
	m.Parts = reactingOr(model.NewParts(m.in.Indexes, m.in.Relations, m.in.Checks, m.in.Footprints).
		WithDocs(left.Docs(), right.Docs()), m.in.Reactions(), "ManyToMany.Link and ManyToMany.Unlink")
	return m
}

// Indexes returns the index on each list.
func (m *ManyToMany[L, LK, R, RK]) Indexes() []model.Index { return m.Parts.Indexes() }

// Checks returns, in this order:
//
//  1. Only with versioned links ([Link]): unfinished operations. The repair finishes the
//     operation, or leaves the link to check 3.
//  2. Links that only the left list has.
//  3. Links that only the right list has.
//
// Repairs 2 and 3 change the right side to match the left side. TrustRight
// ([ManyToManySpec]) reverses the direction. Links to missing documents are removed.
//
// Cost: checks 1 and 3 read every right document. Check 2 reads every left document.
func (m *ManyToMany[L, LK, R, RK]) Checks() []model.Check { return m.Parts.Checks() }

// Left returns the left side, for queries by a left document.
func (m *ManyToMany[L, LK, R, RK]) Left() Side[L, LK, R, RK] { return m.left }

// Right returns the right side, for queries by a right document.
func (m *ManyToMany[L, LK, R, RK]) Right() Side[R, RK, L, LK] { return m.right }

// Link returns the plan that links two documents. Pass the left document as you read it.
// For token, see the type [Link]. After a crash, run the plan again. Errors:
//
//   - [model.ErrFull]: a list is full ([ManyToManySpec])
//   - model.ErrNotFound: a document is missing
//   - model.ErrStale: the left list changed since your read (only lists of [Link])
//
// Cost: two commands, two documents.
func (m *ManyToMany[L, LK, R, RK]) Link(left *L, right RK, token bson.ObjectID) model.Plan {
	return m.in.Link(m.listed(left, right, token))
}

// Unlink returns the plan that removes a link from both lists. Pass the left document as
// you read it. For token, see the type [Link]. After a crash, run the plan again.
//
// With lists of [Link], the plan gives model.ErrStale if the left list changed since your
// read and still contains the link.
//
// Cost: two commands, two documents.
func (m *ManyToMany[L, LK, R, RK]) Unlink(left *L, right RK, token bson.ObjectID) model.Plan {
	return m.in.Unlink(m.listed(left, right, token))
}

// listed returns how a left document in memory lists a right one.
func (m *ManyToMany[L, LK, R, RK]) listed(left *L, right RK, op bson.ObjectID) twosided.ListedLink {
	s := m.in.Listed(left, right, op)
	if s.Err != nil {
		return s
	}
	want := idref.Key(s.B)
	is := func(id RK) bool {
		v, err := m.in.Right.Docs.Encode(id)
		return err == nil && idref.Key(v) == want
	}
	if m.count != nil {
		s.Version, _ = m.count.First(left)
		for _, l := range m.left.links.Append(nil, left) {
			if is(l.ID) {
				s.V, s.Was = l.V, l.Op
			}
		}
	} else if m.in.Right.Max > 0 {
		for _, id := range m.left.bare.Append(nil, left) {
			s.Bare = s.Bare || is(id)
		}
	}
	return s
}
