package twosided

import (
	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/relate/internal/stmt"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

func (m *ManyToMany) Checks() []model.Check {
	_, left := m.Left.halfLinkChecks(m.Right, "the right side", true, func() mongo.Pipeline { return m.check(true) }, m.repair)
	out, right := m.Right.halfLinkChecks(m.Left, "the left side", false, func() mongo.Pipeline { return m.check(false) }, m.repair)
	return append(out, left, right)
}

// check is the pipeline over the left documents, or the right ones, that finds half-links.
func (m *ManyToMany) check(left bool) mongo.Pipeline {
	from, to, self, far := m.Right, m.Left, "b", "a"
	if left {
		from, to, self, far = m.Left, m.Right, "a", "b"
	}
	id, back, row := "link", any("$_id"), rowOf(left, mql.E(self, "$_id"))
	if from.Links {
		now := any("$link.v")
		if !left {
			now = firstOf("doc."+m.Version, int64(0))
		}
		id, back, row = "link.id", linkBack("link"), versioned(row, "link", now)
	}
	return halves(from.unwound(), to.Docs.Name(), id, back, firstOf("doc."+to.Path, bson.A{}), append(row, mql.E(far, "$"+id)))
}

// repair is the plan that mends half-links.
func (m *ManyToMany) repair(found []halfLink) model.Plan {
	var p model.Plan
	for _, h := range found {
		p.Steps = append(p.Steps, m.mend(h)...)
	}
	return p
}

// mend removes a half-link, or adds its other half.
func (m *ManyToMany) mend(h halfLink) []model.Step {
	switch {
	case m.Left.Links:
		return m.mendVersioned(h)
	case h.List && (h.Gone || m.TrustRight):
		return []model.Step{m.Left.pull(h.A, model.Eq(h.B))}
	case h.List:
		return []model.Step{stmt.AnyMatch(m.Right.unbounded().add(h.B, h.A))}
	case h.Gone || !m.TrustRight:
		return []model.Step{m.Right.pull(h.B, model.Eq(h.A))}
	}
	return []model.Step{stmt.AnyMatch(m.Left.unbounded().add(h.A, h.B))}
}

// mendVersioned believes the left document. For an operation that has not decided, it decides: the left document lists the right
// one too or, if its list is full, moves on to the link's version, so that the link can be removed.
func (m *ManyToMany) mendVersioned(h halfLink) []model.Step {
	switch {
	case h.List && h.Gone:
		w := commands.UpdateOne(m.Left.Docs.Name(), append(commands.ByID(h.A), mql.E(m.Left.Path+".op", h.Op)),
			append(stmt.Operator("$pull", m.Left.Path, exactly(h.B, h.V, h.Op)), stmt.Operator("$inc", m.Version, int64(1))...)) // who read the list before is stale
		w.Once = true
		return []model.Step{stmt.AnyMatch(w)}
	case h.List:
		return []model.Step{stmt.AnyMatch(m.Right.unbounded().reserve(h.B, h.A, h.V, h.Op))}
	case !h.undecided():
		return []model.Step{m.Right.pull(h.B, exactly(h.A, h.V, h.Op))}
	}
	move := commands.UpdateOne(m.Left.Docs.Name(), atVersion(h.A, m.Version, h.Now), stmt.Set(m.Version, h.V))
	move.Once = true
	return []model.Step{stmt.AnyMatch(m.claim(h.A, h.B, h.Now, h.Op)), stmt.AnyMatch(move)}
}
