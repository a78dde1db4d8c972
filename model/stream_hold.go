package model

import (
	"context"
	"errors"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// streamBusy is the part of the place that names the run that may have running plans, and
// how long they can last after a takeover.
type streamBusy struct {
	Fence int64 `bson:"fence"`
	For   int64 `bson:"for"` // milliseconds
}

// streamHold separates a run's plans from the next run's plans:
//
//  1. Before its plans, a run asks the place whether it is the latest run.
//  2. The answer is valid for a limited time, and each plan has a deadline.
//  3. So the next run knows, by its own clock, when the last plan must have ended. It
//     counts from its claim, because no later answer is positive.
type streamHold struct {
	turn chan struct{} // contains one value while a goroutine uses the fields below
	// The time before the last positive answer, or zero.
	asked time.Time
	// The latest deadline of a plan that ended without an answer. The server may still be
	// running it.
	loose time.Time
}

func (h *streamHold) done() { <-h.turn }

// fresh returns how long a positive answer is valid.
func (o *StreamOptions) fresh() time.Duration { return o.PlanTime / 4 }

// hold returns the deadline of a plan that begins now.
func (r *streamRun) hold(ctx context.Context) (time.Time, error) {
	h := &r.held
	select {
	case <-ctx.Done():
		return time.Time{}, ctx.Err()
	case h.turn <- struct{}{}:
	}
	defer h.done()
	if now := time.Now(); h.asked.IsZero() || now.Sub(h.asked) > r.options.fresh() {
		busy := streamBusy{r.place.Fence, (r.options.PlanTime + r.options.fresh()).Milliseconds() + 1}
		short, cancel := context.WithTimeout(ctx, r.options.PlanTime)
		defer cancel()
		res, err := r.places().UpdateOne(short, r.mine(), bson.D{{Key: "$set", Value: bson.D{{Key: "busy", Value: busy}}}})
		if err != nil {
			return time.Time{}, err
		}
		if res.Acknowledged && res.MatchedCount == 0 {
			return time.Time{}, ErrTakenOver
		}
		h.asked = now
	}
	begin, last := time.Now(), h.asked.Add(r.options.fresh())
	if begin.After(last) { // the answer took that long
		begin = last
	}
	return begin.Add(r.options.PlanTime), nil
}

// send runs a plan, but not longer than the next run would wait for it.
func (r *streamRun) send(ctx context.Context, plan Plan, mark string) error {
	deadline, err := r.hold(ctx)
	if err != nil {
		return err
	}
	bounded, cancel := context.WithDeadline(ctx, deadline)
	defer cancel()
	err = r.runMarked(bounded, plan, mark)
	if unanswered(err) {
		r.held.turn <- struct{}{}
		defer r.held.done()
		r.held.loose = deadline
	}
	return err
}

// unanswered reports whether the server may have received a plan without reporting its
// outcome.
func unanswered(err error) bool {
	var server mongo.ServerError
	var value *ValueError
	switch {
	case errors.As(err, &server):
		return server.HasErrorLabel("NetworkError")
	case err == nil, outdated(err), errors.Is(err, ErrTransactional), errors.As(err, &value):
		return false
	}
	return true
}

// leave tells the next run that this run has no running plan. It does nothing if the
// server may still be running a plan without an answer. Then, or if the place can't be
// reached, the next run waits.
func (r *streamRun) leave(ctx context.Context) {
	r.held.turn <- struct{}{}
	defer r.held.done()
	if r.held.asked.IsZero() || time.Now().Before(r.held.loose) {
		return
	}
	filter := bson.D{{Key: "_id", Value: r.stream.Name}, {Key: "busy.fence", Value: r.place.Fence}}
	_, _ = r.places().UpdateOne(ctx, filter, bson.D{{Key: "$unset", Value: bson.D{{Key: "busy", Value: ""}}}})
}

// succeed waits until the previous run has reported that its plans ended, or until their
// time has passed.
func (r *streamRun) succeed(ctx context.Context) error {
	before := r.place.Busy
	if before == nil {
		return nil
	}
	over := time.NewTimer(time.Until(r.saved.Add(time.Duration(before.For) * time.Millisecond)))
	defer over.Stop()
	look := time.NewTicker(min(max(r.options.PlanTime/100, time.Millisecond), time.Second))
	defer look.Stop()
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-over.C:
			return nil
		case <-look.C:
		}
		var now place
		if err := r.places().FindOne(ctx, bson.D{{Key: "_id", Value: r.stream.Name}}).Decode(&now); err != nil {
			return err
		}
		switch {
		case now.Fence != r.place.Fence:
			return ErrTakenOver
		case now.Busy == nil:
			return nil
		}
	}
}

// mine matches the place unless a later run has begun.
func (r *streamRun) mine() bson.D {
	return bson.D{{Key: "_id", Value: r.stream.Name}, {Key: "fence", Value: r.place.Fence}}
}
