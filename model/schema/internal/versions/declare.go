// Package versions is the core of schema.Versions (model/schema/versions.go), without type parameters. A collection has
// documents of several versions, each with a Go type. Readers get every document as the newest type.
//
// # Stored form
//
// Documents of the versions 1 and 3, with the field "schemaVersion" that Spec.Field names:
//
//	{_id: "a", name: "Ann Lee", phone: "1"}
//	{_id: "b", first: "Bob", last: "Ray", phones: ["2"], schemaVersion: 3}
//
// A document without the field has the version Spec.Missing. A Step converts a value of one version's type to the type
// of the next version.
//
// # How a document is read
//
//  1. readVersion takes the version from the stored document. A version that no type is declared for is an error.
//  2. Decode decodes the document as its own type, and runs the steps up to the newest type.
//
// Install makes the collection do it for every whole document that it reads. Nothing is written.
//
// # How a document is written
//
// A program must not lose fields that its types don't declare, such as fields of a newer program. So a write contains
// only differences:
//
//  1. Three encoded documents are compared (merge.go). raw is the document as it is stored. was is raw decoded by its
//     own type, and encoded again: it lacks the fields that the type doesn't know. next is the newest document,
//     encoded.
//  2. A field that is equal in was and next stays as it is stored. Another field of next is set. A field that raw's
//     type knows, and next doesn't have, is removed.
//  3. The update's filter has every field that raw's type knows, as it was read (matchAsRead). A concurrent change
//     makes it stale.
//
// PlanSave does it for a document that a caller changed, or upgraded. MakeMigrateJob does it for all documents of older
// versions. upgradeDocument does it in memory, for a store that changes an older document.
//
// # What a crash leaves
//
// Each document is one update, so a crash of the job leaves some documents in older versions. Readers see no
// difference.
//
// # Files
//
//	declare.go  the declaration: types, steps, the version's field
//	read.go     the version of a document, and the steps
//	form.go     what a Go type knows of a stored value
//	merge.go    the difference of raw, was and next
//	write.go    the update of one document
//	job.go      the job, and filters by version
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

// A Spec is a schema.VersionsSpec.
type Spec struct {
	Field          string
	First, Missing int
}

// A Step converts a document of one version to the next: schema.Upcast makes it. Its functions get and return pointers
// to documents. Down decodes a stored document of the type From, Up converts it to the type To.
type Step struct {
	From, To reflect.Type
	Down     func(decode func(into any) error) (doc any, err error)
	Up       func(doc any) (next any, err error)
}

// A Fault makes a *schema.VersionError of a document's _id, its stored version and the cause.
type Fault func(id, version bson.RawValue, err error) error

// Versions is the declaration of a schema.Versions. It never changes after Declare.
type Versions struct {
	*core.Docs                // the collection without versions: its Decode and Document don't run steps
	declared       *core.Docs // the caller's collection, of which Install changes the decoding
	field          string     // the top-level field of the version
	first, missing int        // missing is the version of documents without the field; below 0 they are refused
	newest         int
	fault          Fault
	steps          []Step  // steps[i] converts the version first+i to the next
	forms          []*form // forms[i] is of the type of the version first+i
	maps           bool    // a type contains a map, which Go encodes in random order
}

// Declare checks a declaration, and panics if it doesn't fit. schema.NewVersions calls it, and then Install.
func Declare(declared *core.Docs, spec Spec, steps []Step, fault Fault) *Versions {
	declared.MustField("_id")
	docs := declared.AsStored()
	newest, place := docs.Shape(), core.Place("versions of "+docs.Name())
	x := &Versions{Docs: docs, declared: declared, field: spec.Field, first: spec.First, missing: spec.Missing,
		fault: fault}
	if x.field == "" {
		x.field = "schemaVersion"
	}
	docs.NoteAddedFields(x.field)
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
		place.Fail(fmt.Sprintf("the version can't be stored in %q", x.field),
			"name a top-level field that nothing else uses")
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
		x.forms = append(x.forms, b.makeDocumentForm(newest.As(s.From), place))
	}
	if n := len(steps); n > 0 && steps[n-1].To != newest.Type {
		place.Fail(fmt.Sprintf("the last step makes a %s, but the documents are of type %s", steps[n-1].To,
			newest.Type),
			"end with the collection's own type")
	}
	x.forms = append(x.forms, b.makeDocumentForm(newest, place))
	x.maps = b.maps
	if f := x.forms[len(x.forms)-1].fields[x.field]; f != nil && !f.integer {
		place.Fail(fmt.Sprintf("%s.%s isn't of an integer type", newest.Type, x.field),
			"declare the version's field as an int, or leave the field out of the type")
	}
	return x
}

// Install makes the caller's collection read documents of every version as the newest, and store the newest version in
// new documents. older are the types of the older versions, into is the type of a pointer to a document.
func (x *Versions) Install(older []reflect.Type, into reflect.Type) {
	x.declared.SetVersions(older, into, x.Decode, x.field, x.newest, func(raw bson.Raw) (bson.Raw, error) {
		return x.upgradeDocument(raw, reflect.New(into.Elem()).Interface())
	})
}

// ListIndexes returns the index of queries by version. The shell passes it to model.Parts, as it does ListFootprints.
func (x *Versions) ListIndexes() []model.Index {
	byVersion := model.NewIndex(x.Name(), bson.D{{Key: x.field, Value: 1}, {Key: "_id", Value: 1}})
	byVersion.Why = "documents of one version, in the order of _id"
	return []model.Index{byVersion}
}

// ListFootprints returns the documents as written whole, and the version's field as owned.
func (x *Versions) ListFootprints() []model.Footprint {
	return slices.Concat(model.Writes.In(x.Name(), model.Whole), model.Owns.In(x.Name(), x.field))
}
