package outbox

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/runctx"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// An untypedRelay is the Relay without its Go types. Hand delivers an event.
type untypedRelay struct {
	Outbox *untypedOutbox
	Name   string
	Spec   RelaySpec
	Hand   func(ctx context.Context, id bson.RawValue, e untypedEvent, fence int64) error
}

// setDefaults sets the fields that are zero.
func (s *RelaySpec) setDefaults() {
	s.Attempts, s.Parts = cmp.Or(s.Attempts, 10), cmp.Or(s.Parts, 16)
	s.Pause, s.MaxPause = cmp.Or(s.Pause, time.Second), cmp.Or(s.MaxPause, time.Minute)
	s.For, s.Poll, s.Leases = cmp.Or(s.For, 10*time.Second), cmp.Or(s.Poll, time.Second),
		cmp.Or(s.Leases, "docmodel.relays")
}

// checkSpec refuses a spec with which no runner could work.
func (r *untypedRelay) checkSpec() error {
	refuse := func(field string, v any, reason string) error { return r.Outbox.docs.Refuse(field, v, reason) }
	s := r.Spec
	switch {
	case r.Hand == nil:
		return refuse("Hand", nil, "is nil: give a function that delivers an event")
	case r.Name == "":
		return refuse("Name", nil, "is empty: a relay needs a name, by which its runners find each other")
	case s.Attempts < 1:
		return refuse("Attempts", s.Attempts, "is negative")
	case s.Parts < 1 || s.Parts > 4096:
		return refuse("Parts", s.Parts, "must be from 1 to 4096")
	case s.Pause < 0 || s.MaxPause < s.Pause || s.Poll < 0:
		return refuse("Pause", s.Pause, "is negative, or above MaxPause")
	case s.For < 30*time.Millisecond:
		return refuse("For", s.For, "is too short: the lease is extended after each third of it")
	case s.Leases == r.Outbox.docs.Name():
		return refuse("Leases", s.Leases, "is the collection of the documents: name another collection")
	}
	return nil
}

// run delivers events until the context ends, or, with Once, until nothing is due.
func (r *untypedRelay) run(ctx context.Context, db model.DB) error {
	r.Spec.setDefaults()
	if err := cmp.Or(r.checkSpec(), core.CheckRun(ctx, db)); err != nil {
		return err
	}
	if err := core.CheckTenantNames(ctx, db, r.Spec.Leases); err != nil {
		return err
	}
	run := &running{
		untypedRelay: r, db: db, leases: newLeases(r, db), held: map[int]*part{}, ended: make(chan *part, r.Spec.Parts),
	}
	if r.Spec.Once {
		return run.runOnce(ctx)
	}
	defer run.leaveRelay(ctx)
	return run.runLoop(ctx)
}

// A running is a relay that runs. ended receives the parts whose lease was lost.
type running struct {
	*untypedRelay
	db     model.DB
	leases *leases
	held   map[int]*part
	ended  chan *part
}

// A part is a share of the documents whose lease this runner has.
type part struct {
	lease
	// Ends the work on the part.
	cancel context.CancelCauseFunc
	// Closed when the work on the part has ended.
	done chan struct{}
}

// runOnce visits the parts in which something is due, unless another runner has them.
// findFirstDue skips empty parts.
func (r *running) runOnce(ctx context.Context) error {
	for n := 0; n < r.Spec.Parts; n++ {
		first, err := r.Outbox.findFirstDue(n, r.Spec.Parts, time.Now()).All(runctx.Deciding(ctx), r.db)
		if err != nil || len(first) == 0 {
			return err
		}
		hash, _ := core.ValueAt(first[0], r.Outbox.hash)
		n = findPart(hash.AsInt64(), r.Spec.Parts)
		l, ok, err := r.leases.takePart(ctx, n)
		switch {
		case err != nil:
			return err
		case ok:
			if err := r.emptyPart(ctx, &part{lease: l}); err != nil {
				return err
			}
		}
	}
	return nil
}

// emptyPart delivers what is due in a part, and gives the part back.
func (r *running) emptyPart(ctx context.Context, p *part) error {
	held, stop := r.holdLease(ctx, p)
	var err error
	for more := true; more && err == nil; {
		more, err = r.deliverBatch(held, p)
	}
	if lost := context.Cause(held); errors.Is(err, errLost) || ctx.Err() == nil && errors.Is(lost, errLost) {
		err = nil // the runner that took it goes on, or the next run with a greater fence
	}
	stop()
	return errors.Join(err, r.leases.giveBack(ctx, &p.lease))
}

// holdLease returns a context that lasts as long as this runner has the part. It extends
// the lease after each third of its duration, so that one extension can fail.
func (r *running) holdLease(ctx context.Context, p *part) (context.Context, context.CancelFunc) {
	ctx, p.cancel = context.WithCancelCause(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		extending := runctx.WithoutSession(ctx) // only one goroutine may use a session
		tick := time.NewTicker(r.Spec.For / 3)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			if ok, err := r.leases.extendLease(extending, &p.lease); !ok && err == nil {
				p.cancel(errLost)
			} // after an error the lease may run out; its deadline is known
		}
	}()
	return ctx, func() {
		p.cancel(nil)
		<-ended
	}
}

// runLoop takes this runner's share of the parts, and gives back the parts that others
// should have.
func (r *running) runLoop(ctx context.Context) error {
	tick := time.NewTicker(r.Spec.For / 3)
	defer tick.Stop()
	for {
		_ = r.takeShare(ctx) // what failed is tried again at the next tick
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		case p := <-r.ended: // its lease was lost
			if r.held[p.n] == p {
				p.stopPart()
				delete(r.held, p.n)
			}
		}
	}
}

// takeShare takes or gives back parts until this runner has its share: the number of
// parts divided by the number of runners, rounded up.
func (r *running) takeShare(ctx context.Context) error {
	if err := r.leases.signalAlive(ctx); err != nil {
		return err
	}
	n, err := r.leases.countRunners(ctx)
	if err != nil {
		return err
	}
	want := (r.Spec.Parts + n - 1) / max(n, 1)
	for k, p := range r.held {
		if len(r.held) <= want {
			break
		}
		p.stopPart()
		delete(r.held, k)
		_ = r.leases.giveBack(ctx, &p.lease)
	}
	if len(r.held) >= want {
		return nil
	}
	free, err := r.leases.listFreeParts(ctx)
	for _, k := range free {
		if err != nil || len(r.held) >= want {
			break
		}
		var l lease
		var ok bool
		if l, ok, err = r.leases.takePart(ctx, k); ok && err == nil {
			r.startPart(ctx, l)
		}
	}
	return err
}

// startPart begins the work on a part in a goroutine.
func (r *running) startPart(ctx context.Context, l lease) {
	p := &part{lease: l, done: make(chan struct{})}
	r.held[l.n] = p
	ctx, stop := r.holdLease(ctx, p)
	go func() {
		r.workOnPart(ctx, p)
		lost := ctx.Err() == nil || errors.Is(context.Cause(ctx), errLost)
		stop()
		close(p.done)
		if lost { // nobody stopped it
			r.ended <- p
		}
	}()
}

// stopPart ends the work on a part, and waits until the current event is delivered.
func (p *part) stopPart() {
	p.cancel(nil)
	<-p.done
}

// leaveRelay gives all parts back. The context of Run has ended, so it uses one of its
// own.
func (r *running) leaveRelay(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), r.Spec.For)
	defer cancel()
	for _, p := range r.held {
		p.stopPart()
	}
	r.leases.giveAllBack(ctx) // a lease too that was taken as the context ended
}
