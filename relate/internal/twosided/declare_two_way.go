package twosided

import (
	"fmt"
	"slices"

	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/relate/internal/idref"
	"github.com/docmodel/docmodel/relate/internal/stmt"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// TwoWay is a list in the owners, and a reference in the items.
type TwoWay struct {
	List       End    // of the owners
	Ref        End    // of the items
	TrustLists bool   // by mending
	none       bson.A // what an item without an owner stores: null, and the empty id of its Go type
}

// Declare checks the reference and the spec.
func (t *TwoWay) Declare(ref core.Field, empty any) {
	place := core.Place("NewTwoWay of " + t.List.String() + " and " + t.Ref.String())
	idref.RequireSingle(place, ref)
	if t.List.Max < 0 {
		place.Fail(fmt.Sprintf("Max is %d", t.List.Max), "use 0 for no bound")
	}
	t.none = idref.ListNoReferences(t.List.Docs, empty)
}

// Left is the owners' side.
func (t *TwoWay) Left() Side {
	s := t.List.side(t.Ref).listing()
	s.Index = commands.MakeLookupIndex(t.Ref.Docs.Name(),
		"the "+t.Ref.Docs.Name()+" of a document of "+t.List.Docs.Name(),
		mql.E(t.Ref.Path, 1), mql.E("_id", -1))
	s.Sort = stmt.SortAscending("")
	return s
}

// Right is the items' side.
func (t *TwoWay) Right() Side {
	s := t.Ref.side(t.List)
	s.Index = t.listIndex()
	return s
}

func (t *TwoWay) listIndex() model.Index {
	return commands.MakeIndex(t.List.Docs.Name(),
		stmt.DescribeListIndex(t.List.Docs.Name(), t.Ref.Docs.Name()), mql.E(t.List.Path, 1))
}

func (t *TwoWay) Indexes() []model.Index {
	return []model.Index{t.Left().Index, t.Right().Index}
}

func (t *TwoWay) Relations() []model.Relation {
	return []model.Relation{{
		From: t.Ref.Docs.Name(), FromPath: t.Ref.Path, To: t.List.Docs.Name(), ToPath: t.List.Path,
		FromEnd: model.Many, ToEnd: model.ZeroOrOne, Label: "two-way",
	}}
}

// Footprints are the paths that are used.
func (t *TwoWay) Footprints() []model.Footprint {
	list, ref := t.List.Docs.Name(), t.Ref.Docs.Name()
	return slices.Concat(
		model.Writes.In(list, t.List.Path), model.Writes.In(ref, t.Ref.Path), model.Mends.In(list, t.List.Path),
		model.Mends.In(ref, t.Ref.Path),
	)
}
