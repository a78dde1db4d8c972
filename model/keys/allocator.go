package keys

import (
	"context"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/keys/internal/sequence"
)

// An Allocator gives out the numbers of a sequence, taking them from the counters by blocks: one command for as many numbers as a
// block has. It may be used by any number of goroutines; those that want numbers of one owner share its block. It keeps, in memory,
// what is left of each owner's block, until that is used up: what is left when the process ends, or when a new Allocator takes this
// one's place to free the memory, is a gap. Make it with [Sequence.Allocator].
type Allocator[K any] struct{ in *sequence.Allocator }

// Allocator returns an allocator for one database, whose blocks have as many numbers. A block of 1 leaves no gap by itself and keeps
// nothing in memory. It panics with a [*model.DeclarationError] for a block below 1 or above the greatest number, or a nil database.
func (s *Sequence[D, K]) Allocator(db model.DB, block int64) *Allocator[K] {
	return &Allocator[K]{s.in.NewAllocator(db, block)}
}

// Next returns the owner's next number. It creates the counter if there is none. A transaction that the context's session runs has
// no part in it: a number that is given is given, whatever becomes of the transaction.
//
// Errors: [model.ErrFull] where the counter has no number left that a key has room for; a [*model.ValueError] for an owner that
// [Sequence.Key] refuses, and for a counter that holds no whole number of the sequence, which other code wrote and [Sequence.Raise]
// mends; otherwise the context's error or the driver's: then a block may be lost, which is a gap.
//
// Cost: one command, one document by _id, for each block; for a new owner's first two or three more.
func (a *Allocator[K]) Next(ctx context.Context, owner K) (int64, error) {
	return a.in.Next(ctx, owner)
}
