package relate

import (
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

func (m *manyToMany) checks() []model.Check {
	left, right := m.left+"."+m.leftPath, m.right+"."+m.rightPath
	var out []model.Check
	find := m.check(false)
	if m.version != "" {
		rule := "no link of " + right + " waits for its operation to decide"
		out = append(out, halfLinks(right+": links that are not decided", m.right, rule, append(m.check(false), waiting(true)), m.repair))
		find = append(find, waiting(false))
	}
	return append(out,
		halfLinks(left+": links that the right side lacks", m.left, leadsBack(left, right), m.check(true), m.repair),
		halfLinks(right+": links that the left side lacks", m.right, leadsBack(right, left), find, m.repair),
	)
}

// check is the pipeline over the left documents, or the right ones, that finds half-links.
func (m *manyToMany) check(left bool) mongo.Pipeline {
	id, back := "link", any("$_id")
	path, other, otherPath, self, far := m.rightPath, m.left, m.leftPath, "b", "a"
	if left {
		path, other, otherPath, self, far = m.leftPath, m.right, m.rightPath, "a", "b"
	}
	fields := bson.D{{Key: "_id", Value: 0}, {Key: "list", Value: mql.Literal(left)}, {Key: self, Value: "$_id"}, {Key: "gone", Value: isGone}}
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
func (m *manyToMany) repair(found []halfLink) model.Plan {
	var p model.Plan
	for _, h := range found {
		p.Steps = append(p.Steps, m.mend(h)...)
	}
	return p
}

// mend takes a half-link off, or adds its other half.
func (m *manyToMany) mend(h halfLink) []model.Step {
	if m.version != "" {
		return m.mendVersioned(h)
	}
	var w model.Write
	switch {
	case h.List && (h.Gone || m.trust == TrustLists):
		w = pull(m.left, h.A, m.leftPath, model.Eq(h.B))
	case h.List:
		w = addToSet(m.right, m.rightPath, h.B, h.A, 0)
	case h.Gone || m.trust == TrustRefs:
		w = pull(m.right, h.B, m.rightPath, model.Eq(h.A))
	default:
		w = addToSet(m.left, m.leftPath, h.A, h.B, 0)
	}
	w.Expect = model.Any
	return []model.Step{w}
}

// mendVersioned believes the left document. What an operation has yet to decide is decided for it: the left document lists the right
// one too, or, where it is full, moves on to the link's version, so that the link can be taken off.
func (m *manyToMany) mendVersioned(h halfLink) []model.Step {
	a, b := h.A, h.B
	switch {
	case h.List && h.Gone:
		w := updateOne(m.left, bson.D{{Key: "_id", Value: model.Eq(a)}, {Key: m.leftPath + ".op", Value: h.Op}}, bson.D{
			{Key: "$pull", Value: bson.D{{Key: m.leftPath, Value: exactly(b, h.V, h.Op)}}},
			{Key: "$inc", Value: bson.D{{Key: m.version, Value: int64(1)}}}, // who read the list before is stale
		})
		w.Expect, w.Once = model.Any, true
		return []model.Step{w}
	case h.List:
		w := reserve(m.right, m.rightPath, b, a, h.V, h.Op, 0)
		w.Expect = model.Any
		return []model.Step{w}
	case !h.undecided():
		return []model.Step{pull(m.right, b, m.rightPath, exactly(a, h.V, h.Op))}
	}
	claim := m.claim(a, b, h.Now, h.Op)
	move := updateOne(m.left, atVersion(a, m.version, h.Now), set(m.version, h.V))
	claim.Expect, move.Expect, move.Once = model.Any, model.Any, true
	return []model.Step{claim, move}
}
