// Package runctx has what a context tells everything that runs with it. Package model marks contexts, and reads the
// marks where it sends commands. Techniques read them to choose how they work.
//
//	mark                          what it says                              who reads it
//	Deciding, Lasting             the reads of this context decide a write  package model: it reads at the primary
//	WithFence                     the number of a change under a lease      techniques that store it
//	WithToken, BeginAction        which request and action this is          stores and techniques with tokens
//	InTx                          what is known of the transaction          package model, [Hope]
//	First                         this is the first attempt of a change     [HopeFirst]
//
// # Transactions
//
// The driver's session is in the context too. [InTransaction] sees it, whoever began the transaction. [TxOf] returns
// what package model knows of a transaction that it runs itself. A technique may leave out a read that seldom matters
// (tx.go): the transaction runs again with the read if it did matter.
//
// # Tokens
//
// A request that a client repeats must not have its effect twice. The client names the request by a token
// ([WithToken]), each action of the request derives its own token from it, and each write one of the action's
// (token.go). They are equal in each run of the request.
//
// A nil context stays nil and has no marks: package model refuses to run with it.
package runctx

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/mongo"
)

type (
	decidingKey struct{}
	lastingKey  struct{}
)

// addValue returns the context with a value. A nil context stays nil: what would run with it is refused.
func addValue(ctx context.Context, key, value any) context.Context {
	if ctx == nil {
		return nil
	}
	return context.WithValue(ctx, key, value)
}

// isMarked reports whether the value of a key is true.
func isMarked(ctx context.Context, key any) bool {
	if ctx == nil {
		return false
	}
	on, _ := ctx.Value(key).(bool)
	return on
}

// Deciding marks a context whose reads decide a write. Package model sends such reads to
// the primary, whatever read preference the database or the query asks for: a secondary
// may be behind, and a write that was decided from it may overwrite what it never saw.
func Deciding(ctx context.Context) context.Context {
	if Decides(ctx) {
		return ctx
	}
	return addValue(ctx, decidingKey{}, true)
}

// Decides reports whether the context is marked by [Deciding].
func Decides(ctx context.Context) bool {
	return isMarked(ctx, decidingKey{})
}

// Lasting marks a context whose reads must not be rolled back: they say that an operation
// was applied, and nobody will apply it again.
func Lasting(ctx context.Context) context.Context {
	return addValue(Deciding(ctx), lastingKey{}, true)
}

// Lasts reports whether the context is marked by [Lasting].
func Lasts(ctx context.Context) bool {
	return isMarked(ctx, lastingKey{})
}

// WithoutSession returns the context without the driver's session: what is run under it has no part in the transaction
// that may be running, and is kept if that is taken back. All else of the context stays.
func WithoutSession(ctx context.Context) context.Context { return noSession{ctx} }

type noSession struct{ context.Context }

func (c noSession) Value(key any) any {
	v := c.Context.Value(key)
	if _, isSession := v.(*mongo.Session); isSession {
		return nil
	}
	return v
}

type fenceKey struct{}

// WithFence returns the context of a change under a lease, with the change's number.
func WithFence(ctx context.Context, number int64) context.Context {
	return addValue(ctx, fenceKey{}, number)
}

// Fence returns the number of the change under a lease, or 0 outside such a change.
func Fence(ctx context.Context) int64 {
	if ctx == nil {
		return 0
	}
	n, _ := ctx.Value(fenceKey{}).(int64)
	return n
}
