package relate

import (
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// check is the pipeline over the left documents, or the right ones, that finds half-links.
func (m *manyToMany) check(left bool) mongo.Pipeline {
	id, back := "link", any("$_id")
	path, other, otherPath, self, far := m.rightPath, m.left, m.leftPath, "b", "a"
	if left {
		path, other, otherPath, self, far = m.leftPath, m.right, m.rightPath, "a", "b"
	}
	fields := bson.D{{Key: "_id", Value: 0}, {Key: "list", Value: literal(left)}, {Key: self, Value: "$_id"}, {Key: "gone", Value: isGone}}
	if m.version != "" {
		id, back = "link.id", bson.D{{Key: "id", Value: "$_id"}, {Key: "v", Value: "$link.v"}, {Key: "op", Value: "$link.op"}}
		now := any("$link.v")
		if !left {
			now = firstNumber("doc." + m.version)
		}
		fields = append(fields, bson.E{Key: "v", Value: "$link.v"}, bson.E{Key: "op", Value: "$link.op"}, bson.E{Key: "now", Value: now})
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

// repair is the plan that mends half-links.
func (m *manyToMany) repair(found []half, trust Side) model.Plan {
	if m.version != "" && trust == TrustLists {
		return model.RefusedPlan(m.left, &model.ValueError{
			Collection: m.left, Field: "trust", Reason: "versioned links are decided by the left document: use TrustRefs",
		})
	}
	var p model.Plan
	for _, h := range found {
		if h.err != nil {
			return model.RefusedPlan(m.left, h.err)
		}
		p.Steps = append(p.Steps, m.mend(h, trust)...)
	}
	return p
}

// mend takes a half-link off, or adds its other half.
func (m *manyToMany) mend(h half, trust Side) []model.Step {
	if m.version != "" {
		return m.mendVersioned(h)
	}
	a, b := h.a, h.b
	var w model.Write
	switch {
	case h.list && (h.gone || trust == TrustLists):
		w = pull(m.left, a, m.leftPath, model.Eq(b))
	case h.list:
		w = addToSet(m.right, m.rightPath, b, a, 0)
	case h.gone || trust == TrustRefs:
		w = pull(m.right, b, m.rightPath, model.Eq(a))
	default:
		w = addToSet(m.left, m.leftPath, a, b, 0)
	}
	w.Expect = model.Any
	return []model.Step{w}
}

// mendVersioned believes the left document. What an operation has yet to decide is decided for it: the left document lists the right
// one too, or, where it is full, moves on to the link's version, so that the link can be taken off.
func (m *manyToMany) mendVersioned(h half) []model.Step {
	a, b := h.a, h.b
	switch {
	case h.list && h.gone:
		w := updateOne(m.left, bson.D{{Key: "_id", Value: model.Eq(a)}, {Key: m.leftPath + ".op", Value: h.op}}, bson.D{
			{Key: "$pull", Value: bson.D{{Key: m.leftPath, Value: exactly(b, h.v, h.op)}}},
			{Key: "$inc", Value: bson.D{{Key: m.version, Value: int64(1)}}}, // who read the list before is stale
		})
		w.Expect, w.Once = model.Any, true
		return []model.Step{w}
	case h.list:
		w := reserve(m.right, m.rightPath, b, a, h.v, h.op, 0)
		w.Expect = model.Any
		return []model.Step{w}
	case h.gone || h.v != h.now+1:
		return []model.Step{pull(m.right, b, m.rightPath, exactly(a, h.v, h.op))}
	}
	claim := m.claim(a, b, h.now, h.op)
	move := updateOne(m.left, atVersion(a, m.version, h.now), set(m.version, h.v))
	claim.Expect, move.Expect, move.Once = model.Any, model.Any, true
	return []model.Step{claim, move}
}
