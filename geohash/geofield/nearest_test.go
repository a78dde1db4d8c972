package geofield_test

import (
	"cmp"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/docmodel/docmodel/geohash"
	"github.com/docmodel/docmodel/geohash/geofield"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
)

// byDistance are the ids of all cafés, nearest first.
func byDistance(list []cafe, from geohash.Point, also func(cafe) bool) []int64 {
	near := func(c cafe) float64 { return geohash.Distance(from, geohash.Point(c.Loc)) }
	list = slices.Clone(list)
	slices.SortFunc(list, func(a, b cafe) int { return cmp.Or(cmp.Compare(near(a), near(b)), cmp.Compare(a.ID, b.ID)) })
	out := []int64{}
	for _, c := range list {
		if also == nil || also(c) {
			out = append(out, c.ID)
		}
	}
	return out
}

// The k nearest are the first k of all, sorted by distance; ties too, of which the places on the poles give many.
func TestNearestIsExact(t *testing.T) {
	t.Parallel()
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		list := open(t, db, 900, byKey, byText, byChain)
		random := rand.New(rand.NewPCG(3, 4))
		isB := func(c cafe) bool { return c.Chain == "b" && c.Seats > 2 }
		b := bson.D{{Key: "chain", Value: "b"}, {Key: "seats", Value: bson.D{{Key: "$gt", Value: 2}}}}
		for i := range 15 {
			from := somewhere(random)
			k := []int{1, 5, 30, 200, 2000}[i%5]
			for reason, x := range map[string]struct {
				search geofield.Nearest[cafe]
				also   func(cafe) bool
			}{
				"by numbers": {byKey.Nearest(from, geofield.NearestSpec{}, geofield.Mark{}, int64(k)), nil},
				"by texts":   {byText.Nearest(from, geofield.NearestSpec{Start: 100}, geofield.Mark{}, int64(k)), nil},
				"a chain's":  {byChain.Nearest(from, geofield.NearestSpec{Where: b}, geofield.Mark{}, int64(k)), isB},
			} {
				want := byDistance(list, from, x.also)
				want = want[:min(k, len(want))]
				got, err := x.search.All(t.Context(), db)
				if err != nil || !slices.Equal(ids(got), want) {
					t.Errorf("%d nearest to %v %s:\n%v, want\n%v, %v", k, from, reason, ids(got), want, err)
				}
			}
			most := geohash.Distance(from, somewhere(random))
			want := byDistance(list, from, func(c cafe) bool { return geohash.Distance(from, geohash.Point(c.Loc)) <= most })
			got, err := byKey.Nearest(from, geofield.NearestSpec{Max: most}, geofield.Mark{}, 0).All(t.Context(), db)
			if err != nil || !slices.Equal(ids(got), want) {
				t.Errorf("all within %g m of %v: %d, want %d, %v", most, from, len(got), len(want), err)
			}
		}
	})
}

// Pages are the whole, in order: nothing twice, nothing missing, also where many are equally far.
func TestNearestPages(t *testing.T) {
	t.Parallel()
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		list := open(t, db, 600, byKey)
		for _, from := range []geohash.Point{
			{Lat: 48.86, Lng: 2.33}, {Lat: 90}, {Lat: -89.99, Lng: 3}, {Lat: 5, Lng: 179.999},
		} {
			var all []int64
			var after geofield.Mark
			for len(all) < 200 {
				page, err := byKey.Nearest(from, geofield.NearestSpec{}, after, 17).All(t.Context(), db)
				if err != nil || len(page) != 17 {
					t.Fatalf("a page of %d, %v", len(page), err)
				}
				all = append(all, ids(page)...)
				after = page[len(page)-1].Mark
			}
			if want := byDistance(list, from, nil)[:len(all)]; !slices.Equal(all, want) {
				t.Errorf("pages around %v are\n%v, want\n%v", from, all, want)
			}
			far, err := byKey.Nearest(from, geofield.NearestSpec{Max: after.Meters / 2}, after, 5).All(t.Context(), db)
			if err != nil || len(far) != 0 {
				t.Errorf("after the farthest come %v, %v", far, err)
			}
		}
	})
}

