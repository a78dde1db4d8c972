package twosided

import (
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Checks returns the checks of both lists.
func (m *ManyToMany) Checks() []model.Check {
	return []model.Check{
		m.Left.halfLinks(m.Right, "the right side", m.find(true), m.repair),
		m.Right.halfLinks(m.Left, "the left side", m.find(false), m.repair),
	}
}

// find is the pipeline over the left documents, or the right ones, that finds half-links.
func (m *ManyToMany) find(left bool) mongo.Pipeline {
	from, to, self, far := m.Right, m.Left, "b", "a"
	if left {
		from, to, self, far = m.Left, m.Right, "a", "b"
	}
	stages := append(whole(from.unwound(), to.Docs.Name(), "link", to.Path, true), from.again(),
		from.matchSettled(mql.Op("$in", "$link", mql.IfNull(mql.Op("$arrayElemAt", "$again."+from.Path, 0), bson.A{})),
			joined{"doc", to}, joined{"again", from}))
	return append(stages, from.row(to, self, far, "$link"), halfLinkOrder)
}

// repair is the plan that mends half-links.
func (m *ManyToMany) repair(found []halfLink) model.Plan {
	var p model.Plan
	for _, h := range found {
		p.Steps = append(p.Steps, m.mend(h))
	}
	return p
}

// mend removes a half-link, or adds its other half.
func (m *ManyToMany) mend(h halfLink) model.Step {
	switch {
	case h.List && (h.Gone || m.TrustRight):
		return m.Left.pull(h.A, h.MarkA, h.B)
	case h.List:
		return m.Right.add(h.B, h.MarkB, h.A)
	case h.Gone || !m.TrustRight:
		return m.Right.pull(h.B, h.MarkB, h.A)
	}
	return m.Left.add(h.A, h.MarkA, h.B)
}
