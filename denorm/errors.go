package denorm

import (
	"github.com/docmodel/docmodel/denorm/internal/eventlog"
	"github.com/docmodel/docmodel/denorm/internal/outlier"
	"github.com/docmodel/docmodel/denorm/internal/slots"
)

// ErrUnsound says that an owner's array and its overflow don't go together, and which operation mends them: the array is over
// Max and has no overflow yet ([Outlier.Split]), or there is overflow and the flag doesn't say so ([Outlier.Checks]).
// [Outlier.Append] and [Outlier.Remove] return it.
var ErrUnsound = outlier.ErrUnsound

// A ShortError says that a stock has less than was to be taken. It wraps model.ErrFull. [Slots.Take] returns it.
type ShortError = slots.ShortError

// The errors of an [EventLog].
var (
	// ErrVersion says that an aggregate is at another version than the caller expects. It
	// wraps model.ErrStale: load the state again, and decide again.
	ErrVersion = eventlog.ErrVersion

	// ErrReused says that the token of an append belongs to an append of other events, or at
	// another version. It wraps model.ErrTaken.
	ErrReused = eventlog.ErrReused

	// ErrEarlier says that the time of an append is before that of the last commit.
	ErrEarlier = eventlog.ErrEarlier

	// ErrGap says that commits are missing, so that no state can be made.
	ErrGap = eventlog.ErrGap
)
