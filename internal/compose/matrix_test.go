package compose

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
)

var full = os.Getenv("DOCMODEL_FULL") != ""

// A row is what came of two techniques in all ways.
type row struct {
	a, b    string
	refused string // the problem for which model.New refuses them
	tally
}

// Every two techniques that use a collection in common are refused by [model.New], or hold together: of every two of their
// operations, at the same time on the same documents, each has its effect or returns a typed error, and the checks find nothing
// then. What an operation leaves for the audit to mend stands in the table.
func TestPairsInterleaved(t *testing.T) {
	var mu sync.Mutex
	var rows []*row
	t.Run("pairs", func(t *testing.T) {
		for i := range fixtures {
			for j := range fixtures[:i+1] {
				a, b := &fixtures[j], &fixtures[i]
				if a.name == b.name || !meets(a, b) {
					continue
				}
				r := &row{a: a.name, b: b.name}
				rows = append(rows, r)
				n := len(rows)
				t.Run(a.name+" and "+b.name, func(t *testing.T) {
					if os.Getenv(modeltest.EnvURI) == "" {
						t.Parallel()
					}
					got := run(t, a, b, n)
					mu.Lock()
					defer mu.Unlock()
					*r = got
				})
			}
		}
	})
	var total tally
	for _, r := range rows {
		total.met += r.met
		total.schedules += r.schedules
		total.mended += r.mended
		for _, p := range r.problems {
			t.Error(p)
		}
		t.Log(r)
	}
	t.Logf("%d pairs, %d pairs of operations, %d schedules, %d mended", len(rows), total.met, total.schedules, total.mended)
}

func (r *row) String() string {
	said := "together"
	if r.refused != "" {
		said = "refused: " + r.refused
	}
	s := fmt.Sprintf("%s | %s | %s", r.a, r.b, said)
	slices.Sort(r.past)
	for _, p := range slices.Compact(r.past) {
		s += "\n\t" + p
	}
	return s
}

// meets reports whether two techniques use a collection in common.
func meets(a, b *fixture) bool {
	x, _ := a.declare()
	y, _ := b.declare()
	for _, f := range x.Footprints() {
		for _, g := range y.Footprints() {
			if f.Collection == g.Collection {
				return true
			}
		}
	}
	return false
}

// run runs the operations of a pair: in the full run in all ways, else in one way each, which differs from row to row and from one
// pair of operations to the next.
func run(t *testing.T, a, b *fixture, n int) row {
	out := row{a: a.name, b: b.name}
	var pairs []*pair
	for _, w := range ways {
		p := &pair{a: a, b: b, way: w, volatile: slices.Concat(a.volatile, b.volatile)}
		x, opsA := a.declare()
		y, opsB := b.declare()
		p.opsA, p.opsB = opsA, opsB
		if p.model, out.refused = declare(x, y); out.refused != "" {
			return out
		}
		pairs = append(pairs, p)
	}
	for k, p := range pairs {
		ready := false
		for i := range p.opsA {
			for j := range p.opsB {
				if !full && (n+i*len(p.opsB)+j)%len(ways) != k {
					continue
				}
				if !ready {
					if err := p.prepare(t); err != nil {
						out.problems = append(out.problems, fmt.Sprintf("%s and %s, %s: %v", a.name, b.name, p.way.name, err))
						return out
					}
					ready = true
				}
				c := modeltest.InterleaveCase{Match: modeltest.Writes, Nested: true}
				c.Transactions = p.way.tx || p.opsA[i].needsTx || p.opsB[j].needsTx
				p.meet(t, p.opsA[i], p.opsB[j], c, &out.tally)
			}
		}
	}
	return out
}

// declare makes a model of two techniques, or says why it is refused.
func declare(a, b model.Technique) (m *model.Model, refused string) {
	defer func() {
		if p := recover(); p != nil {
			err, _ := p.(error)
			var declared *model.DeclarationError
			if !errors.As(err, &declared) {
				panic(p)
			}
			refused = declared.Problem
		}
	}()
	return model.New("pair", a, b, model.Entity(users), model.Entity(posts), model.Entity(comments, beside)), ""
}

// apart shows the lines of a text that other texts don't have, and theirs.
func apart(text string, others ...string) string {
	lines := strings.Split(text, "\n")
	var b strings.Builder
	for i, o := range others {
		theirs := strings.Split(o, "\n")
		fmt.Fprintf(&b, "\tbeside %d:\n", i+1)
		for _, l := range lines {
			if !slices.Contains(theirs, l) {
				b.WriteString("\t\tis  " + l + "\n")
			}
		}
		for _, l := range theirs {
			if !slices.Contains(lines, l) {
				b.WriteString("\t\twas " + l + "\n")
			}
		}
	}
	return b.String()
}
