package main

import (
	"fmt"
	"testing"
	"time"
)

// Each forester does all tasks, and leaves the same tree.
func TestForestersAgree(t *testing.T) {
	g := grow(300)
	eachBackend(t, func(t *testing.T, b backend) {
		want := ""
		for _, f := range foresters {
			o := clockOptions{rounds: 1, limit: time.Hour}
			figures, err := cultivate(t.Context(), b, f, g, o, nil, 0)
			if err != nil || figures[bulkLoad].cost.Written < len(g.nodes) {
				t.Errorf("%s: %v, %+v", f.name, err, figures[bulkLoad])
			}
			p, stop, _, err := loaded(t.Context(), b, f, f.load, g, o)
			if err != nil {
				t.Fatal(err)
			}
			defer stop()
			for _, err := range []error{
				p.move(t.Context(), p.db, g.branch, g.far, false), p.move(t.Context(), p.db, g.leaf, g.branch, true), p.planting(t.Context())(),
			} {
				if err != nil {
					t.Fatalf("%s: %v", f.name, err)
				}
			}
			got := ""
			for _, id := range []string{g.branch, g.leaf, g.home, g.far, g.middle, g.deepest, g.nodes[0].ID} {
				for _, ask := range []ask{p.descendants, p.count, p.children, p.ancestors} {
					n, err := ask(t.Context(), p.db, id)
					if err != nil {
						t.Fatalf("%s: %v", f.name, err)
					}
					got += fmt.Sprint(" ", n)
				}
			}
			if want == "" {
				want = got
			}
			if got != want {
				t.Errorf("%s answers\n%s, and %s\n%s", f.name, got, foresters[0].name, want)
			}
		}
	})
}
