package embed

import (
	"cmp"
	"fmt"
	"math"
	"reflect"
	"slices"

	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/found"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/readpref"
)

// VersionedSpec names the fields that a versioned document has. The zero value is valid.
type VersionedSpec struct {
	Version string // path of the version, an int64 (or int); "" means version

	// Tokens is the path of a []bson.ObjectID in which the document keeps the tokens of the latest operations, so that an operation
	// whose answer was lost is known to have been applied, and is applied once however often it is run, while its token is among the
	// last Keep. "" means none: then its second run finds another version, and can't tell its own from somebody else's.
	Tokens string

	Keep int // how many tokens are kept; 0 means 100

	// Uncounted are paths that other techniques write without counting the version up. Replace and Change, which
	// would undo such a write, are refused then: use Update, ChangeBy, Guarded and Take. Nil means that every write
	// counts the version up.
	Uncounted []string
}

// Versioned is a document as the unit of consistency: it has a version, which every write counts up, and a write that was computed
// from what was read is applied only while the version is still the one that was read (test-and-set). So no update is lost,
// without locks or transactions. Make it with [NewVersioned].
//
// All writers must count the version up: plain writes to the same fields are not seen,
// and a Replace of what was read before one undoes it. A denorm.Copy into these documents
// and a relate.ParentRef count the version up if their specs have CountUp. Name the paths
// that other techniques write, such as a denorm.Counter over these documents as parents,
// in Uncounted. [model.New] refuses a technique that is neither. A document without a
// version, from before the technique, has version 0.
//
// Source: "Atomic Aggregates", "NoSQL Data Modeling Techniques" (seed 002, 4);
// https://www.mongodb.com/docs/manual/core/write-operations-atomicity/.
//
// Checks returns one check, of versions that can't be counted up: null, a string, an array. Mending stores the milliseconds
// of the server's clock since 1970, which counting up doesn't reach: somebody may have read the document in a version before
// that was lost, and must not find that version again. His write is [ErrVersion] then, and so is the write of somebody who read
// null, as 0. An int of 32 bits can't hold such a version.
//
// Cost: it reads every document, and no index serves it. Mending writes one document for each finding, by _id.
type Versioned[D, K any] struct {
	model.Parts

	docs *model.Collection[D, K]
	v    *versioning
}

// versioning is what of a Versioned doesn't depend on types.
type versioning struct {
	docs    *core.Docs
	version string
	ops     string
	keep    int
	spared  []string            // paths that are written without counting the version up
	reader  *core.Reader[int64] // of the version; nil where it is an int
	ints    *core.Reader[int]
}

