package denorm

import (
	"github.com/docmodel/docmodel/denorm/internal/eventlog"
	"github.com/docmodel/docmodel/denorm/internal/history"
	"github.com/docmodel/docmodel/denorm/internal/inbox"
	"github.com/docmodel/docmodel/denorm/internal/outlier"
	"github.com/docmodel/docmodel/denorm/internal/slots"
	"github.com/docmodel/docmodel/denorm/internal/stored"
)

// ErrUnsound is an error of [Outlier.Append] and [Outlier.Remove]. The owner's flag
// (OutlierSpec.Flag) isn't set, but one of these is true:
//   - The array has over OutlierSpec.Max elements. Run [Outlier.Split].
//   - The call found overflow documents. Run the job of the first check in
//     [Outlier].Checks.
var ErrUnsound = outlier.ErrUnsound

// A ShortError says that a stock has less than the amount that [Slots.Take] asks for. It
// wraps model.ErrFull.
type ShortError = slots.ShortError

var (
	// ErrToken says that a different operation used the token ([Outbox], [Inbox],
	// [EventLog], [Slots]). ErrToken wraps model.ErrTaken.
	ErrToken = stored.ErrToken

	// ErrEarlier says that a time is before the last change ([History], [EventLog]).
	ErrEarlier = stored.ErrEarlier

	// ErrHandled says that [Inbox.Once] got an event that was handled before. ErrHandled
	// wraps model.ErrTaken.
	ErrHandled = inbox.ErrHandled

	// ErrNoRevision says that [History.Restore] can't restore a version. ErrNoRevision
	// wraps model.ErrNotFound.
	ErrNoRevision = history.ErrNoRevision

	// ErrVersion says that an [EventLog]'s aggregate isn't at the passed version. If
	// [EventLog.Append] returns it, load and decide again. ErrVersion wraps
	// model.ErrStale.
	ErrVersion = eventlog.ErrVersion

	// ErrGap says that commits of an [EventLog] are missing or damaged.
	ErrGap = eventlog.ErrGap
)
