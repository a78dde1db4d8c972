// Package versions is the core of schema.Versions, without type parameters.
package versions

import (
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// ErrNewer is schema.ErrNewer.
var ErrNewer = errors.New("docmodel: the version is newer than this program supports")

// A Spec is schema.VersionsSpec.
type Spec struct {
	Field          string
	First, Missing int
}

// A Step leads from one version to the next. What it is handed, and what it returns, are pointers to documents.
type Step struct {
	From, To reflect.Type
	Down     func(decode func(into any) error) (doc any, err error)
	Up       func(doc any) (next any, err error)
}

// A Fault makes an error from a document's _id, its version and the cause.
type Fault func(id, version bson.RawValue, err error) error

// Versions is a declaration of schema.Versions without its types.
type Versions struct {
	*core.Docs     // as they are stored
	of             *core.Docs
	field          string
	first, missing int // missing is below 0 for none
	newest         int
	fault          Fault
	steps          []Step
	forms          []*form // by version, from the first
	maps           bool    // some type holds a map, whose encoding has no order
}

// Declare checks a declaration, and panics if it doesn't fit. fault makes the error of a document that can't be read or
// brought up: from its _id, its version, and the cause.
func Declare(of *core.Docs, spec Spec, steps []Step, fault Fault) *Versions {
	of.MustField("_id")
	docs := of.AsStored()
	newest, place := docs.Shape(), core.Place("versions of "+docs.Name())
	x := &Versions{Docs: docs, of: of, field: spec.Field, first: spec.First, missing: spec.Missing, fault: fault}
	if x.field == "" {
		x.field = "schemaVersion"
	}
	docs.Adds(x.field)
	if x.first == 0 {
		x.first = 1
	}
	if x.missing == 0 {
		x.missing = x.first
	}
	x.newest = x.first + len(steps)
	if newest.Type == reflect.TypeFor[bson.Raw]() {
		place.Fail("the collection is of bson.Raw, which is the stored document in any version",
			"declare the collection with bson.D or a struct")
	}
	if err := core.CheckKey(x.field); err != nil || x.field == "_id" {
		place.Fail(fmt.Sprintf("the version can't be stored in %q", x.field), "name a top-level field that nothing else uses")
	}
	switch {
	case x.first < 0:
		place.Fail("the first version is negative", "count from 1")
	case x.missing >= 0 && (x.missing < x.first || x.missing > x.newest):
		place.Fail(fmt.Sprintf("Missing is %d, but the versions are %d to %d", x.missing, x.first, x.newest),
			"give one of these versions, or -1 for none")
	}
	x.steps = append(x.steps, steps...)
	b := &formBuilder{forms: map[formKey]*form{}}
	for i, s := range steps {
		switch {
		case s.Up == nil:
			place.Fail(fmt.Sprintf("step %d has no function", i+1), "make each step with schema.Upcast")
		case i > 0 && s.From != steps[i-1].To:
			place.Fail(fmt.Sprintf("step %d takes a %s, but the previous step makes a %s", i+1, s.From, steps[i-1].To),
				"give the steps in order")
		}
		x.forms = append(x.forms, b.document(newest.As(s.From), place))
	}
	if n := len(steps); n > 0 && steps[n-1].To != newest.Type {
		place.Fail(fmt.Sprintf("the last step makes a %s, but the documents are of type %s", steps[n-1].To, newest.Type),
			"end with the collection's own type")
	}
	x.forms = append(x.forms, b.document(newest, place))
	x.maps = b.maps
	if f := x.forms[len(x.forms)-1].fields[x.field]; f != nil && !f.integer {
		place.Fail(fmt.Sprintf("%s.%s isn't of an integer type", newest.Type, x.field),
			"declare the version's field as an int, or leave the field out of the type")
	}
	return x
}

// Install makes the collection read documents of every version as the newest, and store the newest version with them.
// into is the type of a pointer to a document.
func (x *Versions) Install(older []reflect.Type, into reflect.Type) {
	x.of.SetVersions(older, into, x.Decode, x.field, x.newest, func(raw bson.Raw) (bson.Raw, error) {
		return x.upgraded(raw, reflect.New(into.Elem()).Interface())
	})
}

// Indexes returns the index by which documents of one version are found.
func (x *Versions) Indexes() []model.Index {
	byVersion := model.NewIndex(x.Name(), bson.D{{Key: x.field, Value: 1}, {Key: "_id", Value: 1}})
	byVersion.Why = "documents of one version, in the order of _id"
	return []model.Index{byVersion}
}

// Footprints are the paths that are used.
func (x *Versions) Footprints() []model.Footprint {
	return slices.Concat(model.Writes.In(x.Name(), model.Whole), model.Owns.In(x.Name(), x.field))
}