// No key is in two rings of a search, and the next page leaves out what lies within the last.
func TestNearestReads(t *testing.T) {
	t.Parallel()
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		open(t, db, 3000, byKey)
		from := geohash.Point{Lat: 48.86, Lng: 2.33}
		read, rings := 0, 0
		spec := geofield.NearestSpec{Start: 300, Trace: func(r geofield.Ring) { read, rings = read+r.Read, rings+1 }}
		first, err := byKey.Nearest(from, spec, geofield.Mark{}, 20).All(t.Context(), db)
		if err != nil || rings > 3 || read > 160 {
			t.Errorf("20 nearest by %d rings and %d documents, %v", rings, read, err)
		}
		read, rings = 0, 0
		after := first[19].Mark
		spec.Start = 0
		for range 10 {
			page, err := byKey.Nearest(from, spec, after, 20).All(t.Context(), db)
			if err != nil {
				t.Fatal(err)
			}
			after = page[19].Mark
		}
		if rings > 20 || read > 1200 {
			t.Errorf("ten pages of 20 by %d rings and %d documents", rings, read)
		}
		t.Logf("ten pages of 20: %d rings, %d documents", rings, read)
		read, rings = 0, 0
		for _, err := range byKey.Nearest(from, spec, after, 0).Each(t.Context(), db) {
			if err != nil {
				t.Fatal(err)
			}
		}
		if read > 2900 || read < 2780 {
			t.Errorf("all others by %d documents: some are read twice, or the last pages anew", read)
		}
	})
}

// A place that moves away while rings are read is returned once.
func TestNearestMoves(t *testing.T) {
	t.Parallel()
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		paris := geohash.Point{Lat: 48.86, Lng: 2.33}
		var list []cafe
		for i := range 10 {
			list = append(list, cafe{ID: int64(i + 1), Loc: geofield.Point{Lat: paris.Lat + float64(i*i)*0.003, Lng: paris.Lng}})
		}
		if _, _, err := cafeStore.InsertMany(list...).Run(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		times := map[int64]int{}
		for p, err := range byKey.Nearest(paris, geofield.NearestSpec{}, geofield.Mark{}, 0).Each(t.Context(), db) {
			if err != nil {
				t.Fatal(err)
			}
			if times[p.Doc.ID]++; p.Rank == 1 {
				change(t, db, moved(p.Doc.ID, geohash.Point{Lat: paris.Lat + 0.2, Lng: paris.Lng + 0.1}))
			}
		}
		for _, c := range list {
			if times[c.ID] != 1 {
				t.Errorf("%d was returned %d times", c.ID, times[c.ID])
			}
		}
	})
}

func TestNearestRefuses(t *testing.T) {
	t.Parallel()
	nan := math.NaN()
	p := geohash.Point{Lat: 1, Lng: 2}
	for reason, x := range map[string]struct {
		search geofield.Nearest[cafe]
		field  string
	}{
		"a latitude":           {byKey.Nearest(geohash.Point{Lat: 91}, geofield.NearestSpec{}, geofield.Mark{}, 1), "Lat"},
		"a longitude":          {byKey.Nearest(geohash.Point{Lng: nan}, geofield.NearestSpec{}, geofield.Mark{}, 1), "Lng"},
		"fewer than none":      {byKey.Nearest(p, geofield.NearestSpec{}, geofield.Mark{}, -1), "n"},
		"a negative distance":  {byKey.Nearest(p, geofield.NearestSpec{Max: -1}, geofield.Mark{}, 1), "Max"},
		"a start that is none": {byKey.Nearest(p, geofield.NearestSpec{Start: nan}, geofield.Mark{}, 1), "Start"},
		"a mark that is none":  {byKey.Nearest(p, geofield.NearestSpec{}, geofield.Mark{Meters: -1}, 1), "mark.Meters"},
		"no chain":             {byChain.Nearest(p, geofield.NearestSpec{}, geofield.Mark{}, 1), "chain"},
		"no value for BSON": {
			search: byKey.Nearest(p, geofield.NearestSpec{Where: bson.D{{Key: "a", Value: func() {}}}}, geofield.Mark{}, 1),
			field:  "filters[0]",
		},
	} {
		t.Run(reason, func(t *testing.T) {
			_, err := x.search.All(t.Context(), nil)
			wantField(t, err, x.field)
			if s := x.search.First.String(); s != "// refused: "+err.Error() {
				t.Errorf("is shown as %s", s)
			}
		})
	}
}

