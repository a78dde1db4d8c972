package model

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/docmodel/docmodel/internal/bsondoc"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/internal/runctx"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// RunTx runs the plan in the running transaction of the context's session. Your code
// commits that transaction, or aborts it after an error. Without a running transaction,
// RunTx starts a new transaction, with the driver's retries. An error aborts the new
// transaction. A server without transactions gives [ErrNoTransactions].
//
// Cost: [Plan.CostTx], a hello command, and the commit of a new transaction.
func (p Plan) RunTx(ctx context.Context, db DB) (Result, error) {
	ctx, op := begin(ctx, db, "plan", "", p.firstCollection(), 0)
	defer op.end()
	result, err := p.runTx(ctx, db, op)
	op.ran(result, err)
	return result, err
}

func (p Plan) runTx(ctx context.Context, db DB, op *observation) (Result, error) {
	p = p.inTx().rewriteFor(db)
	batches, err := p.split()
	if op != nil && len(batches) > 0 {
		op.priced(p.costIn(len(grouped(batches, joiningInTx(core.SendsTogether(db) || together(ctx))))))
	}
	if err = cmp.Or(err, core.CheckRun(ctx, db), core.CheckDepth(p.Options.Comment)); err != nil {
		return newResult(p), err
	}
	if len(batches) == 0 {
		return newResult(p), nil
	}
	if err := mergesNothing(batches); err != nil {
		return newResult(p), err
	}
	if err := checkCollations(ctx, db, p.used()); err != nil {
		return newResult(p), err
	}
	for {
		result, sent := newResult(p), false
		err = inTx(ctx, db, func(ctx context.Context) error {
			var err error
			result, err = p.send(ctx, db, batches)
			sent = err == nil
			return err
		})
		if err == nil || runctx.InTransaction(ctx) { // the owner of a joined transaction may still commit it
			return result, err
		}
		own, err := p.explained(ctx, db, err)
		switch {
		case own < 0 && err == nil:
			return p.appliedBefore(), nil
		case own < 0:
			return p.rolledBack(result, sent && commitUnknown(err)), err
		}
		p.own = append(p.own[:len(p.own):len(p.own)], own)
		if batches, err = p.split(); err != nil || len(batches) == 0 {
			return newResult(p), err
		}
	}
}

// mergesNothing refuses a $merge or $out in a transaction, before anything is sent.
func mergesNothing(batches []batch) error {
	for _, b := range batches {
		if b.merge != nil {
			return &StepError{Step: b.first, Err: errMergeInTx}
		}
	}
	return nil
}

// explained returns the error of a plan whose own transaction was aborted. It queries now
// why a write failed, because a transaction can't be queried after a duplicate key error.
// own is the insert to leave out of the next run, because an earlier run inserted the
// document, or -1. Without an own insert, a nil error means that an earlier run applied
// the whole plan. The plan must be under the scopes of the database.
func (p Plan) explained(ctx context.Context, db DB, err error) (own int, _ error) {
	if errors.Is(err, errRanBefore) {
		return -1, nil
	}
	var failed *StepError
	if !mongo.IsDuplicateKeyError(err) || !errors.As(err, &failed) || failed.Step >= len(p.Steps) {
		return -1, err
	}
	w, ok := p.Steps[failed.Step].(Write)
	if !ok {
		return -1, err
	}
	r := &runner{plan: p, db: bare(db), result: newResult(p)}
	var applied bool
	var asked error
	if !w.isNewIn(failed.Err) || p.hasTokens() {
		applied, asked = r.applied(ctx, failed.Step, w)
		if asked == nil && p.whole() && (!applied || w.proves()) {
			var ran bool
			if ran, asked = r.ranBefore(ctx, failed.Step, applied); ran {
				return -1, nil
			}
		}
	}
	switch {
	case asked != nil || applied && !p.rerunnable(): // it isn't known whether the other steps were applied too
		return -1, err
	case applied:
		return failed.Step, err
	}
	why := r.because(ctx, failed.Step, w, failed.Err)
	if step := (*StepError)(nil); errors.As(why, &step) {
		step.Where = failed.Where
	}
	return -1, why
}

// rolledBack sets the steps' status after a failed transaction to NotSent, or to Unknown
// if the outcome of the commit is unknown. Steps that were applied before the transaction
// keep their status.
func (p Plan) rolledBack(r Result, unknown bool) Result {
	for i := range r.Steps {
		if slices.Contains(p.own, i) {
			continue
		}
		r.Steps[i].Status, r.Steps[i].Batch = NotSent, -1
		if unknown {
			r.Steps[i].Status = Unknown
		}
	}
	r.Batches = nil
	return r
}

// commitUnknown reports whether an error of a commit leaves its outcome unknown.
func commitUnknown(err error) bool {
	var labeled mongo.LabeledError
	if !errors.As(err, &labeled) {
		return true
	}
	return labeled.HasErrorLabel("UnknownTransactionCommitResult") ||
		labeled.HasErrorLabel("NetworkError") || mongo.IsTimeout(err)
}

