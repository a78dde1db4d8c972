package twosided

import (
	"slices"

	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/relate/internal/stmt"
)

// An untypedManyToMany is the ManyToMany without its Go types: two lists of each other's
// ids.
type untypedManyToMany struct {
	Left, Right endOfRelation
	// whether a repair believes the right side
	TrustRight bool
}

// declare checks the spec. It panics with a *model.DeclarationError.
func (m *untypedManyToMany) declare() {
	if m.Left.Max < 0 || m.Right.Max < 0 {
		core.Place("twosided.NewManyToMany of "+m.Left.String()+" and "+m.Right.String()).
			Fail("a bound is negative", "use 0 for no bound")
	}
}

// makeSide returns the left side, or the right one.
func (m *untypedManyToMany) makeSide(left bool) untypedSide {
	e, back := m.Right, m.Left
	if left {
		e, back = m.Left, m.Right
	}
	s := e.makeSide(back).asList()
	s.Index = commands.MakeIndex(back.Docs.Name(),
		stmt.DescribeListIndex(back.Docs.Name(), e.Docs.Name()), mql.E(back.Path, 1))
	return s
}

// listIndexes returns an index on each list.
func (m *untypedManyToMany) listIndexes() []model.Index {
	return []model.Index{m.makeSide(false).Index, m.makeSide(true).Index}
}

// listRelations says that both sides link many documents.
func (m *untypedManyToMany) listRelations() []model.Relation {
	return []model.Relation{{
		From: m.Left.Docs.Name(), FromPath: m.Left.Path, To: m.Right.Docs.Name(), ToPath: m.Right.Path,
		FromEnd: model.Many, ToEnd: model.Many, Label: "many to many",
	}}
}

// listFootprints returns the paths that the technique uses.
func (m *untypedManyToMany) listFootprints() []model.Footprint {
	left, right := m.Left.Docs.Name(), m.Right.Docs.Name()
	return slices.Concat(
		model.Writes.In(left, m.Left.Path), model.Writes.In(right, m.Right.Path),
		model.Mends.In(left, m.Left.Path), model.Mends.In(right, m.Right.Path),
	)
}
