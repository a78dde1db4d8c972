package model

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// RunTx runs the plan in a transaction: all of it is applied, or none. A transaction that the context's session is
// already running is joined, never nested: then its owner commits, and nothing is retried here. The driver retries the
// whole transaction when the server labels an error as transient, and the commit when its outcome is not known. ErrStale
// aborts it.
//
// A server without transactions is refused with [ErrNoTransactions] before anything is written: some accept a
// transaction and apply its writes at once.
func (p Plan) RunTx(ctx context.Context, db *mongo.Database) (Result, error) {
	batches, err := p.split()
	if err != nil {
		return newResult(p), err
	}
	if len(batches) == 0 {
		return newResult(p), nil
	}
	var result Result
	err = inTx(ctx, db, func(ctx context.Context) error {
		var err error
		result, err = p.send(ctx, db, batches)
		return err
	})
	if result.Steps == nil {
		result = newResult(p)
	}
	if err != nil {
		result = rolledBack(result)
	}
	return result, err
}

// rolledBack says that no step of an aborted transaction was applied. Where the commit's outcome is not known, Unknown
// is what remains true of the last command.
func rolledBack(r Result) Result {
	for i := range r.Steps {
		if r.Steps[i].Status == Applied {
			r.Steps[i].Status = NotSent
		}
	}
	r.Batches = nil
	return r
}

// InTx runs f in a transaction: the one that the context's session is running, or a new one. Give f's context to
// everything that shall take part. It returns [ErrNoTransactions] for a server that has none; f is then not called.
// f may be called again, when the server asks for the whole transaction to be retried.
func InTx(ctx context.Context, db *mongo.Database, f func(context.Context) error) error {
	return inTx(ctx, db, f)
}

func inTx(ctx context.Context, db *mongo.Database, f func(context.Context) error) error {
	if err := checkTransactions(ctx, db); err != nil {
		return err
	}
	if inTransaction(ctx) {
		return f(ctx)
	}
	session := mongo.SessionFromContext(ctx)
	if session == nil {
		var err error
		if session, err = db.Client().StartSession(); err != nil {
			return err
		}
		defer session.EndSession(context.WithoutCancel(ctx))
	}
	_, err := session.WithTransaction(ctx, func(ctx context.Context) (any, error) { return nil, f(ctx) })
	return err
}

// inTransaction reports whether the context's session is running a transaction.
func inTransaction(ctx context.Context) bool {
	s := mongo.SessionFromContext(ctx)
	return s != nil && s.TransactionRunning()
}

// checkTransactions asks the server what it is, outside any session.
func checkTransactions(ctx context.Context, db *mongo.Database) error {
	var hello struct {
		SetName string `bson:"setName"`
		Msg     string `bson:"msg"`
	}
	err := db.Client().Database("admin").RunCommand(noSession{ctx}, bson.D{{Key: "hello", Value: 1}}).Decode(&hello)
	if err != nil {
		return err
	}
	if hello.SetName == "" && hello.Msg != "isdbgrid" {
		return ErrNoTransactions
	}
	return nil
}

// noSession is a context without its session, for hello takes part in no transaction.
type noSession struct{ context.Context }

func (noSession) Value(any) any { return nil }
