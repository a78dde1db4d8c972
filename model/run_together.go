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

// In a transaction the order in which a plan's writes arrive matters to nobody: all of them are kept, or none. So they are sent as one
// bulkWrite command, which takes writes of several collections, where the server has it: since MongoDB 8.0
// (https://www.mongodb.com/docs/manual/reference/command/bulkWrite/).
//
// Outside a transaction, on a database of WithBulkWrite, the order matters. An ordered bulkWrite
// keeps it: the server stops at the first error, so a cut leaves the first writes, as a cut
// between two commands does. But a write that matches nothing is no error. So a write that
// expects a match is the last one of its command.

// A joining says which batches of a plan are sent as one command.
type joining uint8

const (
	apart     joining = iota // each is a command
	upToMatch                // those up to a write that expects a match
	whole                    // all
)

// joiningOf is how the batches of a plan are joined that runs with the context.
func joiningOf(ctx context.Context, db DB, p Plan) joining {
	if runctx.InTransaction(ctx) {
		return joiningInTx(together(ctx))
	}
	level, bulk := core.Bulk(db)
	if !bulk || !cmp.Or(p.Options.WriteConcern, level).Acknowledged() { // the driver sends no ordered bulkWrite that isn't
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

// joins reports whether the batch can follow another one in its command.
func (j joining) joins(b, before batch) bool {
	switch {
	case j == apart || b.merge != nil || before.merge != nil:
		return false
	case j == whole:
		return true
	}
	return !before.alone && b.many() == before.many()
}

// many reports whether each write of the batch may write many documents. The driver doesn't retry
// a command with such a write.
func (b *batch) many() bool { return b.kind == updateManyKind || b.kind == deleteManyKind }

// grouped puts the batches of a plan together that one command can send.
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

// together reports whether what runs with the context can be sent as one command.
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
	if level, _ := core.Bulk(r.db); !runctx.InTransaction(ctx) { // a transaction has its own
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

// answeredTogether judges batches that were sent together. One that matched nothing ends the transaction, for those after it were
// written.
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

// undurable records batches that were applied, though not yet as durably as asked.
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
	return &StepError{Step: group[0].first, Err: mongo.BulkWriteException{WriteConcernError: &failed.WriteConcernErrors[0]}}
}

// failedTogether records how far batches came that were sent together. What follows a write that was applied before is sent.
func (r *runner) failedTogether(ctx context.Context, group []batch, failed mongo.ClientBulkWriteException) error {
	at, first := 0, 0
	for n := range failed.WriteErrors { // of an ordered command it is one
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
			bulk := mongo.BulkWriteException{WriteErrors: []mongo.BulkWriteError{{WriteError: failure, Request: b.models[at-first]}}}
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
		if b.matchedNone(res) && r.plan.Steps[b.first].(Write).Expect == One { // what that means can't be asked any more
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

// resultOf is the answer to one batch, whose first statement has an index in the command.
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

// clientModel is a write as a command of several collections takes it.
func clientModel(m mongo.WriteModel) mongo.ClientWriteModel {
	switch m := m.(type) {
	case *mongo.InsertOneModel:
		return &mongo.ClientInsertOneModel{Document: m.Document}
	case *mongo.UpdateOneModel:
		return &mongo.ClientUpdateOneModel{
			Collation: m.Collation, Upsert: m.Upsert, Filter: m.Filter, Update: m.Update, ArrayFilters: m.ArrayFilters, Hint: m.Hint, Sort: m.Sort,
		}
	case *mongo.UpdateManyModel:
		return &mongo.ClientUpdateManyModel{
			Collation: m.Collation, Upsert: m.Upsert, Filter: m.Filter, Update: m.Update, ArrayFilters: m.ArrayFilters, Hint: m.Hint,
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

// commandError is what refused a whole command, with the labels that say whether to run the transaction again: the driver's
// exception has none.
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

// driverRefuses reports whether the driver refused a command of several collections, because its
// client encrypts by itself or doesn't wait for answers. Nothing was sent.
func driverRefuses(err error) bool {
	var server mongo.ServerError
	text := err.Error()
	return !errors.As(err, &server) && (strings.Contains(text, "automatic encryption") || strings.Contains(text, "unacknowledged write concern"))
}
