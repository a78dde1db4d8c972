package engine

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/store"
)

// describeConcernError returns the reply's field for a write concern that wasn't met.
func describeConcernError(e *mongoerr.Error) bson.E {
	return bson.E{Key: "writeConcernError", Value: bson.D{
		{Key: "code", Value: e.Code}, {Key: "codeName", Value: e.Name}, {Key: "errmsg", Value: e.Message},
	}}
}

// retryable lists the codes after which a driver may send a command again.
var retryable = []int32{
	mongoerr.HostUnreachable, mongoerr.HostNotFound, mongoerr.NetworkTimeout, mongoerr.ShutdownInProgress,
	mongoerr.PrimarySteppedDown, mongoerr.ExceededTimeLimit, mongoerr.NotWritablePrimary,
	mongoerr.InterruptedAtShutdown, mongoerr.InterruptedDueToReplStateChange,
	mongoerr.NotPrimaryNoSecondaryOk, mongoerr.NotPrimaryOrSecondary,
	mongoerr.ReadConcernMajorityNotAvailableYet, mongoerr.SocketException,
}

// resumable lists the further codes after which a driver may open a change
// stream anew where it ended.
var resumable = []int32{
	mongoerr.StaleShardVersion, mongoerr.FailedToSatisfyReadPreference, mongoerr.StaleEpoch, mongoerr.RetryChangeStream,
	mongoerr.StaleConfig,
}

const resumableChangeStreamError = "ResumableChangeStreamError"

const retryableWriteError = "RetryableWriteError"

// addLabels gives an error without labels those that a server would add: in a transaction TransientTransactionError,
// otherwise RetryableWriteError for a write that may be sent again. An empty list of labels prevents it.
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
	case r.inTransaction() && (isTransient(e.Code) || again && !r.endsTransaction()), r.endsTransaction() &&
		e.Code == mongoerr.NoSuchTransaction:
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

// isSentAgain reports whether a driver sends the command again after an error of that code.
func (r *request) isSentAgain(code int32) bool {
	return slices.Contains(retryable, code) && (r.endsTransaction() || r.hasNumber && !r.inTransaction())
}

// isTransient reports whether a transaction with an error of that code has left nothing, so that it can run again.
func isTransient(code int32) bool {
	switch code {
	case mongoerr.WriteConflict, mongoerr.LockTimeout, mongoerr.SnapshotUnavailable, mongoerr.NoSuchTransaction,
		mongoerr.SnapshotTooOld, mongoerr.StaleChunkHistory, mongoerr.PreparedTransactionInProgress,
		mongoerr.MigrationConflict:
		return true
	}
	return false
}
