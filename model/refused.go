package model

import (
	"context"
	"errors"
	"slices"

	"github.com/docmodel/docmodel/internal/runctx"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// refusals are the codes of errors that the server raises before it executes a write command: it couldn't parse the command, or
// doesn't permit it. An error of a single statement is a write error, and not the command's.
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
	40414, // a field is missing
	40415, // an unknown field
}

// wroteNothing reports whether a failed write command is known to have written nothing. A server that is interrupted, steps down or
// runs out of time in the middle of an ordered command has applied its first statements, and answers with an error only.
func wroteNothing(ctx context.Context, err error) bool {
	var cmd mongo.CommandError
	switch {
	case !errors.As(err, &cmd) || cmd.HasErrorLabel("NetworkError"):
		return false
	case runctx.InTransaction(ctx): // the error has aborted the transaction
		return true
	}
	return cmd.HasErrorLabel("NoWritesPerformed") || slices.Contains(refusals, cmd.Code)
}
