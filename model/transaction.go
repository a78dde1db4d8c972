package model

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/runctx"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// RunTx runs the plan in a transaction: all of it is applied, or none. A transaction that the context's session is
// already running is joined, never nested: then its owner commits, and nothing is retried here. The driver retries the
// whole transaction when the server labels an error as transient, and the commit when its outcome is not known. ErrStale
// aborts it.
//
// A server without transactions is refused with [ErrNoTransactions] before anything is written: some accept a
// transaction and apply its writes at once. So each run asks by hello first: one command beside those of the plan.
func (p Plan) RunTx(ctx context.Context, db DB) (Result, error) {
	ctx, op := begin(ctx, db, "plan", "", p.firstCollection(), 0)
	defer op.end()
	result, err := p.runTx(ctx, db, op)
	op.ran(result, err)
	return result, err
}

func (p Plan) runTx(ctx context.Context, db DB, op *observation) (Result, error) {
	p = p.inTx().under(db)
	batches, err := p.split()
	op.priced(p, grouped(batches, joiningInTx(core.Together(db) || together(ctx))))
	if err = cmp.Or(err, core.CheckRun(ctx, db), core.CheckDepth(p.Options.Comment)); err != nil {
		return newResult(p), err
	}
	if len(batches) == 0 {
		return newResult(p), nil
	}
	for _, b := range batches {
		if b.merge != nil {
			return newResult(p), &StepError{Step: b.first, Err: errMergeInTx}
		}
	}
	for {
		result, sent := newResult(p), false
		err = inTx(ctx, db, func(ctx context.Context) error {
			var err error
			result, err = p.send(ctx, db, batches)
			sent = err == nil
			return err
		})
		if err == nil || runctx.InTransaction(ctx) { // the owner of a transaction that was joined may still commit it
			return result, err
		}
		own, err := p.explained(ctx, db, err)
		if own < 0 || !p.Repeatable() {
			return p.rolledBack(result, sent && commitUnknown(err)), err
		}
		p.own = append(p.own[:len(p.own):len(p.own)], own)
		if batches, err = p.split(); err != nil || len(batches) == 0 {
			return newResult(p), err
		}
	}
}

