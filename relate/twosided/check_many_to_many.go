package twosided

import (
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// listChecks returns the checks of both lists.
func (m *untypedManyToMany) listChecks() []model.Check {
	return []model.Check{
		m.Left.checkHalfLinks(m.Right, "the right side", m.findHalfLinks(true), m.planRepair),
		m.Right.checkHalfLinks(m.Left, "the left side", m.findHalfLinks(false), m.planRepair),
	}
}

// findHalfLinks is the pipeline over the left documents, or the right ones.
func (m *untypedManyToMany) findHalfLinks(left bool) mongo.Pipeline {
	from, to, self, far := m.Right, m.Left, "b", "a"
	if left {
		from, to, self, far = m.Left, m.Right, "a", "b"
	}
	stages := append(keepHalfLinks(from.unwindLinks(), to.Docs.Name(), "link", to.Path, true), from.lookupAgain(),
		from.matchSettled(mql.Op("$in", "$link", mql.IfNull(mql.Op("$arrayElemAt", "$again."+from.Path, 0), bson.A{})),
			joined{"doc", to}, joined{"again", from}))
	return append(stages, from.makeHalfLink(to, self, far, "$link"), halfLinkOrder)
}

// planRepair mends half-links.
func (m *untypedManyToMany) planRepair(found []halfLink) model.Plan {
	var p model.Plan
	for _, h := range found {
		p.Steps = append(p.Steps, m.mendHalfLink(h))
	}
	return p
}

// mendHalfLink removes a half-link, or adds its other half.
func (m *untypedManyToMany) mendHalfLink(h halfLink) model.Step {
	switch {
	case h.List && (h.Gone || m.TrustRight):
		return m.Left.pullID(h.A, h.MarkA, h.B)
	case h.List:
		return m.Right.addID(h.B, h.MarkB, h.A)
	case h.Gone || !m.TrustRight:
		return m.Right.pullID(h.B, h.MarkB, h.A)
	}
	return m.Left.addID(h.A, h.MarkA, h.B)
}
