package denorm

import (
	"github.com/docmodel/docmodel/denorm/internal/eventlog"
	"github.com/docmodel/docmodel/denorm/internal/history"
	"github.com/docmodel/docmodel/denorm/internal/inbox"
	"github.com/docmodel/docmodel/denorm/internal/outlier"
	"github.com/docmodel/docmodel/denorm/internal/slots"
	"github.com/docmodel/docmodel/denorm/internal/stored"
)

// ErrUnsound says that the array and the overflow documents of an [Outlier]'s owner
// contradict each other. [Outlier.Append] and [Outlier.Remove] return it. If the array
// has over Max elements but no overflow, run [Outlier.Split]. If overflow exists but the
// owner's flag isn't set, run the job of the first check in [Outlier.Checks].
var ErrUnsound = outlier.ErrUnsound

// A ShortError says that a stock has less than the amount that [Slots.Take] asks for. It
// wraps model.ErrFull.
type ShortError = slots.ShortError

var (
	// ErrToken says that a token already belongs to another event ([Outbox], [Inbox],
	// [EventLog]) or to another amount ([Slots]). ErrToken wraps model.ErrTaken.
	ErrToken = stored.ErrToken

	// ErrEarlier says that the time given to a [History] or [EventLog] is before the time
	// of the last stored change.
	ErrEarlier = stored.ErrEarlier

	// ErrHandled says that an event was already handled ([Inbox.Once]). ErrHandled wraps
	// model.ErrTaken.
	ErrHandled = inbox.ErrHandled

	// ErrNoRevision says that [History.Restore] can't restore a version. ErrNoRevision
	// wraps model.ErrNotFound.
	ErrNoRevision = history.ErrNoRevision

	// ErrVersion says that an aggregate of an [EventLog] isn't at the expected version:
	// load the state and decide again. ErrVersion wraps model.ErrStale.
	ErrVersion = eventlog.ErrVersion

	// ErrGap says that commits of an [EventLog] are missing.
	ErrGap = eventlog.ErrGap
)
