package schema

import (
	"context"
	"reflect"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/schema/internal/versions"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/readpref"
)

// Versions reads documents of all versions as the newest, and upgrades them on request. A
// field of each document contains its version. Go functions, the steps, convert from one
// version to the next. Make it with [NewVersions], once, beside the collection.
//
// From then on, every read of a whole document returns the newest version: by the
// collection's queries, and by techniques over it. Every insert and replace stores the
// newest version. This applies to this collection value and the results of its Named and
// Unchecked. To read stored fields use [model.Project].
//
// Filters see stored documents: a field that a step computes matches only in upgraded
// documents. A query ends with a [*VersionError] at the first document that can't be
// read. [Versions.Raw] doesn't. Documents that a pipeline joins are decoded as stored.
//
// Reading writes nothing. Documents are upgraded one by one ([Versions.Edit]), by a job
// ([Versions.Migrate]), or never. An upgrade writes only what the steps changed, and
// keeps unknown fields.
//
// # Consistency
//
// An upgrade is one atomic update. Its filter contains the version and all fields that
// the steps could read. If another client, also old code, changed one of them, the write
// is [model.ErrStale].
//
// Old code reads newer documents by its own type. So while it runs, change in two
// versions:
//
//  1. Expand: add the new fields and keep the old ones.
//  2. Contract: remove the old fields, when no old code is left.
//
// Old code that replaces a document makes it old again, and loses the newer fields. New
// code doesn't see old code's changes to the old fields of an upgraded document.
//
// # Other techniques
//
// Other techniques work on stored documents: a denorm.Copy compares stored fields, a
// denorm.Counter adds stored numbers. So a path that a technique uses must have the same
// type in all versions, else the later declaration panics. It must also have the same
// meaning, which isn't checked. To use a path that differs, run [Versions.Migrate],
// remove the steps, then declare the technique. A technique can't set a field that an
// older version lacks. Set it by [Versions.Edit], then run the Refresh of a denorm.Copy.
//
// Source: the schema versioning pattern
// (https://www.mongodb.com/docs/manual/data-modeling/design-patterns/data-versioning/schema-versioning/).
//
// Indexes returns the index on the version, for [Versions.Outdated] and for
// [Versions.Migrate] of one version. It helps only if few documents are outdated. Add the
// Versions to a model.New only then.
type Versions[D, K any] struct {
	model.Parts

	c  *model.Collection[D, K]
	in *versions.Versions
}

// VersionsSpec says how documents store their version.
type VersionsSpec struct {
	// Field is the top-level field with the version, an integer. "" means
	// "schemaVersion". The newest Go type may omit it.
	Field string
	// First is the version before the first step. 0 means 1.
	First int
	// Missing is the version of documents without the field, or with null. 0 means First.
	// A negative Missing refuses such documents.
	Missing int
}

// A Step converts one version to the next: see [Upcast].
type Step struct{ in versions.Step }

// Upcast returns the step that converts a document from one version to the next. step
// must be pure, because it runs at each read. It must keep the _id. It may modify its
// argument. Its error means that the document can't be read, and is wrapped in a
// [*VersionError].
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
//   - Missing isn't a version;
//   - a technique uses a path that isn't stored alike in all versions.
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

// Raw returns the query of documents as stored, for [Versions.Decode] and
// [Versions.Save]. It also returns documents that can't be decoded.
//
// Cost: one command, and one for each further batch.
func (v *Versions[D, K]) Raw(filter bson.D) *model.Find[bson.Raw] {
	return &model.Find[bson.Raw]{Query: v.c.Find(filter).Query}
}

// Decode reads a stored document of any version as the newest. Its error is a
// [*VersionError].
func (v *Versions[D, K]) Decode(raw bson.Raw) (doc D, err error) {
	err = v.in.Decode(raw, &doc)
	return doc, err
}

// Save stores doc over the document that was read as raw, of any version. It writes the
// fields that differ, and the version. Unknown fields stay. A field that isn't stored is
// written only if it differs from the zero value that was read.
//
// The filter contains every field that the stored version's type knows, as it was read.
// If one changed, or the write runs again, the error is [model.ErrStale]. [Versions.Edit]
// reads again.
//
// Errors, in the write's Err: a [*VersionError] if raw can't be read, or if unknown
// fields would be lost, because a step changes the length of their array or creates an
// existing field; a [*model.ValueError] for another _id.
//
// Cost: one command, one document, by _id. It sends the old values and the changes, so
// more than 8 MiB may not fit.
func (v *Versions[D, K]) Save(raw bson.Raw, doc D) model.Write { return v.in.Saved(raw, &doc, false) }

// Upgrade upgrades a stored document to the newest version, as [Versions.Save] does, with
// the same errors. It is idempotent: another client's upgrade counts as applied. If the
// document changed since the read, and is still old, the error is [model.ErrStale]. If it
// is gone, the error is [model.ErrNotFound].
//
// Cost: one command, one document, by _id; one or two more reads if nothing matched.
func (v *Versions[D, K]) Upgrade(raw bson.Raw) model.Write {
	var doc D
	if err := v.in.Decode(raw, &doc); err != nil {
		return model.Refused(v.in.Name(), err)
	}
	return v.in.Saved(raw, &doc, true)
}

// Edit reads a document as the newest version, calls edit, and stores the result as
// [Versions.Save] does. If another client changed the document in between, it reads and
// calls edit again. It writes nothing if nothing differs. A nil edit upgrades the
// document. An error of edit ends the change. A retry calls edit with the result of the
// first run, so edit should set values, not add to them.
//
// Cost: two commands, one document; one if the newest version is unchanged. Errors:
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