// NewVersioned declares that c's documents have a version. It panics with a [*model.DeclarationError] when there is no such field, it is
// no int64 or int, or crosses an array; when Tokens is no array of bson.ObjectID, or its nil slice is stored as null; when one holds
// the other; when Keep is negative; when Uncounted names one of them.
func NewVersioned[D, K any](c *model.Collection[D, K], spec VersionedSpec) *Versioned[D, K] {
	out := &Versioned[D, K]{model.Parts{}, c, newVersioning(c.Docs(), spec)}
	out.Parts = model.NewParts(nil, nil, out.v.checks, out.v.footprints)
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

// Insert returns the write that stores a new document, as [model.Collection.Insert] does, in version 1, with the operation's token. What
// version the value says must be 0 or 1.
//
// op is the operation's token, one for each; without Tokens in the spec it must be the zero ObjectID, here and below. With it, a second
// run counts as applied before while the document keeps the token, among the last Keep, also when others have written since. Without,
// or later, it is a duplicate key once the document has changed.
//
// Cost: as Collection.Insert; a read more when the _id is taken.
func (v *Versioned[D, K]) Insert(doc D, op bson.ObjectID) model.Write { return v.v.insert(&doc, op) }

// Replace returns the write that stores a whole document over the one with its _id, if that still has the version that doc says, in
// the next version. Running it gives [ErrVersion] when it has another, and [model.ErrNotFound] when it is gone. Fields that D doesn't know
// are lost: where there are such, use Update.
//
// With Tokens, a second run after any number of other operations, up to Keep, counts as applied before. Without, it is ErrVersion.
//
// Bad input, refused: a version below 0, or the greatest int64; a token where none is kept, or none where they are.
//
// Cost: one command, one document, found by _id; up to two reads more when nothing matched.
func (v *Versioned[D, K]) Replace(doc D, op bson.ObjectID) model.Write { return v.v.replace(&doc, op) }

// Update returns the write that applies update operators to a document that still has a version, and counts that up. The operators
// must not touch the version or the tokens. Running it gives [ErrVersion] when the document has another version, and [model.ErrNotFound] when
// it is gone; tokens, and what is refused, are as in [Versioned.Replace].
//
// A nil update counts the version up and changes nothing else: a forced increment, for a decision that relies on a document without
// changing it. In one transaction with the other writes, it makes a concurrent change of the document fail, or itself.
//
// Cost: one command, one document, found by _id; up to two reads more when nothing matched.
func (v *Versioned[D, K]) Update(id K, version int64, update bson.D, op bson.ObjectID) model.Write {
	if update == nil {
		return v.v.touch(id, version, op)
	}
	return v.v.update(id, version, update, op)
}

// Delete returns the write that deletes a document that still has a version. Running it gives [ErrVersion] when it has another, and
// [model.ErrNotFound] when it is gone, be it by this very write, run before.
//
// Cost: one command, one document, found by _id; one read more when nothing matched.
func (v *Versioned[D, K]) Delete(id K, version int64) model.Write { return v.v.delete(id, version) }

// Guarded returns the write that applies update operators to a document while a guard holds, whatever its version, and counts that
// up: {qty: {$gte: 3}} with {$inc: {qty: -3}}. Running it gives [ErrGuard] when the document is there and the guard doesn't hold,
// and [model.ErrNotFound] when there is none. A guard without a condition is refused. It needs no read before, and has no retries: writers that
// meet wait for each other.
//
// With Tokens, a second run counts as applied before while the token is among the last Keep: after Keep other operations, or more, it is
// applied again, for unlike a comparison of versions the guard doesn't see them. So Keep must be more than the operations that a document
// gets between a first run and the last retry. Without Tokens, a second run is applied again, unless the guard doesn't hold any longer.
//
// Cost: one command, one document, found by _id; up to two reads more when nothing matched. A version that is the greatest int64
// is refused by the server.
func (v *Versioned[D, K]) Guarded(id K, guard, update bson.D, op bson.ObjectID) model.Write {
	return v.v.guarded(id, guard, update, op)
}

// Take returns the write that takes n from a number, if there is as much: [Versioned.Guarded] with {path: {$gte: n}} and {$inc:
// {path: -n}}, with what that says of tokens. Running it gives [ErrGuard] when there is less, or no number, and [model.ErrNotFound] when there is
// no document. n must be greater than 0, and the path that of a number outside arrays: anything else is a [*model.ValueError].
//
// What was taken is given back by [Versioned.Guarded], with a new token, and the guard that the document holds the Take's token:
// {tokens: op} with {$inc: {path: n}}. Without tokens the guard is {path: {$type: "number"}}.
//
// Cost: as [Versioned.Guarded].
func (v *Versioned[D, K]) Take(id K, path string, n int64, op bson.ObjectID) model.Write {
	return v.v.take(id, path, n, op)
}

// Change returns the change that reads a document, has decide compute what it becomes, and stores that by [Versioned.Replace]; and
// if somebody wrote in between, reads again and decides anew, up to 100 times with growing, jittered pauses (set Attempts for
// another bound; after the last, the error is ErrStale). decide must be pure; its error ends the change, and nothing is written.
// What it says of the version and the tokens doesn't count. A document that is gone gives [model.ErrNotFound].
//
// With Tokens, a change that is run again with its token is applied once while the token is among the last Keep; after more operations on
// the document it is decided anew, and applied again. Cost: two commands for each attempt; two reads where the document holds the token already.
func (v *Versioned[D, K]) Change(id K, op bson.ObjectID, decide func(D) (D, error)) model.Change[D] {
	return v.change(id, op, v.v.wholly(), decide == nil, func(doc *D) (model.Write, error) {
		was := v.v.asRead(doc) // before decide, which may write to what doc refers to
		next, err := decide(*doc)
		if err != nil {
			return model.Write{}, err
		}
		return v.v.replaced(was, &next, op), nil
	})
}

// ChangeBy is [Versioned.Change] by update operators, as [Versioned.Update] applies them: for a change of a few fields, and for documents
// of which D doesn't know every field. The version is counted up. Bad operators end the change with a [*model.ValueError], and nothing is written.
//
// Cost: two commands for each attempt; two reads where the document holds the token already.
func (v *Versioned[D, K]) ChangeBy(id K, op bson.ObjectID, decide func(D) (bson.D, error)) model.Change[D] {
	return v.change(id, op, nil, decide == nil, func(doc *D) (model.Write, error) {
		version := v.v.of(doc) // before decide
		update, err := decide(*doc)
		if err != nil {
			return model.Write{}, err
		}
		return v.v.update(id, version, update, op), nil
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

// refusal returns the first of what is wrong with a change: its _id, that nothing decides, what refused it, its token.
func (v *versioning) refusal(id error, undecided bool, refused error, op bson.ObjectID) error {
	if id == nil && undecided {
		return v.docs.Refuse("decide", nil, "is nil: give a function that computes the change")
	}
	return cmp.Or(id, refused, v.checkOp(op))
}

// decided is the plan of a change, from what doc points at: the write, unless it was applied before.
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

// of reads the version of what doc points at.
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
			Update: mongo.Pipeline{{{Key: "$set", Value: bson.D{{Key: v.version, Value: bson.D{{Key: "$toLong", Value: "$$NOW"}}}}}}},
		}),
	}}
}

