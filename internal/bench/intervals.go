package main

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/docmodel/docmodel/mongotest"
	"github.com/docmodel/docmodel/paths"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// numberers are nested sets, and two representations with order keys instead of numbers.
var numberers = []forester{
	numberer("NestedSet, dense", paths.NestedSetSpec{}),
	numberer("NestedSet, dense, Direct", paths.NestedSetSpec{Direct: true}),
	numberer("NestedSet, gaps of 2¹⁰", paths.NestedSetSpec{Gap: 1 << 10}),
	numberer("NestedSet, gaps of 2³²", paths.NestedSetSpec{Gap: 1 << 32}),
	forestry("MaterializedPath and order keys", paths.NewMaterializedPath(forest, paths.MaterializedPathSpec{TreeSpec: spec}), nil),
	forestry("ParentTree and order keys", paths.NewParentTree(forest, spec), nil),
}

func numberer(name string, s paths.NestedSetSpec) forester {
	s.TreeSpec = spec
	return forestry(name, paths.NewNestedSet(forest, s), nil)
}

// A shifting is what one operation, that was done several times, wrote.
type shifting struct {
	written, commands, bytes []int
	took                     []time.Duration
}

// moves is what each numberer wrote in trees of some sizes.
type moves struct {
	on    backend
	sizes []int
	done  []map[string]map[string]*shifting // by size, numberer and operation
	trees []*grown
}

const (
	leafMoved, branchMoved, firstPut = "move a leaf, far", "move the branch, far", "insert as first child of one node"
	mostInserts                      = 300
)

// largestOfMoves is the size above which moves of dense numbers take a minute and show
// nothing new.
const largestOfMoves = 100_000

func movesTable(ctx context.Context, b backend, o clockOptions) (section, error) {
	m := moves{on: b}
	for _, n := range o.sizes {
		if n > largestOfMoves {
			continue
		}
		g, done := grow(n), map[string]map[string]*shifting{}
		for _, f := range numberers {
			all, err := renumbered(ctx, b, f, g, o)
			if err != nil {
				return m, fmt.Errorf("%s, %d nodes: %w", f.name, n, err)
			}
			done[f.name] = all
		}
		m.sizes, m.trees, m.done = append(m.sizes, n), append(m.trees, g), append(m.done, done)
	}
	return m, nil
}

// renumbered loads a tree, moves a leaf and a branch back and forth, and inserts at one
// place, each for a fifth of the budget.
func renumbered(ctx context.Context, b backend, f forester, g *grown, o clockOptions) (map[string]*shifting, error) {
	w := &watch{monitor: mongotest.NewMonitor(), keeps: true}
	db, stop, err := b.open(w.commands())
	if err != nil {
		return nil, err
	}
	defer stop()
	if err := f.ready(ctx, db); err != nil {
		return nil, err
	}
	if err := f.load(ctx, db, g); err != nil {
		return nil, err
	}
	all := map[string]*shifting{}
	repeat := func(name string, most int, run func(i int) error) error {
		s := &shifting{}
		all[name] = s
		for i, begun := 0, time.Now(); i < most && (i < 2 || time.Since(begun) < o.budget/5); i++ {
			start := time.Now()
			cost, err := w.measure(func() error { return run(i) })
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			size := 0
			for _, c := range w.sent {
				size += len(c)
			}
			s.took = append(s.took, time.Since(start))
			s.written, s.commands, s.bytes = append(s.written, cost.Written), append(s.commands, cost.Commands), append(s.bytes, size)
		}
		return nil
	}
	toAndFro := func(id string) func(int) error {
		return func(i int) error {
			if i%2 == 0 {
				return f.move(ctx, db, id, g.far, false)
			}
			return f.move(ctx, db, id, g.home, true)
		}
	}
	if err := repeat(leafMoved, max(2, o.rounds), toAndFro(g.leaf)); err != nil {
		return nil, err
	}
	if err := repeat(branchMoved, max(2, o.rounds), toAndFro(g.branch)); err != nil {
		return nil, err
	}
	return all, repeat(firstPut, mostInserts, func(int) error {
		return f.insert(ctx, db, treeNode{ID: bson.NewObjectID().Hex(), Name: "one more"}, g.middle)
	})
}

func (m moves) heading() string {
	return "What moves and inserts write, by numbers and keys, on " + m.on.name
}

