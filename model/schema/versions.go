package schema

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Versions reads documents of every version that a collection's documents ever had as the newest, and brings them up to it when
// asked. Each document tells its version in a field; steps in Go lead from one version to the next.
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
// Other techniques read and write documents where they are stored, whatever their
// version: a denorm.Copy compares the stored field, a denorm.Counter adds the stored
// number up. So a path that a technique over this collection uses must be in each
// version's type, in one type. It must also mean the same in each version, which nothing
// checks. Otherwise the later of the two declarations panics. Bring all documents up with
// [Versions.Migrate] and leave the steps out, then declare the technique. A technique
// also refuses to set a field that an older version doesn't have. Set it by
// [Versions.Edit], and run a denorm.Copy's Refresh then. The check knows the declarations
// over one collection value, not over another value of the same name.
//
// Source: the schema versioning pattern
// (https://www.mongodb.com/docs/manual/data-modeling/design-patterns/data-versioning/schema-versioning/).
type Versions[D, K any] struct {
	c    *model.Collection[D, K] // reads any version
	in   *versioning
	base *model.Collection[D, K]
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

// VersionError says which document couldn't be read as the newest version, or brought up to it, and why. It wraps the error of
// the step, of the driver's decoder, or [ErrNewer].
type VersionError struct {
	Collection string
	ID         bson.RawValue
	Version    bson.RawValue // as it is stored; of type 0 if it isn't
	Err        error
}

func (e *VersionError) Error() string {
	version := "no version"
	if e.Version.Type != 0 {
		version = "version " + model.Shell(e.Version)
	}
	id := "none"
	if e.ID.Type != 0 {
		id = model.Shell(e.ID)
	}
	why := "no cause is given"
	if e.Err != nil {
		why = strings.TrimPrefix(e.Err.Error(), "docmodel: ")
	}
	return fmt.Sprintf("docmodel: %s: _id %s, %s: %s", e.Collection, id, version, why)
}

// Unwrap returns the cause.
func (e *VersionError) Unwrap() error { return e.Err }

// ErrNewer says that a document is of a version that this program doesn't know yet: newer code wrote it. It comes within a
// [*VersionError]. Nothing is written to such a document.
var ErrNewer = errors.New("docmodel: the version is newer than this program knows")

// Find returns a query whose documents are of the newest version, whichever they are stored as. The filter is the server's: it sees
// documents as they are stored, so that a condition on a field that a step makes finds only those that were brought up.
//
// Errors, beside those of [model.Find]: a [*VersionError] at the first document that can't be read; [Versions.Raw] gets
// past it. A query with a projection by hand is refused; [model.Project] reads stored fields as they are.
//
// Cost: one command, and one per further batch, as of any query; steps run in memory, for each document of an older version.
// Nothing is written.
func (v *Versions[D, K]) Find(filter bson.D) model.Find[D] { return v.c.Find(filter) }

// ByID returns the query of one document: one command, by the _id index.
func (v *Versions[D, K]) ByID(id K) model.Find[D] { return v.c.ByID(id) }

// Raw returns the query of documents as they are stored, for [Versions.Decode] one by one, and [Versions.Save]. It fails at none
// that can't be decoded.
//
// Cost: one command, and one per further batch.
func (v *Versions[D, K]) Raw(filter bson.D) model.Find[bson.Raw] {
	return model.Find[bson.Raw]{Query: v.base.Find(filter).Query}
}

// Decode reads a stored document of any version as the newest. An error is a [*VersionError].
func (v *Versions[D, K]) Decode(raw bson.Raw) (doc D, err error) {
	err = v.in.decode(raw, &doc)
	return doc, err
}

// Version returns the version of a stored document, within those that are known, or a [*VersionError].
func (v *Versions[D, K]) Version(raw bson.Raw) (int, error) { return v.in.versionOf(raw) }

// Newest returns the newest version: that of D.
func (v *Versions[D, K]) Newest() int { return v.in.newest }

// versioning is what Versions holds, whatever its documents' type.
type versioning struct {
	collection     string
	field          string
	first, missing int // missing is below 0 for none
	newest         int
	steps          []Step
	forms          []*form // by version, from the first
	maps           bool    // some type holds a map, whose encoding has no order

	decodeAs func(raw bson.Raw, into any) error
	encode   func(doc any) (bson.Raw, error)
}

// versionOf reads and checks a document's version.
func (x *versioning) versionOf(raw bson.Raw) (int, error) {
	v := raw.Lookup(x.field)
	n, whole := int64(x.missing), true
	switch v.Type {
	case 0, bson.TypeNull:
		if x.missing < 0 {
			return 0, x.fail(raw, errors.New("it has none"))
		}
	case bson.TypeInt32, bson.TypeInt64:
		n = v.AsInt64()
	case bson.TypeDouble:
		f := v.Double()
		n, whole = int64(f), f == math.Trunc(f) && math.Abs(f) < 1<<53
	default:
		whole = false
	}
	switch {
	case !whole:
		return 0, x.fail(raw, errors.New("it is no integer"))
	case n > int64(x.newest):
		return 0, x.fail(raw, fmt.Errorf("%w: the newest is %d", ErrNewer, x.newest))
	case n < int64(x.first):
		return 0, x.fail(raw, fmt.Errorf("the first is %d", x.first))
	}
	return int(n), nil
}

func (x *versioning) fail(raw bson.Raw, err error) error {
	clone := func(v bson.RawValue) bson.RawValue {
		return bson.RawValue{Type: v.Type, Value: slices.Clone(v.Value)}
	}
	return &VersionError{x.collection, clone(raw.Lookup("_id")), clone(raw.Lookup(x.field)), err}
}

// decode reads a document of any version into what doc, a pointer to the newest type, points at.
func (x *versioning) decode(raw bson.Raw, doc any) error {
	n, err := x.versionOf(raw)
	if err != nil {
		return err
	}
	if n == x.newest {
		if err := x.decodeAs(raw, doc); err != nil {
			return x.fail(raw, err)
		}
		return nil
	}
	_, err = x.upcast(raw, n, doc)
	return err
}

// upcast reads a document of the n-th version as its own type, which it returns, and puts what the steps make of it into doc.
func (x *versioning) upcast(raw bson.Raw, n int, doc any) (own any, err error) {
	steps := x.steps[n-x.first:]
	own, err = steps[0].down(func(into any) error { return x.decodeAs(raw, into) })
	if err != nil {
		return nil, x.fail(raw, err)
	}
	next := own
	for i, s := range steps {
		if next, err = s.up(next); err != nil {
			return nil, x.fail(raw, fmt.Errorf("step to version %d: %w", n+i+1, err))
		}
	}
	assign(doc, next)
	return own, nil
}
