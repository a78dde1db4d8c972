package relate

import (
	"fmt"
	"reflect"

	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// extraction is what of an [Extract] doesn't depend on its types.
type extraction struct {
	embedding
	place string

	// idOf is the id of the document that an element of an owner becomes.
	idOf func(owner bson.RawValue, position int, element bson.RawValue) (bson.RawValue, error)
}

// declare checks what is beside the paths.
func (x *extraction) declare(f forms, makesID bool, mark, state string, overwrite bool) {
	if (f.key == "") != makesID {
		panic(&model.DeclarationError{Problem: "one of Key and ID must be given", Place: x.place, Remedy: "name the field that holds an element's id, or make one of its owner and position"})
	}
	if f.key == "" && f.refs == "" && f.order == "" && !x.single {
		panic(&model.DeclarationError{Problem: "elements without ids need a place", Place: x.place, Remedy: "name the Order field"})
	}
	if x.mark = mark; x.mark == "" {
		x.mark = "extracted"
	}
	checkFieldNames(x.place, f.key, f.parent, f.order, x.mark)
	checkMigration(x.place, x.size, false, "")
	x.state = newState(state, x.name())
	if f.refs != "" {
		x.state = x.state.over(x.owners, x.holdsAt(f.refs), overwrite)
	}
}

func (x *extraction) name() string { return "extract: " + x.owners + "." + x.path + " > " + x.docs }

func (x *extraction) migration() Migration {
	e := x.embedding
	return Migration{
		state: e.state,
		copy: func() Pass {
			return Pass{Name: "copy " + x.name(), state: e.state, stages: []passStage{
				{collection: e.owners, projection: fieldsProjection(e.path, e.refs), filter: x.concerned(), size: e.size, plan: x.copyOwners},
				{collection: e.docs, filter: exists(e.mark, true), size: e.size, plan: x.sweep},
			}}
		},
		drop: func() Pass {
			return Pass{Name: "drop " + x.name(), state: e.state, drops: true, stages: []passStage{
				{collection: e.owners, projection: fieldsProjection(e.path, e.refs), filter: exists(e.path, true), size: e.size, plan: x.dropElements},
				{collection: e.docs, projection: fieldsProjection(e.mark), filter: exists(e.mark, true), size: e.size, plan: x.dropMarks},
			}}
		},
		verify: func() model.Aggregate[Mismatch] { return e.verify(true) },
	}
}

// concerned are the owners that have elements, or references to what were elements.
func (x *extraction) concerned() bson.D {
	if x.refs == "" {
		return exists(x.path, true)
	}
	return bson.D{{Key: "$or", Value: bson.A{exists(x.path, true), exists(x.refs, true)}}}
}

// keyIn decodes the id that an element holds in its key.
func (x *extraction) keyIn(element bson.RawValue, id any) (bson.RawValue, error) {
	v := x.keyOf(element)
	if v.Type == 0 {
		return v, fmt.Errorf("the element has no %q", x.key)
	}
	if err := v.Unmarshal(id); err != nil {
		return v, fmt.Errorf("the element's %q is no %s: %w", x.key, reflect.TypeOf(id).Elem(), err)
	}
	return v, nil
}

// checkPath fails unless the elements are an array that is in no other, or a subdocument.
func (e *embedding) checkPath(place string, elements model.Field) {
	if elements.Arrays > 1 || elements.Arrays == 1 && !elements.IsArray() {
		panic(&model.DeclarationError{Problem: fmt.Sprintf("path %q is nested in an array", e.path), Place: place, Remedy: "name an array of documents that is in no other, or a subdocument"})
	}
	e.single = !elements.Open && elements.Arrays == 0
	if (e.refs == "") == (e.parent == "") {
		panic(&model.DeclarationError{Problem: "one of Refs and Parent must be given", Place: place, Remedy: "say which side holds the reference"})
	}
}

// checkRefs fails unless there is a place for the ids of the elements.
func (e *embedding) checkRefs(place string, elements, ids model.Field) {
	if !ids.Open && (ids.Arrays > 1 || ids.Arrays == 1 && !ids.IsArray() || (ids.Arrays == 0) != e.single && !elements.Open) {
		panic(&model.DeclarationError{Problem: fmt.Sprintf("path %q is no place for the ids of %q", e.refs, e.path), Place: place, Remedy: "use a list of ids for an array, and a single id for a subdocument"})
	}
	if e.refs == e.path {
		panic(&model.DeclarationError{Problem: "the elements and the ids have one path", Place: place, Remedy: "keep them beside each other while the migration runs"})
	}
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
