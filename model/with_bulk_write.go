package model

import (
	"context"

	"github.com/docmodel/docmodel/internal/core"
	"go.mongodb.org/mongo-driver/v2/mongo/writeconcern"
)

// WithBulkWrite returns a database on which a [Plan] sends fewer commands outside
// transactions. Consecutive writes, also to several collections, become one ordered
// bulkWrite command. The command ends at the first update or delete with Expect [One].
// [Plan.Guarantee] and the results stay the same.
//
// Update many and delete many share commands only with each other. A [MergeInto], and
// each batch with an unacknowledged write concern, is a separate command.
//
// The parameter level is the write concern for plans without [PlanOptions].WriteConcern,
// or nil for the client's. Pass the database's write concern, because the driver's
// bulkWrite ignores it.
//
// On a server without bulkWrite (before MongoDB 8.0), nothing changes.
//
// Cost: one hello command. Then [Plan.CostBulkWrite].
func WithBulkWrite(ctx context.Context, db DB, level *writeconcern.WriteConcern) (DB, error) {
	if err := core.CheckRun(ctx, db); err != nil {
		return nil, err
	}
	hello, err := askHello(ctx, db)
	if err != nil {
		return nil, err
	}
	h := core.HandleOf(db)
	if list := scopesOf(db); len(list) > 0 {
		h.Scopes = list
	}
	h.Bulk, h.WriteConcern = hello.WireVersion >= helloSince80, level
	return h, nil
}
