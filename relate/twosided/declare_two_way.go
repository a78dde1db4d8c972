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

// An untypedTwoWay is the TwoWay without its Go types: a list in the owners, and a
// reference in the items.
type untypedTwoWay struct {
	List endOfRelation // of the owners
	Ref  endOfRelation // of the items
	// whether a repair believes the lists
	TrustLists bool
	// what an item without an owner stores: null, and the empty id of its Go type
	none bson.A
}

// declare checks the reference and the spec. It panics with a *model.DeclarationError.
func (t *untypedTwoWay) declare(ref core.Field, empty any) {
	place := core.Place("twosided.NewTwoWay of " + t.List.String() + " and " + t.Ref.String())
	idref.RequireSingle(place, ref)
	if t.List.Max < 0 {
		place.Fail(fmt.Sprintf("Max is %d", t.List.Max), "use 0 for no bound")
	}
	t.none = idref.ListNoReferences(t.List.Docs, empty)
}

// ownersSide returns the side of the owners.
func (t *untypedTwoWay) ownersSide() untypedSide {
	s := t.List.makeSide(t.Ref).asList()
	s.Index = commands.MakeLookupIndex(t.Ref.Docs.Name(),
		"the "+t.Ref.Docs.Name()+" of a document of "+t.List.Docs.Name(),
		mql.E(t.Ref.Path, 1), mql.E("_id", -1))
	s.Sort = stmt.SortAscending("")
	return s
}

// itemsSide returns the side of the items.
func (t *untypedTwoWay) itemsSide() untypedSide {
	s := t.Ref.makeSide(t.List)
	s.Index = t.makeListIndex()
	return s
}

// makeListIndex returns the index on the owners' lists.
func (t *untypedTwoWay) makeListIndex() model.Index {
	return commands.MakeIndex(t.List.Docs.Name(),
		stmt.DescribeListIndex(t.List.Docs.Name(), t.Ref.Docs.Name()), mql.E(t.List.Path, 1))
}

// listIndexes returns the index of references and the index of lists.
func (t *untypedTwoWay) listIndexes() []model.Index {
	return []model.Index{t.ownersSide().Index, t.itemsSide().Index}
}

// listRelations says that many items refer to at most one owner.
func (t *untypedTwoWay) listRelations() []model.Relation {
	return []model.Relation{{
		From: t.Ref.Docs.Name(), FromPath: t.Ref.Path, To: t.List.Docs.Name(), ToPath: t.List.Path,
		FromEnd: model.Many, ToEnd: model.ZeroOrOne, Label: "two-way",
	}}
}

// listFootprints returns the paths that the technique uses.
func (t *untypedTwoWay) listFootprints() []model.Footprint {
	list, ref := t.List.Docs.Name(), t.Ref.Docs.Name()
	return slices.Concat(
		model.Writes.In(list, t.List.Path), model.Writes.In(ref, t.Ref.Path), model.Mends.In(list, t.List.Path),
		model.Mends.In(ref, t.Ref.Path),
	)
}
