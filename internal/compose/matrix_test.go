package compose

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// With DOCMODEL_FULL=1 each pair of operations meets in one way, and with DOCMODEL_FULL=ways in all ways.
var full, whole = os.Getenv("DOCMODEL_FULL") != "", os.Getenv("DOCMODEL_FULL") == "ways"

// A row is what came of two techniques.
type row struct {
	a, b    string
	refused string // the problem for which model.New refuses them
	close   bool   // one writes a path that the other uses
	left    int    // pairs of operations that weren't run
	tally
}

// Every two techniques that use a collection in common are refused by [model.New], or hold together: of two of their
// operations, at the same time on the same documents, each has its effect or returns a typed error, and the checks find
// nothing then. What an operation leaves for the audit to mend stands in the table, PAIRS.md, which -update writes from
// a run of all. What else is wrong must be explained: see [known]. A server shows that it does as the engine: each
// technique meets another there, with transactions and without.
func TestPairsInterleaved(t *testing.T) {
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		var rows []*row
		server, cover := strings.HasSuffix(t.Name(), "/server"), cover{}
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
						if !server {
							t.Parallel()
							*r = run(t, a, b, func(*pair, choice) bool { return true })
							return
						}
						*r = run(t, a, b, func(p *pair, c choice) bool {
							if cover.has(p, c) {
								t.Skip("server lacks: time for every two techniques")
							}
							if p.needsTx(c) {
								mongotest.Need(t, db, mongotest.Transactions)
							}
							return true
						})
					})
				}
			}
		})
		report(t, rows, server)
	})
}

// report fails the test for problems that aren't explained.
func report(t *testing.T, rows []*row, server bool) {
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
			pair, way, _ := strings.Cut(p.where, ", ")
			why, is := known[pair]
			if is && strings.Contains(p.says, why.says) && (why.never == "" || !strings.Contains(way, why.never)) {
				happened[pair] = true
				t.Logf("%s: %s\n\tknown: %s", p.where, p.says, why.why)
				continue
			}
			t.Errorf("%s: %s", p.where, p.says)
		}
	}
	for pair := range known {
		if whole && !server && !happened[pair] {
			t.Errorf("%s: this is explained as a known problem, and doesn't happen: take it out of the list", pair)
		}
	}
	t.Logf("%d pairs of %d techniques: %d refused, %d together; %d known problems", len(rows), len(fixtures), refused,
		len(rows)-refused, len(happened))
	t.Logf("ran %d pairs of operations in %d schedules, of which %d left something to mend", total.met,
		total.schedules, total.mended)
	t.Logf("left out %d pairs of operations, and all of %d pairs of techniques; DOCMODEL_FULL=1 runs all, and DOCMODEL_FULL=ways in all ways", left, apart)
	if !server {
		compareTable(t, rows, total)
	}
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

// run runs the chosen operations of a pair, but for those that also says no to.
func run(t *testing.T, a, b *fixture, also func(p *pair, c choice) bool) row {
	out := row{a: a.name, b: b.name, close: near(a, b)}
	pairs := make([]*pair, len(ways))
	for i, w := range ways {
		p := &pair{a: a, b: b, way: w}
		x, opsA := a.declare()
		y, opsB := b.declare()
		p.opsA, p.opsB = opsA, opsB
		if p.model, out.refused = declare(x, y); out.refused != "" {
			return out
		}
		pairs[i] = p
	}
	met := map[[2]int]bool{}
	for _, c := range chosen(a, b, len(pairs[0].opsA), len(pairs[0].opsB), out.close) {
		if p := pairs[c.way]; also(p, c) {
			met[[2]int{c.a, c.b}] = true
			p.meet(t, p.opsA[c.a], p.opsB[c.b], &out.tally)
		}
	}
	out.left = len(pairs[0].opsA)*len(pairs[0].opsB) - len(met)
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
