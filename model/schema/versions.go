package schema

import (
	"reflect"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/schema/internal/versions"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Versions reads documents of all versions as the newest version. Each [Step] converts a
// document to the next version.
//
// Use the collection value that you give to [NewVersions]:
//   - Reads of whole documents return the newest version. A document that can't be read
//     ends the query with a [*VersionError].
//   - Inserts and replaces store the newest version.
//   - Filters, $lookup and [model.Project] use the documents as stored.
//   - A [model.Store] upgrades each document that it changes.
//
// [Versions.Migrate] upgrades all documents.
//
// # Consistency
//
// An upgrade is one atomic update, and keeps unknown fields.
//
// If an old program replaces a document, the new fields are lost. If an old program sets
// an old field of an upgraded document, new programs don't see the value. While old
// programs run, make a change in two versions:
//
//  1. Add the new fields and keep the old fields.
//  2. When no old program is left, remove the old fields.
//
// # Other techniques
//
// A technique such as copies.Copy works on stored documents. Each path of the technique
// must exist in all versions, with one type. Otherwise, the technique's constructor or a
// later [NewVersions] panics. The path's meaning must also stay the same. To use another
// path, first run [Versions.Migrate] and remove the steps.
//
// Source: the schema versioning pattern
// (https://www.mongodb.com/docs/manual/data-modeling/design-patterns/data-versioning/schema-versioning/).
//
// # Indexes
//
// Indexes returns the index on the version, for [Versions.Outdated] and
// [Versions.Migrate]. Pass the Versions to [model.New] only if you want this index.
type Versions[D, K any] struct {
	model.Parts

	c  *model.Collection[D, K]
	in *versions.Versions
}

// VersionsSpec says how documents store their version.
type VersionsSpec struct {
	// Field names the top-level integer field that stores the version. "" means
	// "schemaVersion". The Go types don't need this field.
	Field string
	// First is the version that the first [Step] converts. 0 means 1.
	First int
	// Missing is the version of documents in which Field is missing or null. 0 means
	// First. With a negative Missing, these documents give a [*VersionError].
	Missing int
}

// A Step converts documents of one version to the next. Make it with [Upcast].
type Step struct{ in versions.Step }

// Upcast returns the [Step] that converts documents with the given function. The function
// must keep the _id and have no side effects, but it can modify its argument. If the
// function returns an error, the read gives a [*VersionError].
func Upcast[From, To any](step func(From) (To, error)) Step {
	s := versions.Step{
		From: reflect.TypeFor[From](), To: reflect.TypeFor[To](),
		Down: func(decode func(any) error) (any, error) {
			var doc From
			err := decode(&doc)
			return &doc, err
		},
	}
	if step != nil {
		s.Up = func(doc any) (any, error) {
			next, err := step(*doc.(*From))
			return &next, err
		}
	}
	return Step{s}
}

// NewVersions declares the versions of a collection's documents. Pass the steps in order,
// from the first version to D. NewVersions panics with a [*model.DeclarationError] if
//
//   - the collection already has versions
//   - a step or the spec is invalid
//   - a technique's path is missing in an older version, or has another type there
func NewVersions[D, K any](c *model.Collection[D, K], spec VersionsSpec, steps ...Step) *Versions[D, K] {
	list, older := make([]versions.Step, len(steps)), make([]reflect.Type, len(steps))
	for i, s := range steps {
		list[i], older[i] = s.in, s.in.From
	}
	in := versions.Declare(c.Docs(), versions.Spec(spec), list, func(id, version bson.RawValue, err error) error {
		return &VersionError{c.Name(), id, version, err}
	})
	in.Install(older, reflect.TypeFor[*D]())
	return &Versions[D, K]{model.NewParts(in.ListIndexes, nil, nil, in.ListFootprints).WithDocs(c.Docs()).
		WithReactions(func() []model.Reaction { return nil }), c, in}
}

// Raw returns the query of documents as stored, for [Versions.Decode] and
// [Versions.Save]. The query also finds documents that can't be decoded.
//
// Cost: one command, and one for each further batch.
func (v *Versions[D, K]) Raw(filter bson.D) *model.Find[bson.Raw] {
	return &model.Find[bson.Raw]{Query: v.c.Find(filter).Query}
}

// Decode converts a stored document of any version to the newest version. Its error is a
// [*VersionError].
func (v *Versions[D, K]) Decode(raw bson.Raw) (doc D, err error) {
	err = v.in.Decode(raw, &doc)
	return doc, err
}

// Save returns the write that replaces the stored document raw by doc. Read raw by
// [Versions.Raw], in any version, for example in an earlier request. Only fields that differ
// are written. A [model.Store] reads the document again, and other techniques take part in
// its writes. On a database of [model.Model.On], use a store for the fields of such
// techniques. The write gives
//
//   - [model.ErrNotFound] if the document is missing
//   - [model.ErrStale] if a declared field changed after the read. A second run of the
//     write can also give ErrStale. To try again, use [model.Store.Edit].
//   - a [*VersionError] if raw can't be decoded, or if the write would remove fields that
//     aren't declared in raw's version
//
// Cost: one command, one document, by _id. For a document above 8 MiB, the command can be
// too large.
func (v *Versions[D, K]) Save(raw bson.Raw, doc D) model.Write {
	return v.in.PlanSave(raw, &doc, false)
}

// Upgrade returns the write that stores a document as the newest version. Pass a document
// from [Versions.Raw]. If the document is upgraded already, the write does nothing. An
// old document that changed since the read gives [model.ErrStale]. A missing document
// gives [model.ErrNotFound]. Other errors: see [Versions.Save].
//
// Cost: one command, one document, by _id.
func (v *Versions[D, K]) Upgrade(raw bson.Raw) model.Write {
	var doc D
	if err := v.in.Decode(raw, &doc); err != nil {
		return model.Refused(v.in.Name(), err)
	}
	return v.in.PlanSave(raw, &doc, true)
}
