package engine

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/engine/store"
	"github.com/docmodel/docmodel/internal/mongoerr"
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
	mongoerr.NotPrimaryNoSecondaryOk, mongoerr.NotPrimaryOrSecondary, 134, 9001,
}

// resumable lists the further codes after which a driver may open a change
// stream anew where it ended.
var resumable = []int32{mongoerr.StaleShardVersion, 133, 150, 234, 13388}

const resumableChangeStreamError = "ResumableChangeStreamError"

const retryableWriteError = "RetryableWriteError"

// label gives an error that has no labels those that a server would add: in a
// transaction TransientTransactionError, else RetryableWriteError for a write
// that may be sent again. Give an error an empty list of labels to prevent it.
func (r *request) label(e *mongoerr.Error) *mongoerr.Error {
	if e.Labels != nil {
		return e
	}
	labelled := *e
	ends := r.name == "commitTransaction" || r.name == "abortTransaction"
	again := slices.Contains(retryable, e.Code)
	switch {
	case r.inTransaction() && !ends && (again || transientCode(e.Code)),
		ends && e.Code == mongoerr.NoSuchTransaction:
		labelled.Labels = []string{store.TransientTransactionError}
	case again && (ends || r.hasNumber && !r.inTransaction()):
		labelled.Labels = []string{retryableWriteError}
	case r.watching && (again || slices.Contains(resumable, e.Code)):
		labelled.Labels = []string{resumableChangeStreamError}
	}
	return &labelled
}

func transientCode(code int32) bool {
	switch code {
	case mongoerr.WriteConflict, mongoerr.LockTimeout, mongoerr.SnapshotUnavailable, mongoerr.NoSuchTransaction:
		return true
	}
	return false
}
