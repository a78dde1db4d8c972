package relate

import (
	"fmt"
	"slices"

	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// ManyToMany is a relation in which both sides list the other: an author lists books, and a book lists authors. Make it
// with [NewManyToMany].
//
// With bare ids, linking and unlinking one pair at once can leave one side without the other, in any order of writes;
// [ManyToMany.CheckLeft] and [ManyToMany.CheckRight] find it and [ManyToMany.Mend] repairs it; in a transaction nothing
// differs. With versioned links (elements of type [Link], and a version in the left document) no interleaving leaves a
// half-link: each operation compares and sets the left document, which decides. A process that dies half way can leave
// one, and Mend takes it away by its age.
//
// Source: many-to-many by lists on both sides, seeds 000 and 003.
type ManyToMany[L, LK, R, RK any] struct {
	left      *model.Collection[L, LK]
	right     *model.Collection[R, RK]
	leftPath  string // in the left documents: ids of right ones
	rightPath string // in the right documents: ids of left ones
	version   string // in the left documents; "" for bare ids
	maxLeft   int
	maxRight  int

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
}

// NewManyToMany declares that the two lists hold each other's ids, or links. Operations on one left document wait for each
// other when links are versioned: let the side with fewer concurrent changes be the left one. It panics with a
// [*model.DeclarationError] when a path doesn't exist or is no array, holds another type, or when one side is versioned and
// the other isn't. At most one spec may be given.
func NewManyToMany[L, LK, R, RK any](left *model.Collection[L, LK], leftPath string, right *model.Collection[R, RK], rightPath string, spec ...ManyToManySpec) *ManyToMany[L, LK, R, RK] {
	m := &ManyToMany[L, LK, R, RK]{left: left, right: right, leftPath: leftPath, rightPath: rightPath}
	place := fmt.Sprintf("NewManyToMany of %s.%s and %s.%s", left.Name(), leftPath, right.Name(), rightPath)
	fail := func(problem, remedy string) {
		panic(&model.DeclarationError{Problem: problem, Place: place, Remedy: remedy})
	}
	if len(spec) > 1 {
		fail("more than one ManyToManySpec", "give one")
	}
	if len(spec) == 1 {
		m.version, m.maxLeft, m.maxRight = spec[0].Version, spec[0].MaxLeft, spec[0].MaxRight
	}
	versioned := isLink[RK](model.CheckArray(left, leftPath))
	switch {
	case versioned != isLink[LK](model.CheckArray(right, rightPath)):
		fail("one side is versioned and the other isn't", "use relate.Link on both sides, or bare ids on both")
	case versioned && m.version == "":
		fail("versioned links need a version", "give ManyToManySpec.Version, the path of an int64 in the left documents")
	case !versioned && m.version != "":
		fail("bare ids take no version", "use relate.Link as the element of both lists, or leave Version empty")
	case m.maxLeft < 0 || m.maxRight < 0:
		fail("a bound is negative", "use 0 for no bound")
	}
	if versioned {
		m.links, m.linkRight = model.NewReader[Link[RK]](left, leftPath), model.NewReader[Link[LK]](right, rightPath)
		m.count = model.NewReader[int64](left, m.version)
		single(place, m.count.Field())
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
	if err != nil {
		return model.RefusedPlan(m.left.Name(), err)
	}
	if m.version != "" {
		return m.linkVersioned(left, a, b, op)
	}
	p := model.NewPlan(
		addToSet(m.left.Name(), m.leftPath, a, b, m.maxLeft),
		addToSet(m.right.Name(), m.rightPath, b, a, m.maxRight),
	)
	if m.maxRight > 0 && !m.lists(left, b) {
		p.IfStale = []model.Step{pull(m.left.Name(), a, m.leftPath, model.Eq(b))}
	}
	p.Leaves = "a link that the right side doesn't list yet"
	return p
}

// lists reports whether a left document in hand lists the bare id of a right one.
func (m *ManyToMany[L, LK, R, RK]) lists(left *L, right any) bool {
	want := model.Shell(right)
	return slices.ContainsFunc(m.bare.Append(nil, left), func(id RK) bool {
		v, err := m.right.Encode(id)
		return err == nil && model.Shell(v) == want
	})
}

func (m *ManyToMany[L, LK, R, RK]) ids(left *L, right RK, op bson.ObjectID) (a, b any, err error) {
	if err := checkOp(m.left.Name(), m.version != "", op); err != nil {
		return nil, nil, err
	}
	id, err := m.left.ID(left)
	if err != nil {
		return nil, nil, err
	}
	if a, err = encodeID(m.left, m.right.Name(), m.rightPath, id); err != nil {
		return nil, nil, err
	}
	b, err = encodeID(m.right, m.left.Name(), m.leftPath, right)
	return a, b, err
}

// addToSet is the write that lists an id, if there is room.
func addToSet(collection, path string, owner, id any, max int) model.Write {
	w := updateOne(collection, bson.D{{Key: "_id", Value: model.Eq(owner)}}, bson.D{{Key: "$addToSet", Value: bson.D{{Key: path, Value: id}}}})
	if max > 0 {
		m := w.Model.(*mongo.UpdateOneModel)
		m.Filter = model.And(m.Filter.(bson.D), bson.D{{Key: "$or", Value: bson.A{bson.D{{Key: path, Value: model.Eq(id)}}, room(path, max)}}})
		w.Once, w.Reasons = true, full(collection, path, owner, max)
	}
	return w
}

// pull is the write that takes elements out of a list; a document that is gone is no matter.
func pull(collection string, owner any, path string, cond any) model.Write {
	w := updateOne(collection, bson.D{{Key: "_id", Value: model.Eq(owner)}}, bson.D{{Key: "$pull", Value: bson.D{{Key: path, Value: cond}}}})
	w.Expect = model.Any
	return w
}

// linkVersioned lists the left document with the right one first, and then lets the left one decide.
func (m *ManyToMany[L, LK, R, RK]) linkVersioned(left *L, a, b any, op bson.ObjectID) model.Plan {
	v, listed := m.state(left, b)
	if listed.Op == op && !op.IsZero() {
		v = listed.V - 1 // this very operation, read after its own write
	} else if listed.V > 0 {
		return model.Plan{}
	}
	add := updateOne(m.right.Name(),
		model.And(bson.D{{Key: "_id", Value: model.Eq(b)}, {Key: m.rightPath + ".op", Value: bson.D{{Key: "$ne", Value: op}}}}, room(m.rightPath, m.maxRight)),
		bson.D{{Key: "$push", Value: bson.D{{Key: m.rightPath, Value: link(a, v+1, op)}}}})
	add.Done = bson.D{{Key: "_id", Value: model.Eq(b)}, {Key: m.rightPath + ".op", Value: op}}
	add.Once, add.Reasons = true, full(m.right.Name(), m.rightPath, b, m.maxRight)

	claim := updateOne(m.left.Name(), model.And(m.guard(a, v), room(m.leftPath, m.maxLeft)),
		bson.D{
			{Key: "$push", Value: bson.D{{Key: m.leftPath, Value: link(b, v+1, op)}}},
			{Key: "$set", Value: bson.D{{Key: m.version, Value: v + 1}}},
		})
	claim.Done = bson.D{{Key: "_id", Value: model.Eq(a)}, {Key: m.leftPath + ".op", Value: op}}
	claim.Once, claim.Reasons = true, full(m.left.Name(), m.leftPath, a, m.maxLeft)

	p := model.NewPlan(add, claim)
	p.IfStale = []model.Step{pull(m.right.Name(), b, m.rightPath, bson.D{{Key: "id", Value: model.Eq(a)}, {Key: "op", Value: op}})}
	p.Leaves = "a link on the right side that the left side doesn't bear out: a reader believes the left"
	return p
}

func link(id any, v int64, op bson.ObjectID) bson.D {
	return bson.D{{Key: "id", Value: id}, {Key: "v", Value: v}, {Key: "op", Value: op}}
}

// state reads the version of a left document and its link to a right one.
func (m *ManyToMany[L, LK, R, RK]) state(left *L, right any) (v int64, listed Link[RK]) {
	v, _ = m.count.First(left)
	want := model.Shell(right)
	for _, l := range m.links.Append(nil, left) {
		if id, err := m.right.Encode(l.ID); err == nil && model.Shell(id) == want {
			listed = l
		}
	}
	return v, listed
}

// guard finds a left document whose list is as it was read.
func (m *ManyToMany[L, LK, R, RK]) guard(a any, v int64) bson.D {
	is := any(v)
	if v == 0 {
		is = bson.D{{Key: "$in", Value: bson.A{nil, int64(0)}}}
	}
	return bson.D{{Key: "_id", Value: model.Eq(a)}, {Key: m.version, Value: is}}
}

// Unlink returns the plan that takes the link between a left document, as it was read, and a right one away, on both sides.
// With versioned links, another operation on the left document's list since gives model.ErrStale; a link that is not there
// is taken off the right side alone. op is as in [ManyToMany.Link].
//
// Cost: two commands, two documents. The plan can be run again after a cut.
func (m *ManyToMany[L, LK, R, RK]) Unlink(left *L, right RK, op bson.ObjectID) model.Plan {
	a, b, err := m.ids(left, right, op)
	if err != nil {
		return model.RefusedPlan(m.left.Name(), err)
	}
	if m.version == "" {
		p := model.NewPlan(pull(m.left.Name(), a, m.leftPath, model.Eq(b)), pull(m.right.Name(), b, m.rightPath, model.Eq(a)))
		p.Leaves = "a link that only the right side still lists"
		return p
	}
	v, listed := m.state(left, b)
	away := pull(m.right.Name(), b, m.rightPath, bson.D{{Key: "id", Value: model.Eq(a)}, {Key: "v", Value: bson.D{{Key: "$lte", Value: v}}}})
	if listed.V == 0 {
		return model.NewPlan(away)
	}
	claim := updateOne(m.left.Name(), m.guard(a, v), bson.D{
		{Key: "$pull", Value: bson.D{{Key: m.leftPath, Value: bson.D{{Key: "id", Value: model.Eq(b)}}}}},
		{Key: "$set", Value: bson.D{{Key: m.version, Value: v + 1}}},
	})
	claim.Done = bson.D{{Key: "_id", Value: model.Eq(a)}, {Key: m.leftPath + ".id", Value: bson.D{{Key: "$ne", Value: b}}}}
	claim.Once = true
	p := model.NewPlan(claim, away)
	p.Leaves = "a link that only the right side still lists: a reader believes the left"
	return p
}

// Indexes returns the indexes on both lists, by which each side is found from the other.
func (m *ManyToMany[L, LK, R, RK]) Indexes() []model.Index {
	l := model.NewIndex(m.left.Name(), bson.D{{Key: m.idPath(m.leftPath), Value: 1}})
	l.Why = "the documents of " + m.left.Name() + " that list a document of " + m.right.Name()
	r := model.NewIndex(m.right.Name(), bson.D{{Key: m.idPath(m.rightPath), Value: 1}})
	r.Why = "the documents of " + m.right.Name() + " that list a document of " + m.left.Name()
	return []model.Index{l, r}
}

func (m *ManyToMany[L, LK, R, RK]) idPath(path string) string {
	if m.version != "" {
		return path + ".id"
	}
	return path
}

// Relations returns the relation, for diagrams.
func (m *ManyToMany[L, LK, R, RK]) Relations() []model.Relation {
	return []model.Relation{{
		From: m.left.Name(), FromPath: m.leftPath, To: m.right.Name(), ToPath: m.rightPath,
		FromEnd: model.Many, ToEnd: model.Many, Label: "many to many",
	}}
}
