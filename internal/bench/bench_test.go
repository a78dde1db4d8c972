package main

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/docmodel/docmodel/geohash"
	peer "github.com/mmcloughlin/geohash"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// What is compared must give the same.

func TestStatementsAreEqual(t *testing.T) {
	for name, statements := range map[string][]statement{
		"in": inStatements, "push": pushStatements, "guarded": guardedStatements, "copy": copyStatements,
	} {
		want, err := statements[0].make()
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range statements[1:] {
			t.Run(name+"/"+s.name, func(t *testing.T) {
				got, err := s.make()
				if err != nil {
					t.Fatal(err)
				}
				if !bytes.Equal(want, got) {
					t.Errorf("want %s\n got %s", bson.Raw(want), bson.Raw(got))
				}
			})
		}
	}
}

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

func eachBackend(t *testing.T, f func(*testing.T, backend)) {
	all, err := backends(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range all {
		t.Run(b.name, func(t *testing.T) { f(t, b) })
	}
}

func BenchmarkIn(b *testing.B)   { benchmark(b, contenders(inStatements)) }
func BenchmarkPush(b *testing.B) { benchmark(b, contenders(pushStatements)) }

func BenchmarkGuarded(b *testing.B) { benchmark(b, contenders(guardedStatements)) }
func BenchmarkCopy(b *testing.B)    { benchmark(b, contenders(copyStatements)) }

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

func benchmark(b *testing.B, cs []contender) {
	for _, c := range cs {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := c.run(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// Each propagation changes every copy, and leaves the same.
func TestPropagationsAreEqual(t *testing.T) {
	eachBackend(t, func(t *testing.T, b backend) {
		for where, ps := range propagations {
			db, stop, err := b.open(nil)
			if err != nil {
				t.Fatal(err)
			}
			defer stop()
			if err := storeGoods(t.Context(), db, 100); err != nil {
				t.Fatal(err)
			}
			for i, p := range ps {
				m := maker{ID: one, Name: p.name, V: int64(i + 1)}
				if changed, err := p.run(t.Context(), db, m); changed != 100 || err != nil {
					t.Errorf("%s, %s: %d documents, %v", where, p.name, changed, err)
				}
				n, err := goods.Find(bson.D{{Key: "$or", Value: bson.A{
					bson.D{{Key: "name", Value: p.name}}, bson.D{{Key: "by.1.name", Value: p.name}, {Key: "by.0.name", Value: "another"}},
				}}}).Count(t.Context(), db)
				if n != 100 || err != nil {
					t.Errorf("%s, %s: %d copies, %v", where, p.name, n, err)
				}
			}
		}
	})
}

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

// New tables replace those of the same headings, and leave the others.
func TestRenewed(t *testing.T) {
	old := renewed("", "\n## a\n\nold a\n\n## b\n\nold b\n")
	want := preamble + "\n## a\n\nold a\n\n## b\n\nnew b\n\n## c\n\nnew c\n"
	if got := renewed(old, "\n## b\n\nnew b\n\n## c\n\nnew c\n"); got != want {
		t.Errorf("want %s\n got %s", want, got)
	}
	if got := renewed(want, ""); got != want {
		t.Errorf("want %s\n got %s", want, got)
	}
}

// The peer's keys, texts and boxes are ours, away from edges; and covers hold what is in their circles, but for the one that doesn't
// claim to near poles.
func TestGeohashesAreEqual(t *testing.T) {
	d, err := newGeoData()
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range d.points {
		box, ours := peer.BoundingBox(d.texts[i]), d.cells[i].Box()
		if uint64(d.keys[i]) != peer.EncodeInt(p.Lat, p.Lng)>>4 || d.texts[i] != peer.Encode(p.Lat, p.Lng) ||
			math.Abs(box.MinLat-ours.South)+math.Abs(box.MaxLng-ours.East) > 1e-12 {
			t.Errorf("%v: %s, and %s", p, d.texts[i], peer.Encode(p.Lat, p.Lng))
		}
		n, bits := peer.ConvertStringToInt(d.texts[i])
		if n != uint64(d.keys[i]) || bits != geohash.MaxBits {
			t.Errorf("%s: %x, and %x of %d bits", d.texts[i], int64(d.keys[i]), n, bits)
		}
	}
	r := rand.New(rand.NewPCG(7, 8))
	for _, c := range append(coverers(8), geofireCoverer) {
		for _, circle := range d.circles {
			area, holds := c.cover(circle)
			if p := walk(r, circle); !holds(p) || area < 3*math.Pow(circle.Meters/geohash.EarthRadius, 2) {
				t.Fatalf("%s of %v: area %v, %v in it: %t", c.name, circle, area, p, holds(p))
			}
		}
	}
}
