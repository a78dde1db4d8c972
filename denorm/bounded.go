package denorm

import (
	"cmp"

	"github.com/docmodel/docmodel/denorm/internal/bounded"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// BoundedSpec says how many and which elements a [Bounded] keeps. Max is required.
type BoundedSpec struct {
	Max int // the most elements that the array keeps; at least 1

	// First keeps the first elements: the oldest, or the smallest in the order By. By
	// default a push keeps the last elements.
	First bool

	// By sorts the array by fields of its elements. {time: 1} keeps the newest elements.
	// With BoundedSpec.First, {score: -1, id: 1} keeps the top scores. End the sort with
	// a unique field, because MongoDB doesn't order equal elements. {"": -1} sorts an
	// array of scalars. Nil keeps the order of pushing.
	By bson.D

	// Key is the path, within an element, of the value that identifies the element. ""
	// means that elements have no key. [Bounded.Remove] needs a Key. With a Key, a
	// repeated push changes nothing while the array contains the pushed elements. If the
	// array has dropped these elements, a repeated push can add them again.
	Key string

	// Create lets a push create a missing owner by an upsert: a document with only its
	// _id and the array. [NewBounded] panics if both Create and Key are given.
	Create bool
}

// Bounded is an array that keeps at most Max elements, such as the last 1000 messages of
// a host. [BoundedSpec].By sorts the array.
//
// Source: "6 Rules of Thumb for MongoDB Schema Design", part 2;
// https://www.mongodb.com/docs/manual/reference/operator/update/slice/.
//
// Checks returns one check. It finds arrays with more than Max elements. The repair keeps
// the elements that a push would keep.
type Bounded[D, K any] struct {
	model.Parts

	owners *model.Collection[D, K]
	b      *bounded.Array
}

// NewBounded declares that the array at path, in the documents of owners, is bounded. It
// panics with a [*model.DeclarationError] if
//   - the path isn't an array, or is inside an array
//   - a nil slice is stored as null (tag it omitempty)
//   - a field of spec is invalid
func NewBounded[D, K any](owners *model.Collection[D, K], path string, spec BoundedSpec) *Bounded[D, K] {
	b := bounded.Declare(owners.Docs(), path, bounded.Spec(spec))
	return &Bounded[D, K]{model.NewParts(nil, nil, b.Checks, b.Footprints), owners, b}
}

// Push returns the write that adds elements to an owner's array (owner is the _id). The
// write also sorts and shortens the array: see [BoundedSpec]. A missing document gives
// model.ErrNotFound, unless the spec has Create.
//
// Without BoundedSpec.Key, a second run adds the elements again. With a Key, the write
// adds nothing if the array contains any of the pushed keys. If the array lacks a pushed
// element that the bound would keep, this write gives model.ErrStale.
//
// Cost: one command, one document, by _id. If the spec has a Key and the update matches
// nothing, one or two more commands.
func (b *Bounded[D, K]) Push(owner K, elements ...any) model.Write {
	return b.b.Push(owner, elements, nil, nil)
}

// PushWith is [Bounded.Push], and also applies the operators in the parameter update to
// the same document, such as {$inc: {n: 1}}. An operator on the array's path gives a
// [*model.ConflictError]. If BoundedSpec.Key is set, a second run skips the push and
// these operators.
//
// Cost: as [Bounded.Push].
func (b *Bounded[D, K]) PushWith(owner K, update bson.D, elements ...any) model.Write {
	return b.b.Push(owner, elements, update, func() model.Write { return b.owners.Update(owner, update) })
}

// Remove returns the write that removes the elements with these keys from an owner's
// array. It ignores keys that the array doesn't hold. Without BoundedSpec.Key it gives a
// [*model.ValueError]. A missing owner gives model.ErrNotFound.
//
// Cost: one command, one document, by _id.
func (b *Bounded[D, K]) Remove(owner K, keys ...any) model.Write {
	pull, err := b.b.Pull(keys)
	if err != nil {
		return model.Refused(b.owners.Name(), err)
	}
	return b.owners.Update(owner, pull)
}

// Slice returns the query of one owner's document, with only the first n elements of the
// array, or the last -n elements if n is negative. n = 0 gives a [*model.ValueError].
//
// Cost: one command, by _id.
func (b *Bounded[D, K]) Slice(owner K, n int) *model.Find[D] {
	f := b.owners.ByID(owner)
	var err error
	f.Projection, err = b.b.Slice(n)
	f.Err = cmp.Or(f.Err, err)
	return f
}

// Validation returns the validation by which the server refuses an array with more than
// Max elements
// (https://www.mongodb.com/docs/manual/core/schema-validation/specify-json-schema/). Not
// every server enforces it.
func (b *Bounded[D, K]) Validation() model.Validation { return b.b.Validation() }