// explained is the error of a plan, which is under the scopes of the database, after its own transaction was aborted: what was in the way
// of a write is asked now, for in the transaction nothing could be asked after a duplicate key. own is the step that met what this
// plan writes there: it was applied before. It is -1 for none.
func (p Plan) explained(ctx context.Context, db DB, err error) (own int, _ error) {
	var failed *StepError
	if !mongo.IsDuplicateKeyError(err) || !errors.As(err, &failed) || failed.Step >= len(p.Steps) {
		return -1, err
	}
	w, ok := p.Steps[failed.Step].(Write)
	if !ok {
		return -1, err
	}
	r := &runner{plan: p, db: bare(db), result: newResult(p)}
	switch applied, asked := r.applied(ctx, failed.Step, w); {
	case asked != nil:
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

// rolledBack says what became of the steps of a transaction that failed: nothing, or, where the outcome of its commit is
// not known, that it is not known. Steps that were applied before it stay so.
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

// commitUnknown reports whether an error of a commit leaves open whether it happened.
func commitUnknown(err error) bool {
	var labeled mongo.LabeledError
	if !errors.As(err, &labeled) {
		return true
	}
	return labeled.HasErrorLabel("UnknownTransactionCommitResult") || labeled.HasErrorLabel("NetworkError") || mongo.IsTimeout(err)
}

// WithTransactions returns the database on which each action runs in a transaction of its own: each attempt of a [Change], and each plan
// that isn't atomic by itself ([Plan.Guarantee]). A cut leaves all of the action, or nothing. WithTransactions asks the server once, by
// hello, and returns [ErrNoTransactions] if the server has none. A [Job], a [Stream], a [Change] that [Change.Mends] and a plan
// with a [MergeInto] run as they do without transactions. A [Change] under a [Lease] (a tree's) only counts its number up.
//
// A plan whose insert meets an equal document under its _id is run again without that insert, if it is [Plan.Repeatable]: it was kept, and the
// answer was lost. In a Change, and in a plan that isn't, it gives the server's duplicate-key error.
//
// Cost: [Plan.CostTx], and one command more for each transaction, its commit.
func WithTransactions(ctx context.Context, db DB) (DB, error) {
	if err := core.CheckRun(ctx, db); err != nil {
		return nil, err
	}
	tx, err := checkTransactions(ctx, db)
	if err != nil {
		return nil, err
	}
	h := core.HandleOf(db)
	if list := scopesOf(db); len(list) > 0 {
		h.Scopes = list
	}
	h.Tx, h.Together = true, tx.Together
	return h, nil
}

// applied reports whether a write is there as this plan writes it: it may be its own, of a run whose commit nobody heard of.
func (r *runner) applied(ctx context.Context, step int, w Write) (bool, error) {
	if w.Done != nil {
		return r.holds(ctx, w.Collection, w.Done)
	}
	m, ok := w.Model.(*mongo.InsertOneModel)
	if !ok {
		return false, nil
	}
	doc, ok := m.Document.(bson.Raw)
	if !ok {
		return false, nil
	}
	id := And(bson.D{{Key: "_id", Value: Eq(doc.Lookup("_id"))}}, w.tenant)
	stored, err := collectionOf(runctx.Deciding(ctx), r.db, nil, w.Collection).FindOne(ctx, id).Raw()
	if errors.Is(err, mongo.ErrNoDocuments) {
		return false, nil
	}
	return err == nil && touchedAfter(r.plan.Steps[step+1:], w.Collection).and(w.stamped()).same(stored, doc), err
}

// InTx runs f in a transaction: the one that the context's session is running, or a new one. Give f's context to
// everything that shall take part. It returns [ErrNoTransactions] for a server that has none, which one command, hello, asks
// each time; f is then not called. f may be called again, when the server asks for the whole transaction to be retried; not for
// [ErrStale], which a [Change] within a transaction gives at once, for it would read the same again: call InTx anew. A plan of several
// commands that ended with ErrStale is the error of InTx too, if f returns nil in spite of it: the steps after the stale one were sent with
// it, as one command.
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
		case between != nil:
			tx.Between = nil
			if err := between(ctx); err != nil {
				return err
			}
		case tx.Hoped && !tx.Sure:
			tx.Sure = true
		default:
			tx.Together = false
		}
		tx.Again = false
		err = transact(ctx, session, tx, f)
	}
	return err
}

// transact runs f in a new transaction, which is not kept if f's error is nil, but a plan in it was spoiled.
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

// checkTransactions asks the server what it is, and returns what a transaction on it begins with.
func checkTransactions(ctx context.Context, db DB) (*runctx.Tx, error) {
	if core.Transacts(db) { // it was asked
		return &runctx.Tx{Together: core.Together(db)}, nil
	}
	h, err := askHello(ctx, db)
	if err == nil && h.SetName == "" && h.Msg != "isdbgrid" {
		err = ErrNoTransactions
	}
	return &runctx.Tx{Together: h.WireVersion >= helloSince80}, err
}

// helloSince80 is the wire version of MongoDB 8.0, the first that has bulkWrite.
const helloSince80 = 25

// A serverHello is what a server says of itself.
type serverHello struct {
	SetName     string `bson:"setName"`
	Msg         string `bson:"msg"`
	WireVersion int    `bson:"maxWireVersion"`
}

// askHello asks the server what it is, outside any session.
func askHello(ctx context.Context, db DB) (h serverHello, err error) {
	observationOf(ctx).sent(1)
	err = db.Client().Database("admin").RunCommand(runctx.WithoutSession(ctx), bson.D{{Key: "hello", Value: 1}}).Decode(&h)
	return h, err
}
