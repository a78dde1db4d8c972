package denorm

import (
	"github.com/docmodel/docmodel/denorm/internal/outlier"
	"github.com/docmodel/docmodel/denorm/internal/slots"
)

// ErrUnsound says that an owner's array and its overflow don't go together, and which operation mends them: the array is over
// Max and has no overflow yet ([Outlier.Split]), or there is overflow and the flag doesn't say so ([Outlier.Checks]).
// [Outlier.Append] and [Outlier.Remove] return it.
var ErrUnsound = outlier.ErrUnsound

// A ShortError says that a stock has less than was to be taken. It wraps model.ErrFull. [Slots.Take] returns it.
type ShortError = slots.ShortError
