package engine

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/store"
)

// concernError is the field of a reply that says why a write concern wasn't met.
func concernError(e *mongoerr.Error) bson.E {
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

// label gives an error that has no labels those that a server would add: in a
// transaction TransientTransactionError, else RetryableWriteError for a write
// that may be sent again. Give an error an empty list of labels to prevent it.
func (r *request) label(e *mongoerr.Error) *mongoerr.Error {
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
	case r.inTransaction() && (transientCode(e.Code) || again && !r.ends()), r.ends() &&
		e.Code == mongoerr.NoSuchTransaction:
		labelled.Labels = []string{store.TransientTransactionError}
	case r.sendsAgain(e.Code):
		labelled.Labels = []string{retryableWriteError}
	case r.watching && (again || slices.Contains(resumable, e.Code)):
		labelled.Labels = []string{resumableChangeStreamError}
	}
	return &labelled
}

// ends reports whether the command ends a transaction.
func (r *request) ends() bool { return r.name == "commitTransaction" || r.name == "abortTransaction" }

// sendsAgain reports whether the driver may send the command again after an error of that code.
func (r *request) sendsAgain(code int32) bool {
	return slices.Contains(retryable, code) && (r.ends() || r.hasNumber && !r.inTransaction())
}

// transientCode reports whether the code says that the transaction has left nothing, so that all of it may be run
// again.
func transientCode(code int32) bool {
	switch code {
	case mongoerr.WriteConflict, mongoerr.LockTimeout, mongoerr.SnapshotUnavailable, mongoerr.NoSuchTransaction,
		mongoerr.SnapshotTooOld, mongoerr.StaleChunkHistory, mongoerr.PreparedTransactionInProgress,
		mongoerr.MigrationConflict:
		return true
	}
	return false
}
