package model

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/docmodel/docmodel/internal/core"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/docmodel/docmodel/internal/runctx"
)

// Run checks the whole plan before the first command, and sends the commands in order.
// The first failure ends Run with a [*StepError]. If a write expects a match but matches
// nothing, the error wraps [ErrStale], [ErrNotFound] or a [Reason].Err.
//
// Run joins the transaction of the context's session. A transactional plan needs such a
// transaction, or a db from [WithTransactions], or Options.AllowPartial. If all three are
// missing, Run returns [ErrTransactional].
func (p Plan) Run(ctx context.Context, db DB) (Result, error) {
	if core.Transacts(db) && !runctx.InTransaction(ctx) && p.Guarantee() != Atomic &&
		!slices.ContainsFunc(p.Steps, isMerge) {
		return p.RunTx(ctx, db)
	}
	ctx, op := begin(ctx, db, "plan", "", p.firstCollection(), 0)
	defer op.end()
	result, err := p.run(ctx, db, op)
	op.ran(result, err)
	return result, err
}

// run is Run within an operation, which is nil if nobody observes it.
func (p Plan) run(ctx context.Context, db DB, op *observation) (Result, error) {
	ctx = withRouter(ctx, db)
	if runctx.InTransaction(ctx) {
		p = p.inTx()
	}
	p = p.rewriteFor(db)
	if r := routerOf(ctx); r != nil {
		p = r.plan(p)
	}
	batches, err := p.split()
	if op != nil && len(batches) > 0 {
		op.priced(p.costIn(len(grouped(batches, joiningOf(ctx, db, p)))))
	}
	if err = cmp.Or(err, core.CheckRun(ctx, db), core.CheckDepth(p.Options.Comment)); err != nil {
		return newResult(p), err
	}
	if runctx.InTransaction(ctx) {
		if err := mergesNothing(batches); err != nil {
			return newResult(p), err
		}
	} else if p.Guarantee() == Transactional && !p.Options.AllowPartial {
		return newResult(p), p.needsTx()
	}
	if err := checkCollations(ctx, db, p.used()); err != nil {
		return newResult(p), err
	}
	return p.send(ctx, db, batches)
}

func isMerge(s Step) bool {
	_, is := s.(MergeInto)
	return is
}

// Run runs the write as a [Plan].
func (w Write) Run(ctx context.Context, db DB) (Result, error) {
	return NewPlan(w).Run(ctx, db)
}

// runner sends the batches of one plan.
type runner struct {
	plan   Plan
	db     DB
	result Result
	back   []Step // sent if the plan stops at a write that matched nothing
}

func (p Plan) send(ctx context.Context, db DB, batches []batch) (Result, error) {
	r := &runner{plan: p, db: db, result: newResult(p), back: p.IfStale}
	for _, group := range grouped(batches, joiningOf(ctx, db, p)) {
		if err := r.sendGroup(ctx, group); err != nil {
			if failed := (*StepError)(nil); errors.As(err, &failed) {
				failed.Where = placeOf(p.Steps[failed.Step])
			}
			hopedInVain(ctx, err)
			if back := r.takeBack(ctx, err); back != nil {
				err = errors.Join(err, back)
			}
			return r.result, err
		}
	}
	return r.result, nil
}

// hopedInVain makes a transaction run again if it skipped a read and the error may come
// from that: see [runctx.Hope].
func hopedInVain(ctx context.Context, err error) {
	tx := runctx.TxOf(ctx)
	if tx == nil || !tx.Hoped || tx.Sure || ctx.Err() != nil {
		return
	}
	var server mongo.ServerError
	if !errors.As(err, &server) || mongo.IsDuplicateKeyError(err) {
		tx.Spoiled, tx.Again = err, true
	}
}

// sendGroup sends the batches of one command.
func (r *runner) sendGroup(ctx context.Context, group []batch) error {
	switch len(group) {
	case 0:
		return nil
	case 1:
		return r.sendBatch(ctx, group[0])
	}
	return r.sendTogether(ctx, group)
}

// sendEach sends each batch as a command.
func (r *runner) sendEach(ctx context.Context, batches []batch) error {
	for _, b := range batches {
		if err := r.sendBatch(ctx, b); err != nil {
			return err
		}
	}
	return nil
}

