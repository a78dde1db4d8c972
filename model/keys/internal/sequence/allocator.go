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

// An Allocator is a keys.Allocator. It takes numbers of an owner in blocks, by one command for each block, and gives
// them out one by one. Several goroutines may use it. A number that isn't given out before the program ends becomes a
// gap.
type Allocator struct {
	seq   *Sequence
	db    model.DB
	block int64

	mu     sync.Mutex
	owners map[string]*ownerBlock // by the owner's text
}

// NewAllocator panics if the database is nil, or if block isn't from 1 to the greatest number.
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

// An ownerBlock is the rest of an owner's block. The Allocator's mu guards all fields but turn.
type ownerBlock struct {
	turn      chan struct{} // of size 1: the goroutine that has sent to it may take the next block
	waiting   int           // goroutines between enterBlock and leaveBlock
	next, end int64         // the numbers from next to end, both included; next > end if there is no number
}

// Next returns the owner's next number. If the block is used up, one goroutine takes the next block, and the others
// wait for it until their contexts end.
func (a *Allocator) Next(ctx context.Context, owner any) (int64, error) {
	if err := core.CheckRun(ctx, a.db); err != nil {
		return 0, err
	}
	text, err := a.seq.encodeOwner(owner)
	if err != nil {
		return 0, err
	}
	b := a.enterBlock(text)
	defer a.leaveBlock(text, b)
	if n, ok := a.popNumber(b); ok {
		return n, nil
	}
	select {
	case <-ctx.Done():
		return 0, ctx.Err()
	case b.turn <- struct{}{}:
	}
	defer func() { <-b.turn }()
	if n, ok := a.popNumber(b); ok { // another goroutine took a block meanwhile
		return n, nil
	}
	// Outside the caller's transaction: an abort would give the block's numbers out again, and other goroutines have
	// some of them.
	first, last, err := a.takeBlock(runctx.WithoutSession(ctx), owner)
	if err != nil {
		return 0, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	b.next, b.end = first+1, last
	return first, nil
}

// enterBlock returns the block of an owner, and keeps it in the map until leaveBlock is called as often.
func (a *Allocator) enterBlock(text string) *ownerBlock {
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

// leaveBlock removes a block that is used up and that no goroutine waits for, so that the map doesn't grow with each
// owner that was ever used.
func (a *Allocator) leaveBlock(text string, b *ownerBlock) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if b.waiting--; b.waiting == 0 && b.next > b.end {
		delete(a.owners, text)
	}
}

// popNumber takes a number off the block. It is false if the block is used up.
func (a *Allocator) popNumber(b *ownerBlock) (int64, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if b.next > b.end {
		return 0, false
	}
	b.next++
	return b.next - 1, true
}

// takeBlock takes a block of numbers from the counter, or the numbers that are left for the last block. If the counter
// doesn't match, takeBlock reads why: it creates a missing counter, takes fewer numbers near the end of the sequence,
// and returns the error of a damaged or exhausted counter. Other clients change the counter meanwhile, so it tries up
// to nine times.
func (a *Allocator) takeBlock(ctx context.Context, owner any) (first, last int64, err error) {
	n := a.block
	for attempt := 0; ; attempt++ {
		filter, update, err := a.seq.Take(owner, n)
		if err != nil {
			return 0, 0, err
		}
		m := &model.Modify[bson.Raw]{FindAndModify: model.FindAndModify{
			Collection: a.seq.counters.Name(), Filter: filter, Update: update, After: true, Index: model.IDIndex,
			Keyed: true,
		}}
		counter, err := m.Run(ctx, a.db)
		if err == nil {
			last = counter.Lookup("last").AsInt64()
			return last - n + 1, last, nil
		}
		if !errors.Is(err, model.ErrNotFound) || attempt == 8 {
			return 0, 0, err
		}
		// The first condition alone is the counter's _id.
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
