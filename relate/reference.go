package relate

import (
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/relate/internal/idref"
)

// A Referrer is a declared reference to documents of another collection, for the rules of
// package ondelete. The types of packages parentref, childrefs, join and dangling are
// Referrers. So are the sides (Left and Right) of a two-way, many-to-many or
// join-collection relation.
type Referrer interface{ referrer }

type referrer = core.Revealing[idref.Ref]
