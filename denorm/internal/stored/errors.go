package stored

import (
	"errors"
	"fmt"

	"github.com/docmodel/docmodel/model"
)

var (
	// ErrToken says that an operation's token was used before, for something else.
	ErrToken = fmt.Errorf("docmodel: the token was used for something else: %w", model.ErrTaken)

	// ErrEarlier says that something happened before what is stored last, by the times that the callers gave.
	ErrEarlier = errors.New("docmodel: the time is before the time of the last change: check the clock")
)
