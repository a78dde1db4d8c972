package relate

import (
	"context"
	"time"

	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// RightsOf returns the query of the right documents that list a left one. With versioned links the left document decides:
// where it matters, use [ManyToMany.Rights] of a left document in hand.
//
// Cost: one command, served by [ManyToMany.Indexes].
func (m *ManyToMany[L, LK, R, RK]) RightsOf(left LK) model.Find[R] {
	id, err := encodeID(m.left, m.right.Name(), m.rightPath, left)
	f := m.right.Find(bson.D{{Key: m.idPath(m.rightPath), Value: model.Eq(id)}})
	f.Index = m.Indexes()[1].Name
	if f.Err == nil {
		f.Err = err
	}
	return f
}

// LeftsOf returns the query of the left documents that list a right one.
//
// Cost: one command, served by [ManyToMany.Indexes].
func (m *ManyToMany[L, LK, R, RK]) LeftsOf(right RK) model.Find[L] {
	id, err := encodeID(m.right, m.left.Name(), m.leftPath, right)
	f := m.left.Find(bson.D{{Key: m.idPath(m.leftPath), Value: model.Eq(id)}})
	f.Index = m.Indexes()[0].Name
	if f.Err == nil {
		f.Err = err
	}
	return f
}

// Rights returns the query of the right documents that a left one in hand lists, in no stored order.
//
// Cost: one command, served by _id.
func (m *ManyToMany[L, LK, R, RK]) Rights(left *L) model.Find[R] {
	var list []RK
	switch {
	case left == nil:
	case m.version == "":
		list = m.bare.Append(nil, left)
	default:
		for _, l := range m.links.Append(nil, left) {
			list = append(list, l.ID)
		}
	}
	f := findIDs(m.right, m.left.Name(), m.leftPath, list)
	if left == nil {
		_, f.Err = m.left.ID(left)
	}
	return f
}

// Lefts returns the query of the left documents that a right one in hand lists, in no stored order. With versioned links,
// one that doesn't bear the link out is left out.
//
// Cost: one command, served by _id.
func (m *ManyToMany[L, LK, R, RK]) Lefts(right *R) model.Find[L] {
	var list []LK
	switch {
	case right == nil:
	case m.version == "":
		list = m.bareRight.Append(nil, right)
	default:
		for _, l := range m.linkRight.Append(nil, right) {
			list = append(list, l.ID)
		}
	}
	f := findIDs(m.left, m.right.Name(), m.rightPath, list)
	if right == nil || m.version != "" && f.Err == nil {
		id, err := m.right.ID(right)
		if err != nil {
			f.Err = err
			return f
		}
		v, err := encodeID(m.right, m.right.Name(), "_id", id)
		f = f.Where(bson.D{{Key: m.idPath(m.leftPath), Value: model.Eq(v)}})
		if f.Err == nil {
			f.Err = err
		}
	}
	return f
}

// CheckLeft returns the links that left documents list and right ones don't, or that lead nowhere.
//
// Cost: one command; it reads every left document, and the server looks each link up by _id.
func (m *ManyToMany[L, LK, R, RK]) CheckLeft() model.Aggregate[HalfLink[LK, RK]] {
	return model.AggregateAs[HalfLink[LK, RK]](m.left, m.check(m.leftPath, m.right.Name(), m.rightPath, true))
}

// CheckRight returns the links that right documents list and left ones don't, or that lead nowhere. With versioned links
// also a link of another version than the left side's.
//
// Cost: one command; it reads every right document, and the server looks each link up by _id.
func (m *ManyToMany[L, LK, R, RK]) CheckRight() model.Aggregate[HalfLink[LK, RK]] {
	return model.AggregateAs[HalfLink[LK, RK]](m.right, m.check(m.rightPath, m.left.Name(), m.leftPath, false))
}

func (m *ManyToMany[L, LK, R, RK]) check(path, other, otherPath string, left bool) mongo.Pipeline {
	id, back := "link", any("$_id")
	self, far := "b", "a"
	if left {
		self, far = "a", "b"
	}
	fields := bson.D{{Key: "_id", Value: 0}, {Key: "list", Value: literal(left)}, {Key: self, Value: "$_id"}, {Key: "gone", Value: isGone}}
	if m.version != "" {
		id, back = "link.id", bson.D{{Key: "id", Value: "$_id"}, {Key: "v", Value: "$link.v"}, {Key: "op", Value: "$link.op"}}
		fields = append(fields, bson.E{Key: "v", Value: "$link.v"}, bson.E{Key: "op", Value: "$link.op"})
	}
	return mongo.Pipeline{
		{{Key: "$project", Value: bson.D{{Key: "link", Value: "$" + path}}}},
		{{Key: "$unwind", Value: "$link"}},
		lookupID(other, id, "doc"),
		{{Key: "$match", Value: bson.D{{Key: "$expr", Value: bson.D{{Key: "$not", Value: bson.A{bson.D{{Key: "$in", Value: bson.A{back, firstList("doc." + otherPath)}}}}}}}}}},
		{{Key: "$project", Value: append(fields, bson.E{Key: far, Value: "$" + id})}},
		halfLinkOrder,
	}
}

// Repair returns the plan that mends half-links as the checks found them. TrustRefs believes the left side: what only the
// right lists is taken off, what only the left lists is added to the right. TrustLists believes the right side, in the same
// way. Versioned links always trust the left document, whose compare-and-set decided; TrustLists is refused for them.
// Whichever side is trusted, what leads to a document that is gone is taken away.
//
// What a plan in flight is about to complete looks like a half-link too: give Repair what has stood for longer than any
// plan takes, as [ManyToMany.Mend] does. Bounds are not enforced here.
//
// Cost: one command for each run of half-links of one kind; one document each.
func (m *ManyToMany[L, LK, R, RK]) Repair(found []HalfLink[LK, RK], trust Side) model.Plan {
	if m.version != "" && trust == TrustLists {
		return model.RefusedPlan(m.left.Name(), &model.ValueError{
			Collection: m.left.Name(), Field: "trust", Reason: "versioned links are decided by the left document: use TrustRefs",
		})
	}
	var p model.Plan
	for _, h := range found {
		a, err := encodeID(m.left, m.right.Name(), m.rightPath, h.A)
		if err != nil {
			return model.RefusedPlan(m.left.Name(), err)
		}
		b, err := encodeID(m.right, m.left.Name(), m.leftPath, h.B)
		if err != nil {
			return model.RefusedPlan(m.left.Name(), err)
		}
		p.Steps = append(p.Steps, m.mend(h, a, b, trust))
	}
	return p
}

// mend takes a half-link off, or adds its other half.
func (m *ManyToMany[L, LK, R, RK]) mend(h HalfLink[LK, RK], a, b any, trust Side) model.Step {
	var w model.Write
	switch {
	case m.version != "" && h.List && h.Gone:
		w = updateOne(m.left.Name(), bson.D{{Key: "_id", Value: model.Eq(a)}, {Key: m.leftPath + ".op", Value: h.Op}}, bson.D{
			{Key: "$pull", Value: bson.D{{Key: m.leftPath, Value: bson.D{{Key: "id", Value: model.Eq(b)}, {Key: "op", Value: h.Op}}}}},
			{Key: "$inc", Value: bson.D{{Key: m.version, Value: int64(1)}}}, // who read the list before is stale
		})
		w.Once = true
	case m.version != "" && h.List:
		w = updateOne(m.right.Name(), bson.D{{Key: "_id", Value: model.Eq(b)}, {Key: m.rightPath + ".op", Value: bson.D{{Key: "$ne", Value: h.Op}}}},
			bson.D{{Key: "$push", Value: bson.D{{Key: m.rightPath, Value: link(a, h.V, h.Op)}}}})
		w.Once = true
	case m.version != "":
		return pull(m.right.Name(), b, m.rightPath, bson.D{{Key: "id", Value: model.Eq(a)}, {Key: "v", Value: h.V}, {Key: "op", Value: h.Op}})
	case h.List && (h.Gone || trust == TrustLists):
		return pull(m.left.Name(), a, m.leftPath, model.Eq(b))
	case h.List:
		w = addToSet(m.right.Name(), m.rightPath, b, a, 0)
	case h.Gone || trust == TrustRefs:
		return pull(m.right.Name(), b, m.rightPath, model.Eq(a))
	default:
		w = addToSet(m.left.Name(), m.leftPath, a, b, 0)
	}
	w.Expect = model.Any
	return w
}

// Mend returns the change that checks both sides, and repairs what has stood for an age, as [TwoWay.Mend] does.
//
// Cost: two commands, four for bare ids, and those of [ManyToMany.Repair].
func (m *ManyToMany[L, LK, R, RK]) Mend(trust Side, age time.Duration) model.Change[[]HalfLink[LK, RK]] {
	check := func(ctx context.Context, db *mongo.Database) ([]HalfLink[LK, RK], error) {
		lefts, err := m.CheckLeft().All(ctx, db)
		if err != nil {
			return nil, err
		}
		rights, err := m.CheckRight().All(ctx, db)
		return append(lefts, rights...), err
	}
	return mending(check, m.version != "", age, func(found []HalfLink[LK, RK]) (model.Plan, error) { return m.Repair(found, trust), nil })
}
