package model

import (
	"context"
	"errors"

	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/runctx"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// collectionOf opens the driver's collection for one command, and counts the command for
// an observer.
func collectionOf(
	ctx context.Context, db DB, c *core.Codec, name string, more ...options.Lister[options.CollectionOptions],
) *mongo.Collection {
	observationOf(ctx).sent(1)
	return openCollection(ctx, db, c, name, more...)
}

// lastingRead runs a read that must not be rolled back. A server without a replica set
// has no rollbacks, so there it runs a plain read.
func lastingRead(ctx context.Context, read func(context.Context) error) error {
	err := read(runctx.Lasting(ctx))
	if notReplicated(err) {
		return read(runctx.Deciding(ctx))
	}
	return err
}

// notReplicated reports whether a server refused a linearizable read because it isn't in
// a replica set.
func notReplicated(err error) bool {
	var e mongo.ServerError
	return errors.As(err, &e) && e.HasErrorCode(123) // NotAReplicaSet
}