func (m moves) String() string {
	var b strings.Builder
	for i, n := range m.sizes {
		fmt.Fprintf(&b, "## What moves and inserts write in a tree of %s nodes, on %s\n\nThe branch has %s descendants, and goes over half of the tree, as the leaf does."+
			" Up to %d leaves are inserted, each as first child of\nthe same node. Commands and documents are those of the lease too, three documents; bytes are of all commands. Of documents: the mean, and\n"+
			"the most of one operation. Inserts tell which was the first that wrote numbers of other nodes. %s\n\n",
			digits(n), m.on.name, digits(m.trees[i].below), mostInserts, m.on.note)
		b.WriteString("| representation | operation | commands | documents | kB | median |\n| --- | --- | ---: | ---: | ---: | ---: |\n")
		for _, f := range numberers {
			name := f.name
			for _, op := range []string{leafMoved, branchMoved, firstPut} {
				s := m.done[i][f.name][op]
				fmt.Fprintf(&b, "| %s | %s%s | %.1f | %.1f (%s) | %.1f | %s |\n", name, op, s.first(op), average(s.commands), average(s.written),
					digits(slices.Max(s.written)), average(s.bytes)/1000, short(quartile(slices.Clone(s.took), 2)))
				name = ""
			}
		}
		b.WriteString("\n")
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// ownWrites is the minimum of documents that an insert writes: the node, and the lease
// three times.
const ownWrites = 4

// first returns the number of inserts, and the first insert that wrote other nodes.
func (s *shifting) first(op string) string {
	if op != firstPut {
		return ""
	}
	at := slices.IndexFunc(s.written, func(n int) bool { return n > ownWrites })
	if at < 0 {
		return fmt.Sprintf(", %d times: never others", len(s.written))
	}
	return fmt.Sprintf(", %d times: others from insert %d on", len(s.written), at+1)
}

func average(list []int) float64 {
	sum := 0
	for _, n := range list {
		sum += n
	}
	return float64(sum) / float64(len(list))
}

// A precision is the number of nodes that can get numbers, by insertion pattern.
type precision struct{ rows []string }

func (precision) heading() string { return "How soon numbers between others run out" }

func (p precision) String() string {
	return "## How soon numbers between others run out\n\nArithmetic alone: how many nodes find a left and a right number between their neighbours' before one doesn't, in a parent whose own are 1/2\n" +
		"and 1. float64 bounds take a third of what is free each; fractions are mediants (Farey's, as in Tropashko's nested intervals), with terms of int64, and compared by their\n" +
		"quotients as float64, which is what an index would hold. Order keys (paths.Between) never run out: their longest is given in bytes;\n" +
		"a tree gives siblings new ones when one has 48.\n\n" +
		"| nodes come | float64 bounds | fractions of int64 | their quotients | order keys, 1,000 | order keys, 10,000 |\n" +
		"| --- | ---: | ---: | ---: | ---: | ---: |\n" + strings.Join(p.rows, "\n") + "\n"
}

// A pattern says where the next node comes: after the last node, before it, or within it.
type pattern struct {
	name  string
	after func(i int) (afterIt, beforeIt bool) // both: within it
}

var patterns = []pattern{
	{"each first", func(int) (bool, bool) { return false, true }},
	{"each last", func(int) (bool, bool) { return true, false }},
	{"each between the last two", func(i int) (bool, bool) { return i%2 == 0, i%2 == 1 }},
	{"on a random side of the last", func(i int) (bool, bool) { left := sides[i%len(sides)]; return left, !left }},
	{"each below the last", func(int) (bool, bool) { return true, true }},
}

var sides = func() []bool {
	r, all := rand.New(rand.NewPCG(3, 3)), make([]bool, 1<<16)
	for i := range all {
		all[i] = r.IntN(2) == 0
	}
	return all
}()

const mostGiven = 1_000_000

// given counts the nodes inserted in a pattern until no pair of numbers fits between two
// others.
func given[N any](p pattern, after, before N, put func(after, before N) (left, right N, ok bool)) string {
	for i := range mostGiven {
		left, right, ok := put(after, before)
		if !ok {
			return digits(i)
		}
		switch behind, ahead := p.after(i); {
		case behind && ahead:
			after, before = left, right
		case behind:
			after = right
		default:
			before = left
		}
	}
	return "over " + digits(mostGiven)
}

// A fraction lies between others as the mediant of both.
type fraction struct{ over, under int64 }

func (f fraction) mediant(g fraction) (fraction, bool) {
	if f.under > math.MaxInt64-g.under || f.over > math.MaxInt64-g.over {
		return f, false
	}
	return fraction{f.over + g.over, f.under + g.under}, true
}

func (f fraction) quotient() float64 { return float64(f.over) / float64(f.under) }

func fractions(after, before fraction) (left, right fraction, ok bool) {
	left, ok = after.mediant(before)
	right, also := left.mediant(before)
	return left, right, ok && also
}

func thirds(after, before float64) (left, right float64, ok bool) {
	third := (before - after) / 3
	left, right = after+third, after+2*third
	return left, right, after < left && left < right && right < before
}

// longest returns the length of the longest of n order keys inserted in a pattern. In a
// chain each node is an only child.
func longest(p pattern, n int) (string, error) {
	after, before, most := "", "", 0
	for i := range n {
		key, err := paths.Between(after, before)
		if err != nil {
			return "", err
		}
		most = max(most, len(key))
		switch behind, ahead := p.after(i); {
		case behind && ahead:
			after, before = "", ""
		case behind:
			after = key
		default:
			before = key
		}
	}
	return digits(most), nil
}

func precisionTable() (section, error) {
	var p precision
	for _, by := range patterns {
		row := []string{
			by.name, given(by, 0.5, 1.0, thirds), given(by, fraction{1, 2}, fraction{1, 1}, fractions),
			given(by, fraction{1, 2}, fraction{1, 1}, func(after, before fraction) (left, right fraction, ok bool) {
				left, right, ok = fractions(after, before)
				a, l, r, b := after.quotient(), left.quotient(), right.quotient(), before.quotient()
				return left, right, ok && a < l && l < r && r < b
			}),
		}
		for _, n := range []int{1000, 10_000} {
			most, err := longest(by, n)
			if err != nil {
				return p, err
			}
			row = append(row, most)
		}
		p.rows = append(p.rows, "| "+strings.Join(row, " | ")+" |")
	}
	return p, nil
}
