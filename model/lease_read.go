package model

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/docmodel/docmodel/internal/runctx"
)

// Settled runs a read while no [Change] is at work under the lease: it looks at the lock document before and after, and runs read
// again when a change began in between. So read sees the structure before a change or after it, and never a part of one. It may
// be called several times, and should forget what it gathered before; what it has gathered counts when Settled returns nil. It
// must read from the primary.
//
// It writes nothing, and doesn't keep writers out: under writers that leave no pause as long as a read, and while what a dead
// writer began waits for the next one, it gives up after Wait with [ErrLeased]. An error of read is returned at once if no change
// was at work.
//
// Cost: two commands beside the read's, for each time that it is run.
func (l Lease) Settled(ctx context.Context, db DB, read func(ctx context.Context) error) error {
	l, err := l.in(ctx, db)
	if err != nil {
		return err
	}
	if read == nil {
		return &ValueError{Collection: l.Collection, Field: "read", Reason: "is nil: give the read function"}
	}
	l = l.withDefaults()
	giveUp := time.Now().Add(l.Wait)
	for n := 1; ; n++ {
		before, err := l.look(ctx, db)
		if err != nil {
			return err
		}
		if before.settled(time.Now()) {
			failed := read(runctx.Deciding(ctx))
			after, err := l.look(ctx, db)
			switch {
			case err != nil:
				return errors.Join(failed, err)
			case after.Intent == nil && after.Fence == before.Fence && after.Holder == before.Holder:
				return failed
			}
		}
		if time.Now().After(giveUp) {
			return fmt.Errorf("%w: %s in %s, which couldn't be read for %v", ErrLeased, shell(l.ID), l.Collection, l.Wait)
		}
		if err := jitter(ctx, min(n, 5), 0, 50*time.Millisecond); err != nil {
			return err
		}
	}
}

// Last returns the number of the last change that began, which is 0 where none did: see [Fence].
//
// Cost: one command, which reads the lock document.
func (l Lease) Last(ctx context.Context, db DB) (int64, error) {
	l, err := l.in(ctx, db)
	if err != nil {
		return 0, err
	}
	found, err := l.look(ctx, db)
	return found.Fence, err
}

// settled reports whether no change is at work, or was left half done.
func (l lock) settled(now time.Time) bool {
	return l.Intent == nil && (l.Holder.IsZero() || !l.Until.After(now))
}

// look reads the lock document; there is none before the first change.
func (l Lease) look(ctx context.Context, db DB) (lock, error) {
	var found lock
	locks := collectionOf(runctx.Deciding(ctx), db, nil, l.Collection)
	err := locks.FindOne(ctx, bson.D{{Key: "_id", Value: Eq(l.ID)}}, options.FindOne().SetProjection(bson.D{{Key: "intent.plan", Value: 0}})).Decode(&found)
	if errors.Is(err, mongo.ErrNoDocuments) {
		err = nil
	}
	return found, err
}
