package schema

import (
	"context"
	"reflect"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/schema/internal/versions"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/readpref"
)

// Versions reads documents of every version that a collection's documents ever had as the newest, and brings them up to it when
// asked. Each document tells its version in a field; steps in Go lead from one version to the next.
//
// Declare the versions beside the collection, once. From then on, whatever reads a whole document of the collection reads it as the
// newest version: its own queries, those of all techniques over it, and what they hand to functions. Whatever inserts or replaces a
// document stores the newest version with it. This holds for the collection value and what its Named and Unchecked return, and not
// for another value of the same name. A whole document can't be read through a projection by hand; [model.Project] reads stored fields.
//
// A query's filter is the server's. It sees documents as they are stored: a condition on a field that a step makes finds only
// documents that were brought up. Steps run in memory, for each document of an older version. A query ends with a [*VersionError] at
// the first document that can't be read; [Versions.Raw] gets past it. What a pipeline joins is decoded as it is stored.
//
// Reading writes nothing: a program of the newest version works on the whole collection from its first moment. Documents are
// brought up one by one when they are saved ([Versions.Edit]), or all of them by a job ([Versions.Migrate]), or never. What is
// written back is what the steps changed, no more: fields that the types don't know stay as they are, at any depth.
//
// Consistency: a write-back is one atomic update of one document. Its filter holds the version and every field that the steps
// could read, as they were read: a change by anybody else in between, by old code too, is never overwritten, and the write is
// [model.ErrStale]. Fields that the types don't know may change meanwhile.
//
// Old code that still runs reads documents of newer versions by its own type, and sees what the steps left of its fields. So while
// it runs, change in two versions: the first adds the new fields and keeps the old ones (expand), the second takes the old
// ones away (contract) and is put to use when no old code is left. Old code that replaces a whole document makes it one of the old
// version again, if it doesn't write the version, and loses the newer fields; old code that changes a field of a document that
// was brought up changes what no new code reads.
//
// The commands of other techniques work on documents as they are stored, whatever their
// version: a denorm.Copy compares the stored field, a denorm.Counter adds the stored
// number up. So a path that a technique over this collection uses must be in each
// version's type, in one type. It must also mean the same in each version, which nothing
// checks. Otherwise the later of the two declarations panics. Bring all documents up with
// [Versions.Migrate] and leave the steps out, then declare the technique. A technique
// also refuses to set a field that an older version doesn't have. Set it by
// [Versions.Edit], and run a denorm.Copy's Refresh then.
//
// Source: the schema versioning pattern
// (https://www.mongodb.com/docs/manual/data-modeling/design-patterns/data-versioning/schema-versioning/).
//
// Indexes returns the index by which documents of one version are found: for [Versions.Outdated], and [Versions.Migrate] of one
// version at a time, in a collection of which few documents are outdated. Nothing else needs it, so that it is seldom worth its
// place: give the Versions to a model.New only where it is.
type Versions[D, K any] struct {
	model.Parts

	c  *model.Collection[D, K]
	in *versions.Versions
}

// VersionsSpec says how documents tell their version.
type VersionsSpec struct {
	// Field is the field that holds the version, an integer, at the top of the document. "" means "schemaVersion". If the newest
	// type has it, it is an integer there; it needn't.
	Field string
	// First is the version that the first step leads from; 0 means 1.
	First int
	// Missing is the version of documents without the field, or with null in it; 0 means First. Below 0 there are none, and such
	// documents are refused.
	Missing int
}

// A Step leads from one version to the next; [Upcast] makes it.
type Step struct{ in versions.Step }

// Upcast returns the step that makes a document of one version from one of the version before. The function must be pure: it
// gets the same document more than once, at each read. It must leave the _id. What it is handed is its own; it may keep parts of
// it in what it returns. An error says that this document can't be read as the newest version: it comes back within a
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

// NewVersions declares the versions of a collection's documents: D is the newest, and the steps, in order, lead to it from the
// first. Without steps there is one version yet.
//
// It panics with a [*model.DeclarationError] when the collection has versions already, when
// the types of the steps don't meet, when the last doesn't lead to D, when a type isn't
// stored as a document, when D is a bson.Raw, when the version's field is no name, the
// _id, or no integer in D, when Missing is no version, and when a technique over this
// collection uses a path that isn't stored alike in all versions.
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

// Raw returns the query of documents as they are stored, for [Versions.Decode] one by one, and [Versions.Save]. It fails at none
// that can't be decoded.
//
// Cost: one command, and one per further batch.
func (v *Versions[D, K]) Raw(filter bson.D) *model.Find[bson.Raw] {
	return &model.Find[bson.Raw]{Query: v.c.Find(filter).Query}
}

// Decode reads a stored document of any version as the newest. An error is a [*VersionError].
func (v *Versions[D, K]) Decode(raw bson.Raw) (doc D, err error) {
	err = v.in.Decode(raw, &doc)
	return doc, err
}

// Save returns the write that stores doc, of the newest version, in the place of what was read as raw, of any version: the fields
// that differ, and the version. Fields that the types don't know stay. So do those that aren't stored and still are what they were
// read as, 0 or "": they are written when they change, though the type encodes them. Where nothing differs from a document of the
// newest version, the write sets the version again.
//
// The filter holds every field that the stored version's type knows, as it was read: when one of them changed meanwhile, running
// the write gives [model.ErrStale]; use [Versions.Edit], which reads again. A write that runs a second time is stale too, for
// what it left may as well be somebody else's.
//
// Errors, in the write's Err: a [*VersionError] for what can't be read; one for fields that would be lost, since the steps change
// the length of an array whose elements have fields that their type doesn't know, or make a field that is there already;
// a [*model.ValueError] for another _id. Cost: one command, one document, by its _id; what was read and what differs are sent, so
// that a document of more than 8 MiB may not fit a statement.
func (v *Versions[D, K]) Save(raw bson.Raw, doc D) model.Write { return v.in.Saved(raw, &doc, false) }

// Upgrade returns the write that brings a stored document up to the newest version, as [Versions.Save] does; but it knows that it
// was applied before, by anybody, from the version. For a document that is of the newest version already it changes nothing. When the
// document changed since it was read, and is still of an older version, running the write gives [model.ErrStale]. One
// that is gone gives [model.ErrNotFound].
//
// Errors are those of Save. Cost: one command, one document, by its _id; one or two reads more when nothing matched. It can be run again.
func (v *Versions[D, K]) Upgrade(raw bson.Raw) model.Write {
	var doc D
	if err := v.in.Decode(raw, &doc); err != nil {
		return model.Refused(v.in.Name(), err)
	}
	return v.in.Saved(raw, &doc, true)
}

// Edit returns the change that reads the document with the id, of any version, as the newest, hands it to edit, and stores what
// that leaves of it as [Versions.Save] does. When somebody else changed it in between it reads again and calls edit again. Where
// nothing differs, nothing is written. An edit of nil brings the document up. An error of edit ends the change. It carries no token:
// when its answer was lost and it is run again, edit is given what the first run left, so let edit say what shall be, not what is
// to be added.
//
// Cost: two commands, one document; one command for a document of the newest version that edit doesn't change. Errors:
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
