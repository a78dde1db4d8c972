package model

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/internal/runctx"
)

// Settled calls the function read while no [Change] runs under the lease, and returns
// read's error. If a change began during the call, Settled calls read again. The function
// read must discard earlier results, and use the primary.
//
// Settled doesn't block writers. After the time Lease.Wait, Settled gives up with
// [ErrLeased]. The cause is too many changes, or a dead writer's unfinished change.
//
// Cost: two commands for each call of read; more while a change runs.
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

// Last returns the number ([Fence]) of the last change that began under the lease, or 0
// before the first change. Cost: one command.
func (l Lease) Last(ctx context.Context, db DB) (int64, error) {
	l, err := l.in(ctx, db)
	if err != nil {
		return 0, err
	}
	found, err := l.look(ctx, db)
	return found.Fence, err
}

// settled reports whether no change is at work and no intent is left.
func (l lock) settled(now time.Time) bool {
	return l.Intent == nil && (l.Holder.IsZero() || !l.Until.After(now))
}

// look reads the lock document. Before the first change it doesn't exist.
func (l Lease) look(ctx context.Context, db DB) (lock, error) {
	var found lock
	locks := collectionOf(runctx.Deciding(ctx), db, nil, l.Collection)
	err := locks.FindOne(ctx, bson.D{{Key: "_id", Value: mql.Eq(l.ID)}},
		options.FindOne().SetProjection(bson.D{{Key: "intent.plan", Value: 0}})).Decode(&found)
	if errors.Is(err, mongo.ErrNoDocuments) {
		err = nil
	}
	return found, err
}