// takeBack sends IfStale, or the Instead of a reason, if the plan stopped at a write that
// matched nothing or met a duplicate key. In a transaction it does nothing, because the transaction rolls back.
func (r *runner) takeBack(ctx context.Context, err error) error {
	var failed *StepError
	if len(r.back) == 0 || runctx.InTransaction(ctx) || !errors.As(err, &failed) || failed.Step == 0 ||
		r.result.Steps[failed.Step].Status != NotSent {
		return nil
	}
	var server mongo.ServerError
	if errors.As(err, &server) && !mongo.IsDuplicateKeyError(err) || ctx.Err() != nil {
		return nil
	}
	_, err = Plan{Steps: r.back, Options: r.plan.Options}.run(ctx, bare(r.db), nil) // the scopes were applied before
	if err == nil {
		observationOf(ctx).tookBack()
	}
	return err
}

func (r *runner) sendBatch(ctx context.Context, b batch) error {
	if err := ctx.Err(); err != nil {
		return &StepError{Step: b.first, Err: err}
	}
	if b.merge != nil {
		return r.sendMerge(ctx, b)
	}
	if w, ok := r.plan.Steps[b.first].(Write); ok && w.returning != nil {
		return r.sendReturning(ctx, b, w)
	}
	for {
		coll := collectionOf(ctx, r.db, nil, b.collection, r.plan.Options.collectionOptions())
		res, err := coll.BulkWrite(ctx, b.models, r.bulkOptions())
		if err == nil {
			return r.answered(ctx, b, res)
		}
		next, err := r.failed(ctx, b, res, err)
		if err != nil || next.count() == 0 || len(next.models) == 0 {
			return err
		}
		b = next
	}
}

func (r *runner) bulkOptions() *options.BulkWriteOptionsBuilder {
	o := options.BulkWrite().SetOrdered(true)
	if r.plan.Options.Comment != nil {
		o.SetComment(r.plan.Options.Comment)
	}
	if r.plan.Options.BypassDocumentValidation {
		o.SetBypassDocumentValidation(true)
	}
	return o
}

// answered records a command's totals. It also decides what it means if a write that
// expects a match matched nothing.
func (r *runner) answered(ctx context.Context, b batch, res *mongo.BulkWriteResult) error {
	r.record(ctx, b, res)
	r.result.mark(b.first, b.count(), Applied)
	w := r.plan.Steps[b.first].(Write)
	switch {
	case !b.alone || w.Expect != One:
		return nil
	case !res.Acknowledged:
		r.result.Steps[b.first].Status = Unknown
		return &StepError{Step: b.first, Err: errUnacknowledged}
	case !b.matchedNone(res):
		return nil
	}
	return r.judge(ctx, b.first, w, ErrStale)
}

// matchedNone reports whether the single write of a batch found nothing to write.
func (b *batch) matchedNone(res *mongo.BulkWriteResult) bool {
	return b.alone && res.MatchedCount+res.DeletedCount+res.UpsertedCount == 0
}

func (r *runner) record(ctx context.Context, b batch, res *mongo.BulkWriteResult) {
	index := len(r.result.Batches)
	answer := BatchResult{
		Collection: b.collection, First: b.first, Count: b.count(),
		Inserted: res.InsertedCount, Matched: res.MatchedCount, Modified: res.ModifiedCount,
		Deleted: res.DeletedCount, Upserted: res.UpsertedCount,
	}
	r.result.Batches = append(r.result.Batches, answer)
	observationOf(ctx).wrote(answer)
	for i := range b.count() {
		r.result.Steps[b.first+i].Batch = index
		r.result.Steps[b.first+i].UpsertedID = res.UpsertedIDs[int64(i)]
	}
}

// judge decides what it means that a write changed nothing. If its Done is true, it was
// applied before. Else judge returns the error. A duplicate key error is replaced only by
// a reason that tests the duplicate key.
func (r *runner) judge(ctx context.Context, step int, w Write, otherwise error) error {
	if w.Done != nil {
		var done bool
		err := lastingRead(ctx, func(ctx context.Context) (err error) {
			done, err = r.holds(ctx, w.Collection, w.Done)
			return err
		})
		if err != nil {
			return &StepError{Step: step, Err: err}
		}
		if done {
			r.result.Steps[step].Status = Already
			return r.endRerun(ctx, step, w)
		}
	}
	r.result.Steps[step].Status = NotSent
	return r.because(ctx, step, w, otherwise)
}