func (v *versioning) malformed() bson.D {
	none := bson.D{{Key: v.version, Value: bson.D{{Key: "$exists", Value: true}, {Key: "$not", Value: bson.D{{Key: "$type", Value: "number"}}}}}}
	list := bson.D{{Key: v.version, Value: bson.D{{Key: "$type", Value: "array"}}}} // of numbers, which a condition on the type finds too
	return bson.D{{Key: "$or", Value: bson.A{none, list}}}
}

// checkOp checks an operation's token.
func (v *versioning) checkOp(op bson.ObjectID) error {
	switch {
	case v.ops == "" && !op.IsZero():
		return v.docs.Refuse("op", op, "can't be stored: name a field in VersionedSpec.Tokens, or pass the zero ObjectID")
	case v.ops != "" && op.IsZero():
		return v.docs.Refuse(v.ops, nil, "is the zero ObjectID: pass bson.NewObjectID() as the operation's token")
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

// at is the condition that a document has a version.
func (v *versioning) at(n int64) bson.D {
	if n == 0 {
		return bson.D{{Key: v.version, Value: bson.D{{Key: "$in", Value: bson.A{int64(0), nil}}}}}
	}
	return bson.D{{Key: v.version, Value: n}}
}

// tokens are those that an encoded document holds.
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

// applied reports whether a document that was read holds the operation's token.
func (v *versioning) applied(doc any, op bson.ObjectID) (bool, error) {
	if v.ops == "" {
		return false, nil
	}
	raw, err := v.docs.Codec().Document(reflect.ValueOf(doc).Elem().Interface())
	if err != nil {
		return false, v.docs.Refuse("document", nil, err.Error())
	}
	all, err := v.tokens(raw)
	return slices.ContainsFunc(all, func(t bson.RawValue) bool { return t.Type == bson.TypeObjectID && t.ObjectID() == op }), err
}
