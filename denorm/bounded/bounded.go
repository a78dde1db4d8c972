// Package bounded keeps the first, last or top n elements in a document's array: see [Bounded].
package bounded

import (
	"cmp"

	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Spec says which elements a [Bounded] array keeps. Max is required.
type Spec struct {
	Max int // maximum number of elements, at least 1

	// First keeps the array's first elements. The default keeps the last elements.
	First bool

	// By sorts the array by the elements' fields. The last field should be unique. Nil
	// keeps the order of pushing. For example, the array keeps
	//
	//	{time: 1}                      the newest elements
	//	{score: -1, id: 1} with First  the highest scores
	//	{"": -1} with First            the greatest of plain values
	By bson.D

	// Key is the path of the value that identifies an element. [Bounded.Remove] needs
	// Key. With Key, a push adds nothing if the array already contains one of the pushed
	// keys: see [Bounded.Push].
	Key string

	// Create lets a push create a missing owner. Create can't be used with Key.
	Create bool
}

// Bounded is an array that keeps at most Max elements, such as the last 1000 messages of
// a host. [Spec].By sorts the array.
//
// A [model.Store] refuses more than Max elements, and doesn't sort: use [Bounded.Push].
//
// Source: "6 Rules of Thumb for MongoDB Schema Design", part 2;
// https://www.mongodb.com/docs/manual/reference/operator/update/slice/.
//
// # Checks
//
// Checks returns one check, which finds arrays with more than Max elements. The repair
// shortens the array as a push does.
type Bounded[D, K any] struct {
	model.Parts

	owners *model.Collection[D, K]
	b      *untypedBounded
}

// New declares that owners have a bounded array at path. New panics with a
// [*model.DeclarationError] if
//   - the field at path isn't an array, or is inside an array
//   - a nil slice is stored as null (to prevent this, tag the field omitempty)
//   - spec is invalid
func New[D, K any](owners *model.Collection[D, K], path string, spec Spec) *Bounded[D, K] {
	b := declareBounded(owners.Docs(), path, spec)
	return &Bounded[D, K]{model.NewParts(nil, nil, b.listChecks, b.listFootprints).
		WithDocs(owners.Docs()).WithReactions(b.makeReactions), owners, b}
}

// Push returns the write that adds elements to an owner's array. The write also sorts and
// shortens the array. A missing owner gives model.ErrNotFound, unless Spec.Create
// is set.
//
// Without Spec.Key, a second run adds the elements again. With a Key, an array
// that contains all pushed keys stays unchanged. An array with only some of the keys
// stays unchanged too. This gives model.ErrStale, unless the push would drop the new
// elements.
//
// Cost: one command, one document, by _id. With a Key, one or two more commands if the
// update matches nothing.
func (b *Bounded[D, K]) Push(owner K, elements ...any) model.Write {
	return b.b.pushElements(owner, elements, nil, nil)
}

// PushWith returns the write of [Bounded.Push] with further operators for the same
// document, such as {$inc: {n: 1}}. An operator on the array's path gives a
// [*model.ConflictError]. If a repeated push does nothing (see Spec.Key), the
// operators do nothing.
//
// Cost: as [Bounded.Push].
func (b *Bounded[D, K]) PushWith(owner K, update bson.D, elements ...any) model.Write {
	return b.b.pushElements(owner, elements, update, func() model.Write {
		return commands.AdoptWrite(b.owners.Update(owner, update))
	})
}

// Remove returns the write that removes the elements with these keys from an owner's
// array. It ignores keys that the array doesn't hold. Without keys or Spec.Key, it
// gives a [*model.ValueError]. A missing owner gives model.ErrNotFound.
//
// Cost: one command, one document, by _id.
func (b *Bounded[D, K]) Remove(owner K, keys ...any) model.Write {
	pull, err := b.b.pullKeys(keys)
	if err != nil {
		return model.Refused(b.owners.Name(), err)
	}
	return commands.AdoptWrite(b.owners.Update(owner, pull))
}

// Slice returns the query of one owner's document with only the array's first n elements.
// A negative n means the last -n elements. n = 0 gives a [*model.ValueError].
//
// Cost: one command, by _id.
func (b *Bounded[D, K]) Slice(owner K, n int) *model.Find[D] {
	f := b.owners.ByID(owner)
	var err error
	f.Projection, err = b.b.projectSlice(n)
	f.Err = cmp.Or(f.Err, err)
	return f
}

// Validation returns the validation by which the server refuses an array with more than
// Max elements
// (https://www.mongodb.com/docs/manual/core/schema-validation/specify-json-schema/). Not
// every server enforces it.
func (b *Bounded[D, K]) Validation() model.Validation { return b.b.makeValidation() }
