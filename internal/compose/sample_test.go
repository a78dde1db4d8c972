package compose

import (
	"hash/fnv"

	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
)

// A choice is a pair of operations, by its number, and the way in which it runs.
type choice struct{ op, way int }

// chosen are those of n pairs of operations that run. Each runs in one way, which differs from one to the next. Of techniques that are
// close the full run has up to three, and the quick run one of every third pair of techniques. Of others, which meet in a collection only,
// the full run has one, and the quick run one of every ninth. The choice depends on names alone, and the quick run's is among the full run's.
func chosen(a, b *fixture, n int, close bool) (out []choice) {
	h := fnv.New32a()
	h.Write([]byte(a.name + "|" + b.name))
	begin := int(h.Sum32() >> 4)
	count := min(n, 3)
	switch {
	case full && !close:
		count = 1
	case !full && (begin/len(ways)%3 != 0 || !close && begin/len(ways)%9 != 0):
		count = 0
	case !full:
		count = min(n, 1)
	}
	step := (n + 2) / 3
	for i := range count {
		c := choice{op: (begin + i*step) % n, way: (begin + i) % len(ways)}
		if ways[c.way].underScope && (a.unscoped || b.unscoped) {
			c.way = i % 2 // plain, and in transactions
		}
		out = append(out, c)
	}
	return out
}

// near reports whether one of two techniques writes a path that the other uses, or whole documents beside it.
func near(a, b *fixture) bool {
	x, _ := a.declare()
	y, _ := b.declare()
	for _, f := range x.Footprints() {
		for _, g := range y.Footprints() {
			writes := f.Use >= model.Mends && f.Use <= model.Owns || g.Use >= model.Mends && g.Use <= model.Owns
			if writes && f.Collection == g.Collection && (f.Path == model.Whole || g.Path == model.Whole || core.Overlap(f.Path, g.Path)) {
				return true
			}
		}
	}
	return false
}
