package paths

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Settled runs a read while no change of the tree is at work, and again when one began in between: see [model.Lease.Settled]. So
// what the tree's queries give within read fits together, and none of them sees a part of a change. It takes no transaction; where
// writers leave no pause, it gives up with [model.ErrLeased].
//
// Cost: two commands beside the read's, for each time that it is run.
func (t *Tree[D, K]) Settled(ctx context.Context, db *mongo.Database, read func(ctx context.Context) error) error {
	return t.lease.Settled(ctx, db, read)
}
