package model

import (
	"context"
	"iter"
	"sync"

	"go.mongodb.org/mongo-driver/v2/mongo"
)

// readers runs the checks of an audit: the current check and some after it.
type readers struct {
	ctx    context.Context
	db     DB
	checks []Check
	most   int // how many run at the same time

	found   []chan found // the findings of each check
	next    int          // the first check that has not started
	cancel  context.CancelFunc
	running sync.WaitGroup
}

// A found is a finding or error that a check yielded, or the value that it panicked with.
type found struct {
	Finding
	err   error
	panic any
}

// read prepares a run of the audit's checks.
func (a Audit) read(ctx context.Context, db DB) *readers {
	r := &readers{ctx: ctx, db: db, checks: a.Checks, most: max(a.Readers, 1), cancel: func() {}}
	if ctx == nil || mongo.SessionFromContext(ctx) != nil {
		r.most = 1
	}
	if r.most > 1 {
		r.found = make([]chan found, len(a.Checks))
		r.ctx, r.cancel = context.WithCancel(ctx)
	}
	return r
}

// each yields the findings of check i. The caller calls it for each check in order.
func (r *readers) each(i int) iter.Seq2[Finding, error] {
	if r.most == 1 {
		return r.checks[i].Each(r.ctx, r.db)
	}
	for ; r.next < min(i+r.most, len(r.checks)); r.next++ {
		r.found[r.next] = make(chan found, 100)
		r.running.Add(1)
		go r.run(r.checks[r.next], r.found[r.next])
	}
	return func(yield func(Finding, error) bool) {
		for f := range r.found[i] {
			if f.panic != nil {
				panic(f.panic)
			}
			if !yield(f.Finding, f.err) {
				return
			}
		}
	}
}

// run runs a check and sends its findings to a channel.
func (r *readers) run(c Check, to chan<- found) {
	defer r.running.Done()
	defer close(to)
	hand := func(f found) bool {
		select {
		case to <- f:
			return true
		case <-r.ctx.Done():
			return false
		}
	}
	defer func() {
		if p := recover(); p != nil {
			hand(found{panic: p})
		}
	}()
	for f, err := range c.Each(r.ctx, r.db) {
		if !hand(found{Finding: f, err: err}) {
			return
		}
	}
}

// stop ends the checks that still run.
func (r *readers) stop() {
	r.cancel()
	r.running.Wait()
}
