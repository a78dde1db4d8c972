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

// An inversion is a list of ids in the parents, and a reference in the children.
type inversion struct {
	Parents, Children string
	List, Ref         string
	// The children's field for their index in the list; "" for none.
	Position string
	// If several parents list a child, the parent with the least _id gets it. Otherwise
	// such a child is reported, and keeps its reference.
	FirstWins bool
	// The new form may have data of others when the first copy begins: it is overwritten.
	// Otherwise the copy is refused with [ErrPresent], before it writes anything.
	Overwrite bool
	State     string
}

// checkDeclaration panics unless the fields can store the list and the reference.
func (v *inversion) checkDeclaration(parents *core.Docs, ids core.Field, children *core.Docs, ref core.Field) {
	place := core.Place("migrate.NewInvert of " + v.Parents + "." + v.List + " and " + v.Children + "." + v.Ref)
	// The list's elements are documents with an id each.
	if !ids.Untyped && ids.Array != "" && ids.Array != v.List {
		place.Fail("the list holds documents, not bare ids", "move the other fields first: they would be lost")
	}
	parents.CheckArray(v.List)
	idref.RequireSingle(place, ref)
	if v.Position != "" {
		idref.RequireSingle(place, children.MustField(v.Position))
	}
}

// listIndexes returns the indexes of the list and of the reference.
func (v *inversion) listIndexes() []model.Index {
	return []model.Index{
		commands.MakeIndex(v.Parents, stmt.DescribeListIndex(v.Parents, v.Children), mql.E(v.List, 1)),
		commands.MakeLookupIndex(
			v.Children, "the "+v.Children+" of a document of "+v.Parents+", in order",
			append(bson.D{{Key: v.Ref, Value: 1}}, v.sortChildren()...)...,
		),
	}
}

// listRelations returns the relation for diagrams.
func (v *inversion) listRelations() []model.Relation {
	return []model.Relation{{
		From: v.Children, FromPath: v.Ref, To: v.Parents, ToPath: "_id",
		FromEnd: model.Many, ToEnd: model.ZeroOrOne, Label: "parent reference",
	}}
}

// sortChildren is the order of a parent's children, ending with _id.
func (v *inversion) sortChildren() bson.D { return stmt.SortAscending(v.Position) }

// migrateToRefs is the migration from the list to the references.
func (v *inversion) migrateToRefs() untypedMigration {
	name := "to refs: " + v.Parents + "." + v.List + " > " + v.Children + "." + v.Ref
	state := newState(v.State, name).setTarget(v.Children, matchID(v.Ref), v.Overwrite)
	return untypedMigration{
		name: name, docs: v.Parents, state: state, verify: func() mongo.Pipeline { return v.verifyRefs(state) },
		copy: []pass{{collection: v.Children, projection: commands.ProjectFields(v.Ref, v.Position), plan: v.copyRefs}},
		drop: []pass{
			{
				collection: v.Parents, projection: commands.ProjectFields(v.List),
				filter: stmt.MatchExists(v.List, true),
				plan:   v.dropLists,
			},
		},
	}
}

// migrateToLists is the migration from the references to the lists.
func (v *inversion) migrateToLists() untypedMigration {
	name := "to lists: " + v.Children + "." + v.Ref + " > " + v.Parents + "." + v.List
	state := newState(v.State, name).setTarget(v.Parents, stmt.MatchExists(v.List+".0", true), v.Overwrite)
	return untypedMigration{
		name: name, docs: v.Parents, state: state, verify: func() mongo.Pipeline { return v.verifyLists(state) },
		copy: []pass{{collection: v.Parents, projection: commands.ProjectFields(v.List), plan: v.copyLists}},
		drop: []pass{
			{collection: v.Parents, projection: commands.ProjectFields(v.List), plan: v.dropRefs},
			reportOrphans(v.Children, v.Ref, v.Parents),
		},
	}
}

// listFootprints returns the paths that the migration uses.
func (v *inversion) listFootprints() []model.Footprint {
	return slices.Concat(model.Mends.In(v.Parents, v.List), model.Mends.In(v.Children, v.Ref, v.Position))
}
