package failpoint_test

import (
	"testing"

	"github.com/docmodel/docmodel/mongotest/internal/engine/failpoint"
)

func TestIsAbout(t *testing.T) {
	find := failpoint.Caller{Name: "find", Sent: "find", App: "shop", Namespace: "shop.orders"}
	modify := failpoint.Caller{Name: "findAndModify", Sent: "findandmodify", Aliases: []string{"findandmodify"}}
	for _, c := range []struct {
		why  string
		f    failpoint.Failure
		of   failpoint.Caller
		want bool
	}{
		{"its name", failpoint.Failure{Commands: []string{"find"}}, find, true},
		{"another command", failpoint.Failure{Commands: []string{"count"}}, find, false},
		{"an alias", failpoint.Failure{Commands: []string{"findandmodify"}}, modify, true},
		{"all commands", failpoint.Failure{All: true}, find, true},
		{"another application", failpoint.Failure{All: true, App: "other"}, find, false},
		{"another namespace", failpoint.Failure{All: true, Namespace: "shop.carts"}, find, false},
		{"isMaster, not hello", failpoint.Failure{Commands: []string{"hello"}},
			failpoint.Caller{Name: "hello", Sent: "isMaster", Aliases: []string{"isMaster"}}, false},
		{"configureFailPoint", failpoint.Failure{All: true},
			failpoint.Caller{Name: "configureFailPoint", Sent: "configureFailPoint"}, false},
	} {
		if got := c.f.IsAbout(c.of); got != c.want {
			t.Errorf("%s: IsAbout gave %v", c.why, got)
		}
	}
}
