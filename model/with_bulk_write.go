package model

import (
	"context"

	"github.com/docmodel/docmodel/internal/core"
	"go.mongodb.org/mongo-driver/v2/mongo/writeconcern"
)

// WithBulkWrite returns the database on which a [Plan] sends fewer commands outside
// transactions. Its writes of several collections are one ordered bulkWrite command, up to and
// with the next write that expects a match. A cut leaves what it leaves between two commands:
// the first steps, in their order. So a plan has the same [Plan.Guarantee]. A [Change], a
// [Job] and a [Stream] run their plans in the same way. The answers are those of separate
// commands.
//
// An update many or delete many shares a command only with others, because the driver doesn't
// retry a command that has one. A [MergeInto] is a command of its own. So is each batch of a
// plan with an unacknowledged write concern.
//
// The write concern is [PlanOptions].WriteConcern, or else level. Nil stands for the client's.
// The driver's bulkWrite doesn't know the write concern of a database: give it as level if the
// database was opened with one. The server waits for it once, after the last write of a command.
//
// WithBulkWrite asks the server once, by hello. On a server without bulkWrite (before MongoDB
// 8.0) plans run as they do on db. In a transaction nothing changes.
//
// Cost: [Plan.CostBulkWrite].
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
