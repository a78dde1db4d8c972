package migrate

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

// An embedding is what Extract and Absorb have in common: owners that embed elements at a
// path, or the same content in documents of another collection.
type embedding struct {
	owners, docs string
	// The path of the elements in the owners.
	path string
	// The path has one subdocument, not an array.
	single bool
	// The field of an element that is the document's _id; "" if elements have no ids.
	Key string
	// The path of the documents' ids in the owners; "" if the documents store the owner.
	refs string
	// The path of the owner's _id in the documents.
	parent string
	// The documents' field for their index in the list; "" for none.
	order string
	// The documents' field with the mark of a copy; "" if copies have no mark.
	mark  string
	state state
}

// An embeddedForms are the paths of the referenced form, and the field of an element with the _id.
type embeddedForms struct{ Refs, Parent, Order, Key string }

// declareEmbedding checks the paths. refs and parent return the fields with the ids. Only
// one of them is called, because the other path isn't given.
func declareEmbedding(
	place core.Place, owners *core.Docs, path string, children *core.Docs, f embeddedForms,
	refs, parent func() core.Field,
) embedding {
	e := embedding{
		owners: owners.Name(), docs: children.Name(), path: path, Key: f.Key, refs: f.Refs, parent: f.Parent,
		order: f.Order,
	}
	owners.MustField("_id")
	children.MustField("_id")
	elements := owners.MustField(path)
	e.checkPath(place, elements)
	if f.Refs != "" {
		e.checkRefs(place, elements, refs())
	} else {
		idref.RequireSingle(place, parent())
	}
	if f.Order != "" {
		idref.RequireSingle(place, children.MustField(f.Order))
	}
	return e
}

// checkPath panics unless the elements are a subdocument, or an array in no other array.
func (e *embedding) checkPath(place core.Place, elements core.Field) {
	if elements.Arrays > 1 || elements.Arrays == 1 && !elements.IsArray() {
		place.Fail(
			fmt.Sprintf("path %q is in another array", e.path),
			"name an array of documents that isn't in another array, or a subdocument",
		)
	}
	e.single = !elements.Untyped && elements.Arrays == 0
	if (e.refs == "") == (e.parent == "") {
		place.Fail(
			"Refs and Parent are both given or both missing", "give one of them, for the side that holds the reference",
		)
	}
}

// checkRefs panics unless the field can store the ids of the elements.
func (e *embedding) checkRefs(place core.Place, elements, ids core.Field) {
	if !ids.Untyped &&
		(ids.Arrays > 1 || ids.Arrays == 1 && !ids.IsArray() || (ids.Arrays == 0) != e.single && !elements.Untyped) {
		place.Fail(
			fmt.Sprintf("path %q can't hold the ids of %q", e.refs, e.path),
			"use a list of ids for an array, and a single id for a subdocument",
		)
	}
	if e.refs == e.path {
		place.Fail(
			"the elements and the ids have the same path",
			"give them different paths: both exist while the migration runs",
		)
	}
}

// checkFieldNames panics for a name with dots, and for a name that is given twice.
func checkFieldNames(place core.Place, names ...string) {
	seen := map[string]bool{}
	for i, n := range names {
		if n == "" {
			continue
		}
		if err := core.CheckKey(n); err != nil {
			place.Fail(err.Error(), "use top-level fields for Key, Parent, Order and Mark")
		}
		if seen[n] || n == "_id" && i > 0 {
			place.Fail(fmt.Sprintf("field %q is used twice", n), "give each a field of its own")
		}
		seen[n] = true
	}
}

// matchStoredAt is the condition that something is stored at a path of the owners.
func (e embedding) matchStoredAt(path string) bson.D {
	if e.single {
		return matchID(path)
	}
	return stmt.MatchExists(path+".0", true)
}

// listIndexes returns the index of the references.
func (e embedding) listIndexes() []model.Index {
	if e.parent == "" {
		return []model.Index{
			commands.MakeIndex(
				e.owners, "the documents of "+e.owners+" that refer to a document of "+e.docs, mql.E(e.refs, 1),
			),
		}
	}
	return []model.Index{
		commands.MakeLookupIndex(
			e.docs, "the "+e.docs+" of a document of "+e.owners+", in order",
			append(bson.D{{Key: e.parent, Value: 1}}, e.sortDocs()...)...,
		),
	}
}

// listRelations returns the relation for diagrams.
func (e embedding) listRelations() []model.Relation {
	many := model.Many
	if e.single {
		many = model.ZeroOrOne
	}
	if e.refs != "" {
		return []model.Relation{{
			From: e.owners, FromPath: e.refs, To: e.docs, ToPath: "_id", FromEnd: model.ZeroOrOne, ToEnd: many,
			Label: "child references",
		}}
	}
	return []model.Relation{{
		From: e.docs, FromPath: e.parent, To: e.owners, ToPath: "_id", FromEnd: many, ToEnd: model.ZeroOrOne,
		Label: "parent reference",
	}}
}

// sortDocs is the order of an owner's documents, ending with _id.
func (e embedding) sortDocs() bson.D {
	return stmt.SortAscending(e.order)
}

// listFootprints returns the paths that the migration uses.
func (e embedding) listFootprints() []model.Footprint {
	return slices.Concat(
		model.Mends.In(e.owners, e.path, e.refs), model.Mends.In(e.docs, model.Whole, e.parent, e.order, e.mark),
	)
}
