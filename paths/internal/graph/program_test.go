package graph_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/docmodel/docmodel/paths"
	"github.com/docmodel/docmodel/paths/internal/graph"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// A program of the tests: every account tells those that it follows the least id that it
// has heard of, its own at first. In the end each knows the least of those from which it
// can be reached.
type leastHeard struct {
	Least string `bson:"least"`
}

var told = paths.NewGraph(accounts, "follows", paths.GraphSpec{States: "told"})

func toldProgram() *paths.Supersteps { return paths.NewProgram(told, tell.shell) }

var toldCore = coreOf("told").DeclareProgram(tell.core)

// A talk is what a program of the tests does at a vertex. It reports whether the vertex
// halts.
type talk func(step int64, a account, state *leastHeard, inbox []string, send func(to, m string)) (halt bool)

// shell is the talk as a user of the package writes it.
func (f talk) shell(v *paths.GraphVertex[account, string, leastHeard, string]) error {
	var inbox []string
	for _, m := range v.Messages {
		inbox = append(inbox, m.M)
	}
	if f(v.Step, account{ID: v.ID, Follows: v.Edges}, &v.State, inbox, v.Send) {
		v.Halt = true
	}
	return nil
}

// core is the talk as the core calls it.
func (f talk) core(step int64, raw bson.Raw) (*graph.Out, error) {
	var in struct {
		Vertex account `bson:"vertex"`
		Was    struct {
			Value leastHeard `bson:"value"`
		} `bson:"was"`
		Inbox []struct {
			M []string `bson:"m"`
		} `bson:"inbox"`
	}
	if err := bson.Unmarshal(raw, &in); err != nil {
		return nil, err
	}
	var inbox []string
	for _, from := range in.Inbox {
		inbox = append(inbox, from.M...)
	}
	out, as := &graph.Out{}, accounts.Docs()
	out.Halted = f(step, in.Vertex, &in.Was.Value, inbox, func(to, m string) { out.Send(as.Encode, to, m) })
	out.SetValue(as.Encode, in.Was.Value)
	return out, out.Err
}

var tell talk = func(step int64, a account, state *leastHeard, inbox []string, send func(to, m string)) bool {
	least := state.Least
	if step == 1 {
		least = a.ID
	}
	for _, m := range inbox {
		least = min(least, m)
	}
	if least != state.Least {
		state.Least = least
		for _, to := range a.Follows {
			send(to, least)
		}
	}
	return true
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

// chatter tells everybody followed, for three supersteps, all that was heard in the last
// one; nobody halts before the fourth.
func chatter() *paths.Supersteps { return paths.NewProgram(told, chat.shell) }

var chatterCore = coreOf("told").DeclareProgram(chat.core)

var chat talk = func(step int64, a account, state *leastHeard, inbox []string, send func(to, m string)) bool {
	heard := a.ID + strings.Join(inbox, "")
	state.Least += heard + ";"
	if step == 4 {
		return true
	}
	for _, to := range a.Follows {
		send(to, heard)
	}
	return false
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