// A search by rings sends one command for each ring that it tells of, and reads what it says; to the end of the world
// where nothing is near, six.
func TestNearestPrices(t *testing.T) {
	t.Parallel()
	m := mongotest.NewMonitor()
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		open(t, db, 200, byKey)
		for _, x := range []struct {
			reason string
			k      int
			from   geohash.Point
			rings  [2]int // from, to
			where  bson.D
		}{
			{"the five nearest", 5, geohash.Point{Lat: 48.86, Lng: 2.33}, [2]int{2, 3}, nil},
			{"nothing", 5, geohash.Point{Lat: 48.86, Lng: 2.33}, [2]int{6, 6}, bson.D{{Key: "chain", Value: "none"}}},
		} {
			t.Run(x.reason, func(t *testing.T) {
				var rings []geofield.Ring
				list := func(ctx context.Context) ([]geofield.Place[cafe], error) {
					rings = nil
					return byKey.Nearest(x.from,
						geofield.NearestSpec{Where: x.where, Trace: func(r geofield.Ring) { rings = append(rings, r) }}, geofield.Mark{},
						int64(x.k)).All(ctx, db)
				}
				if _, err := list(t.Context()); err != nil {
					t.Fatal(err)
				}
				want := model.Cost{Commands: len(rings)}
				for _, r := range rings {
					want.Returned += r.Read
				}
				if len(rings) < x.rings[0] || len(rings) > x.rings[1] {
					t.Errorf("%d rings: %v", len(rings), rings)
				}
				modeltest.WantCost(t, m, want, func() error { _, err := list(t.Context()); return err })
			})
		}
	}, m)
}

// The server's own queries on a sphere find the same, where it has them: within a circle all but points on its rim, and
// the nearest in the same order but for ties.
func TestSphereAgrees(t *testing.T) {
	t.Parallel()
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		list := open(t, db, 700, byKey)
		random := rand.New(rand.NewPCG(8, 9))
		for range 12 {
			c := geohash.Circle{Center: somewhere(random), Meters: math.Exp(random.Float64()*9 + 5)}
			want, err := byKey.Within(c).All(t.Context(), db)
			if err != nil || !slices.Equal(sorted(ids(want)), inside(list, c, nil)) {
				t.Fatal(err)
			}
			sphere := bson.A{bson.A{c.Center.Lng, c.Center.Lat}, c.Meters / geohash.EarthRadius}
			got, err := cafes.Find(bson.D{{
				Key:   "loc",
				Value: bson.D{{Key: "$geoWithin", Value: bson.D{{Key: "$centerSphere", Value: sphere}}}},
			}}).All(t.Context(), db)
			var theirs []int64
			for _, x := range got {
				theirs = append(theirs, x.ID)
			}
			if err != nil || !slices.Equal(sorted(theirs), sorted(ids(want))) {
				t.Errorf("within %v are %v to the server, %v, not %v", c, theirs, err, ids(want))
			}
			nearest(t, db, c.Center)
		}
	})
}

// nearest compares the order of the twenty nearest.
func nearest(t *testing.T, db *mongo.Database, from geohash.Point) {
	t.Helper()
	want, err := byKey.Nearest(from, geofield.NearestSpec{}, geofield.Mark{}, 20).All(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	at := bson.D{{Key: "$geometry", Value: geo("Point", from.Lng, from.Lat)}}
	got, err := cafes.Find(bson.D{{Key: "loc", Value: bson.D{{Key: "$nearSphere", Value: at}}}}).
		Limited(20).All(t.Context(), db)
	if lacksSphere(err) {
		return
	}
	if err != nil || len(got) != len(want) {
		t.Fatalf("%d near %v, %v", len(got), from, err)
	}
	for i, x := range got {
		if d := geohash.Distance(from, geohash.Point(x.Loc)); math.Abs(d-want[i].Meters) > 1e-6*d+1e-3 {
			t.Errorf("the %d. of %v is %d to the server, %g m, not %d, %g m", i+1, from, x.ID, d, want[i].Doc.ID, want[i].Meters)
		}
	}
}

// lacksSphere reports whether the engine answered, which has no order by distance on a sphere.
func lacksSphere(err error) bool {
	var failure mongo.ServerError
	return errors.As(err, &failure) && failure.HasErrorCode(238)
}
