package model

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"github.com/docmodel/docmodel/internal/core"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/docmodel/docmodel/internal/runctx"
)

// A transaction keeps all writes or none, so their order of arrival doesn't matter. Since
// MongoDB 8.0, a bulkWrite command accepts writes to several collections
// (https://www.mongodb.com/docs/manual/reference/command/bulkWrite/). If the server has
// it, all writes are sent as one command.
//
// Outside a transaction, on a database of WithBulkWrite, the order matters. An ordered
// bulkWrite keeps the order: the server stops at the first error, so an interruption
// leaves the first writes, as it does between two commands. But a write that matches
// nothing isn't an error. So a write that expects a match is the last write of its
// command.

// A joining determines which batches of a plan are sent as one command.
type joining uint8

const (
	apart     joining = iota // each batch is a command
	upToMatch                // batches up to a write that expects a match
	whole                    // all batches
)

// joiningOf returns how a plan joins its batches when it runs with the context.
func joiningOf(ctx context.Context, db DB, p Plan) joining {
	if runctx.InTransaction(ctx) {
		return joiningInTx(together(ctx))
	}
	level, bulk := core.BulkWriteConcern(db)
	// the driver sends no unacknowledged ordered bulkWrite
	if !bulk || !cmp.Or(p.Options.WriteConcern, level).Acknowledged() {
		return apart
	}
	return upToMatch
}

func joiningInTx(together bool) joining {
	if together {
		return whole
	}
	return apart
}

// joins reports whether the batch can follow another batch in the same command.
func (j joining) joins(b, before batch) bool {
	switch {
	case j == apart || b.merge != nil || before.merge != nil:
		return false
	case j == whole:
		return true
	}
	return !before.alone && b.many() == before.many()
}

// many reports whether each write of the batch can write many documents. The driver
// doesn't retry a command with such a write.
func (b *batch) many() bool { return b.kind == updateManyKind || b.kind == deleteManyKind }

// grouped groups the batches of a plan by command.
func grouped(batches []batch, how joining) (out [][]batch) {
	count, bytes := 0, 0
	for i, b := range batches {
		count, bytes = count+b.count(), bytes+b.bytes
		if i > 0 && how.joins(b, batches[i-1]) && count <= maxBatchCount && bytes <= maxBatchBytes {
			out[len(out)-1] = append(out[len(out)-1], b)
			continue
		}
		out = append(out, batches[i:i+1:i+1])
		count, bytes = b.count(), b.bytes
	}
	return out
}

// together reports whether writes with this context can be sent as one command.
func together(ctx context.Context) bool {
	tx := runctx.TxOf(ctx)
	return tx != nil && tx.Together
}

// sendTogether sends several batches as one command.
func (r *runner) sendTogether(ctx context.Context, group []batch) error {
	if err := ctx.Err(); err != nil {
		return &StepError{Step: group[0].first, Err: err}
	}
	var list []mongo.ClientBulkWrite
	for _, b := range group {
		for _, m := range b.models {
			list = append(list, mongo.ClientBulkWrite{Database: r.db.Name(), Collection: b.collection, Model: clientModel(m)})
		}
	}
	observationOf(ctx).sent(1)
	res, err := r.db.Client().BulkWrite(ctx, list, r.togetherOptions(ctx))
	var failed mongo.ClientBulkWriteException
	switch {
	case err == nil:
		return r.answeredTogether(ctx, group, res)
	case errors.As(err, &failed) && failed.WriteError == nil && len(failed.WriteErrors) > 0:
		return r.failedTogether(ctx, group, failed)
	case errors.As(err, &failed) && failed.WriteError != nil:
		err = commandError(failed.WriteError)
	case errors.As(err, &failed) && len(failed.WriteConcernErrors) > 0:
		return r.undurable(ctx, group, failed)
	case driverRefuses(err):
		if tx := runctx.TxOf(ctx); tx != nil {
			tx.Together = false
		}
		return r.sendEach(ctx, group)
	}
	if !wroteNothing(ctx, err) {
		for _, b := range group {
			r.result.mark(b.first, b.count(), Unknown)
		}
	}
	return &StepError{Step: group[0].first, Err: err}
}

func (r *runner) togetherOptions(ctx context.Context) *options.ClientBulkWriteOptionsBuilder {
	o := options.ClientBulkWrite().SetOrdered(true).SetVerboseResults(true)
	if level, _ := core.BulkWriteConcern(r.db); !runctx.InTransaction(ctx) { // a transaction has its own write concern
		if level = cmp.Or(r.plan.Options.WriteConcern, level); level != nil {
			o.SetWriteConcern(level)
		}
	}
	if r.plan.Options.Comment != nil {
		o.SetComment(r.plan.Options.Comment)
	}
	if r.plan.Options.BypassDocumentValidation {
		o.SetBypassDocumentValidation(true)
	}
	return o
}

// answeredTogether evaluates batches that were sent together. If a batch that expects a
// match matched nothing, the transaction must end, because later batches were written
// too.
func (r *runner) answeredTogether(ctx context.Context, group []batch, res *mongo.ClientBulkWriteResult) error {
	first := 0
	for i, b := range group {
		if err := r.answered(ctx, b, resultOf(b, first, res)); err != nil {
			if i < len(group)-1 {
				runctx.TxOf(ctx).Spoiled = err
			}
			return err
		}
		first += b.count()
	}
	return nil
}