// WithTransactions returns a database on which each [Plan], and each attempt of a
// [Change], is a transaction. A server without transactions gives [ErrNoTransactions].
//
// These run without a transaction: a [Job], a [Stream], an [Atomic] plan, a plan with a
// [MergeInto], and a Change with [Change.Mends].
//
// A duplicate key error can mean that the commit succeeded, but its answer was lost. If a
// token or the plan's own inserted documents show this, there is no error.
//
// Cost: one hello command. Each transaction costs [Plan.CostTx] and one commit.
func WithTransactions(ctx context.Context, db DB) (DB, error) {
	if err := core.CheckRun(ctx, db); err != nil {
		return nil, err
	}
	tx, err := checkTransactions(ctx, db)
	if err != nil {
		return nil, err
	}
	h := handleOf(db)
	h.Tx, h.Together = true, tx.Together
	return h, nil
}

// applied reports whether a write was already applied as this plan writes it, perhaps by
// an earlier commit without an answer.
func (r *runner) applied(ctx context.Context, step int, w Write) (bool, error) {
	if w.Done != nil {
		return r.holds(ctx, w.Collection, w.Done)
	}
	m, ok := w.Model.(*mongo.InsertOneModel)
	if !ok {
		return false, nil
	}
	doc, err := encodedOnce(m.Document)
	if err != nil || doc.Lookup("_id").Type == 0 {
		return false, err
	}
	id := bsondoc.JoinFilters(bson.D{{Key: "_id", Value: mql.Eq(doc.Lookup("_id"))}}, w.scoping().tenant)
	stored, err := collectionOf(runctx.Deciding(ctx), r.db, nil, w.Collection).FindOne(ctx, id).Raw()
	if errors.Is(err, mongo.ErrNoDocuments) {
		return false, nil
	}
	return err == nil && touchedAfter(r.plan.Steps[step+1:], w.Collection).and(w.changing()).same(stored, doc), err
}

// InTx runs f in the running transaction of ctx's session, or in a new transaction. Pass
// the context that f receives to each command. A server without transactions gives
// [ErrNoTransactions].
//
// InTx can repeat f. If InTx began the transaction, repeat InTx after [ErrStale].
//
// Cost: hello, the commands of f, and the commit.
func InTx(ctx context.Context, db DB, f func(context.Context) error) error {
	ctx, op := begin(ctx, db, "transaction", "", "", 0)
	defer op.end()
	err := inTx(ctx, db, op.counting(f))
	op.settle(err)
	return err
}

func inTx(ctx context.Context, db DB, f func(context.Context) error) error {
	if err := core.CheckRun(ctx, db); err != nil {
		return err
	}
	if f == nil {
		return &ValueError{Field: "f", Reason: "is nil: give the function to run in the transaction"}
	}
	tx, err := checkTransactions(ctx, db)
	if err != nil {
		return err
	}
	if runctx.InTransaction(ctx) {
		return f(ctx)
	}
	session := mongo.SessionFromContext(ctx)
	if session == nil {
		var err error
		if session, err = db.Client().StartSession(); err != nil {
			return err
		}
		ending, cancel := outlive(ctx, time.Second)
		defer cancel()
		defer session.EndSession(ending)
	}
	err = transact(ctx, session, tx, f)
	for tx.Again {
		switch between := tx.Between; {
		case between != nil: // wait for the lease that somebody else holds
			tx.Between = nil
			if err := between(ctx); err != nil {
				return err
			}
		case tx.ReadFirst && tx.Alone: // the change wrote before it read: now it reads first
			tx.Alone = false
		case tx.Hoped && !tx.Sure: // a read that was left out may have mattered: leave out none
			tx.Sure = true
		default: // wait for each command before the next is sent
			tx.Together = false
		}
		tx.Again = false
		err = transact(ctx, session, tx, f)
	}
	return err
}

// transact runs f in a new transaction. It aborts the transaction if f returns nil
// although a plan in it was spoiled: it ended after later steps of it had been written.
func transact(ctx context.Context, session *mongo.Session, tx *runctx.Tx, f func(context.Context) error) error {
	ending, done := observationOf(ctx).beginTx(), false
	_, err := session.WithTransaction(ctx, func(ctx context.Context) (any, error) {
		tx.Spoiled = nil
		err := cmp.Or(f(runctx.InTx(ctx, tx)), tx.Spoiled)
		done = err == nil
		return nil, err
	})
	ending.ended(err != nil && !(done && commitUnknown(err)))
	return err
}

// checkTransactions asks the server for transactions, because some servers accept a
// transaction but apply its writes at once. It returns the initial state of a
// transaction.
func checkTransactions(ctx context.Context, db DB) (*runctx.Tx, error) {
	if core.Transacts(db) { // it was asked before
		return &runctx.Tx{Together: core.SendsTogether(db)}, nil
	}
	h, err := askHello(ctx, db)
	if err == nil && h.SetName == "" && h.Msg != "isdbgrid" {
		err = ErrNoTransactions
	}
	return &runctx.Tx{Together: h.WireVersion >= helloSince80}, err
}

// helloSince80 is the wire version of MongoDB 8.0, the first version with bulkWrite.
const helloSince80 = 25

// A serverHello is the server's reply to hello.
type serverHello struct {
	SetName     string `bson:"setName"`
	Msg         string `bson:"msg"`
	WireVersion int    `bson:"maxWireVersion"`
}

// askHello runs hello outside any session.
func askHello(ctx context.Context, db DB) (h serverHello, err error) {
	observationOf(ctx).sent(1)
	err = db.Client().Database("admin").
		RunCommand(runctx.WithoutSession(ctx), bson.D{{Key: "hello", Value: 1}}).Decode(&h)
	return h, err
}
