package engine

// This file adds error labels to errors. A driver decides by them whether it runs a command or a transaction again
// (https://www.mongodb.com/docs/manual/reference/error-codes/, and the driver's specifications of retryable writes,
// transactions and change streams).

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/store"
)

// describeConcernError returns the field writeConcernError of the reply, for a write concern that wasn't satisfied.
func describeConcernError(e *mongoerr.Error) bson.E {
	return bson.E{Key: "writeConcernError", Value: bson.D{
		{Key: "code", Value: e.Code}, {Key: "codeName", Value: e.Name}, {Key: "errmsg", Value: e.Message},
	}}
}

// retryable lists the codes after which a driver may send a retryable write again.
var retryable = []int32{
	mongoerr.HostUnreachable, mongoerr.HostNotFound, mongoerr.NetworkTimeout, mongoerr.ShutdownInProgress,
	mongoerr.PrimarySteppedDown, mongoerr.ExceededTimeLimit, mongoerr.NotWritablePrimary,
	mongoerr.InterruptedAtShutdown, mongoerr.InterruptedDueToReplStateChange,
	mongoerr.NotPrimaryNoSecondaryOk, mongoerr.NotPrimaryOrSecondary,
	mongoerr.ReadConcernMajorityNotAvailableYet, mongoerr.SocketException,
}

// resumable lists the codes, beside retryable, after which a driver may open a change stream again at its last token.
var resumable = []int32{
	mongoerr.StaleShardVersion, mongoerr.FailedToSatisfyReadPreference, mongoerr.StaleEpoch, mongoerr.RetryChangeStream,
	mongoerr.StaleConfig,
}

// Labels beside store.TransientTransactionError.
const (
	resumableChangeStreamError = "ResumableChangeStreamError" // a change stream can be opened again
	retryableWriteError        = "RetryableWriteError"        // a write can be sent again with its number
)

// addLabels returns the error with the labels that a server would add: in a transaction TransientTransactionError, for
// a write that may be sent again RetryableWriteError, for a change stream ResumableChangeStreamError. An error that has
// labels keeps them, and so does an error with an empty list: a fail point can ask for no labels.
func (r *request) addLabels(e *mongoerr.Error) *mongoerr.Error {
	if r.labels != nil {
		labelled := *e
		labelled.Labels = r.labels
		return &labelled
	}
	if e.Labels != nil {
		return e
	}
	labelled := *e
	again := slices.Contains(retryable, e.Code)
	switch {
	// A commit that failed by the network may have happened, so the whole transaction must not run again.
	case r.inTransaction() && (isTransient(e.Code) || again && !r.endsTransaction()),
		r.endsTransaction() && e.Code == mongoerr.NoSuchTransaction:
		labelled.Labels = []string{store.TransientTransactionError}
	case r.isSentAgain(e.Code):
		labelled.Labels = []string{retryableWriteError}
	case r.watching && (again || slices.Contains(resumable, e.Code)):
		labelled.Labels = []string{resumableChangeStreamError}
	}
	return &labelled
}

// endsTransaction reports whether the command ends a transaction.
func (r *request) endsTransaction() bool {
	return r.name == "commitTransaction" || r.name == "abortTransaction"
}

// isSentAgain reports whether a driver sends the command again after an error of that code: a retryable write, or the
// end of a transaction.
func (r *request) isSentAgain(code int32) bool {
	return slices.Contains(retryable, code) && (r.endsTransaction() || r.hasNumber && !r.inTransaction())
}

// isTransient reports whether a transaction with an error of that code has stored nothing, so that the whole
// transaction can run again.
func isTransient(code int32) bool {
	switch code {
	case mongoerr.WriteConflict, mongoerr.LockTimeout, mongoerr.SnapshotUnavailable, mongoerr.NoSuchTransaction,
		mongoerr.SnapshotTooOld, mongoerr.StaleChunkHistory, mongoerr.PreparedTransactionInProgress,
		mongoerr.MigrationConflict:
		return true
	}
	return false
}
