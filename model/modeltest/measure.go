package modeltest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/docmodel/docmodel/model"
)

// Measure returns the cost that m counts while f runs, and f's error. Commands that other
// goroutines send by m's clients count too. [Monitor.Commands] keeps earlier commands:
// for f's alone, first call [Monitor.Reset].
func Measure(m *Monitor, f func() error) (model.Cost, error) {
	cost, _, err := measure(m, f)
	return cost, err
}

func measure(m *Monitor, f func() error) (model.Cost, []Command, error) {
	m.mu.Lock()
	before, first := m.cost, len(m.commands)
	m.mu.Unlock()
	err := f()
	m.mu.Lock()
	defer m.mu.Unlock()
	cost := model.Cost{
		Commands: m.cost.Commands - before.Commands,
		Written:  m.cost.Written - before.Written,
		Returned: m.cost.Returned - before.Returned,
	}
	return cost, append([]Command(nil), m.commands[first:]...), err
}

// WantCost runs f. The test fails if f fails, or if m measures another cost than want
// ([model.Plan.Cost]). With want.Unbounded, want.Written is a minimum. With want.Batches,
// want.Commands is a minimum, and want.Returned is compared only if it isn't 0.
func WantCost(t testing.TB, m *Monitor, want model.Cost, f func() error) {
	t.Helper()
	got, commands, err := measure(m, f)
	if err != nil {
		t.Errorf("cost: the operation failed: %v%s%s", err, listCommands(commands), m.plans(commands))
		return
	}
	if diff := compareCost(want, got); diff != "" {
		t.Errorf("cost: %s%s%s", diff, listCommands(commands), m.plans(commands))
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

// plans describes how the server runs the commands, if this package made the client.
func (m *Monitor) plans(commands []Command) string {
	m.mu.Lock()
	b := m.backend
	m.mu.Unlock()
	if b == nil {
		return ""
	}
	return b.plans(commands)
}

const listed = 30 // commands shown in a failure

func listCommands(commands []Command) string {
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
