package main

import (
	"bytes"
	"reflect"
	"slices"
	"testing"
)

func TestJoinsAreEqual(t *testing.T) {
	eachBackend(t, func(t *testing.T, b backend) {
		for _, s := range shapes {
			t.Run(s.name, func(t *testing.T) {
				db, stop, err := b.open(nil)
				if err != nil {
					t.Fatal(err)
				}
				defer stop()
				if err := s.store(t.Context(), db); err != nil {
					t.Fatal(err)
				}
				var want []joined
				for i, j := range joiners {
					got, err := j.join(t.Context(), db)
					if err != nil {
						t.Fatalf("%s: %v", j.name, err)
					}
					slices.SortFunc(got, func(a, b joined) int { return bytes.Compare(a.Parent.ID[:], b.Parent.ID[:]) })
					for n := range got {
						if len(got[n].Missing) == 0 {
							got[n].Missing = nil
						}
					}
					if i == 0 {
						want = got
						if len(want) != parents || len(want[0].Children) != perParent {
							t.Fatalf("%s: %d products, %d parts of the first", j.name, len(want), len(want[0].Children))
						}
					} else if !reflect.DeepEqual(want, got) {
						t.Errorf("%s gives something else than %s", j.name, joiners[0].name)
					}
				}
			})
		}
	})
}

func BenchmarkJoin(b *testing.B) {
	all, err := backends(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	for _, on := range all {
		for _, s := range shapes {
			b.Run(on.name+"/"+s.name, func(b *testing.B) {
				cs, stop, err := joinContenders(b.Context(), on, s)
				if err != nil {
					b.Fatal(err)
				}
				defer stop()
				benchmark(b, cs)
			})
		}
	}
}
