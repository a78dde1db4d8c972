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
	"go.mongodb.org/mongo-driver/v2/mongo/readpref"
)

// VersionedSpec names the fields of a versioned document. The zero value is valid.
type VersionedSpec struct {
	Version string // path of the version, an int64 or int; "" means version

	// Tokens is the path of a []bson.ObjectID for the last writes' tokens: see
	// [Versioned]. If Tokens is "", a retry of Replace or Update gives ErrVersion, and a
	// retry of Guarded, Take, Change or ChangeBy writes again.
	Tokens string

	Keep int // number of tokens to keep; 0 means 100

	// Uncounted lists paths that other techniques write without increasing the version.
	// If paths are listed, Replace and Change give a *model.ValueError. Use Update or
	// ChangeBy.
	Uncounted []string
}

// Versioned is a document with a version, which each write increases. If the version has
// changed since a read, a write computed from the read fails. A missing version counts
// as 0.
//
// [Versioned.Replace] can overwrite changes that didn't increase the version. If another
// technique writes the document, set CountUp in the technique's spec. If the spec has no
// CountUp, list the written paths in VersionedSpec.Uncounted. If CountUp and Uncounted
// are both missing, [model.New] panics.
//
// A document that is deleted and inserted again has other versions than before, because
// [Versioned.Insert] makes the first version from its token. So a write that was computed
// from the deleted document gives [ErrVersion]. If other code inserts the documents, for
// example another technique, set the version to time.Now().UnixMicro(). Documents that
// begin with equal versions can't be told apart.
//
// With VersionedSpec.Tokens, pass a new ObjectID as the token of each operation. While
// the document stores the token, a retry does nothing. Without Tokens, pass the zero
// ObjectID, except to Insert.
//
// Another version gives [ErrVersion]. A missing document gives [model.ErrNotFound].
//
// # In a store
//
// A [model.Store] makes the first version, and increases the version with each change. A
// version in the caller's change is compared: if the stored version differs, the change
// gives ErrVersion. In a new document it must be 0. Tokens are stored only outside
// transactions: see [model.WithToken].
//
// Cost: each write is one command on one document, by _id. If the command matches
// nothing, at most two reads find the error.
//
// Source: "Atomic Aggregates", "NoSQL Data Modeling Techniques", 4;
// https://www.mongodb.com/docs/manual/core/write-operations-atomicity/.
type Versioned[D, K any] struct {
	model.Parts

	docs *model.Collection[D, K]
	v    *versioning
}

// versioning is the non-generic core of a Versioned.
type versioning struct {
	docs    *core.Docs
	version string
	ops     string
	keep    int
	spared  []string            // paths that are written without increasing the version
	reader  *core.Reader[int64] // of the version; nil if it is an int
	ints    *core.Reader[int]
}

// NewVersioned declares that c's documents have a version. It panics with a
// [*model.DeclarationError] if
//
//   - the version isn't an int64 or a 64-bit int, or can be null
//   - the version is in an array, or in the _id
//   - the field VersionedSpec.Tokens isn't a []bson.ObjectID with the tag omitempty
//   - paths overlap, or Keep is negative
func NewVersioned[D, K any](c *model.Collection[D, K], spec VersionedSpec) *Versioned[D, K] {
	out := &Versioned[D, K]{model.Parts{}, c, newVersioning(c.Docs(), spec)}
	out.Parts = model.NewParts(nil, nil, out.v.checks, out.v.footprints).WithDocs(c.Docs()).WithReactions(out.v.reactions)
	return out
}

