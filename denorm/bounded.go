package denorm

import (
	"cmp"

	"github.com/docmodel/docmodel/denorm/internal/bounded"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// BoundedSpec says how an array is bounded. Max is required.
type BoundedSpec struct {
	Max int // how many elements are kept; at least 1

	// First keeps the first elements: the oldest, or the smallest in the order By. By
	// default a push keeps the last elements.
	First bool

	// By sorts the array by fields of its elements. {time: 1} keeps the newest,
	// {score: -1, id: 1} with First keeps the top scores. End it with a unique field,
	// because MongoDB doesn't order equal elements. {"": -1} sorts scalars. Nil keeps the
	// order of pushing.
	By bson.D

	// Key is the path, within an element, of its key. With it, a push skips an element
	// that the array already holds, so that a push can be run again, and [Bounded.Remove]
	// works. A push of an element that was dropped adds it again, unless By drops it. ""
	// means no keys.
	Key string

	// Create lets a push create a missing owner by an upsert, as a document with its _id
	// and the array alone. Of two pushes that create one owner, the second adds to the
	// document of the first. Create and Key exclude each other.
	Create bool
}

// Bounded is an array that keeps at most Max elements, in the order of pushing or sorted:
// the last 1000 messages of a host. One atomic update pushes elements and drops the
// surplus. Make it with [NewBounded].
//
// Source: "$push with $each, $sort and $slice", "6 Rules of Thumb for MongoDB Schema
// Design", part 2 (seed 004);
// https://www.mongodb.com/docs/manual/reference/operator/update/slice/.
//
// Checks returns one check, of arrays over the bound. The repair keeps the elements that
// a push would keep.
//
// Cost: see [model.Check]. The repair writes one document each, by _id.
type Bounded[D, K any] struct {
	model.Parts

	owners *model.Collection[D, K]
	b      *bounded.Array
}

// NewBounded declares that the array at a path of the owners' documents is bounded. It
// panics with a [*model.DeclarationError] when the path isn't an array or is inside
// another, when a nil slice is stored as null, when Max is below 1, when By or Key don't
// fit the elements, or when Create comes with a Key.
func NewBounded[D, K any](owners *model.Collection[D, K], path string, spec BoundedSpec) *Bounded[D, K] {
	b := bounded.Declare(owners.Docs(), path, bounded.Spec(spec))
	return &Bounded[D, K]{model.NewParts(nil, nil, b.Checks, b.Footprints), owners, b}
}

// Push returns the write that adds elements to an owner's array and drops the elements
// over the bound. Elements have the array's element type or point to it. If the type
// isn't known, BSON must store them. A missing owner gives model.ErrNotFound, unless the
// spec has Create. An empty _id is a [*model.ValueError].
//
// Without a Key, a second run adds the elements again. With a Key, an array that holds
// some of the keys but not all gives model.ErrStale and isn't changed, unless it is full
// and would drop the other elements again.
//
// Cost: one command, one document, by _id. With a Key, one or two commands more when the
// update matches nothing.
func (b *Bounded[D, K]) Push(owner K, elements ...any) model.Write {
	return b.b.Push(owner, elements, nil, nil)
}

// PushWith is [Bounded.Push] with other update operators on the same document, such as a
// counter. An operator that overlaps the array's path gives a [*model.ConflictError].
// With a Key, a push that is skipped also skips the other operators, so that a retry
// doesn't count again.
//
// Cost: as Push.
func (b *Bounded[D, K]) PushWith(owner K, with bson.D, elements ...any) model.Write {
	return b.b.Push(owner, elements, with, func() model.Write { return b.owners.Update(owner, with) })
}

// Remove returns the write that removes elements by their keys. It ignores keys that the
// array doesn't hold. It is idempotent. It needs a Key. A missing owner gives
// model.ErrNotFound.
//
// Cost: one command, one document, by _id.
func (b *Bounded[D, K]) Remove(owner K, keys ...any) model.Write {
	pull, err := b.b.Pull(keys)
	if err != nil {
		return model.Refused(b.owners.Name(), err)
	}
	return b.owners.Update(owner, pull)
}

// Slice returns the query of one owner with the first n elements, or the last -n if n is
// negative. 0 is a [*model.ValueError]. Other fields are complete.
//
// Cost: one command, by _id.
func (b *Bounded[D, K]) Slice(owner K, n int) *model.Find[D] {
	f := b.owners.ByID(owner)
	var err error
	f.Projection, err = b.b.Slice(n)
	f.Err = cmp.Or(f.Err, err)
	return f
}

// Validation returns the validation by which the server refuses an array over the bound
// (https://www.mongodb.com/docs/manual/core/schema-validation/specify-json-schema/). Not
// every server enforces it. [model.Model.Validations] combines it with others.
func (b *Bounded[D, K]) Validation() model.Validation { return b.b.Validation() }
