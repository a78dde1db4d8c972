package model

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/internal/runctx"
)

// meet increments the fence in a transaction, in place of [Lease.hold]. Two transactions
// that increment it conflict, and an abort undoes the increment. So the lock document
// needs no holder and no intent. The returned context contains the fence.
func (l Lease) meet(ctx context.Context, db DB, mends bool) (context.Context, error) {
	if err := l.check(); err != nil {
		return ctx, err
	}
	if err := core.CheckTenantNames(ctx, db, l.Collection); err != nil {
		return ctx, err
	}
	at := l
	at.ID = tenantID(db, l.ID)
	var found lock
	observationOf(ctx).sent(1)
	err := openCollection(ctx, db, nil, at.Collection).FindOneAndUpdate(ctx, at.untouched(),
		bson.D{{Key: "$inc", Value: bson.D{{Key: "fence", Value: int64(1)}}}},
		options.FindOneAndUpdate().SetReturnDocument(options.After)).Decode(&found)
	if errors.Is(err, mongo.ErrNoDocuments) {
		return ctx, at.awaited(ctx, db, mends)
	}
	if err == nil {
		observationOf(ctx).returned(1)
	}
	return runctx.WithFence(ctx, found.Fence), err
}

// untouched matches the lock document if it has no holder and no intent.
func (l Lease) untouched() bson.D {
	none := bson.D{{Key: "$exists", Value: false}}
	return bson.D{{Key: "_id", Value: mql.Eq(l.ID)}, {Key: "holder", Value: none}, {Key: "intent", Value: none}}
}

// awaited asks for the transaction to run again, and returns the error that ends it.
// Before the second run, the lease is taken outside the transaction: this creates the
// lock document, waits for its holder, and finishes the plan of a dead writer.
func (l Lease) awaited(ctx context.Context, db DB, mends bool) error {
	l = l.withDefaults()
	err := fmt.Errorf("%w: %s in %s: a transaction can't wait for it", ErrLeased, shell(l.ID), l.Collection)
	tx := runctx.TxOf(ctx)
	if tx == nil {
		return err
	}
	tx.Spoiled = err
	if tx.Waited.IsZero() {
		tx.Waited = time.Now()
	}
	if time.Since(tx.Waited) < l.Wait {
		tx.Again, tx.Between = true, func(ctx context.Context) error {
			h, err := l.acquire(ctx, db, mends)
			if err != nil {
				return err
			}
			return cmp.Or(h.release(ctx, false), ctx.Err())
		}
	}
	return err
}
