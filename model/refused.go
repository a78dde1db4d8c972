package model

import (
	"context"
	"errors"
	"slices"

	"github.com/docmodel/docmodel/internal/runctx"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// refusals are the error codes with which a server refuses a write command before it
// executes it, because it can't parse or doesn't permit the command. An error of a single
// statement isn't a command error but a write error.
var refusals = []int32{
	2,     // BadValue
	9,     // FailedToParse
	13,    // Unauthorized
	14,    // TypeMismatch
	18,    // AuthenticationFailed
	20,    // IllegalOperation
	21,    // EmptyArrayOperation
	22,    // InvalidBSON
	59,    // CommandNotFound
	72,    // InvalidOptions
	73,    // InvalidNamespace
	115,   // CommandNotSupported
	166,   // CommandNotSupportedOnView
	224,   // APIMismatchError
	263,   // OperationNotSupportedInTransaction
	322,   // APIVersionError
	323,   // APIStrictError
	40414, // a missing field
	40415, // an unknown field
}

// wroteNothing reports whether a failed write command certainly wrote nothing. If a
// server is interrupted, steps down or times out during an ordered command, it has
// applied the first statements but returns only an error.
func wroteNothing(ctx context.Context, err error) bool {
	var cmd mongo.CommandError
	switch {
	case !errors.As(err, &cmd) || cmd.HasErrorLabel("NetworkError"):
		return false
	case runctx.InTransaction(ctx): // the error aborted the transaction
		return true
	}
	return cmd.HasErrorLabel("NoWritesPerformed") || slices.Contains(refusals, cmd.Code)
}
