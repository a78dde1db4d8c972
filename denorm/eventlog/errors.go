package eventlog

import (
	"errors"
	"fmt"

	"github.com/docmodel/docmodel/denorm/internal/stored"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

var (
	// ErrVersion says that an aggregate isn't at the passed version. If [EventLog.Append]
	// returns it, load and decide again. ErrVersion wraps model.ErrStale.
	ErrVersion = fmt.Errorf("docmodel: the aggregate is at another version: %w", model.ErrStale)

	// ErrGap says that commits of an [EventLog] are missing or damaged.
	ErrGap = errors.New("docmodel: events are missing from the log")
)

// A described error adds the value that an error is about.
type described struct {
	text string
	is   error
}

func (e *described) Error() string { return "docmodel: " + e.text }

func (e *described) Unwrap() error { return e.is }

// describeError returns an error that wraps is, with the name of the collection.
func (l *untypedLog) describeError(is error, format string, args ...any) error {
	return &described{l.Docs.Name() + ": " + fmt.Sprintf(format, args...), is}
}

// refuseReused is the error for a token that belongs to another append.
func (l *untypedLog) refuseReused(op bson.ObjectID) error {
	return l.describeError(stored.ErrToken, "the token %s belongs to another append", model.Shell(op))
}

// refuseVersion is the error for a version that isn't the expected one. actual is -1 if
// another append was first and its version is unknown.
func (l *untypedLog) refuseVersion(k logKey, expected, actual int64) error {
	is := fmt.Sprintf("it is at version %d", actual)
	if actual < 0 {
		is = "another append came first"
	}
	return l.describeError(ErrVersion, "%s was expected at version %d, but %s", k, expected, is)
}
