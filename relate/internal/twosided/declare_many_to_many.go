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
	TrustRight  bool // by mending
}

// Declare checks the spec.
func (m *ManyToMany) Declare() {
	if m.Left.Max < 0 || m.Right.Max < 0 {
		core.Place("NewManyToMany of "+m.Left.String()+" and "+m.Right.String()).
			Fail("a bound is negative", "use 0 for no bound")
	}
}

// Side is the left side, or the right one.
func (m *ManyToMany) Side(left bool) Side {
	e, back := m.Right, m.Left
	if left {
		e, back = m.Left, m.Right
	}
	s := e.side(back).listing()
	s.Index = commands.MakeIndex(back.Docs.Name(),
		stmt.DescribeListIndex(back.Docs.Name(), e.Docs.Name()), mql.E(back.Path, 1))
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
		model.Writes.In(left, m.Left.Path), model.Writes.In(right, m.Right.Path),
		model.Mends.In(left, m.Left.Path), model.Mends.In(right, m.Right.Path),
	)
}
