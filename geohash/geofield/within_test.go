package geofield_test

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/docmodel/docmodel/geohash"
	"github.com/docmodel/docmodel/geohash/geofield"
	"github.com/docmodel/docmodel/mongotest"
)

// What is found is what Contains says, anywhere on Earth, with every kind of key, with conditions and without.
func TestWithinIsExact(t *testing.T) {
	t.Parallel()
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		list := open(t, db, 900, byKey, byText, byChain)
		chain := bson.D{{Key: "chain", Value: "b"}}
		few := bson.D{
			{Key: "chain", Value: "b"},
			{
				Key:   "$or",
				Value: bson.A{bson.D{{Key: "seats", Value: 3}}, bson.D{{Key: "seats", Value: bson.D{{Key: "$gt", Value: 4}}}}},
			},
		}
		for i, area := range areas(rand.New(rand.NewPCG(1, 2)), 12) {
			for _, x := range []struct {
				reason string
				search geofield.Within[cafe]
				also   func(cafe) bool
			}{
				{"by numbers", byKey.Within(area), nil}, {"by texts", byText.Within(area), nil},
				{"a chain's", byChain.Within(area, chain), func(c cafe) bool { return c.Chain == "b" }},
				{
					reason: "with conditions", search: byChain.Within(area, few),
					also: func(c cafe) bool { return c.Chain == "b" && (c.Seats == 3 || c.Seats > 4) },
				},
				{
					reason: "with conditions and no index on them", search: byKey.Within(area, few),
					also: func(c cafe) bool { return c.Chain == "b" && (c.Seats == 3 || c.Seats > 4) },
				},
			} {
				if i%3 != 0 && x.also != nil {
					continue
				}
				got, err := x.search.All(t.Context(), db)
				want := inside(list, area, x.also)
				if err != nil || !slices.Equal(sorted(ids(got)), want) {
					t.Errorf("%s, %#v: got %d %v, want %d", x.reason, area, len(got), err, len(want))
				}
				for _, p := range got {
					if c, ok := area.(geohash.Circle); ok && p.Meters != geohash.Distance(c.Center, p.Point) ||
						p.Point != geohash.Point(p.Doc.Loc) || p.ID.Int64() != p.Doc.ID {
						t.Errorf("%s: a place is %+v", x.reason, p)
					}
				}
				if i%4 > 0 {
					continue
				}
				if n, err := x.search.Count(t.Context(), db); err != nil || n != int64(len(want)) {
					t.Errorf("%s, %#v: counted %d, %v, want %d", x.reason, area, n, err, len(want))
				}
				if box, ok := area.(geohash.Box); ok {
					if n, err := byKey.Within(box).Find.Count(t.Context(), db); err != nil ||
						n != int64(len(inside(list, area, nil))) {
						t.Errorf("the server counts %d in %v, %v", n, box, err)
					}
				}
			}
		}
	})
}

// A shape of one's own is an area too: two circles.
type pair [2]geohash.Circle

func (p pair) Validate() error { return p[0].Validate() }

func (p pair) Contains(x geohash.Point) bool { return p[0].Contains(x) || p[1].Contains(x) }

func (p pair) Cover(dst []geohash.Range, max int) []geohash.Range {
	first := p[0].Cover(nil, max/2)
	dst = geohash.Subtract(append(dst, first...), p[1].Cover(nil, max/2), first)
	slices.SortFunc(dst, func(a, b geohash.Range) int { return cmp.Compare(a.Lo, b.Lo) })
	return dst
}

func TestWithinOwnShape(t *testing.T) {
	t.Parallel()
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		list := open(t, db, 300, byKey)
		area := pair{
			{Center: geohash.Point{Lat: 48.86, Lng: 2.33}, Meters: 4000},
			{Center: geohash.Point{Lat: 90}, Meters: 30000},
		}
		got, err := byKey.Within(area).All(t.Context(), db)
		if want := inside(list, area, nil); err != nil || !slices.Equal(sorted(ids(got)), want) {
			t.Errorf("got %v, %v, want %v", ids(got), err, want)
		}
		nothing, err := byKey.Within(nowhere{}).All(t.Context(), db)
		if err != nil || len(nothing) != 0 {
			t.Errorf("an area with no keys holds %v, %v", nothing, err)
		}
	})
}

type nowhere struct{}

func (nowhere) Validate() error { return nil }

func (nowhere) Contains(geohash.Point) bool { return true }

func (nowhere) Cover(dst []geohash.Range, _ int) []geohash.Range { return dst }

// What Find is given is respected, and what would count candidates is refused.
func TestWithinFind(t *testing.T) {
	t.Parallel()
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		list := open(t, db, 300, byKey)
		area := geohash.Circle{Center: geohash.Point{Lat: 48.86, Lng: 2.33}, Meters: 5000}
		w := byKey.Within(area)
		w.Find = w.Find.Sorted(bson.D{{Key: "_id", Value: -1}}).
			Where(bson.D{{Key: "seats", Value: bson.D{{Key: "$lt", Value: 5}}}})
		want := inside(list, area, func(c cafe) bool { return c.Seats < 5 })
		slices.Reverse(want)
		if got, err := w.All(t.Context(), db); err != nil || !slices.Equal(ids(got), want) {
			t.Errorf("got %v, %v, want %v", ids(got), err, want)
		}
		if n, err := w.Count(t.Context(), db); err != nil || n != int64(len(want)) {
			t.Errorf("counted %d, %v", n, err)
		}
		w.Find.Projection = bson.D{{Key: "loc", Value: 1}}
		if got, err := w.All(t.Context(), db); err != nil || !slices.Equal(ids(got), want) || got[0].Doc.Chain != "" {
			t.Errorf("projected: got %v, %v", got, err)
		}
		w.Find.Projection = bson.D{{Key: "seats", Value: 1}}
		_, err := w.All(t.Context(), db)
		wantField(t, err, "loc")
		w.Find.Projection = nil
		w.Find = w.Find.Limited(3)
		_, err = w.All(t.Context(), db)
		wantField(t, err, "Limit")
		_, err = w.Count(t.Context(), db)
		wantField(t, err, "Limit")

		box := geohash.Box{South: 48.8, West: 2.3, North: 48.9, East: 2.4}
		b := byKey.Within(box)
		b.Find = b.Find.Sorted(bson.D{{Key: "_id", Value: 1}}).Limited(3)
		if got, err := b.All(t.Context(), db); err != nil || !slices.Equal(ids(got), inside(list, box, nil)[:3]) {
			t.Errorf("a box has %v, %v", ids(got), err)
		}
		for _, err := range byKey.Within(area).Each(t.Context(), db) {
			if err != nil {
				t.Error(err)
			}
			break
		}
	})
}
