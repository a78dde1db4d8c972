package changestream

import "github.com/docmodel/docmodel/internal/mongoerr"

// newHistoryLost returns the error of a position whose changes the store has forgotten.
func newHistoryLost() error {
	return newFatalError(mongoerr.ChangeStreamHistoryLost,
		"Resume of change stream was not possible, as the resume point may no longer be in the oplog.")
}

// newFatalError returns an error after which the driver doesn't resume the stream.
func newFatalError(code int32, format string, args ...any) error {
	err := mongoerr.New(code, format, args...)
	err.Labels = []string{"NonResumableChangeStreamError"}
	return err
}
