package relate

import (
	"github.com/docmodel/docmodel/relate/internal/idref"
)

// A Referrer is a declared reference to documents of another collection, for
// [OnDeleteSpec]. [ParentRef], [ChildRefs], [Join] and [Dangling] are Referrers. So are
// the sides (Left and Right) of a [TwoWay], [ManyToMany] or [JoinCollection].
type Referrer interface{ reference() idref.Ref }
