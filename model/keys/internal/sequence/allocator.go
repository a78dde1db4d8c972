package sequence

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/runctx"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// An Allocator gives out numbers, a block to a command.
type Allocator struct {
	seq   *Sequence
	db    model.DB
	block int64

	mu     sync.Mutex
	owners map[string]*ownerBlock // by the owner's text
}

// NewAllocator declares an allocator, and panics for a block below 1 or above the greatest number, or a nil database.
func (s *Sequence) NewAllocator(db model.DB, block int64) *Allocator {
	place := core.Place("Sequence.Allocator of " + s.Name())
	if db == nil {
		place.Fail("the database is nil", "give the database of the owners")
	}
	if block < 1 || block > s.Max {
		place.Fail(fmt.Sprintf("the block has %d numbers", block),
			fmt.Sprintf("give 1 to %d, the greatest number of the sequence", s.Max))
	}
	return &Allocator{seq: s, db: db, block: block, owners: map[string]*ownerBlock{}}
}

// ownerBlock is what is left of an owner's block.
type ownerBlock struct {
	turn      chan struct{} // holds one: whoever has it may take the next block
	waiting   int           // goroutines that want a number
	next, end int64         // the numbers from next to end, both included
}

// Next is the owner's next number.
func (a *Allocator) Next(ctx context.Context, owner any) (int64, error) {
	if err := core.CheckRun(ctx, a.db); err != nil {
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
	first, last, err := a.take(runctx.WithoutSession(ctx), owner)
	if err != nil {
		return 0, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	b.next, b.end = first+1, last
	return first, nil
}

func (a *Allocator) enter(text string) *ownerBlock {
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

func (a *Allocator) leave(text string, b *ownerBlock) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if b.waiting--; b.waiting == 0 && b.next > b.end {
		delete(a.owners, text)
	}
}

func (a *Allocator) pop(b *ownerBlock) (int64, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if b.next > b.end {
		return 0, false
	}
	b.next++
	return b.next - 1, true
}

// take takes a block, or what numbers there are left for one. When the counter gives none, it finds out why.
func (a *Allocator) take(ctx context.Context, owner any) (first, last int64, err error) {
	n := a.block
	for attempt := 0; ; attempt++ {
		filter, update, err := a.seq.Take(owner, n)
		if err != nil {
			return 0, 0, err
		}
		m := &model.Modify[bson.Raw]{FindAndModify: model.FindAndModify{
			Collection: a.seq.counters.Name(), Filter: filter, Update: update, After: true, Index: model.IDIndex, Keyed: true,
		}}
		counter, err := m.Run(ctx, a.db)
		if err == nil {
			last = counter.Lookup("last").AsInt64()
			return last - n + 1, last, nil
		}
		if !errors.Is(err, model.ErrNotFound) || attempt == 8 {
			return 0, 0, err
		}
		last, exists, err := a.seq.readLast(ctx, a.db, filter[:1:1])
		if err == nil && !exists {
			_, err = a.seq.Open(owner).Run(ctx, a.db)
		}
		if err != nil {
			return 0, 0, err
		}
		n = min(a.block, a.seq.Max-last)
	}
}
