package schema

import (
	"fmt"
	"reflect"

	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Upcast returns the step that makes a document of one version from one of the version before. The function must be pure: it
// gets the same document more than once, at each read. It must leave the _id. What it is handed is its own; it may keep parts of
// it in what it returns. An error says that this document can't be read as the newest version: it comes back within a
// [*VersionError].
func Upcast[From, To any](step func(From) (To, error)) Step {
	from, to := reflect.TypeFor[From](), reflect.TypeFor[To]()
	s := Step{
		fromType: from, toType: to,
		down: func(decode func(any) error) (any, error) {
			var doc From
			err := decode(&doc)
			return &doc, err
		},
	}
	if step != nil {
		s.up = func(doc any) (any, error) {
			next, err := step(*doc.(*From))
			return &next, err
		}
	}
	return s
}

// A Step leads from one version to the next; [Upcast] makes it.
type Step struct {
	fromType, toType reflect.Type
	down             func(decode func(into any) error) (doc any, err error)
	up               func(doc any) (next any, err error) // both are pointers
}

// NewVersions declares the versions of a collection's documents: D is the newest, and the steps, in order, lead to it from the
// first. Without steps there is one version yet.
//
// It panics with a [*model.DeclarationError] when the types of the steps don't meet, when
// the last doesn't lead to D, when a type isn't stored as a document, when the version's
// field is no name, the _id, or no integer in D, when Missing is no version, and when a
// technique over this collection uses a path that isn't stored alike in all versions.
func NewVersions[D, K any](c *model.Collection[D, K], spec VersionsSpec, steps ...Step) *Versions[D, K] {
	model.MustField(c, "_id")
	in := newVersioning(c.Name(), model.ShapeOf(c), spec, steps)
	in.encode = func(doc any) (bson.Raw, error) { return model.EncodeDocument(c, doc) }
	in.decodeAs = func(raw bson.Raw, into any) error { return c.DecodeAs(raw, into) }
	older := make([]reflect.Type, len(steps))
	for i, s := range steps {
		older[i] = s.fromType
	}
	reading := model.Decoding(c, older, func(raw bson.Raw, doc *D) error { return in.decode(raw, doc) })
	return &Versions[D, K]{reading, in, c}
}

func newVersioning(collection string, newest model.Shape, spec VersionsSpec, steps []Step) *versioning {
	x := &versioning{collection: collection, field: spec.Field, first: spec.First, missing: spec.Missing}
	if x.field == "" {
		x.field = "schemaVersion"
	}
	if x.first == 0 {
		x.first = 1
	}
	if x.missing == 0 {
		x.missing = x.first
	}
	x.newest = x.first + len(steps)
	refuse := func(problem, remedy string) {
		panic(&model.DeclarationError{Problem: problem, Place: "versions of " + collection, Remedy: remedy})
	}
	if err := model.CheckKey(x.field); err != nil || x.field == "_id" {
		refuse(fmt.Sprintf("the version can't be held by %q", x.field), "name a field of its own at the top of the document")
	}
	switch {
	case x.first < 0:
		refuse("a first version below 0", "count from 1")
	case x.missing >= 0 && (x.missing < x.first || x.missing > x.newest):
		refuse(fmt.Sprintf("Missing is %d, and the versions are %d to %d", x.missing, x.first, x.newest), "give one of them, or -1 for none")
	}
	x.steps = append(x.steps, steps...)
	b := &formBuilder{forms: map[formKey]*form{}}
	for i, s := range steps {
		switch {
		case s.up == nil:
			refuse(fmt.Sprintf("step %d has no function", i+1), "make each by schema.Upcast")
		case i > 0 && s.fromType != steps[i-1].toType:
			refuse(fmt.Sprintf("step %d takes a %s, and the step before makes a %s", i+1, s.fromType, steps[i-1].toType), "give the steps in order")
		}
		x.forms = append(x.forms, b.document(newest.As(s.fromType), refuse))
	}
	if n := len(steps); n > 0 && steps[n-1].toType != newest.Type {
		refuse(fmt.Sprintf("the last step makes a %s, and the documents are %s", steps[n-1].toType, newest.Type), "end with the collection's own type")
	}
	x.forms = append(x.forms, b.document(newest, refuse))
	x.maps = b.maps
	if f := x.forms[len(x.forms)-1].fields[x.field]; f != nil && !f.integer {
		refuse(fmt.Sprintf("%s.%s is no integer", newest.Type, x.field), "declare the version's field as an int, or leave it to the technique")
	}
	return x
}

// assign puts what from points at into what to points at.
func assign(to, from any) { reflect.ValueOf(to).Elem().Set(reflect.ValueOf(from).Elem()) }
