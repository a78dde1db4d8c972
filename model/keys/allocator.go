package keys

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// An Allocator gives out the numbers of a sequence, taking them from the counters by blocks: one command for as many numbers as a
// block has. It may be used by any number of goroutines; those that want numbers of one owner share its block. It keeps, in memory,
// what is left of each owner's block, until that is used up or dropped: what is left when the process ends is a gap. Make it with
// [Sequence.Allocator].
type Allocator[K any] struct{ in *allocator }

// Allocator returns an allocator for one database, whose blocks have as many numbers. A block of 1 leaves no gap by itself and keeps
// nothing in memory. It panics with a [*model.DeclarationError] for a block below 1 or above the greatest number, or a nil database.
func (s *Sequence[D, K]) Allocator(db *mongo.Database, block int64) *Allocator[K] {
	if db == nil || block < 1 || block > s.in.max {
		panic(&model.DeclarationError{
			Problem: fmt.Sprintf("blocks of %d numbers, of database %v", block, db != nil), Place: "Sequence.Allocator of " + s.in.docs,
			Remedy: "give a database, and blocks of at least one number",
		})
	}
	return &Allocator[K]{&allocator{seq: s.in, db: db, block: block, owners: map[string]*ownerBlock{}}}
}

// Next returns the owner's next number. It creates the counter if there is none. A transaction that the context's session runs has
// no part in it: a number that is given is given, whatever becomes of the transaction. It returns a [*CounterError] for a counter
// that is damaged or has no numbers left, a [*model.ValueError] for an owner that [Sequence.Key] refuses, and otherwise the context's
// error or the driver's: then a block may be lost, which is a gap.
//
// Cost: one command, one document by _id, for each block; for a new owner's first two or three more.
func (a *Allocator[K]) Next(ctx context.Context, owner K) (int64, error) {
	return a.in.next(ctx, owner)
}

// Left returns how many numbers of the owner's block are left; taking so many sends nothing.
func (a *Allocator[K]) Left(owner K) int64 { return a.in.left(owner) }

// Drop forgets what is left of the blocks of all owners, which are gaps then, to free the memory. Those that are being taken stay.
func (a *Allocator[K]) Drop() { a.in.drop() }

// allocator is what of an Allocator doesn't depend on its type.
type allocator struct {
	seq   *sequence
	db    *mongo.Database
	block int64

	mu     sync.Mutex
	owners map[string]*ownerBlock // by the owner's text
}

// ownerBlock is what is left of an owner's block.
type ownerBlock struct {
	turn      chan struct{} // holds one: whoever has it may take the next block
	waiting   int           // goroutines that want a number
	next, end int64         // the numbers from next to end, both included
}

func (a *allocator) next(ctx context.Context, owner any) (int64, error) {
	if err := model.CheckRun(ctx, a.db); err != nil {
		return 0, err
	}
	text, err := a.seq.text(owner)
	if err != nil {
		return 0, err
	}
	b := a.enter(text)
	defer a.leave(text, b)
	if n, ok := a.pop(b); ok {
		return n, nil
	}
	select {
	case <-ctx.Done():
		return 0, ctx.Err()
	case b.turn <- struct{}{}:
	}
	defer func() { <-b.turn }()
	if n, ok := a.pop(b); ok { // another goroutine took a block meanwhile
		return n, nil
	}
	first, last, err := a.take(model.WithoutSession(ctx), owner)
	if err != nil {
		return 0, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	b.next, b.end = first+1, last
	return first, nil
}

func (a *allocator) enter(text string) *ownerBlock {
	a.mu.Lock()
	defer a.mu.Unlock()
	b := a.owners[text]
	if b == nil {
		b = &ownerBlock{turn: make(chan struct{}, 1), next: 1}
		a.owners[text] = b
	}
	b.waiting++
	return b
}

func (a *allocator) leave(text string, b *ownerBlock) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if b.waiting--; b.waiting == 0 && b.next > b.end {
		delete(a.owners, text)
	}
}

func (a *allocator) pop(b *ownerBlock) (int64, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if b.next > b.end {
		return 0, false
	}
	b.next++
	return b.next - 1, true
}

// take takes a block, or what numbers there are left for one. When the counter gives none, it finds out why.
func (a *allocator) take(ctx context.Context, owner any) (first, last int64, err error) {
	n := a.block
	for attempt := 0; ; attempt++ {
		filter, update, err := a.seq.take(owner, n)
		if err != nil {
			return 0, 0, err
		}
		m := model.Modify[bson.Raw]{FindAndModify: model.FindAndModify{
			Collection: a.seq.counters, Filter: filter, Update: update, After: true, Index: model.IDIndex,
		}}
		counter, err := m.Run(ctx, a.db)
		if err == nil {
			last = counter.Lookup("last").AsInt64()
			return last - n + 1, last, nil
		}
		if !errors.Is(err, model.ErrNotFound) || attempt == 8 {
			return 0, 0, err
		}
		end, err := a.seq.readEnd(ctx, a.db, filter[:1:1])
		if err == nil && !end.Exists {
			_, err = a.seq.open(owner).Run(ctx, a.db)
		}
		if err != nil {
			return 0, 0, err
		}
		n = min(a.block, a.seq.max-end.Last)
	}
}

func (a *allocator) left(owner any) int64 {
	text, err := a.seq.text(owner)
	if err != nil {
		return 0
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if b := a.owners[text]; b != nil {
		return max(0, b.end-b.next+1)
	}
	return 0
}

func (a *allocator) drop() {
	a.mu.Lock()
	defer a.mu.Unlock()
	for text, b := range a.owners {
		if b.waiting == 0 {
			delete(a.owners, text)
		}
	}
}
