package keys

import (
	"context"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/keys/internal/sequence"
)

// An Allocator reserves blocks of numbers for the owners of a [Sequence], and gives the
// numbers out one by one. Several goroutines can use one Allocator. When the process
// ends, reserved numbers that weren't given out become gaps.
type Allocator[K any] struct{ in *sequence.Allocator }

// Allocator returns an allocator for one database. The parameter block is how many
// numbers it reserves at once. Allocator panics with a [*model.DeclarationError] if db is
// nil, or block isn't from 1 to the sequence's greatest number.
func (s *Sequence[D, K]) Allocator(db model.DB, block int64) *Allocator[K] {
	return &Allocator[K]{s.in.NewAllocator(db, block)}
}

// Next returns the owner's next number, and creates a missing counter. If the caller's
// transaction aborts, the number stays used. Errors:
//   - [model.ErrFull]: no number is left
//   - [*model.ValueError]: invalid owner, or damaged counter (repair: [Sequence.Raise])
//
// Cost: one command for each block of numbers, one document, by _id. A new owner takes
// two or three more commands.
func (a *Allocator[K]) Next(ctx context.Context, owner K) (int64, error) {
	return a.in.Next(ctx, owner)
}
