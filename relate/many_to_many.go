package relate

import (
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// ManyToMany is a relation in which both sides list the other: an author lists books, and a book lists authors. Make it
// with [NewManyToMany].
//
// With bare ids, linking and unlinking one pair at once can leave one side without the other, in any order of writes;
// [ManyToMany.Checks] finds and mends the difference. In a transaction the sides don't differ.
//
// With versioned links (elements of type [Link], and a version in the left document) an
// operation first lists the left document with the right one and then compares and sets the
// left document, which decides. When the operation returns nil, both sides agree, also when
// it is called again after a crash and other operations came in between. A process that
// dies half way leaves a half-link. A second call with the same token finishes the
// operation. So do the checks, unless another operation has changed the left document's
// list since: then they take the link of the dead operation off the right side.
//
// Source: many-to-many by lists on both sides, seeds 000 and 003.
type ManyToMany[L, LK, R, RK any] struct {
	left  *model.Collection[L, LK]
	right *model.Collection[R, RK]
	in    manyToMany

	bare  *model.Reader[L, RK]
	links *model.Reader[L, Link[RK]]
	count *model.Reader[L, int64]

	bareRight *model.Reader[R, LK]
	linkRight *model.Reader[R, Link[LK]]
}

// ManyToManySpec says what a [ManyToMany] needs beside its paths. The zero value is valid for bare ids.
type ManyToManySpec struct {
	// Version is the path of an int64 in the left documents that counts the changes of their list. It is required for
	// versioned links, and refused for bare ids.
	Version string

	MaxLeft  int // how many links a left document lists at most; 0 means no bound
	MaxRight int // how many links a right document lists at most; 0 means no bound

	// Trust is the side that [ManyToMany.Checks] believes: TrustRefs, the default, believes the left side, TrustLists the
	// right side. Versioned links need TrustRefs, because the left document decides.
	Trust Side
}

// NewManyToMany declares that the two lists hold each other's ids, or links. Operations on one left document wait for each
// other when links are versioned: let the side with fewer concurrent changes be the left one. It panics with a
// [*model.DeclarationError] when a path doesn't exist or is no array, holds another type, or when one side is versioned and
// the other isn't. At most one spec may be given.
func NewManyToMany[L, LK, R, RK any](left *model.Collection[L, LK], leftPath string, right *model.Collection[R, RK], rightPath string, spec ...ManyToManySpec) *ManyToMany[L, LK, R, RK] {
	m := &ManyToMany[L, LK, R, RK]{left: left, right: right, in: manyToMany{left: left.Name(), right: right.Name(), leftPath: leftPath, rightPath: rightPath}}
	m.in.declareSpec(spec)
	versioned := isLink[RK](model.CheckArray(left, leftPath))
	m.in.declareForm(versioned, isLink[LK](model.CheckArray(right, rightPath)))
	if versioned {
		m.links, m.linkRight = model.NewReader[Link[RK]](left, leftPath), model.NewReader[Link[LK]](right, rightPath)
		m.count = model.NewReader[int64](left, m.in.version)
		single(m.in.place(), m.count.Field())
	} else {
		m.bare, m.bareRight = model.NewReader[RK](left, leftPath), model.NewReader[LK](right, rightPath)
	}
	return m
}

// Link returns the plan that links a left document, as it was read, with a right one; linked already, it does nothing
// more. With versioned links, another operation on the left document's list since gives model.ErrStale and leaves nothing
// behind; read it again. A list that is full gives a [*FullError]. op is the operation's token for versioned links, a new
// ObjectID, the same when the plan is run again; for bare ids it is bson.NilObjectID.
//
// Bare ids are written left first. Where the right list is bounded and turns out full, the left document's is taken off
// again, unless it listed the right one as it was read.
//
// Cost: two commands, two documents. The plan can be run again after a cut.
func (m *ManyToMany[L, LK, R, RK]) Link(left *L, right RK, op bson.ObjectID) model.Plan {
	a, b, err := m.ids(left, right, op)
	var was listedLink
	if err == nil && (m.in.version != "" || m.in.maxRight > 0) {
		was = m.state(left, b)
	}
	return m.in.link(a, b, was, op, err)
}

// state reads of a left document its version, and its link to a right one, encoded.
func (m *ManyToMany[L, LK, R, RK]) state(left *L, right any) (s listedLink) {
	want := model.Shell(right)
	if m.in.version == "" {
		for _, id := range m.bare.Append(nil, left) {
			if v, err := m.right.Encode(id); err == nil && model.Shell(v) == want {
				s.bare = true
			}
		}
		return s
	}
	s.version, _ = m.count.First(left)
	for _, l := range m.links.Append(nil, left) {
		if id, err := m.right.Encode(l.ID); err == nil && model.Shell(id) == want {
			s.v, s.op = l.V, l.Op
		}
	}
	return s
}

func (m *ManyToMany[L, LK, R, RK]) ids(left *L, right RK, op bson.ObjectID) (a, b any, err error) {
	if err := checkOp(m.in.left, m.in.version != "", op); err != nil {
		return nil, nil, err
	}
	id, err := m.left.ID(left)
	if err != nil {
		return nil, nil, err
	}
	if a, err = encodeID(m.left, m.in.right, m.in.rightPath, id); err != nil {
		return nil, nil, err
	}
	b, err = encodeID(m.right, m.in.left, m.in.leftPath, right)
	return a, b, err
}

// Unlink returns the plan that takes the link between a left document, as it was read, and a right one away, on both sides.
// With versioned links, another operation on the left document's list since gives model.ErrStale; a link that is not there
// is taken off the right side alone. op is as in [ManyToMany.Link].
//
// Cost: two commands, two documents. The plan can be run again after a cut.
func (m *ManyToMany[L, LK, R, RK]) Unlink(left *L, right RK, op bson.ObjectID) model.Plan {
	a, b, err := m.ids(left, right, op)
	var was listedLink
	if err == nil && m.in.version != "" {
		was = m.state(left, b)
	}
	return m.in.unlink(a, b, was, err)
}

// Indexes returns the indexes on both lists, by which each side is found from the other.
func (m *ManyToMany[L, LK, R, RK]) Indexes() []model.Index {
	return []model.Index{m.in.leftIndex(), m.in.rightIndex()}
}

// Relations returns the relation, for diagrams.
func (m *ManyToMany[L, LK, R, RK]) Relations() []model.Relation {
	return []model.Relation{{
		From: m.in.left, FromPath: m.in.leftPath, To: m.in.right, ToPath: m.in.rightPath,
		FromEnd: model.Many, ToEnd: model.Many, Label: "many to many",
	}}
}
