package model

import (
	"context"
	"errors"
	"hash/fnv"
	"math"
	"sync"
	"time"

	"github.com/docmodel/docmodel/internal/bsonval"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/x/mongo/driver/topology"
)

// streamPool runs the plans of events. Plans of one document run one after the other,
// plans of different documents run at the same time.
type streamPool struct {
	run   *streamRun
	late  context.Context         // the context of running plans
	stop  context.CancelCauseFunc // ends the run
	lanes []chan *streamJob
	wg    sync.WaitGroup

	mu      sync.Mutex
	changed *sync.Cond
	pending []*streamJob // in the order of the events, from the first that isn't done
	token   bson.Raw     // of the last event before the first that isn't done
	popped  int          // events done since the last call of done
	applied int64
	failed  error
	quit    bool // the context ended
}

// streamJob is an event with its token.
type streamJob struct {
	event Event
	mark  string
	token bson.Raw // nil if the event comes from a scan or a poll
	done  bool
}

func startPool(r *streamRun, ctx, late context.Context, stop context.CancelCauseFunc) *streamPool {
	p := &streamPool{run: r, late: late, stop: stop, lanes: make([]chan *streamJob, r.options.Workers)}
	p.changed = sync.NewCond(&p.mu)
	context.AfterFunc(ctx, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.quit = true
		p.changed.Broadcast()
	})
	for i := range p.lanes {
		lane := make(chan *streamJob, max(1, r.options.Queue/len(p.lanes)))
		p.lanes[i] = lane
		p.wg.Go(func() { p.work(ctx, lane) })
	}
	return p
}

// add passes an event to the lane of its document. It waits while the lane is full.
func (p *streamPool) add(ctx context.Context, j *streamJob) error {
	p.mu.Lock()
	p.pending = append(p.pending, j)
	p.mu.Unlock()
	select {
	case p.lanes[p.lane(j.event.ID)] <- j:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// lane returns the same lane for all events of a document. Numbers are compared by value:
// 1 and 1.0 are the same _id.
func (p *streamPool) lane(id bson.RawValue) int {
	h := fnv.New32a()
	_, _ = h.Write([]byte(bsonval.Key(id)))
	return int(h.Sum32() % uint32(len(p.lanes)))
}

// wait returns when all added events are done, or the context has ended.
func (p *streamPool) wait(ctx context.Context) error {
	_, err := p.waitFor(ctx, math.MaxInt)
	return err
}

// waitFor also returns when n events are done since the last call of done. It reports
// whether all are done.
func (p *streamPool) waitFor(ctx context.Context, n int) (all bool, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(p.pending) > 0 && p.popped < n && !p.quit {
		p.changed.Wait()
	}
	if len(p.pending) > 0 && p.quit {
		return false, context.Cause(ctx)
	}
	return len(p.pending) == 0, nil
}

// close waits for the running plans and returns the first failure.
func (p *streamPool) close() error {
	for _, lane := range p.lanes {
		close(lane)
	}
	p.wg.Wait()
	return p.failed
}

// done returns the token up to which all events are done, and the number of events done
// since its last call.
func (p *streamPool) done() (bson.Raw, int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := p.popped
	p.popped = 0
	return p.token, n
}

// idle sets the token if nothing is pending.
func (p *streamPool) idle(token bson.Raw) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.pending) == 0 {
		p.token = token
	}
}

// forget drops the token of a change stream that is no longer followed.
func (p *streamPool) forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.token = nil
}

func (p *streamPool) state() (applied int64, backlog int, lag time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.pending) > 0 && !p.pending[0].event.Time.IsZero() {
		lag = max(0, time.Since(p.pending[0].event.Time))
	}
	return p.applied, len(p.pending), lag
}

func (p *streamPool) work(ctx context.Context, lane chan *streamJob) {
	for j := range lane {
		if ctx.Err() != nil {
			continue // the next run receives it again
		}
		err := p.apply(ctx, j)
		p.mu.Lock()
		switch {
		case err == nil:
			j.done = true
			p.applied++
			p.pop()
		case errors.Is(err, ErrTakenOver) && p.failed == nil:
			p.failed = ErrTakenOver
			p.stop(p.failed)
		case !errors.Is(err, errStopped) && p.failed == nil:
			p.failed = &StreamError{p.run.stream.Name, j.event, err}
			p.stop(p.failed)
		}
		p.changed.Broadcast()
		p.mu.Unlock()
	}
}

func (p *streamPool) pop() {
	for len(p.pending) > 0 && p.pending[0].done {
		if p.pending[0].token != nil {
			p.token = p.pending[0].token
		}
		p.pending[0] = nil
		p.pending = p.pending[1:]
		p.popped++
	}
}

// errStopped ends the retries of a plan when the run ends.
var errStopped = errors.New("docmodel: stopped")

func (p *streamPool) apply(ctx context.Context, j *streamJob) error {
	s := p.run.stream
	var plan Plan
	if s.Work == nil {
		var err error
		if plan, err = s.planFor(j.event); err != nil || len(plan.Steps) == 0 {
			return err
		}
	}
	for n := 1; ; n++ {
		var err error
		if s.Work != nil {
			plan, err = s.Work(p.late, p.run.db, j.event)
			plan, err = s.checked(plan, err)
		}
		if err == nil && len(plan.Steps) > 0 {
			err = p.run.send(p.late, plan, j.mark)
		}
		switch {
		case err == nil:
			return nil
		case !disturbed(err):
			return err
		case ctx.Err() != nil:
			return errStopped
		case n >= p.run.options.Attempts:
			return err
		}
		if jitter(ctx, n, 0, 0) != nil {
			return errStopped
		}
	}
}

// disturbed reports whether a retry of the plan may succeed, because another client wrote
// in between, or the network or the server had a problem.
func disturbed(err error) bool {
	var server mongo.ServerError
	var value *ValueError
	switch {
	case outdated(err):
		return true
	case errors.As(err, &server):
		for _, label := range []string{"NetworkError", "RetryableWriteError", "TransientTransactionError"} {
			if server.HasErrorLabel(label) {
				return true
			}
		}
		return server.HasErrorCode(112) || server.HasErrorCode(50) // WriteConflict, MaxTimeMSExpired
	case errors.As(err, &value), errors.Is(err, ErrTransactional):
		return false
	}
	// The driver's own errors if it has no connection: the pool was cleared, or no
	// connection could be made.
	var pool interface{ Retryable() bool }
	var conn topology.ConnectionError
	if errors.As(err, &pool) && pool.Retryable() || errors.As(err, &conn) {
		return true
	}
	return mongo.IsNetworkError(err) || mongo.IsTimeout(err) || errors.Is(err, context.Canceled)
}