// because returns the error of the first reason that is true for a write that changed
// nothing, or the error otherwise. It replaces ErrStale by ErrNotFound if the document
// doesn't exist.
func (r *runner) because(ctx context.Context, step int, w Write, otherwise error) error {
	var missed []bson.D
	for _, reason := range w.Reasons {
		if !reason.explains(w, otherwise) {
			continue
		}
		why, holds := reason.Err, reason.If == nil
		if holds && why == ErrNotFound {
			why = errGone
		}
		if !holds {
			var err error
			if holds, err = r.holds(ctx, w.Collection, reason.If); err != nil {
				return &StepError{Step: step, Err: err}
			}
			holds = holds != reason.missing
		}
		if holds {
			if reason.Instead != nil {
				r.back = reason.Instead
			}
			return &StepError{Step: step, Err: why}
		}
		if !reason.missing {
			missed = append(missed, reason.If)
		}
	}
	if otherwise == ErrStale {
		gone, err := r.gone(ctx, w, missed)
		if err != nil {
			return &StepError{Step: step, Err: err}
		}
		if gone {
			otherwise = errGone
		}
	}
	if w.ofStore && mongo.IsDuplicateKeyError(otherwise) {
		otherwise = newTakenError(w, otherwise)
	}
	return &StepError{Step: step, Err: otherwise}
}

// holds reports whether a document matches.
func (r *runner) holds(ctx context.Context, collection string, filter bson.D) (bool, error) {
	o := options.FindOne().SetProjection(bson.D{{Key: "_id", Value: 1}})
	err := collectionOf(runctx.Deciding(ctx), r.db, nil, collection).FindOne(ctx, filter, o).Err()
	if errors.Is(err, mongo.ErrNoDocuments) {
		return false, nil
	}
	if err == nil {
		observationOf(ctx).returned(1)
	}
	return err == nil, err
}

// failed records how far an ordered command got. After a duplicate key error, this write
// may have been applied before. Then failed returns the rest of the batch to send.
func (r *runner) failed(ctx context.Context, b batch, res *mongo.BulkWriteResult, err error) (rest batch, _ error) {
	var bulk mongo.BulkWriteException
	if !errors.As(err, &bulk) || len(bulk.WriteErrors) == 0 {
		if errors.As(err, &bulk) && bulk.WriteConcernError != nil {
			r.record(ctx, b, res)
			r.result.mark(b.first, b.count(), Applied) // applied, but not yet as durable as requested
			return batch{}, &StepError{Step: b.first, Err: err}
		}
		if !wroteNothing(ctx, err) {
			r.result.mark(b.first, b.count(), Unknown)
		}
		return batch{}, &StepError{Step: b.first, Err: err}
	}
	at := bulk.WriteErrors[0].Index
	r.record(ctx, b, res)
	r.result.mark(b.first, at, Applied)
	for i := b.first + at; i < b.first+b.count(); i++ {
		r.result.Steps[i].Batch = -1
	}
	step := b.first + at
	if !mongo.IsDuplicateKeyError(err) {
		r.halfWay(ctx, b, step)
		return batch{}, &StepError{Step: step, Err: err}
	}
	n, err := r.skipOwn(ctx, b, at, err)
	if err != nil {
		r.halfWay(ctx, b, step)
		return batch{}, err
	}
	b.first, b.models = step+n, b.models[at+n:]
	return b, nil
}

// halfWay marks a failed statement. If it writes many documents, it may have written some
// of them.
func (r *runner) halfWay(ctx context.Context, b batch, step int) {
	if (b.kind == updateManyKind || b.kind == deleteManyKind) && !runctx.InTransaction(ctx) {
		r.result.Steps[step].Status = Unknown
	}
}

func (r *runner) sendMerge(ctx context.Context, b batch) error {
	o := withOptions(options.Aggregate(), ModifyOptions{Comment: r.plan.Options.Comment})
	if r.plan.Options.BypassDocumentValidation {
		o.SetBypassDocumentValidation(true)
	}
	coll := collectionOf(runctx.Deciding(ctx), r.db, nil, b.collection, r.plan.Options.collectionOptions())
	cur, err := coll.Aggregate(ctx, b.merge.Pipeline, o)
	if err != nil {
		r.result.mark(b.first, 1, Unknown)
		return &StepError{Step: b.first, Err: err}
	}
	if err := cur.Close(ctx); err != nil {
		r.result.mark(b.first, 1, Unknown)
		return &StepError{Step: b.first, Err: err}
	}
	r.result.Steps[b.first] = StepResult{Status: Applied, Batch: len(r.result.Batches)}
	r.result.Batches = append(r.result.Batches, BatchResult{Collection: b.collection, First: b.first, Count: 1})
	return nil
}
