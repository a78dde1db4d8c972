package denorm

import (
	"github.com/docmodel/docmodel/denorm/internal/eventlog"
	"github.com/docmodel/docmodel/denorm/internal/history"
	"github.com/docmodel/docmodel/denorm/internal/inbox"
	"github.com/docmodel/docmodel/denorm/internal/outlier"
	"github.com/docmodel/docmodel/denorm/internal/slots"
	"github.com/docmodel/docmodel/denorm/internal/stored"
)

// ErrUnsound says that an owner's array and overflow contradict each other.
// [Outlier.Append] and [Outlier.Remove] return it. If the array is over Max without
// overflow, run [Outlier.Split]. If overflow exists without the flag, run the job of the
// first of [Outlier.Checks].
var ErrUnsound = outlier.ErrUnsound

// A ShortError says that a stock has less than [Slots.Take] asks for. It wraps
// model.ErrFull.
type ShortError = slots.ShortError

var (
	// ErrToken says that a token was used for another event of an [Outbox], [Inbox] or
	// [EventLog], or another amount of [Slots]. It wraps model.ErrTaken.
	ErrToken = stored.ErrToken

	// ErrEarlier says that the caller's time is before the last stored time, because
	// clocks differ. A [History] and an [EventLog] return it.
	ErrEarlier = stored.ErrEarlier

	// ErrHandled says that an event was already handled. It wraps model.ErrTaken.
	// [Inbox.Once] returns it.
	ErrHandled = inbox.ErrHandled

	// ErrNoRevision says that a version isn't stored. It wraps model.ErrNotFound.
	// [History.Restore] returns it.
	ErrNoRevision = history.ErrNoRevision

	// ErrVersion says that an aggregate of an [EventLog] isn't at the expected version.
	// It wraps model.ErrStale: load the state and decide again.
	ErrVersion = eventlog.ErrVersion

	// ErrGap says that commits of an [EventLog] are missing, so that no state can be
	// computed.
	ErrGap = eventlog.ErrGap
)
