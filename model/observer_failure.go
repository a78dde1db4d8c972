package model

import (
	"context"
	"errors"

	"go.mongodb.org/mongo-driver/v2/mongo"
)

// failures are the kinds of errors that an [Operation] can have, the most specific first.
var failures = []struct {
	kind string
	is   func(error) bool
}{
	{"stale", isError(ErrStale)},
	{"not found", isError(ErrNotFound)},
	{"full", isError(ErrFull)},
	{"taken", isError(ErrTaken)},
	{"value", asError[*ValueError]},
	{"conflict", asError[*ConflictError]},
	{"transactional", isError(ErrTransactional)},
	{"no transactions", isError(ErrNoTransactions)},
	{"leased", isError(ErrLeased)},
	{"left", asError[*LeftError]},
	{"duplicate key", mongo.IsDuplicateKeyError},
	{"canceled", isError(context.Canceled)},
	{"timeout", func(err error) bool { return errors.Is(err, context.DeadlineExceeded) || mongo.IsTimeout(err) }},
	{"network", mongo.IsNetworkError},
	{"server", asError[mongo.ServerError]},
}

// failureOf returns the kind of an error. It doesn't use the error's text, which can
// contain values.
func failureOf(err error) string {
	if err == nil {
		return ""
	}
	for _, f := range failures {
		if f.is(err) {
			return f.kind
		}
	}
	return "other"
}

func isError(target error) func(error) bool {
	return func(err error) bool { return errors.Is(err, target) }
}

func asError[E error](err error) bool {
	var target E
	return errors.As(err, &target)
}