func newVersioning(c *core.Docs, s VersionedSpec) *versioning {
	place := core.Place(fmt.Sprintf("NewVersioned of %s", c.Name()))
	v := &versioning{docs: c, version: cmp.Or(s.Version, "version"), ops: s.Tokens, keep: cmp.Or(s.Keep, 100), spared: slices.Clone(s.Uncounted)}
	f := c.MustField(v.version)
	switch {
	case f.Arrays > 0:
		place.Fail(fmt.Sprintf("the version %q is an array, or is in one", v.version), "name a field with a single number")
	case f.NullParent() != "" || f.StoresNull():
		place.Fail(fmt.Sprintf("the version %q can be stored as null, which $inc can't increase", v.version), "declare it as a plain int64")
	case core.Overlap(v.version, "_id"):
		place.Fail("the version is in the _id, which can't change", "name another field")
	case !f.Open && f.Type == reflect.TypeFor[int]() && strconv.IntSize < 64:
		place.Fail(fmt.Sprintf("the version %q is an int, which has 32 bits here", v.version), "declare it as an int64")
	case !f.Open && f.Type == reflect.TypeFor[int]():
		v.ints = core.NewReader[int](c, v.version)
	default:
		v.reader = core.NewReader[int64](c, v.version)
	}
	if v.keep < 1 {
		place.Fail(fmt.Sprintf("Keep is %d", s.Keep), "give 1 or more, or leave Tokens out")
	}
	for _, path := range v.spared {
		if c.MustField(path); core.Overlap(path, v.version) || v.ops != "" && core.Overlap(path, v.ops) {
			place.Fail(fmt.Sprintf("Uncounted %q holds a field that the technique writes", path), "name paths that other techniques write")
		}
	}
	if v.ops == "" {
		return v
	}
	ops := c.CheckArray(v.ops)
	if !ops.Open && ops.Type != reflect.TypeFor[bson.ObjectID]() {
		place.Fail(fmt.Sprintf("the tokens at %q are of type %s", v.ops, ops.Type), "declare them as []bson.ObjectID")
	}
	if core.Overlap(v.ops, v.version) {
		place.Fail("the version and the tokens have the same path", "name two different fields")
	}
	return v
}

// Checks returns one check, which reads every document. The check finds versions that
// aren't numbers. The repair stores the server's time in microseconds.
func (v *Versioned[D, K]) Checks() []model.Check { return v.Parts.Checks() }

// Insert stores a new document. doc's version must be 0. Insert makes the first version
// from the token: the token's time in microseconds, in which a hash of the token replaces
// the fraction of the second. So pass a new ObjectID as the token, even without
// VersionedSpec.Tokens. If another document has the _id, Insert gives a duplicate key
// error.
//
// A retry does nothing while the document keeps the token (see [Versioned]). Without
// VersionedSpec.Tokens, a retry does nothing while the document is unchanged. After that,
// or in a transaction, a retry gives the duplicate key error.
//
// Cost: as [model.Collection.Insert]. If the _id is taken, one read follows.
func (v *Versioned[D, K]) Insert(doc D, token bson.ObjectID) model.Write {
	return v.v.insert(&doc, token)
}

// Replace stores doc in place of the document with the same _id and version, and
// increases the version. If the stored version differs, Replace gives [ErrVersion].
// Stored fields that D doesn't have are lost.
//
// A retry does nothing while the document stores the token (see [Versioned]). After that,
// a retry gives ErrVersion.
//
// Cost: see [Versioned].
func (v *Versioned[D, K]) Replace(doc D, token bson.ObjectID) model.Write {
	return v.v.replace(&doc, token)
}

// Update applies update operators to the document with this version, and increases the
// version. For errors and retries, see [Versioned.Replace].
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

// Delete deletes the document, if it has this version. Another version gives
// [ErrVersion]. A missing document gives [model.ErrNotFound], as in a retry after
// success.
//
// Cost: see [Versioned].
func (v *Versioned[D, K]) Delete(id K, version int64) model.Write { return v.v.delete(id, version) }

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

// Change reads a document, calls decide, and stores the result by [Versioned.Replace].
// After a concurrent write, Change starts again. 100 failed attempts give [ErrVersion].
//
// The function decide must be pure. An error of decide ends the change without a write.
// Change ignores the result's version and tokens. For token, see [Versioned].
//
// Cost: two commands for each attempt.
func (v *Versioned[D, K]) Change(id K, token bson.ObjectID, decide func(D) (D, error)) model.Change[D] {
	return v.change(id, token, v.v.wholly(), decide == nil, func(doc *D) (model.Write, error) {
		was := v.v.asRead(doc) // before decide, which may change data that doc refers to
		next, err := decide(*doc)
		if err != nil {
			return model.Write{}, err
		}
		return v.v.replaced(was, &next, token), nil
	})
}

// ChangeBy is [Versioned.Change], but decide returns update operators, as for
// [Versioned.Update]. Use it to change a few fields, or if D doesn't declare all stored
// fields. Invalid or no operators give a [*model.ValueError].
//
// Cost: see Change.
func (v *Versioned[D, K]) ChangeBy(id K, token bson.ObjectID, decide func(D) (bson.D, error)) model.Change[D] {
	return v.change(id, token, nil, decide == nil, func(doc *D) (model.Write, error) {
		version := v.v.of(doc) // before decide
		update, err := decide(*doc)
		if err != nil {
			return model.Write{}, err
		}
		return v.v.update(id, version, update, token), nil
	})
}

