package model

import (
	"context"

	"github.com/docmodel/docmodel/internal/core"
	"go.mongodb.org/mongo-driver/v2/mongo/writeconcern"
)

// WithBulkWrite returns a database on which a [Plan] sends fewer commands. Outside
// transactions, one bulkWrite command can send consecutive writes. A command ends after
// a write that expects [One] match. Results and [Plan.Guarantee] stay the same.
//
// As level, pass the database's write concern. Nil means the client's write concern.
// [PlanOptions].WriteConcern overrides level. Before MongoDB 8.0, or with an
// unacknowledged write concern, plans send the usual commands.
//
// Cost: one hello command. A plan costs [Plan.CostBulkWrite].
func WithBulkWrite(ctx context.Context, db DB, level *writeconcern.WriteConcern) (DB, error) {
	if err := core.CheckRun(ctx, db); err != nil {
		return nil, err
	}
	hello, err := askHello(ctx, db)
	if err != nil {
		return nil, err
	}
	h := handleOf(db)
	h.Bulk, h.WriteConcern = hello.WireVersion >= helloSince80, level
	return h, nil
}
