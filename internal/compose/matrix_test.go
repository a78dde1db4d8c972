package compose

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
)

var full = os.Getenv("DOCMODEL_FULL") != ""

// A row is what came of two techniques.
type row struct {
	a, b    string
	refused string // the problem for which model.New refuses them
	close   bool   // one writes a path that the other uses
	left    int    // pairs of operations that weren't run
	tally
}

// Every two techniques that use a collection in common are refused by [model.New], or hold together: of two of their operations, at
// the same time on the same documents, each has its effect or returns a typed error, and the checks find nothing then. What an
// operation leaves for the audit to mend stands in the table, PAIRS.md, which -update writes from a full run. What else is wrong must
// be explained: see [known].
func TestPairsInterleaved(t *testing.T) {
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
				t.Run(a.name+" and "+b.name, func(t *testing.T) {
					if os.Getenv(modeltest.EnvURI) == "" {
						t.Parallel()
					}
					*r = run(t, a, b)
				})
			}
		}
	})
	var total tally
	left, refused, apart, happened := 0, 0, 0, map[string]bool{}
	for _, r := range rows {
		total.add(r.tally)
		left += r.left
		if r.refused != "" {
			refused++
		}
		if r.refused == "" && r.met == 0 {
			apart++
		}
		for _, p := range r.problems {
			if why, is := known[p.where]; is && strings.Contains(p.says, why.says) {
				happened[p.where] = true
				continue
			}
			t.Errorf("%s: %s", p.where, p.says)
		}
	}
	for _, where := range total.ran {
		if _, is := known[where]; is && !happened[where] {
			t.Errorf("%s: this is explained as a known problem, and no longer happens: take it out of the list", where)
		}
	}
	if full {
		for where := range known {
			if !slices.Contains(total.ran, where) {
				t.Errorf("%s: this is explained as a known problem, and there is no such pair", where)
			}
		}
	}
	t.Logf("%d pairs of %d techniques: %d refused, %d together; %d known problems", len(rows), len(fixtures), refused, len(rows)-refused, len(happened))
	t.Logf("ran %d pairs of operations in %d schedules, of which %d left something to mend", total.met, total.schedules, total.mended)
	t.Logf("left out %d pairs of operations, and all of %d pairs of techniques; DOCMODEL_FULL=1 runs more", left, apart)
	compareTable(t, rows)
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

// run runs the chosen operations of a pair.
func run(t *testing.T, a, b *fixture) row {
	out := row{a: a.name, b: b.name, close: near(a, b)}
	pairs := make([]*pair, len(ways))
	for i, w := range ways {
		p := &pair{a: a, b: b, way: w, volatile: slices.Concat(a.volatile, b.volatile)}
		x, opsA := a.declare()
		y, opsB := b.declare()
		p.opsA, p.opsB = opsA, opsB
		if p.model, out.refused = declare(x, y); out.refused != "" {
			return out
		}
		pairs[i] = p
	}
	n := len(pairs[0].opsA) * len(pairs[0].opsB)
	list := chosen(a, b, n, out.close)
	out.left = n - len(list)
	for _, c := range list {
		p := pairs[c.way]
		if err := p.prepare(t); err != nil {
			out.problems = append(out.problems, problem{a.name + " and " + b.name + ", " + p.way.name, err.Error()})
			return out
		}
		i, j := c.op/len(p.opsB), c.op%len(p.opsB)
		in := modeltest.InterleaveCase{Match: modeltest.Writes, Nested: true}
		in.Transactions = p.way.tx || p.opsA[i].needsTx || p.opsB[j].needsTx
		p.meet(t, p.opsA[i], p.opsB[j], in, &out.tally)
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