func (v *Versioned[D, K]) change(id K, op bson.ObjectID, refused error, undecided bool, write func(*D) (model.Write, error)) model.Change[D] {
	find := v.docs.ByID(id)
	find.Options.ReadPreference = readpref.Primary()
	return model.Change[D]{
		Name: "versioned " + v.v.docs.Name(), Err: v.v.refusal(find.Err, undecided, refused, op), Attempts: 100, Read: find.One,
		Decide: func(doc D) (model.Plan, error) {
			return v.v.decided(&doc, op, func() (model.Write, error) { return write(&doc) })
		},
	}
}

// refusal returns the first error of a change's arguments: of the _id, of a missing
// decide, refused, or of the token.
func (v *versioning) refusal(id error, undecided bool, refused error, op bson.ObjectID) error {
	if id == nil && undecided {
		return v.docs.Refuse("decide", nil, "is nil: give a function that computes the change")
	}
	return cmp.Or(id, refused, v.checkOp(op))
}

// decided returns the plan of a change of the document that doc points at: the write, or
// nothing if the write was applied before.
func (v *versioning) decided(doc any, op bson.ObjectID, write func() (model.Write, error)) (model.Plan, error) {
	applied, err := v.applied(doc, op)
	if applied || err != nil {
		return model.Plan{Applied: applied}, err
	}
	w, err := write()
	if err != nil {
		return model.Plan{}, err
	}
	return model.NewPlan(w), nil
}

// of returns the version of the document that doc points at.
func (v *versioning) of(doc any) int64 {
	if reflect.ValueOf(doc).IsNil() {
		return 0
	}
	if v.ints != nil {
		n, _ := v.ints.First(doc)
		return int64(n)
	}
	n, _ := v.reader.First(doc)
	return n
}

func (v *versioning) checks() []model.Check {
	name := fmt.Sprintf("%s.%s: not a number", v.docs.Name(), v.version)
	type row struct {
		ID   bson.RawValue `bson:"_id"`
		Type string        `bson:"type"`
	}
	return []model.Check{{
		Name: name, Collection: v.docs.Name(), Rule: v.version + " is a number or is missing",
		Pipeline: found.Pipeline(v.malformed(), bson.E{Key: "type", Value: bson.D{{Key: "$type", Value: "$" + v.version}}}),
		Tell: found.Tells(func(r row, f *model.Finding) {
			f.ID, f.Problem = r.ID, fmt.Sprintf("%s is of type %s", v.version, r.Type)
		}),
		Mend: found.MendsIf(name, v.docs.Name(), v.malformed(), "some documents repaired; the others still have no version, which the next check finds", mongo.UpdateOneModel{
			Update: mongo.Pipeline{mql.Set(mql.E(v.version, mql.Op("$multiply", mql.Op("$toLong", "$$NOW"), int64(1000))))},
		}),
	}}
}

func (v *versioning) malformed() bson.D {
	none := bson.D{{Key: v.version, Value: bson.D{{Key: "$exists", Value: true}, {Key: "$not", Value: bson.D{{Key: "$type", Value: "number"}}}}}}
	list := bson.D{{Key: v.version, Value: bson.D{{Key: "$type", Value: "array"}}}} // an array of numbers also matches $type "number"
	return bson.D{{Key: "$or", Value: bson.A{none, list}}}
}

const noToken = "is the zero ObjectID: pass bson.NewObjectID() as the operation's token"

// checkOp checks an operation's token.
func (v *versioning) checkOp(op bson.ObjectID) error {
	switch {
	case v.ops == "" && !op.IsZero():
		return v.docs.Refuse("token", op, "can't be stored: name a field in VersionedSpec.Tokens, or pass the zero ObjectID")
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

// applied reports whether a document that was read contains the operation's token.
func (v *versioning) applied(doc any, op bson.ObjectID) (bool, error) {
	if v.ops == "" {
		return false, nil
	}
	raw, err := v.docs.Codec().Document(reflect.ValueOf(doc).Elem().Interface())
	if err != nil {
		return false, v.docs.Refuse("document", nil, err.Error())
	}
	return v.hasToken(raw, op)
}

// hasToken reports whether an encoded document contains a token.
func (v *versioning) hasToken(doc bson.Raw, op bson.ObjectID) (bool, error) {
	all, err := v.tokens(doc)
	return slices.ContainsFunc(all, func(t bson.RawValue) bool { return t.Type == bson.TypeObjectID && t.ObjectID() == op }), err
}
