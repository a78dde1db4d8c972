package runctx

import (
	"context"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A Tx is what is known of a transaction that package model runs. Everything that runs in the transaction shares it.
type Tx struct {
	// Together says that the server takes the writes of several collections in one command.
	Together bool

	// Spoiled is the error of a plan that ended after steps that come later in it were written. The transaction can't
	// be kept.
	Spoiled error

	// Again says that the transaction has to be run again, in a surer way: by reads before writes if something was
	// hoped for, else with each command waited for before the next is sent.
	Again bool

	// Hoped says that something was written without the reads that say whether it is right: see [Hope].
	Hoped bool

	// Sure says that nothing may be hoped for.
	Sure bool

	// Alone says that one change began the transaction, and that nothing else runs in it. So the change may write
	// before it reads.
	Alone bool

	// ReadFirst says that the change must read before it writes.
	ReadFirst bool

	// Between, if it is not nil, has to run before the transaction is run again: it waits for a lease that another
	// holds.
	Between func(context.Context) error
	// Waited is when it first had to wait.
	Waited time.Time
}

type txKey struct{}

// InTx returns the context of what runs in a transaction.
func InTx(ctx context.Context, tx *Tx) context.Context { return context.WithValue(ctx, txKey{}, tx) }

// InTransaction reports whether the context's session is running a transaction.
func InTransaction(ctx context.Context) bool {
	if ctx == nil {
		return false
	}
	s := mongo.SessionFromContext(ctx)
	return s != nil && s.TransactionRunning()
}

// TxOf is the transaction that the context's session is running, or nil if it runs none, or one that the caller began
// with the driver.
func TxOf(ctx context.Context) *Tx {
	if !InTransaction(ctx) {
		return nil
	}
	tx, _ := ctx.Value(txKey{}).(*Tx)
	return tx
}

// Hope reports whether what runs in the transaction may leave out a read that only seldom matters. It has to write so
// that the plan ends with a stale step or a duplicate key if it did matter: then the transaction is run again, and Hope
// reports false.
func Hope(ctx context.Context) bool { return TxOf(ctx).Hope() }

// Hope is the function [Hope] for a transaction, or nil.
func (tx *Tx) Hope() bool {
	if tx == nil || tx.Sure {
		return false
	}
	tx.Hoped = true
	return true
}

type firstKey struct{}

// First marks the context of a change's attempt: whether it is the first one.
func First(ctx context.Context, first bool) context.Context {
	if first == isMarked(ctx, firstKey{}) {
		return ctx
	}
	return addValue(ctx, firstKey{}, first)
}

// HopeFirst is [Hope] for changes that run outside transactions too: there it reports whether this is the first attempt
// of the change. What was read must then differ from what a read finds, for a change that reads the same again gives
// up.
func HopeFirst(ctx context.Context) bool {
	if InTransaction(ctx) {
		return Hope(ctx)
	}
	return IsFirst(ctx) && !Lasts(ctx)
}

// IsFirst reports whether the context is that of a change's first attempt.
func IsFirst(ctx context.Context) bool { return isMarked(ctx, firstKey{}) }
