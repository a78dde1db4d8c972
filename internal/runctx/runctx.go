// Package runctx holds what a context tells everything that runs with it: that its reads
// decide a write.
package runctx

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/mongo"
)

type (
	decidingKey struct{}
	lastingKey  struct{}
)

// with marks a context. A nil one stays nil: what would run with it is refused.
func with(ctx context.Context, key, value any) context.Context {
	if ctx == nil {
		return nil
	}
	return context.WithValue(ctx, key, value)
}

func marked(ctx context.Context, key any) bool {
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
	return with(ctx, decidingKey{}, true)
}

// Decides reports whether the context is marked by [Deciding].
func Decides(ctx context.Context) bool {
	return marked(ctx, decidingKey{})
}

// Lasting marks a context whose reads must not be rolled back: they say that an operation
// was applied, and nobody will apply it again.
func Lasting(ctx context.Context) context.Context {
	return with(Deciding(ctx), lastingKey{}, true)
}

// Lasts reports whether the context is marked by [Lasting].
func Lasts(ctx context.Context) bool {
	return marked(ctx, lastingKey{})
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
	return with(ctx, fenceKey{}, number)
}

// Fence returns the number of the change under a lease, or 0 outside such a change.
func Fence(ctx context.Context) int64 {
	if ctx == nil {
		return 0
	}
	n, _ := ctx.Value(fenceKey{}).(int64)
	return n
}
