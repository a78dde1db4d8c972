package designtest

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/design"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A Report is the result of [Try].
type Report struct {
	Workload design.Workload
	Trials   []Trial // per layout: one in memory, and one on a server if MONGODB_URI is set

	skipped []string // the layouts that need transactions, which the server lacks
}

// A Trial is what [Try] measured of one layout, on the in-memory engine of modeltest or
// on a server.
type Trial struct {
	Layout     design.Layout
	Backend    string // "engine" or "server"
	Priced     design.Prices
	Operations []Measured    // in the order of the workload
	Time       time.Duration // sum of each operation's Rate × Time
}

// Measured is one operation's average cost per run.
type Measured struct {
	Operation string
	Rate      float64 // the operation's Rate in the workload
	Runs      int     // how often the operation ran

	Commands, Read, Written float64 // commands, documents returned, documents written
	Bytes                   float64 // bytes returned

	// Time is computed by [design.Costs] from the fields above. Numbers that [Try]
	// doesn't measure, such as disk reads, come from the layout's [design.Prices].
	Time time.Duration

	// Took is the real time of a run.
	Took time.Duration
}

// Documents returns how many documents a run returned or wrote, on average.
func (m Measured) Documents() float64 { return m.Read + m.Written }

// Runs is the approximate number of operations that [Try] runs for each layout. An
// operation's share of Runs depends on the operation's Rate, and is at least ten.
const Runs = 600

// Try fills a database for each layout and measures w's operations. It fails the test if
// the workload doesn't fit a layout, or an operation fails. Layouts without a name are
// named by position: "layout 1".
func Try(t *testing.T, w design.Workload, layouts ...design.Layout) Report {
	t.Helper()
	report := Report{Workload: w}
	for i, l := range layouts {
		if l.Name == "" {
			l.Name = fmt.Sprint("layout ", i+1)
		}
		p, err := w.Price(l)
		if err != nil {
			t.Fatal(err)
		}
		monitor := mongotest.NewMonitor()
		t.Run(l.Name, func(t *testing.T) {
			mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
				if w.Server.Transactions {
					report.skipped = append(report.skipped, l.Name)
					mongotest.Need(t, db, mongotest.Transactions)
					report.skipped = report.skipped[:len(report.skipped)-1]
				}
				trial, err := try(t, w, p, db, monitor)
				if err != nil {
					t.Fatal(err)
				}
				report.Trials = append(report.Trials, trial)
			}, monitor)
		})
	}
	return report
}

func try(
	t *testing.T, w design.Workload, p design.Prices, db *mongo.Database, monitor *mongotest.Monitor,
) (Trial, error) {
	run := p.Runner()
	if err := run.Fill(t.Context(), db); err != nil {
		return Trial{}, err
	}
	out := Trial{Layout: p.Layout, Backend: backendOf(t), Priced: p}
	sums := make([]Measured, len(w.Operations))
	for _, i := range schedule(w.Operations) {
		m, o := &sums[i], w.Operations[i]
		bytes, began := run.Returned, time.Now()
		cost, err := modeltest.Measure(monitor, func() error { return run.Run(t.Context(), db, o.Name, m.Runs) })
		if err != nil {
			return Trial{}, err
		}
		m.add(cost, float64(run.Returned-bytes), time.Since(began))
	}
	for i, o := range w.Operations {
		m := sums[i].mean(o, p.Operation(o.Name), p.Costs)
		out.Operations = append(out.Operations, m)
		out.Time += time.Duration(o.Rate * float64(m.Time))
	}
	return out, nil
}

// backendOf returns the last part of a subtest's name.
func backendOf(t *testing.T) string {
	name := t.Name()
	for i := len(name) - 1; i >= 0; i-- {
		if name[i] == '/' {
			return name[i+1:]
		}
	}
	return name
}

func (m *Measured) add(c model.Cost, bytes float64, took time.Duration) {
	m.Runs++
	m.Commands += float64(c.Commands)
	m.Read += float64(c.Returned)
	m.Written += float64(c.Written)
	m.Bytes += bytes
	m.Took += took
}

func (m Measured) mean(o design.Operation, priced design.Price, c design.Costs) Measured {
	n := float64(m.Runs)
	m.Operation, m.Rate = o.Name, o.Rate
	m.Commands, m.Read, m.Written, m.Bytes, m.Took = m.Commands/n, m.Read/n, m.Written/n, m.Bytes/n,
		time.Duration(float64(m.Took)/n)
	as := priced
	as.Commands, as.Read, as.Written, as.Bytes = m.Commands, m.Read, m.Written, m.Bytes
	m.Time = as.At(c)
	return m
}

// schedule returns the order of operations: each as often as its rate says, spread
// evenly.
func schedule(all []design.Operation) (out []int) {
	var sum float64
	for _, o := range all {
		sum += o.Rate
	}
	type turn struct {
		at float64
		i  int
	}
	var turns []turn
	for i, o := range all {
		n := max(10, int(math.Round(Runs*o.Rate/sum)))
		for k := range n {
			turns = append(turns, turn{(float64(k) + 0.5) / float64(n), i})
		}
	}
	slices.SortStableFunc(turns, func(a, b turn) int {
		if a.at < b.at {
			return -1
		}
		return 1
	})
	for _, x := range turns {
		out = append(out, x.i)
	}
	return out
}

// Want checks an operation's price and measured cost under the named layout. The test
// fails if either has more commands or documents (returned or written) than given.
func (r Report) Want(t testing.TB, layout, operation string, commands, documents float64) {
	t.Helper()
	found := false
	for _, trial := range r.Trials {
		if trial.Layout.Name != layout {
			continue
		}
		for _, m := range trial.Operations {
			if m.Operation != operation {
				continue
			}
			found = true
			p := trial.Priced.Operation(operation)
			check := func(how string, c, d float64) {
				if c > commands || d > documents {
					t.Errorf("%s under %q: %s %s commands and %s documents, want at most %s and %s", operation, layout, how,
						number(c), number(d), number(commands), number(documents))
				}
			}
			check("is priced", p.Commands, (p.Read + p.Written))
			check("on the "+trial.Backend+" took", m.Commands, (m.Read + m.Written))
		}
	}
	if !found && !slices.Contains(r.skipped, layout) {
		t.Errorf("no trial of operation %q under layout %q", operation, layout)
	}
}

// number formats a figure with up to two decimals.
func number(f float64) string {
	if f == math.Trunc(f) {
		return fmt.Sprintf("%.0f", f)
	}
	return fmt.Sprintf("%.2f", f)
}
