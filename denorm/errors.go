package denorm

import "github.com/docmodel/docmodel/denorm/internal/stored"

var (
	// ErrToken says that a different operation used the token (packages outbox, inbox,
	// eventlog and slots). ErrToken wraps model.ErrTaken.
	ErrToken = stored.ErrToken

	// ErrEarlier says that a time is before the last change (packages history and
	// eventlog).
	ErrEarlier = stored.ErrEarlier
)
