package denorm

import (
	"github.com/docmodel/docmodel/denorm/internal/eventlog"
	"github.com/docmodel/docmodel/denorm/internal/history"
	"github.com/docmodel/docmodel/denorm/internal/inbox"
	"github.com/docmodel/docmodel/denorm/internal/outlier"
	"github.com/docmodel/docmodel/denorm/internal/slots"
	"github.com/docmodel/docmodel/denorm/internal/stored"
)

// ErrUnsound says that an owner's array and its overflow don't go together, and which operation mends them: the array is over
// Max and has no overflow yet ([Outlier.Split]), or there is overflow and the flag doesn't say so ([Outlier.Checks]).
// [Outlier.Append] and [Outlier.Remove] return it.
var ErrUnsound = outlier.ErrUnsound

// A ShortError says that a stock has less than was to be taken. It wraps model.ErrFull. [Slots.Take] returns it.
type ShortError = slots.ShortError

var (
	// ErrToken says that an operation's token was used before, for something else: an event
	// of an [Outbox], an [Inbox] or an [EventLog], an amount of [Slots]. It wraps
	// model.ErrTaken.
	ErrToken = stored.ErrToken

	// ErrEarlier says that something happened before what is stored last, by the times that
	// the callers gave: a clock runs backwards, or two clocks differ. A [History] and an
	// [EventLog] return it.
	ErrEarlier = stored.ErrEarlier

	// ErrHandled says that an event was handled before: there is nothing left to do for it.
	// It wraps model.ErrTaken. [Inbox.Once] returns it.
	ErrHandled = inbox.ErrHandled

	// ErrNoRevision says that no revision of a version is stored. It wraps model.ErrNotFound.
	// [History.Restore] returns it.
	ErrNoRevision = history.ErrNoRevision

	// ErrVersion says that an aggregate of an [EventLog] is at another version than the caller
	// expects. It wraps model.ErrStale: load the state again, and decide again.
	ErrVersion = eventlog.ErrVersion

	// ErrGap says that commits of an [EventLog] are missing, so that no state can be made.
	ErrGap = eventlog.ErrGap
)
