package model

import (
	"context"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// keep extends the lease after each third of its time, until the holder leaves or the
// context ends.
func (h *held) keep(ctx context.Context, until time.Time) {
	h.until.Store(&until)
	ctx, cancel := context.WithCancel(mongo.NewSessionContext(ctx, nil)) // only one goroutine may use a session
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		ticker := time.NewTicker(max(h.lease.For/3, time.Millisecond))
		defer ticker.Stop()
		for lost := false; !lost; {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
				lost = h.extend(ctx)
			}
		}
	}()
	h.leave = func() {
		cancel()
		<-ended
	}
}

// extend extends the lease. It reports whether another writer has taken the lease. After
// an error this isn't known, and the next call tries again.
func (h *held) extend(ctx context.Context) (lost bool) {
	until := time.Now().Add(h.lease.For)
	observationOf(ctx).sent(1)
	res, err := h.locks.UpdateOne(ctx, h.mine(), bson.D{{Key: "$set", Value: bson.D{{Key: "until", Value: until}}}})
	if err != nil {
		return false
	}
	if lost = res.Acknowledged && res.MatchedCount == 0; !lost {
		h.until.Store(&until)
	}
	return lost
}
