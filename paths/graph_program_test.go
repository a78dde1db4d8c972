package paths_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/docmodel/docmodel/paths"
)

// A program of the tests: every account tells those that it follows the least id that it has heard of, its own at first. In the end
// each knows the least of those from which it can be reached.
type leastHeard struct {
	Least string `bson:"least"`
}

var told = paths.NewGraph(accounts, "follows", paths.GraphSpec{States: "told"})

func toldProgram() *paths.Supersteps {
	return paths.NewProgram(told, func(v *paths.GraphVertex[account, string, leastHeard, string]) error {
		least := v.State.Least
		if v.Step == 1 {
			least = v.ID
		}
		for _, m := range v.Messages {
			least = min(least, m.M)
		}
		if least != v.State.Least {
			v.State.Least = least
			for _, to := range v.Edges {
				v.Send(to, least)
			}
		}
		v.Halt()
		return nil
	})
}

func graphWantTold(t testing.TB, got map[string]graphState, all []account) {
	t.Helper()
	if len(got) != len(all) {
		t.Errorf("%d states, want %d", len(got), len(all))
	}
	want := map[string]string{}
	for _, a := range all {
		for id := range distancesOf(all, a.ID) {
			if old, ok := want[id]; !ok || a.ID < old {
				want[id] = a.ID
			}
		}
	}
	for id, least := range want {
		var s leastHeard
		if err := got[id].Value.Unmarshal(&s); err != nil || s.Least != least || !got[id].Halted {
			t.Errorf("%q heard of %q, want %q, %v", id, s.Least, least, err)
		}
	}
}

// chatter tells everybody followed, for three supersteps, all that was heard in the last one; nobody halts before the fourth.
func chatter() *paths.Supersteps {
	return paths.NewProgram(told, func(v *paths.GraphVertex[account, string, leastHeard, string]) error {
		heard := v.ID
		for _, m := range v.Messages {
			heard += m.M
		}
		v.State.Least += heard + ";"
		if v.Step == 4 {
			v.Halt()
			return nil
		}
		for _, to := range v.Edges {
			v.Send(to, heard)
		}
		return nil
	})
}

func graphWantChatter(t testing.TB, got map[string]graphState, all []account) {
	t.Helper()
	edges, heard, state := edgesOf(all), map[string]string{}, map[string]string{}
	all = slices.SortedFunc(slices.Values(all), func(a, b account) int { return strings.Compare(a.ID, b.ID) })
	for range 4 {
		next := map[string]string{}
		for _, a := range all {
			heard[a.ID] = a.ID + heard[a.ID]
			state[a.ID] += heard[a.ID] + ";"
			for _, to := range edges[a.ID] {
				next[to] += heard[a.ID]
			}
		}
		heard = next
	}
	for id, want := range state {
		var s leastHeard
		if err := got[id].Value.Unmarshal(&s); err != nil || s.Least != want {
			t.Errorf("%q heard %q, want %q, %v", id, s.Least, want, err)
		}
	}
}
