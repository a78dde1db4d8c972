package stored

import (
	"errors"
	"fmt"

	"github.com/docmodel/docmodel/model"
)

var (
	// ErrToken says that an operation's token was used before, for another operation.
	ErrToken = fmt.Errorf("docmodel: the token was used for something else: %w", model.ErrTaken)

	// ErrEarlier says that a change is before the last stored change, by the callers'
	// times.
	ErrEarlier = errors.New("docmodel: the time is before the time of the last change: check the clock")
)
