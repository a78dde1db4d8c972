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

	// First keeps the first elements in the array: those pushed first, or the smallest in the order By. By default the last
	// are kept.
	First bool

	// By keeps the array sorted by fields of its elements, e.g. {time: 1} or {score: -1, id: 1}. The last in the order
	// {time: 1} are the newest. With First the first in the order {score: -1} are the top. MongoDB does not promise an
	// order among equal elements, so end it in a field that tells them apart. An array of scalars is sorted by the empty
	// name: {"": -1}. Nil keeps the order of pushing.
	By bson.D

	// Key is the path, within an element, of what identifies it. With it a push is skipped when the array holds the
	// element's key already, so that a push may be run again; and elements can be removed by key. "" means none.
	//
	// It recognizes what the array still holds: pushing again what was dropped long ago adds it again, unless By drops it.
	Key string

	// Create has a push create an owner that doesn't exist, as a document with its _id and the array alone: one atomic upsert. Of
	// two that create the same owner, the server has the second push to what the first created. It can't be with a Key, whose guard
	// would match no document and create a second. By default the owner must exist.
	Create bool
}

// Bounded is an array that keeps n elements, in the order of pushing or in one of its own: the last 1000 messages of a
// host in host.logmsgs. Push and bound are one atomic update. Make it with [NewBounded].
//
// Source: "$push with $each, $sort and $slice", "6 Rules of Thumb for MongoDB Schema Design", part 2 (seed 004);
// https://www.mongodb.com/docs/manual/reference/operator/update/slice/.
//
// Checks returns one check, of arrays over the bound: written before it was declared, or by code that doesn't know of it.
// Mending keeps what a push would keep. An array within its bound isn't touched.
//
// Cost: see [model.Check]; mending writes one document each, by _id.
type Bounded[D, K any] struct {
	model.Parts

	owners *model.Collection[D, K]
	b      *bounded.Array
}

// NewBounded declares that the array at a path of the owners' documents is bounded. It panics with a
// [*model.DeclarationError] when the path doesn't exist, is no array or lies inside another, when its nil slice is stored as
// null, on which $push fails, when Max is below 1, when By or Key name a field that the elements don't have, or when Create comes with a Key.
func NewBounded[D, K any](owners *model.Collection[D, K], path string, spec BoundedSpec) *Bounded[D, K] {
	b := bounded.Declare(owners.Docs(), path, bounded.Spec(spec))
	return &Bounded[D, K]{model.NewParts(nil, nil, b.Checks, b.Footprints), owners, b}
}

// Push returns the write that adds elements to an owner's array and drops what is over the bound. Elements must be of the
// array's element type, or a pointer to it; where that is not known, anything that BSON stores. An owner that doesn't exist
// gives model.ErrNotFound, unless the spec says Create. An empty _id is refused, a zero ObjectID too.
//
// Cost: one command, one document, found by _id. With a Key, one or two commands more when nothing matched, to tell elements that
// are there from an owner that isn't; an array that holds some of the elements' keys but not all refuses them all as
// model.ErrStale, unless it is full and would drop the others again. Without a Key, a push that is run again adds its
// elements again.
func (b *Bounded[D, K]) Push(owner K, elements ...any) model.Write {
	return b.b.Push(owner, elements, nil, nil)
}

// PushWith is [Bounded.Push] with other operators on the same document, as one write: a counter, the time of the last push. It
// is what model.Merge makes of both, in fewer steps. The array's path, or one above or below it, gives a [*model.ConflictError].
//
// With a Key, a push that is skipped since the element is there skips the other operators too: a push that is run again doesn't
// count again.
//
// Cost: as Push.
func (b *Bounded[D, K]) PushWith(owner K, with bson.D, elements ...any) model.Write {
	return b.b.Push(owner, elements, with, func() model.Write { return b.owners.Update(owner, with) })
}

// Remove returns the write that takes elements out by their keys; keys that the array doesn't hold are passed over. It is
// idempotent. It needs a spec with a Key.
//
// Cost: one command, one document, found by _id.
func (b *Bounded[D, K]) Remove(owner K, keys ...any) model.Write {
	pull, err := b.b.Pull(keys)
	if err != nil {
		return model.Refused(b.owners.Name(), err)
	}
	return b.owners.Update(owner, pull)
}

// Slice returns the query of one owner with n of its kept elements: the first n, or with a negative n the last. 0 is
// refused. Other fields come whole.
//
// Cost: one command, served by _id.
func (b *Bounded[D, K]) Slice(owner K, n int) *model.Find[D] {
	f := b.owners.ByID(owner)
	var err error
	f.Projection, err = b.b.Slice(n)
	f.Err = cmp.Or(f.Err, err)
	return f
}

// Validation returns the validation by which the server refuses an array over the bound
// (https://www.mongodb.com/docs/manual/core/schema-validation/specify-json-schema/). Not every server enforces it.
// [model.Model.Validations] combines it with others of the collection.
func (b *Bounded[D, K]) Validation() model.Validation { return b.b.Validation() }
