package migrate

import (
	"slices"

	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/relate/internal/idref"
	"github.com/docmodel/docmodel/relate/internal/stmt"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Inversion is a list of ids in the parents, and a reference in the children.
type Inversion struct {
	Parents, Children string
	List, Ref         string
	Position          string // of the children: their place in the list; "" for none
	FirstWins         bool
	Overwrite         bool
	State             string
}

// Declare panics unless the fields can hold the list and the reference.
func (v *Inversion) Declare(parents *core.Docs, ids core.Field, children *core.Docs, ref core.Field) {
	place := core.Place("NewInvert of " + v.Parents + "." + v.List + " and " + v.Children + "." + v.Ref)
	if !ids.Open && ids.Array != "" && ids.Array != v.List {
		place.Fail("the list holds documents, not bare ids", "move the other fields first: they would be lost")
	}
	parents.CheckArray(v.List)
	idref.Single(place, ref)
	if v.Position != "" {
		idref.Single(place, children.MustField(v.Position))
	}
}

func (v *Inversion) Indexes() []model.Index {
	return []model.Index{
		commands.Index(v.Parents, stmt.Listing(v.Parents, v.Children), mql.E(v.List, 1)),
		commands.Lookup(v.Children, "the "+v.Children+" of a document of "+v.Parents+", in order", append(bson.D{{Key: v.Ref, Value: 1}}, v.order()...)...),
	}
}

func (v *Inversion) Relations() []model.Relation {
	return []model.Relation{{
		From: v.Children, FromPath: v.Ref, To: v.Parents, ToPath: "_id",
		FromEnd: model.Many, ToEnd: model.ZeroOrOne, Label: "parent reference",
	}}
}

// order is the order of a parent's children, total.
func (v *Inversion) order() bson.D { return stmt.Ascending(v.Position) }

// ToRefs is the migration from the list to the references.
func (v *Inversion) ToRefs() Migration {
	name := "to refs: " + v.Parents + "." + v.List + " > " + v.Children + "." + v.Ref
	state := newState(v.State, name).over(v.Children, holdsID(v.Ref), v.Overwrite)
	return Migration{
		name: name, docs: v.Parents, state: state, verify: func() mongo.Pipeline { return v.verifyRefs(state) },
		copy: []pass{{collection: v.Children, projection: commands.Fields(v.Ref, v.Position), plan: v.copyRefs}},
		drop: []pass{{collection: v.Parents, projection: commands.Fields(v.List), filter: stmt.Exists(v.List, true), plan: v.dropLists}},
	}
}

// ToLists is the migration from the references to the lists.
func (v *Inversion) ToLists() Migration {
	name := "to lists: " + v.Children + "." + v.Ref + " > " + v.Parents + "." + v.List
	state := newState(v.State, name).over(v.Parents, stmt.Exists(v.List+".0", true), v.Overwrite)
	return Migration{
		name: name, docs: v.Parents, state: state, verify: func() mongo.Pipeline { return v.verifyLists(state) },
		copy: []pass{{collection: v.Parents, projection: commands.Fields(v.List), plan: v.copyLists}},
		drop: []pass{
			{collection: v.Parents, projection: commands.Fields(v.List), plan: v.dropRefs},
			orphans(v.Children, v.Ref, v.Parents),
		},
	}
}

// Footprints are the paths that are used.
func (v *Inversion) Footprints() []model.Footprint {
	return slices.Concat(model.Mends.In(v.Parents, v.List), model.Mends.In(v.Children, v.Ref, v.Position))
}
