package schema

import (
	"context"
	"reflect"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/schema/internal/versions"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/readpref"
)

// Versions reads documents of all versions as the newest version, and upgrades them on
// request. A field of each document contains its version, and each [Step] converts
// documents to the next version. Declare a Versions by [NewVersions], with the
// collection.
//
// Then every read of a whole document returns the newest version, in the collection's
// queries and in techniques over it. Every insert and replace stores the newest version.
// This applies to this collection value and the results of its methods Named and
// Unchecked. To read stored fields use [model.Project].
//
// Filters see stored documents: a field that a step computes matches only in upgraded
// documents. A query, except [Versions.Raw], ends with a [*VersionError] at the first
// document that can't be read. Documents that a pipeline joins aren't converted.
//
// Documents are upgraded one by one ([Versions.Edit]), by a job ([Versions.Migrate]), or
// never. An upgrade writes only what the steps changed, and keeps unknown fields.
//
// # Consistency
//
// An upgrade is one atomic update. Its filter contains the version and all fields that
// the steps could read. If another client, or old code, changed one of them, the write
// gives [model.ErrStale].
//
// Programs with an older Go type decode newer documents by that type, and miss their new
// fields. So while such old code runs, make a change in two versions:
//
//  1. Expand: the first version adds the new fields and keeps the old ones.
//  2. Contract: the second removes the old fields, when no old code is left.
//
// Old code that replaces a document stores the old version, and loses the newer fields.
// New code doesn't see what old code writes to the old fields of an upgraded document.
//
// # Other techniques
//
// Other techniques work on stored documents: a denorm.Copy compares stored fields. So a
// path that a technique uses must have the same type in all versions. Otherwise the
// constructor called later panics. The path must also have the same meaning, which isn't
// checked. To use a path that differs, run [Versions.Migrate], remove the steps, then
// declare the technique.
//
// A technique's update, such as Set of a denorm.Copy, gives a [*model.ValueError] if it
// sets a field that an older version lacks. Set such a field by [Versions.Edit], then run
// the Copy's Refresh.
//
// Source: the schema versioning pattern
// (https://www.mongodb.com/docs/manual/data-modeling/design-patterns/data-versioning/schema-versioning/).
//
// Indexes returns the index on the version, for [Versions.Outdated] and for
// [Versions.Migrate] of one version. Pass the Versions to [model.New] only if you want
// this index.
type Versions[D, K any] struct {
	model.Parts

	c  *model.Collection[D, K]
	in *versions.Versions
}

// VersionsSpec says how documents store their version.
type VersionsSpec struct {
	// Field is the name of the top-level integer field with the version. "" means
	// "schemaVersion". The newest Go type needn't have it.
	Field string
	// First is the version that the first step converts from. 0 means 1.
	First int
	// Missing is the version of documents whose Field is missing or null. 0 means First.
	// If Missing is negative, such documents give a [*VersionError].
	Missing int
}

// A Step converts documents of one version to the next. Make it with [Upcast].
type Step struct{ in versions.Step }

// Upcast returns the [Step] that converts documents by the function step. The function
// must be pure and keep the _id. It may modify its argument. If it returns an error, the
// read gives a [*VersionError].
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

// NewVersions declares the versions of a collection's documents. The steps lead, in
// order, from the first version to D, the newest. It panics with a
// [*model.DeclarationError] if
//
//   - the collection already has versions, or D is a bson.Raw;
//   - the steps' types don't connect to D, or aren't stored as documents;
//   - Field isn't a name, is the _id, or isn't an integer in D;
//   - Missing is neither negative nor a version of the steps;
//   - a technique uses a path that hasn't the same type in all versions.
func NewVersions[D, K any](c *model.Collection[D, K], spec VersionsSpec, steps ...Step) *Versions[D, K] {
	list, older := make([]versions.Step, len(steps)), make([]reflect.Type, len(steps))
	for i, s := range steps {
		list[i], older[i] = s.in, s.in.From
	}
	in := versions.Declare(c.Docs(), versions.Spec(spec), list, func(id, version bson.RawValue, err error) error {
		return &VersionError{c.Name(), id, version, err}
	})
	in.Install(older, reflect.TypeFor[*D]())
	return &Versions[D, K]{model.NewParts(in.Indexes, nil, nil, in.Footprints), c, in}
}

// Raw returns the query of documents without conversion, for [Versions.Decode] and
// [Versions.Save]. It also returns documents that can't be decoded.
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

// Save stores doc over a document of any version. Pass the stored document, read by
// [Versions.Raw], in raw. Save writes the fields that differ, and the newest version's
// number.
//
// The filter contains raw's value of every field that the Go type of raw's version has.
// If such a field changed, or the write runs again, the error is [model.ErrStale]. Use
// [Versions.Edit] to read and try again.
//
// Save also gives a [*VersionError] if raw can't be decoded, or if unknown fields would
// be lost. They are lost in an array whose length a step changes, or if a step creates a
// field of the same name. If doc has another _id, Save gives a [*model.ValueError].
//
// Cost: one command, one document, by _id. It sends old and new values, so a document
// above 8 MiB may not fit.
func (v *Versions[D, K]) Save(raw bson.Raw, doc D) model.Write { return v.in.Saved(raw, &doc, false) }

// Upgrade stores a document read by [Versions.Raw] as the newest version. The write
// counts as applied if the document is already upgraded, also by another client. The
// error is [model.ErrStale] if an old document changed since the read, and
// [model.ErrNotFound] if it is gone. Other errors are those of [Versions.Save].
//
// Cost: one command, one document, by _id; one or two more reads if nothing matched.
func (v *Versions[D, K]) Upgrade(raw bson.Raw) model.Write {
	var doc D
	if err := v.in.Decode(raw, &doc); err != nil {
		return model.Refused(v.in.Name(), err)
	}
	return v.in.Saved(raw, &doc, true)
}

// Edit reads a document as the newest version, calls the function edit, and stores the
// result as [Versions.Save] does. If another client changed the document in between, Edit
// begins again. A nil edit only upgrades the document. A retry calls edit with the result
// of the first run, so edit should set values, not add to them.
//
// Cost: two commands, one document. If nothing is to be written, one command. Errors:
// [model.ErrNotFound], and those of Save.
func (v *Versions[D, K]) Edit(id K, edit func(doc *D) error) model.Change[bson.Raw] {
	q := v.c.ByID(id).Query
	q.Options.ReadPreference = readpref.Primary()
	return model.Change[bson.Raw]{
		Name: "versions of " + v.c.Name(), Err: q.Err,
		Read: func(ctx context.Context, db model.DB) (bson.Raw, error) {
			return (&model.Find[bson.Raw]{Query: q}).One(ctx, db)
		},
		Decide: func(raw bson.Raw) (model.Plan, error) {
			var doc D
			if err := v.in.Decode(raw, &doc); err != nil {
				return model.Plan{}, err
			}
			if edit != nil {
				if err := edit(&doc); err != nil {
					return model.Plan{}, err
				}
			}
			return v.in.Plan(raw, &doc, edit == nil)
		},
	}
}
