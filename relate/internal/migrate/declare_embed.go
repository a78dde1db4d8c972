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

// Embedding is what Extract and Absorb have in common: owners that embed elements at a path, or refer to the documents of
// another collection that hold the same.
type Embedding struct {
	owners, docs string
	path         string // of the elements, in the owners
	single       bool   // one subdocument, not an array
	Key          string // the field of an element that is the document's _id; "" for none
	refs         string // in the owners: the ids of the documents; "" when the documents hold the owner
	parent       string // in the documents: the owner's _id
	order        string // in the documents: their place; "" for none
	mark         string // in the documents: that they are copies; "" for none
	state        state
}

// Forms are the paths of the referenced form, and the field of an element that holds the document's _id.
type Forms struct{ Refs, Parent, Order, Key string }

// DeclareEmbedding checks the paths. refs and parent are the fields that hold the ids; one of them is asked for.
func DeclareEmbedding(place core.Place, owners *core.Docs, path string, children *core.Docs, f Forms, refs, parent func() core.Field) Embedding {
	e := Embedding{owners: owners.Name(), docs: children.Name(), path: path, Key: f.Key, refs: f.Refs, parent: f.Parent, order: f.Order}
	owners.MustField("_id")
	children.MustField("_id")
	elements := owners.MustField(path)
	e.checkPath(place, elements)
	if f.Refs != "" {
		e.checkRefs(place, elements, refs())
	} else {
		idref.Single(place, parent())
	}
	if f.Order != "" {
		idref.Single(place, children.MustField(f.Order))
	}
	return e
}

// checkPath fails unless the elements are an array that is in no other, or a subdocument.
func (e *Embedding) checkPath(place core.Place, elements core.Field) {
	if elements.Arrays > 1 || elements.Arrays == 1 && !elements.IsArray() {
		place.Fail(fmt.Sprintf("path %q is in another array", e.path), "name an array of documents that isn't in another array, or a subdocument")
	}
	e.single = !elements.Open && elements.Arrays == 0
	if (e.refs == "") == (e.parent == "") {
		place.Fail("Refs and Parent are both given or both missing", "give one of them, for the side that holds the reference")
	}
}

// checkRefs fails unless there is a place for the ids of the elements.
func (e *Embedding) checkRefs(place core.Place, elements, ids core.Field) {
	if !ids.Open && (ids.Arrays > 1 || ids.Arrays == 1 && !ids.IsArray() || (ids.Arrays == 0) != e.single && !elements.Open) {
		place.Fail(fmt.Sprintf("path %q can't hold the ids of %q", e.refs, e.path), "use a list of ids for an array, and a single id for a subdocument")
	}
	if e.refs == e.path {
		place.Fail("the elements and the ids have the same path", "give them different paths: both exist while the migration runs")
	}
}

// checkFieldNames panics for what is not a single name, and for one that is used twice.
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

// holdsAt is the condition that something is stored at a path of the owners.
func (e Embedding) holdsAt(path string) bson.D {
	if e.single {
		return holdsID(path)
	}
	return stmt.Exists(path+".0", true)
}

func (e Embedding) Indexes() []model.Index {
	if e.parent == "" {
		return []model.Index{commands.Index(e.owners, "the documents of "+e.owners+" that refer to a document of "+e.docs, mql.E(e.refs, 1))}
	}
	return []model.Index{commands.Lookup(e.docs, "the "+e.docs+" of a document of "+e.owners+", in order", append(bson.D{{Key: e.parent, Value: 1}}, e.docsOrder()...)...)}
}

func (e Embedding) Relations() []model.Relation {
	many := model.Many
	if e.single {
		many = model.ZeroOrOne
	}
	if e.refs != "" {
		return []model.Relation{{
			From: e.owners, FromPath: e.refs, To: e.docs, ToPath: "_id", FromEnd: model.ZeroOrOne, ToEnd: many, Label: "child references",
		}}
	}
	return []model.Relation{{
		From: e.docs, FromPath: e.parent, To: e.owners, ToPath: "_id", FromEnd: many, ToEnd: model.ZeroOrOne, Label: "parent reference",
	}}
}

// docsOrder is the order of an owner's documents, total.
func (e Embedding) docsOrder() bson.D {
	return stmt.Ascending(e.order)
}

// Footprints are the paths that are used.
func (e Embedding) Footprints() []model.Footprint {
	return slices.Concat(model.Mends.In(e.owners, e.path, e.refs), model.Mends.In(e.docs, model.Whole, e.parent, e.order, e.mark))
}
