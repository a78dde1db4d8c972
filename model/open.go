package model

import (
	"context"
	"time"

	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/runctx"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/readconcern"
	"go.mongodb.org/mongo-driver/v2/mongo/readpref"
)

// openCollection opens the driver's collection with the codec's options. Every command of
// this module uses it. A read that decides a write goes to the primary.
func openCollection(
	ctx context.Context, db DB, c *core.Codec, name string, more ...options.Lister[options.CollectionOptions],
) *mongo.Collection {
	all := make([]options.Lister[options.CollectionOptions], 0, 3)
	if c != nil {
		o := options.Collection()
		if c.Options() != nil {
			o.SetBSONOptions(c.Options())
		}
		if r := c.Registry(); r != nil {
			o.SetRegistry(r)
		}
		all = append(all, o)
	}
	all = append(all, more...)
	if runctx.Decides(ctx) {
		all = append(all, options.Collection().SetReadPreference(readpref.Primary()))
	}
	if level := lasting(ctx); level != nil {
		all = append(all, options.Collection().SetReadConcern(level))
	}
	return core.Database(db).Collection(name, all...)
}

// lasting returns the read concern of a read that must not be rolled back, or nil for the
// database's read concern. A primary can return data that is rolled back later
// (https://www.mongodb.com/docs/manual/core/replica-set-rollbacks/). A linearizable read
// waits until a majority has the data. In a session of the caller, the server accepts
// only a majority read. A transaction needs no read concern here, because its commit
// waits.
func lasting(ctx context.Context) *readconcern.ReadConcern {
	if !runctx.Lasts(ctx) || runctx.InTransaction(ctx) {
		return nil
	}
	if mongo.SessionFromContext(ctx) != nil {
		return readconcern.Majority()
	}
	return readconcern.Linearizable()
}

// outlive returns a context that ends a given time after ctx has ended, for closing and
// releasing.
func outlive(ctx context.Context, by time.Duration) (context.Context, context.CancelFunc) {
	out, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		timer := time.NewTimer(by)
		defer timer.Stop()
		select {
		case <-timer.C:
			cancel()
		case <-out.Done():
		}
	})
	return out, func() {
		stop()
		cancel()
	}
}
