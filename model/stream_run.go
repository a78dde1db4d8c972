package model

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// streamRun is one run of a stream. Its goroutine reads events and stores the place. The
// pool's goroutines run the plans.
type streamRun struct {
	stream  Stream
	db      DB
	options StreamOptions

	place     place
	mode      StreamMode
	pool      *streamPool
	rescan    bool      // the server no longer has the history
	saved     time.Time // when the place was last stored
	since     int       // events done since then
	saveEvery int
	held      streamHold
	own       streamOwn
	until     bson.Timestamp // with Once: the server's time at the begin of the run, or zero if unknown
}

func newStreamRun(s Stream, db DB, o StreamOptions) *streamRun {
	for _, n := range []struct {
		v     *int
		value int
	}{{&o.Workers, 4}, {&o.Queue, 1000}, {&o.SaveEvery, 100}, {&o.Attempts, 8}} {
		if *n.v <= 0 {
			*n.v = n.value
		}
	}
	for _, d := range []struct {
		v     *time.Duration
		value time.Duration
	}{{&o.Wait, time.Second}, {&o.Grace, 10 * time.Second}, {&o.PlanTime, 10 * time.Second}, {&o.Interval, time.Second}} {
		if *d.v <= 0 {
			*d.v = d.value
		}
	}
	o.Wait = max(o.Wait, time.Millisecond) // the server counts in milliseconds
	return &streamRun{
		stream: s, db: db, options: o, saveEvery: o.SaveEvery, held: streamHold{turn: make(chan struct{}, 1)},
	}
}

func (r *streamRun) run(parent context.Context) error {
	if parent.Err() != nil {
		return nil
	}
	// ctx doesn't have the parent's deadline. The driver would fail before the deadline,
	// and send it to the server.
	ctx, stop := context.WithCancelCause(context.WithoutCancel(parent))
	defer stop(nil)
	defer context.AfterFunc(parent, func() { stop(context.Cause(parent)) })()
	// Running plans may continue for a while when the context ends.
	late, cut := context.WithCancel(context.WithoutCancel(parent))
	defer cut()
	defer context.AfterFunc(ctx, func() {
		timer := time.NewTimer(r.options.Grace)
		defer timer.Stop()
		select {
		case <-timer.C:
			cut()
		case <-late.Done():
		}
	})()

	err := r.persist(ctx, r.claim)
	if err == nil {
		err = r.persist(ctx, r.succeed)
	}
	if err == nil && r.options.Once {
		err = r.persist(ctx, r.ask)
	}
	if err != nil {
		return ended(parent, err)
	}
	r.pool = startPool(r, ctx, late, stop)
	err = r.persist(ctx, r.modes)
	stop(err) // queued events are delivered again
	failed := r.pool.close()
	switch {
	case failed != nil:
		err = failed
	case parent.Err() != nil && !errors.Is(err, ErrTakenOver):
		err = nil
	}
	if r.mode == Following && !errors.Is(err, ErrTakenOver) {
		token, n := r.pool.done()
		r.since += n
		if failed := r.saveToken(late, token, true); failed != nil && err == nil {
			err = failed
		}
	}
	r.leave(late)
	return err
}

// ended returns nil for an error caused by the context's end.
func ended(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// persist runs f again after errors of the network or the server. It gives up after some
// attempts without progress.
func (r *streamRun) persist(ctx context.Context, f func(context.Context) error) error {
	done := int64(0)
	for n := 1; ; n++ {
		err := f(ctx)
		if err == nil || ctx.Err() != nil || !disturbed(err) {
			return err
		}
		if r.pool != nil {
			if r.pool.wait(ctx) != nil { // so that the stream continues after all events that were read
				return err
			}
			if now, _, _ := r.pool.state(); now > done {
				done, n = now, 1
			}
		}
		if n >= r.options.Attempts || jitter(ctx, n, 20*time.Millisecond, 2*time.Second) != nil {
			return err
		}
	}
}

// modes runs the stream's phases one after the other.
func (r *streamRun) modes(ctx context.Context) error {
	for {
		err := r.once(ctx)
		switch {
		case !lost(err):
			return err
		case !r.options.Rescan:
			return fmt.Errorf("%w: %w", ErrHistoryLost, err)
		}
		if err := r.pool.wait(ctx); err != nil {
			return err
		}
		r.place.Token, r.place.Scan, r.rescan = nil, nil, true
		r.pool.forget()
	}
}

func (r *streamRun) once(ctx context.Context) error {
	if r.options.Poll {
		return r.poll(ctx)
	}
	if r.place.Token == nil {
		err := r.begin(ctx)
		if unsupported(err) {
			if r.stream.Since == "" {
				return fmt.Errorf("%w: %w", ErrNoChangeStreams, err)
			}
			return r.poll(ctx)
		}
		if err != nil {
			return err
		}
	}
	if r.place.Scan != nil {
		if err := r.scan(ctx); err != nil {
			return err
		}
	}
	return r.follow(ctx)
}

// begin stores the current time as the place, before anything is read.
func (r *streamRun) begin(ctx context.Context) error {
	cs, err := r.watch(ctx, nil)
	if err != nil {
		return err
	}
	defer closeStream(ctx, cs)
	token := cs.ResumeToken()
	if token == nil {
		return errors.New("docmodel: the server gave no resume token: it is older than MongoDB 4.0.7")
	}
	r.place.Token = append(bson.Raw{}, token...)
	if !r.options.FromNow || r.rescan {
		r.place.Scan = &scanPlace{}
	}
	return r.save(ctx)
}

// scan plans for all documents, in the order of _id.
func (r *streamRun) scan(ctx context.Context) error {
	r.mode = Scanning
	pass := Stage{Collection: r.stream.Collection, BatchSize: r.options.Queue}
	for {
		docs, err := pass.read(ctx, r.db, r.place.Scan.After)
		if err != nil {
			return err
		}
		if len(docs) == 0 {
			r.place.Scan = nil
			return r.save(ctx)
		}
		if err := r.each(ctx, docs, scanMark); err != nil {
			return err
		}
		r.place.Scan.After = docs[len(docs)-1].Lookup("_id")
		if err := r.save(ctx); err != nil {
			return err
		}
	}
}

// each runs plans for documents and waits for them.
func (r *streamRun) each(ctx context.Context, docs []bson.Raw, mark func(bson.Raw) string) error {
	for _, doc := range docs {
		e := Event{Kind: Scanned, ID: doc.Lookup("_id"), Document: doc}
		if err := r.pool.add(ctx, &streamJob{event: e, mark: mark(doc)}); err != nil {
			return err
		}
	}
	return r.pool.wait(ctx)
}
