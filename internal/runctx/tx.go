package runctx

import "context"

// A Tx is what is known of a transaction that package model runs.
type Tx struct {
	// Together says that the server takes the writes of several collections in one command.
	Together bool

	// Spoiled is the error of a plan that ended after steps that come later in it were written. The transaction can't be kept.
	Spoiled error

	// Again says that the transaction has to be run again, and each command waited for before the next is sent: an error that
	// aborted it hides whether a step before was applied.
	Again bool
}

type txKey struct{}

// InTx returns the context of what runs in a transaction.
func InTx(ctx context.Context, tx *Tx) context.Context { return context.WithValue(ctx, txKey{}, tx) }

// TxOf is the transaction of a context, or nil. Ask first whether the context's session runs one.
func TxOf(ctx context.Context) *Tx {
	tx, _ := ctx.Value(txKey{}).(*Tx)
	return tx
}