// undurable records batches that were applied, but not yet as durably as requested.
func (r *runner) undurable(ctx context.Context, group []batch, failed mongo.ClientBulkWriteException) error {
	done, first := failed.PartialResult, 0
	if done == nil {
		done = &mongo.ClientBulkWriteResult{Acknowledged: true}
	}
	for _, b := range group {
		r.record(ctx, b, resultOf(b, first, done))
		r.result.mark(b.first, b.count(), Applied)
		first += b.count()
	}
	return &StepError{
		Step: group[0].first,
		Err:  mongo.BulkWriteException{WriteConcernError: &failed.WriteConcernErrors[0]},
	}
}

// failedTogether records how far batches that were sent together got. If the failed write
// was applied before, it sends the rest.
func (r *runner) failedTogether(ctx context.Context, group []batch, failed mongo.ClientBulkWriteException) error {
	at, first := 0, 0
	for n := range failed.WriteErrors { // an ordered command has one error
		at = n
	}
	done := failed.PartialResult
	if done == nil {
		done = &mongo.ClientBulkWriteResult{Acknowledged: true}
	}
	for i, b := range group {
		if at < first+b.count() {
			failure := failed.WriteErrors[at]
			failure.Index = at - first
			bulk := mongo.BulkWriteException{
				WriteErrors: []mongo.BulkWriteError{{WriteError: failure, Request: b.models[at-first]}},
			}
			rest, err := r.failed(ctx, b, resultOf(b, first, done), bulk)
			if err != nil {
				return err
			}
			if group = group[i+1:]; len(rest.models) > 0 {
				group = append([]batch{rest}, group...)
			}
			return r.sendGroup(ctx, group)
		}
		res := resultOf(b, first, done)
		// the aborted transaction can't be queried for the reason
		if b.matchedNone(res) && r.plan.Steps[b.first].(Write).Expect == One {
			tx, err := runctx.TxOf(ctx), &StepError{Step: b.first, Err: ErrStale}
			tx.Spoiled, tx.Again = err, true
			return err
		}
		r.record(ctx, b, res)
		r.result.mark(b.first, b.count(), Applied)
		first += b.count()
	}
	return nil
}

// resultOf returns the answer to one batch. first is the index of the batch's first
// statement in the command.
func resultOf(b batch, first int, res *mongo.ClientBulkWriteResult) *mongo.BulkWriteResult {
	out := &mongo.BulkWriteResult{Acknowledged: res.Acknowledged, UpsertedIDs: map[int64]any{}}
	for i := range b.count() {
		if _, ok := res.InsertResults[first+i]; ok {
			out.InsertedCount++
		}
		out.DeletedCount += res.DeleteResults[first+i].DeletedCount
		switch u := res.UpdateResults[first+i]; {
		case u.UpsertedID != nil:
			out.UpsertedCount++
			out.UpsertedIDs[int64(i)] = u.UpsertedID
		default:
			out.MatchedCount += u.MatchedCount
			out.ModifiedCount += u.ModifiedCount
		}
	}
	return out
}

// clientModel converts a write to the model of a bulkWrite command.
func clientModel(m mongo.WriteModel) mongo.ClientWriteModel {
	switch m := m.(type) {
	case *mongo.InsertOneModel:
		return &mongo.ClientInsertOneModel{Document: m.Document}
	case *mongo.UpdateOneModel:
		return &mongo.ClientUpdateOneModel{
			Collation: m.Collation, Upsert: m.Upsert, Filter: m.Filter, Update: m.Update, ArrayFilters: m.ArrayFilters,
			Hint: m.Hint, Sort: m.Sort,
		}
	case *mongo.UpdateManyModel:
		return &mongo.ClientUpdateManyModel{
			Collation: m.Collation, Upsert: m.Upsert, Filter: m.Filter, Update: m.Update,
			ArrayFilters: m.ArrayFilters, Hint: m.Hint,
		}
	case *mongo.ReplaceOneModel:
		return &mongo.ClientReplaceOneModel{
			Collation: m.Collation, Upsert: m.Upsert, Filter: m.Filter, Replacement: m.Replacement, Hint: m.Hint, Sort: m.Sort,
		}
	case *mongo.DeleteOneModel:
		return &mongo.ClientDeleteOneModel{Filter: m.Filter, Collation: m.Collation, Hint: m.Hint}
	case *mongo.DeleteManyModel:
		return &mongo.ClientDeleteManyModel{Filter: m.Filter, Collation: m.Collation, Hint: m.Hint}
	}
	return nil
}

// commandError converts the error of a whole command. It keeps the labels that tell
// whether to run the transaction again, which the driver's exception lacks.
func commandError(e *mongo.WriteError) error {
	out := mongo.CommandError{Code: int32(e.Code), Message: e.Message, Raw: e.Raw}
	out.Name, _ = e.Raw.Lookup("codeName").StringValueOK()
	for _, label := range core.Elements(e.Raw.Lookup("errorLabels")) {
		if s, ok := label.StringValueOK(); ok {
			out.Labels = append(out.Labels, s)
		}
	}
	return out
}

// driverRefuses reports whether the driver refused a bulkWrite, because the client uses
// automatic encryption or an unacknowledged write concern. Nothing was sent.
func driverRefuses(err error) bool {
	var server mongo.ServerError
	text := err.Error()
	return !errors.As(err, &server) &&
		(strings.Contains(text, "automatic encryption") || strings.Contains(text, "unacknowledged write concern"))
}
