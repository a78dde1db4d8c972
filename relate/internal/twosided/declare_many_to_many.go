package twosided

import (
	"slices"

	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/relate/internal/stmt"
)

// ManyToMany is two lists that hold each other's documents.
type ManyToMany struct {
	Left, Right End
	Version     string // of versioned links: the path of the left documents that counts
	TrustRight  bool   // by mending
}

// Place says where the relation is declared.
func (m *ManyToMany) Place() core.Place {
	return core.Place("NewManyToMany of " + m.Left.String() + " and " + m.Right.String())
}

// Declare checks that both lists have one form, and that the spec goes with it.
func (m *ManyToMany) Declare() {
	links, place := m.Left.Links, m.Place()
	switch {
	case links != m.Right.Links:
		failOneForm(place)
	case links && m.Version == "":
		place.Fail("versioned links need ManyToManySpec.Version", "give the path of an int64 in the left documents")
	case !links && m.Version != "":
		place.Fail("bare ids can't have ManyToManySpec.Version", "use relate.Link as the element of both lists, or leave Version empty")
	case m.Left.Max < 0 || m.Right.Max < 0:
		place.Fail("a bound is negative", "use 0 for no bound")
	case links && m.TrustRight:
		place.Fail("TrustRight is given with versioned links", "leave TrustRight out: the left document decides")
	}
}

// Side is the left side, or the right one.
func (m *ManyToMany) Side(left bool) Side {
	e, back := m.Right, m.Left
	if left {
		e, back = m.Left, m.Right
	}
	s := e.side(back).listing()
	s.Narrow = e.Links && !left
	s.Index = commands.Index(back.Docs.Name(), stmt.Listing(back.Docs.Name(), e.Docs.Name()), mql.E(back.id(), 1))
	return s
}

func (m *ManyToMany) Indexes() []model.Index {
	return []model.Index{m.Side(false).Index, m.Side(true).Index}
}

func (m *ManyToMany) Relations() []model.Relation {
	return []model.Relation{{
		From: m.Left.Docs.Name(), FromPath: m.Left.Path, To: m.Right.Docs.Name(), ToPath: m.Right.Path,
		FromEnd: model.Many, ToEnd: model.Many, Label: "many to many",
	}}
}

// Footprints are the paths that are used.
func (m *ManyToMany) Footprints() []model.Footprint {
	left, right := m.Left.Docs.Name(), m.Right.Docs.Name()
	return slices.Concat(
		model.Writes.In(left, m.Left.Path), model.Owns.In(left, m.Version), model.Writes.In(right, m.Right.Path),
		model.Mends.In(left, m.Left.Path), model.Mends.In(right, m.Right.Path),
	)
}
