package eventlog

import (
	"errors"
	"fmt"

	"github.com/docmodel/docmodel/denorm/internal/stored"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

var (
	ErrVersion = fmt.Errorf("docmodel: the aggregate is at another version: %w", model.ErrStale)
	ErrGap     = errors.New("docmodel: events are missing from the log")
)

// A described error says which value an error is about.
type described struct {
	text string
	is   error
}

func (e *described) Error() string { return "docmodel: " + e.text }

func (e *described) Unwrap() error { return e.is }

func (l *Log) errorf(is error, format string, args ...any) error {
	return &described{l.Docs.Name() + ": " + fmt.Sprintf(format, args...), is}
}

// reused is the error of a token that belongs to another append.
func (l *Log) reused(op bson.ObjectID) error {
	return l.errorf(stored.ErrToken, "the token %s belongs to another append", model.Shell(op))
}

// versionError says which version was expected. actual is -1 where another append was first and nothing more is known.
func (l *Log) versionError(k Key, expected, actual int64) error {
	is := fmt.Sprintf("it is at version %d", actual)
	if actual < 0 {
		is = "another append came first"
	}
	return l.errorf(ErrVersion, "%s was expected at version %d, but %s", k, expected, is)
}
