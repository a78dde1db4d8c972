package compose

import (
	"fmt"
	"hash/fnv"

	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
)

// A cover is the techniques that have met another, with transactions and without.
type cover map[string]bool

// has reports whether both techniques have met another in such a way, and notes them.
func (c cover) has(p *pair, next choice) bool {
	both := true
	for _, name := range []string{p.a.name, p.b.name} {
		key := fmt.Sprint(name, p.needsTx(next))
		both = both && c[key]
		c[key] = true
	}
	return both
}

// A choice is two operations, by their numbers, and the way in which they meet.
type choice struct{ a, b, way int }

// chosen are the pairs of m and n operations that meet. Each meets in one way, which differs from one to the next, so
// that an operation meets those of the other technique in different ways. The full run has all, and the quick run one
// of every third pair of techniques that are close, and one of every ninth of others, which meet in a collection only.
// The choice depends on names alone, and that of a shorter run is among that of a longer one.
func chosen(a, b *fixture, m, n int, close bool) (out []choice) {
	h := fnv.New32a()
	h.Write([]byte(a.name + "|" + b.name))
	begin := int(h.Sum32() >> 4)
	for i := range m {
		for j := range n {
			c := choice{a: i, b: j, way: (begin + i + j) % len(ways)}
			unscoped := a.unscoped || b.unscoped
			if unscoped {
				c.way %= 2 // plain, and in transactions
			}
			out = append(out, c)
			for w := range ways {
				if whole && w != c.way && !(unscoped && ways[w].underScope) {
					out = append(out, choice{i, j, w})
				}
			}
		}
	}
	switch at := begin % len(out); {
	case full:
		return out
	case begin/len(ways)%3 != 0 || !close && begin/len(ways)%9 != 0:
		return nil
	default:
		return out[at : at+1]
	}
}

// near reports whether one of two techniques writes a path that the other uses, or whole documents beside it.
func near(a, b *fixture) bool {
	x, _ := a.declare()
	y, _ := b.declare()
	for _, f := range x.Footprints() {
		for _, g := range y.Footprints() {
			writes := f.Use >= model.Mends && f.Use <= model.Owns || g.Use >= model.Mends && g.Use <= model.Owns
			if writes && f.Collection == g.Collection &&
				(f.Path == model.Whole || g.Path == model.Whole || core.Overlap(f.Path, g.Path)) {
				return true
			}
		}
	}
	return false
}
