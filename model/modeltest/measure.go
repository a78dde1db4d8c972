package modeltest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/docmodel/docmodel/internal/testserver"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
)

// Measure returns the cost that m counts while f runs, and f's error. Commands that other
// goroutines send by m's clients count too. [mongotest.Monitor.Commands] keeps earlier commands:
// for f's alone, first call [mongotest.Monitor.Reset].
func Measure(m *mongotest.Monitor, f func() error) (model.Cost, error) {
	cost, _, err := measure(m, f)
	return cost, err
}

func measure(m *mongotest.Monitor, f func() error) (model.Cost, []mongotest.Command, error) {
	before, first := m.Cost(), len(m.Commands())
	err := f()
	after := m.Cost()
	cost := model.Cost{
		Commands: after.Commands - before.Commands,
		Written:  after.Written - before.Written,
		Returned: after.Returned - before.Returned,
	}
	return cost, m.Commands()[first:], err
}

// WantCost runs f. The test fails if f fails, or if m measures another cost than want
// ([model.Plan.Cost]). With want.Unbounded, want.Written is a minimum. With want.Batches,
// want.Commands is a minimum, and want.Returned is compared only if it isn't 0.
func WantCost(t testing.TB, m *mongotest.Monitor, want model.Cost, f func() error) {
	t.Helper()
	got, commands, err := measure(m, f)
	if err != nil {
		t.Errorf("cost: the operation failed: %v%s%s", err, listCommands(commands), plansOfMonitor(m, commands))
		return
	}
	if diff := compareCost(want, got); diff != "" {
		t.Errorf("cost: %s%s%s", diff, listCommands(commands), plansOfMonitor(m, commands))
	}
}

func compareCost(want, got model.Cost) string {
	var out []string
	compare := func(what string, want, got int, more bool) {
		if got == want || more && got > want {
			return
		}
		atLeast := ""
		if more {
			atLeast = "at least "
		}
		out = append(out, fmt.Sprintf("%s: want %s%d, got %d", what, atLeast, want, got))
	}
	compare("commands", want.Commands, got.Commands, want.Batches)
	compare("documents written", want.Written, got.Written, want.Unbounded)
	if !want.Batches || want.Returned > 0 {
		compare("documents returned", want.Returned, got.Returned, false)
	}
	return strings.Join(out, "; ")
}

// plansOfMonitor describes how the server runs the commands, if package mongotest made the client.
func plansOfMonitor(m *mongotest.Monitor, commands []mongotest.Command) string {
	server := testserver.Find(m)
	if server == nil {
		return ""
	}
	return (&backend{server: server}).plans(commands)
}

const listed = 30 // commands shown in a failure

func listCommands(commands []mongotest.Command) string {
	if len(commands) == 0 {
		return "\nno command was sent"
	}
	var b strings.Builder
	b.WriteString("\nsent:")
	for i, c := range commands {
		if i == listed {
			fmt.Fprintf(&b, "\n\t… and %d more", len(commands)-listed)
			break
		}
		fmt.Fprintf(&b, "\n\t%s", c)
	}
	return b.String()
}
