package relate

import (
	"fmt"

	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// manyToMany is what of a [ManyToMany] doesn't depend on its types: it works on encoded ids.
type manyToMany struct {
	left, right       string // collections
	leftPath          string // in the left documents: ids of right ones
	rightPath         string // in the right documents: ids of left ones
	version           string // in the left documents; "" for bare ids
	maxLeft, maxRight int
	trust             Side
}

// listedLink is what a left document in hand says of a right one.
type listedLink struct {
	bare    bool  // its bare id is listed
	version int64 // of the document's list
	v       int64 // of the link; 0 for none
	op      bson.ObjectID
}

func (m *manyToMany) place() string {
	return fmt.Sprintf("NewManyToMany of %s.%s and %s.%s", m.left, m.leftPath, m.right, m.rightPath)
}

func (m *manyToMany) fail(problem, remedy string) {
	panic(&model.DeclarationError{Problem: problem, Place: m.place(), Remedy: remedy})
}

func (m *manyToMany) declareSpec(spec []ManyToManySpec) {
	if len(spec) > 1 {
		m.fail("more than one ManyToManySpec", "give one")
	}
	if len(spec) == 1 {
		m.version, m.maxLeft, m.maxRight, m.trust = spec[0].Version, spec[0].MaxLeft, spec[0].MaxRight, spec[0].Trust
	}
}

// declareForm checks that both lists have one form, and that the spec goes with it.
func (m *manyToMany) declareForm(versioned, rightVersioned bool) {
	switch {
	case versioned != rightVersioned:
		m.fail("one side is versioned and the other isn't", "use relate.Link on both sides, or bare ids on both")
	case versioned && m.version == "":
		m.fail("versioned links need a version", "give ManyToManySpec.Version, the path of an int64 in the left documents")
	case !versioned && m.version != "":
		m.fail("bare ids take no version", "use relate.Link as the element of both lists, or leave Version empty")
	case m.maxLeft < 0 || m.maxRight < 0:
		m.fail("a bound is negative", "use 0 for no bound")
	case m.trust > TrustLists:
		m.fail("no such Side", "use TrustRefs or TrustLists")
	case versioned && m.trust == TrustLists:
		m.fail("the right side of versioned links can't be trusted", "use TrustRefs: the left document decides")
	}
}

// link is the plan that links two documents.
func (m *manyToMany) link(a, b any, was listedLink, op bson.ObjectID, err error) model.Plan {
	if err != nil {
		return model.RefusedPlan(m.left, err)
	}
	if m.version != "" {
		return m.linkVersioned(a, b, was, op)
	}
	p := model.NewPlan(
		addToSet(m.left, m.leftPath, a, b, m.maxLeft),
		addToSet(m.right, m.rightPath, b, a, m.maxRight),
	)
	if m.maxRight > 0 && !was.bare {
		p.IfStale = []model.Step{pull(m.left, a, m.leftPath, model.Eq(b))}
	}
	p.Leaves = "a link that the right side doesn't list yet"
	return p
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
func (m *manyToMany) linkVersioned(a, b any, was listedLink, op bson.ObjectID) model.Plan {
	v := was.version
	if was.op == op && !op.IsZero() {
		v = was.v - 1 // this very operation, read after its own write
	} else if was.v > 0 {
		return model.Plan{}
	}
	claim := m.claim(a, b, v, op)
	claim.Done = bson.D{{Key: "_id", Value: model.Eq(a)}, {Key: m.leftPath, Value: bson.D{{Key: "$elemMatch", Value: exactly(b, v+1, op)}}}}
	claim.Reasons = full(m.left, m.leftPath, a, m.maxLeft)

	p := model.NewPlan(reserve(m.right, m.rightPath, b, a, v+1, op, m.maxRight), claim)
	p.IfStale = []model.Step{pull(m.right, b, m.rightPath, exactly(a, v+1, op))}
	p.Leaves = "a link on the right side that the left side doesn't bear out: a reader believes the left"
	return p
}

// claim is the compare-and-set by which a left document lists a right one: it decides.
func (m *manyToMany) claim(a, b any, v int64, op bson.ObjectID) model.Write {
	w := updateOne(m.left, model.And(atVersion(a, m.version, v), room(m.leftPath, m.maxLeft)), bson.D{
		{Key: "$push", Value: bson.D{{Key: m.leftPath, Value: link(b, v+1, op)}}},
		{Key: "$set", Value: bson.D{{Key: m.version, Value: v + 1}}},
	})
	w.Once = true
	return w
}

// unlink is the plan that takes a link away.
func (m *manyToMany) unlink(a, b any, was listedLink, err error) model.Plan {
	if err != nil {
		return model.RefusedPlan(m.left, err)
	}
	if m.version == "" {
		p := model.NewPlan(pull(m.left, a, m.leftPath, model.Eq(b)), pull(m.right, b, m.rightPath, model.Eq(a)))
		p.Leaves = "a link that only the right side still lists"
		return p
	}
	v := was.version
	away := pull(m.right, b, m.rightPath, bson.D{{Key: "id", Value: model.Eq(a)}, {Key: "v", Value: bson.D{{Key: "$lte", Value: v}}}})
	if was.v == 0 {
		return model.NewPlan(away)
	}
	claim := updateOne(m.left, atVersion(a, m.version, v), bson.D{
		{Key: "$pull", Value: bson.D{{Key: m.leftPath, Value: bson.D{{Key: "id", Value: model.Eq(b)}}}}},
		{Key: "$set", Value: bson.D{{Key: m.version, Value: v + 1}}},
	})
	claim.Done = bson.D{{Key: "_id", Value: model.Eq(a)}, {Key: m.leftPath + ".id", Value: bson.D{{Key: "$ne", Value: b}}}}
	claim.Once = true
	p := model.NewPlan(claim, away)
	p.Leaves = "a link that only the right side still lists: a reader believes the left"
	return p
}

// leftIndex and rightIndex are the indexes on the lists.
//
//go:noinline
func (m *manyToMany) leftIndex() model.Index {
	x := model.NewIndex(m.left, bson.D{{Key: m.idPath(m.leftPath), Value: 1}})
	x.Why = "the documents of " + m.left + " that list a document of " + m.right
	return x
}

//go:noinline
func (m *manyToMany) rightIndex() model.Index {
	x := model.NewIndex(m.right, bson.D{{Key: m.idPath(m.rightPath), Value: 1}})
	x.Why = "the documents of " + m.right + " that list a document of " + m.left
	return x
}

// listingLeft is the filter of the right documents that list a left one, listingRight that of the left ones.
//
//go:noinline
func (m *manyToMany) listingLeft(id any) bson.D {
	return bson.D{{Key: m.idPath(m.rightPath), Value: model.Eq(id)}}
}

//go:noinline
func (m *manyToMany) listingRight(id any) bson.D {
	return bson.D{{Key: m.idPath(m.leftPath), Value: model.Eq(id)}}
}

func (m *manyToMany) idPath(path string) string {
	if m.version != "" {
		return path + ".id"
	}
	return path
}
