package relate

import (
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/relate/internal/idref"
	"github.com/docmodel/docmodel/relate/internal/twosided"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// ManyToMany is a relation in which both sides list the other: an author lists books, and a book lists authors. Make it
// with [NewManyToMany].
//
// With bare ids, linking and unlinking one pair at once can leave one side without the other, in any order of writes;
// [ManyToMany.Checks] finds and mends the difference. In a transaction the sides don't differ.
//
// With versioned links (elements of type [Link], and a version in the left document) the left document decides, and no
// interleaving leaves a half-link: see [Link].
//
// Source: many-to-many by lists on both sides, seeds 000 and 003.
//
// Indexes returns the indexes on both lists, by which each side is found from the other.
//
// Checks returns the checks of the relation, of the left documents first: a document lists a document on
// the other side that doesn't list it, or that is gone.
//
// Mending believes the left side: it removes a link that only the right side lists, and adds to
// the right side a link that only the left side lists. TrustRight of [ManyToManySpec] does the same
// the other way round. Ids of documents that are gone are removed in any case.
// Bounds are not enforced, except that of the left list of versioned links.
//
// Versioned links trust the left document. A check before these two finds the links of operations
// that have not decided yet, and mending decides for them: the left document lists the right one
// or, if its list is full, counts its version up. Of several such operations the first found wins.
// The last check removes the links of the others.
//
// A plan that is under way looks like a finding: the Age is one minute. Links tell by their tokens
// since when a finding stands.
//
// Cost: each check reads every document of its side that holds an id, and the server looks each id
// up by _id. Mending sends one command for each run of findings of one kind, and writes one
// document for each.
type ManyToMany[L, LK, R, RK any] struct {
	model.Parts

	left  Side[L, LK, R, RK]
	right Side[R, RK, L, LK]
	count *core.Reader[int64] // nil for bare ids
	in    twosided.ManyToMany
}

// ManyToManySpec says what a [ManyToMany] needs beside its paths. The zero value is valid for bare ids.
type ManyToManySpec struct {
	// Version is the path of an int64 in the left documents that counts the changes of their list. It is required for
	// versioned links, and refused for bare ids.
	Version string

	MaxLeft  int // how many links a left document lists at most; 0 means no bound
	MaxRight int // how many links a right document lists at most; 0 means no bound

	// TrustRight lets [ManyToMany.Checks] believe the right side; by default they believe the left side. It is refused for
	// versioned links, because the left document decides.
	TrustRight bool
}

// NewManyToMany declares that the two lists hold each other's ids, or links. Operations on one left document wait for each
// other when links are versioned: let the side with fewer concurrent changes be the left one. It panics with a
// [*model.DeclarationError] when a path doesn't exist, isn't an array or holds another type, or when only one side is
// versioned.
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
	m.Parts = model.NewParts(m.in.Indexes, m.in.Relations, m.in.Checks, m.in.Footprints)
	return m
}

// Left returns the left side. The left document decides which versioned links hold.
func (m *ManyToMany[L, LK, R, RK]) Left() Side[L, LK, R, RK] { return m.left }

// Right returns the right side.
func (m *ManyToMany[L, LK, R, RK]) Right() Side[R, RK, L, LK] { return m.right }

// Link returns the plan that links a left document, as it was read, with a right one. If they are linked already, it does
// nothing more. With versioned links, another operation on the left document's list since gives model.ErrStale and leaves nothing;
// read the document again. A list that is full gives [model.ErrFull]. op is the operation's token, as [Link] says.
//
// Bare ids are written left first. If the right list is full, the left document's id is removed again, unless the left document
// listed it when it was read.
//
// Cost: two commands, two documents. The plan can be run again after a cut.
func (m *ManyToMany[L, LK, R, RK]) Link(left *L, right RK, op bson.ObjectID) model.Plan {
	return m.in.Link(m.listed(left, right, op))
}

// Unlink returns the plan that removes the link between a left document, as it was read, and a right one, on both sides.
// With versioned links, another operation on the left document's list since gives model.ErrStale; a link that the left document
// doesn't hold is removed from the right side alone. op is the operation's token, as [Link] says.
//
// Cost: two commands, two documents. The plan can be run again after a cut.
func (m *ManyToMany[L, LK, R, RK]) Unlink(left *L, right RK, op bson.ObjectID) model.Plan {
	return m.in.Unlink(m.listed(left, right, op))
}

// listed is what a left document in hand says of a right one.
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
