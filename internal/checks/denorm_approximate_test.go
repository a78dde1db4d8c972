package checks

import (
	"github.com/docmodel/docmodel/denorm/approximate"
)

var hostViews = approximate.New(busyHosts, "views", 10)

func init() {
	register(
		Case{
			Method: "approximate.Approximate.Count", Reason: "a draw that is written",
			Make: func(s string) any { return hostViews.Count(s, 1, 0.05) },
		},
		Case{
			Method: "approximate.Approximate.Count", Reason: "a draw that isn't",
			Make: func(s string) any { return hostViews.Count(s, 1, 0.5) },
		},
		Case{
			Method: "approximate.Approximate.Count", Reason: "a draw of 1 is refused",
			Make: func(s string) any { return hostViews.Count(s, 1, 1) },
		},
		Case{
			Method: "approximate.Approximate.Count", Reason: "a multiple and a rest",
			Make: func(s string) any { return hostViews.Count(s, 34, 0.1) },
		},
		Case{
			Method: "approximate.Approximate.Count", Reason: "a negative number is refused",
			Make: func(s string) any { return hostViews.Count(s, -1, 0) },
		},
		Case{Method: "approximate.Approximate.Indexes", Reason: "none", Make: func(string) any { return hostViews.Indexes() }},
	)
}
