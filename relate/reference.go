package relate

import (
	"github.com/docmodel/docmodel/relate/internal/idref"
)

// A Referrer is a declared reference to documents of another collection, for
// [OnDeleteSpec]: a [ParentRef], a [ChildRefs], a [Join], a [Dangling], or a side that
// [TwoWay.Left], [ManyToMany.Left] or [JoinCollection.Left] returns.
type Referrer interface{ reference() idref.Ref }
