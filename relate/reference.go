package relate

import (
	"github.com/docmodel/docmodel/relate/internal/idref"
)

// A Referrer holds ids of another collection's documents at a declared path: a [ParentRef], a [ChildRefs], a [Join], a [Dangling], or
// one side of a relation, as [TwoWay.Left], [ManyToMany.Left] and [JoinCollection.Left] return it. [OnDeleteSpec] says what to do along
// the reference. Only types of this package are Referrers.
type Referrer interface{ reference() idref.Ref }
