package relate

import (
	"fmt"

	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Extract moves embedded elements (post.comments, person.address) into documents of their own, on a live collection. The
// owner then lists their ids, or each holds the owner's id. Make it with [NewExtract]; it is a [Migration].
//
// Copy goes through the owners: it stores a document for each element, and the ids in the owner. It marks what it stores
// with the owner and a checksum, and writes only over its own copies: a document that is there under an extracted id with
// other content is reported and left alone, and so is a copy that somebody changed. An owner with such a document, or with
// an element that can't be extracted, is left as it is. Then it goes through its copies and deletes those whose element is
// gone. Drop goes through the owners, unsets the elements where the documents say the same, and takes the marks away.
//
// A batch of n owners costs their read, the read of the documents there are, and at most three write commands: documents
// replaced, documents stored, owners updated; of as many documents as differ. Elements are unset only if they are still as
// they were read.
//
// Source: unbounded comments, "when to reference" (seed 000).
type Extract[O, OK, C, CK any] struct {
	Migration
	embedding
	children *model.Collection[C, CK]
	makeID   func(owner OK, position int, element bson.Raw) (CK, error)
}

// ExtractSpec says what becomes of the elements: one of Key and ID, and one of Refs and Parent, must be given. Key, Parent,
// Order and Mark are names, not dotted paths. No element may have a field named as one of the last three, or _id, beside.
type ExtractSpec[OK, CK any] struct {
	// Key is the field of an element that becomes the document's _id, and is moved there. It must be unique over all owners.
	Key string

	// ID makes the _id of an element that has none, from the owner's _id, the element's position and the element. It must
	// give the same for the same, and no id twice. An element that changes its position then changes its document.
	ID func(owner OK, position int, element bson.Raw) (CK, error)

	Refs   string // the path of the owners that lists the ids of the documents; a single id for a subdocument
	Parent string // the field of the documents that holds the owner's _id

	// Order is the field of the documents that keeps an element's position, from 0 on. "" keeps none: where Refs doesn't
	// either, the order of the elements is lost, and nothing reports it.
	Order string

	Mark      string // the field of the documents that marks a copy until Drop; "" means "extracted"
	Overwrite bool   // begin over what Refs holds already; see ErrPresent
	BatchSize int    // owners of a batch; 0 means 500
	State     string // the collection that keeps that a drop has begun; "" means "migrations"
}

// NewExtract declares both forms: the elements at a path of the owners' documents, an array or a subdocument, and the
// documents that they become. All paths must be declared in the documents' types, but for the mark. It panics with a
// [*model.DeclarationError] when a path doesn't exist, is nested in an array, or holds another type than the id that it
// shall hold, and when the spec has none or both of what it needs one of.
func NewExtract[O, OK, C, CK any](owners *model.Collection[O, OK], path string, children *model.Collection[C, CK], spec ExtractSpec[OK, CK]) *Extract[O, OK, C, CK] {
	place := "NewExtract of " + owners.Name() + "." + path
	x := &Extract[O, OK, C, CK]{children: children, makeID: spec.ID}
	x.embedding = newEmbedding(place, owners, path, children, forms{spec.Refs, spec.Parent, spec.Order, spec.Key})
	if (spec.Key == "") == (spec.ID == nil) {
		panic(&model.DeclarationError{Problem: "one of Key and ID must be given", Place: place, Remedy: "name the field that holds an element's id, or make one of its owner and position"})
	}
	if spec.Key == "" && spec.Refs == "" && spec.Order == "" && !x.single {
		panic(&model.DeclarationError{Problem: "elements without ids need a place", Place: place, Remedy: "name the Order field"})
	}
	if x.mark = spec.Mark; x.mark == "" {
		x.mark = "extracted"
	}
	checkFieldNames(place, spec.Key, spec.Parent, spec.Order, x.mark)
	checkMigration(place, spec.BatchSize, false, "")
	x.size = spec.BatchSize
	name := "extract: " + owners.Name() + "." + path + " > " + children.Name()
	x.embedding.state = newState(spec.State, name)
	if spec.Refs != "" {
		x.embedding.state = x.embedding.state.over(x.owners, x.holdsAt(spec.Refs), spec.Overwrite)
	}
	e := x.embedding
	x.Migration = Migration{
		state: e.state,
		copy: func() Pass {
			return Pass{Name: "copy " + name, state: e.state, stages: []passStage{
				{collection: e.owners, projection: fieldsProjection(e.path, e.refs), filter: x.concerned(), size: e.size, plan: x.copyOwners},
				{collection: e.docs, filter: exists(e.mark, true), size: e.size, plan: x.sweep},
			}}
		},
		drop: func() Pass {
			return Pass{Name: "drop " + name, state: e.state, drops: true, stages: []passStage{
				{collection: e.owners, projection: fieldsProjection(e.path, e.refs), filter: exists(e.path, true), size: e.size, plan: x.dropElements},
				{collection: e.docs, projection: fieldsProjection(e.mark), filter: exists(e.mark, true), size: e.size, plan: x.dropMarks},
			}}
		},
		verify: func() model.Aggregate[Mismatch] { return e.verify(true) },
	}
	return x
}

// Indexes returns the index by which an owner's documents, or the owner of a document, are found.
func (x *Extract[O, OK, C, CK]) Indexes() []model.Index { return x.indexes() }

// Relations returns the relation, for diagrams, as the references store it.
func (x *Extract[O, OK, C, CK]) Relations() []model.Relation { return x.relations() }

// concerned are the owners that have elements, or references to what were elements.
func (x *Extract[O, OK, C, CK]) concerned() bson.D {
	if x.refs == "" {
		return exists(x.path, true)
	}
	return bson.D{{Key: "$or", Value: bson.A{exists(x.path, true), exists(x.refs, true)}}}
}

// forms are the paths of the referenced form.
type forms struct{ refs, parent, order, key string }

// newEmbedding checks the paths that Extract and Absorb have in common.
func newEmbedding[O, OK, C, CK any](place string, owners *model.Collection[O, OK], path string, children *model.Collection[C, CK], f forms) embedding {
	problem := func(p, remedy string) { panic(&model.DeclarationError{Problem: p, Place: place, Remedy: remedy}) }
	e := embedding{owners: owners.Name(), docs: children.Name(), path: path, key: f.key, refs: f.refs, parent: f.parent, order: f.order}
	model.MustField(owners, "_id")
	model.MustField(children, "_id")
	elements := model.MustField(owners, path)
	if elements.Arrays > 1 || elements.Arrays == 1 && !elements.IsArray() {
		problem(fmt.Sprintf("path %q is nested in an array", path), "name an array of documents that is in no other, or a subdocument")
	}
	e.single = !elements.Open && elements.Arrays == 0
	if (f.refs == "") == (f.parent == "") {
		problem("one of Refs and Parent must be given", "say which side holds the reference")
	}
	if f.refs != "" {
		ids := model.NewReader[CK](owners, f.refs).Field()
		if !ids.Open && (ids.Arrays > 1 || ids.Arrays == 1 && !ids.IsArray() || (ids.Arrays == 0) != e.single && !elements.Open) {
			problem(fmt.Sprintf("path %q is no place for the ids of %q", f.refs, path), "use a list of ids for an array, and a single id for a subdocument")
		}
		if f.refs == path {
			problem("the elements and the ids have one path", "keep them beside each other while the migration runs")
		}
	} else {
		single(place, model.NewReader[OK](children, f.parent).Field())
	}
	if f.order != "" {
		single(place, model.MustField(children, f.order))
	}
	return e
}

// checkFieldNames panics for what is not a single name, and for one that is used twice.
func checkFieldNames(place string, names ...string) {
	seen := map[string]bool{}
	for i, n := range names {
		if n == "" {
			continue
		}
		if err := model.CheckKey(n); err != nil {
			panic(&model.DeclarationError{Problem: err.Error(), Place: place, Remedy: "Key, Parent, Order and Mark name a field of the document itself"})
		}
		if seen[n] || n == "_id" && i > 0 {
			panic(&model.DeclarationError{Problem: fmt.Sprintf("field %q is used twice", n), Place: place, Remedy: "give each its own name"})
		}
		seen[n] = true
	}
}
