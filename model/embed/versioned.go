package embed

import (
	"cmp"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"

	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/found"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// VersionedSpec names the fields of a versioned document. The zero value is valid.
type VersionedSpec struct {
	Version string // path of the version, an int64 or int; "" means version

	// Tokens is the path of a []bson.ObjectID for the last writes' tokens: see
	// [Versioned]. If Tokens is "", a retry of Update gives ErrVersion, and a retry of
	// Guarded or Take writes again.
	Tokens string

	Keep int // number of tokens to keep; 0 means 100

	// Uncounted lists paths that other techniques write without increasing the version. A
	// [model.Store.Replace] must leave them as they are stored.
	Uncounted []string
}

// Versioned is a document with a version, which each write increases. If the version has
// changed since a read, a write computed from the read fails. A missing version counts
// as 0.
//
// If another technique writes the document, set CountUp in the technique's spec. If the
// spec has no CountUp, list the written paths in VersionedSpec.Uncounted. If CountUp and
// Uncounted are both missing, [model.New] panics.
//
// # In a store
//
// A [model.Store] makes the first version, and increases the version with each change. A
// version in the caller's change is compared: Replace with a document that was read, or
// Set with the version among the fields, gives [ErrVersion] if the stored version differs.
// To delete a document only in one version, use [model.Store.Where] with ErrVersion. In a
// new document the version must be 0. Edit reads the document itself, and loses no change.
// Tokens are stored only outside transactions: see [model.WithToken].
//
// The first version is the time of the action's token in microseconds, in which a hash of
// the token replaces the fraction of the second. So a document that is deleted and inserted
// again has other versions than before, and a write that was computed from the deleted
// document gives ErrVersion. If other code inserts the documents, set the version to
// time.Now().UnixMicro(). Documents that begin with equal versions can't be told apart.
//
// # Operators and guards
//
// [Versioned.Update], [Versioned.Guarded] and [Versioned.Take] apply update operators to
// one document, without a read. With VersionedSpec.Tokens, pass a new ObjectID as the token
// of each operation. While the document stores the token, a retry does nothing. Without
// Tokens, pass the zero ObjectID.
//
// Another version gives [ErrVersion]. A missing document gives [model.ErrNotFound].
//
// Cost: each write is one command on one document, by _id. If the command matches
// nothing, at most two reads find the error.
//
// Source: "Atomic Aggregates", "NoSQL Data Modeling Techniques", 4;
// https://www.mongodb.com/docs/manual/core/write-operations-atomicity/.
//
// # Checks
//
// Checks returns one check, which reads every document. The check finds versions that
// aren't numbers. The repair stores the server's time in microseconds.
type Versioned[D, K any] struct {
	model.Parts

	v *versioning
}

// versioning is the non-generic core of a Versioned.
type versioning struct {
	docs    *core.Docs
	version string
	ops     string
	keep    int
	spared  []string // paths that are written without increasing the version
}

// NewVersioned declares that c's documents have a version. It panics with a
// [*model.DeclarationError] if
//
//   - the version isn't an int64 or a 64-bit int, or can be null
//   - the version is in an array, or in the _id
//   - the field VersionedSpec.Tokens isn't a []bson.ObjectID with the tag omitempty
//   - paths overlap, or Keep is negative
func NewVersioned[D, K any](c *model.Collection[D, K], spec VersionedSpec) *Versioned[D, K] {
	out := &Versioned[D, K]{v: newVersioning(c.Docs(), spec)}
	out.Parts = model.NewParts(nil, nil, out.v.checks, out.v.footprints).WithDocs(c.Docs()).
		WithReactions(out.v.reactions)
	return out
}

func newVersioning(c *core.Docs, s VersionedSpec) *versioning {
	place := core.Place(fmt.Sprintf("NewVersioned of %s", c.Name()))
	v := &versioning{
		docs: c, version: cmp.Or(s.Version, "version"), ops: s.Tokens, keep: cmp.Or(s.Keep, 100),
		spared: slices.Clone(s.Uncounted),
	}
	f := c.MustField(v.version)
	switch {
	case f.Arrays > 0:
		place.Fail(fmt.Sprintf("the version %q is an array, or is in one", v.version),
			"name a field with a single number")
	case f.NullParent() != "" || f.StoresNull():
		place.Fail(fmt.Sprintf("the version %q can be stored as null, which $inc can't increase", v.version),
			"declare it as a plain int64")
	case core.Overlap(v.version, "_id"):
		place.Fail("the version is in the _id, which can't change", "name another field")
	case !f.Untyped && f.Type == reflect.TypeFor[int]() && strconv.IntSize < 64:
		place.Fail(fmt.Sprintf("the version %q is an int, which has 32 bits here", v.version), "declare it as an int64")
	case !f.Untyped && f.Type != reflect.TypeFor[int]() && f.Type != reflect.TypeFor[int64]():
		place.Fail(fmt.Sprintf("the version %q is of type %s", v.version, f.Type), "declare it as an int64")
	}
	if v.keep < 1 {
		place.Fail(fmt.Sprintf("Keep is %d", s.Keep), "give 1 or more, or leave Tokens out")
	}
	for _, path := range v.spared {
		if c.MustField(path); core.Overlap(path, v.version) || v.ops != "" && core.Overlap(path, v.ops) {
			place.Fail(fmt.Sprintf("Uncounted %q holds a field that the technique writes", path),
				"name paths that other techniques write")
		}
	}
	if v.ops == "" {
		return v
	}
	ops := c.CheckArray(v.ops)
	if !ops.Untyped && ops.Type != reflect.TypeFor[bson.ObjectID]() {
		place.Fail(fmt.Sprintf("the tokens at %q are of type %s", v.ops, ops.Type), "declare them as []bson.ObjectID")
	}
	if core.Overlap(v.ops, v.version) {
		place.Fail("the version and the tokens have the same path", "name two different fields")
	}
	return v
}

// Update applies update operators to the document with this version, and increases the
// version. If the stored version differs, Update gives [ErrVersion].
//
// A retry does nothing while the document stores the token (see [Versioned]). After that,
// a retry gives ErrVersion.
//
// A nil update only increases the version. In a transaction, this protects a document
// that you read. Other writers can't change it before the commit.
//
// Cost: see [Versioned].
func (v *Versioned[D, K]) Update(id K, version int64, update bson.D, token bson.ObjectID) model.Write {
	if update == nil {
		return v.v.touch(id, version, token)
	}
	return v.v.update(id, version, update, token)
}

// Guarded applies update operators without comparing versions, and increases the
// version. For example, the guard {qty: {$gte: 3}} protects the update {$inc: {qty: -3}}.
// If guard doesn't match, the write gives [model.ErrGuard]. The guard needs at least one
// condition. A nil update only increases the version.
//
// A retry does nothing while the document keeps the token (see [Versioned]). Later, it
// writes again.
//
// Cost: see [Versioned].
func (v *Versioned[D, K]) Guarded(id K, guard, update bson.D, token bson.ObjectID) model.Write {
	return v.v.guarded(id, guard, update, token)
}

// Take subtracts n from the number at path. A number below n gives [model.ErrGuard]. For
// retries, see [Versioned.Guarded].
//
// To undo a Take, call Guarded with a new token, the update {$inc: {path: n}} and the
// guard {"tokens": takeToken}. Here, "tokens" is the path [VersionedSpec].Tokens.
//
// Cost: see [Versioned].
func (v *Versioned[D, K]) Take(id K, path string, n int64, token bson.ObjectID) model.Write {
	return v.v.take(id, path, n, token)
}

func (v *versioning) checks() []model.Check {
	name := fmt.Sprintf("%s.%s: not a number", v.docs.Name(), v.version)
	type row struct {
		ID   bson.RawValue `bson:"_id"`
		Type string        `bson:"type"`
	}
	return []model.Check{{
		Name: name, Collection: v.docs.Name(), Rule: v.version + " is a number or is missing",
		Pipeline: found.FindMatching(v.malformed(), bson.E{
			Key:   "type",
			Value: bson.D{{Key: "$type", Value: "$" + v.version}},
		}),
		Tell: found.DescribeRows(func(r row, f *model.Finding) {
			f.ID, f.Problem = r.ID, fmt.Sprintf("%s is of type %s", v.version, r.Type)
		}),
		Mend: found.MendMatching(name, v.docs.Name(), v.malformed(),
			"some documents repaired; the others still have no version, which the next check finds",
			mongo.UpdateOneModel{
				Update: mongo.Pipeline{
					mql.Set(mql.E(v.version, mql.Op("$multiply", mql.Op("$toLong", "$$NOW"), int64(1000)))),
				},
			}),
	}}
}

func (v *versioning) malformed() bson.D {
	none := bson.D{{
		Key:   v.version,
		Value: bson.D{{Key: "$exists", Value: true}, {Key: "$not", Value: bson.D{{Key: "$type", Value: "number"}}}},
	}}
	// an array of numbers also matches $type "number"
	list := bson.D{{Key: v.version, Value: bson.D{{Key: "$type", Value: "array"}}}}
	return bson.D{{Key: "$or", Value: bson.A{none, list}}}
}

const noToken = "is the zero ObjectID: pass bson.NewObjectID() as the operation's token"

// checkOp checks an operation's token.
func (v *versioning) checkOp(op bson.ObjectID) error {
	switch {
	case v.ops == "" && !op.IsZero():
		return v.docs.Refuse("token", op,
			"can't be stored: name a field in VersionedSpec.Tokens, or pass the zero ObjectID")
	case v.ops != "" && op.IsZero():
		return v.docs.Refuse(v.ops, nil, noToken)
	}
	return nil
}

func (v *versioning) checkVersion(n int64) error {
	switch {
	case n < 0:
		return v.docs.Refuse(v.version, n, "is negative: give 0 or more")
	case n == math.MaxInt64:
		return v.docs.Refuse(v.version, n, "is the largest possible version")
	}
	return nil
}

// at is the condition that a document has version n.
func (v *versioning) at(n int64) bson.D {
	if n == 0 {
		return bson.D{{Key: v.version, Value: bson.D{{Key: "$in", Value: bson.A{int64(0), nil}}}}}
	}
	return bson.D{{Key: v.version, Value: n}}
}

// tokens returns the tokens in an encoded document.
func (v *versioning) tokens(doc bson.Raw) ([]bson.RawValue, error) {
	held, _ := core.ValueAt(doc, v.ops)
	switch held.Type {
	case 0, bson.TypeNull:
		return nil, nil
	case bson.TypeArray:
		return held.Array().Values()
	}
	return nil, v.docs.Refuse(v.ops, held, "isn't an array of tokens")
}

// hasToken reports whether an encoded document contains a token.
func (v *versioning) hasToken(doc bson.Raw, op bson.ObjectID) (bool, error) {
	all, err := v.tokens(doc)
	return slices.ContainsFunc(all, func(t bson.RawValue) bool {
		return t.Type == bson.TypeObjectID && t.ObjectID() == op
	}), err
}
