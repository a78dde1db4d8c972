package geofield_test

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/docmodel/docmodel/geohash"
	"github.com/docmodel/docmodel/geohash/geofield"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// What the tests are about: cafés, of a chain each, with keys of both kinds.
type cafe struct {
	ID    int64          `bson:"_id"`
	Chain string         `bson:"chain"`
	Seats int            `bson:"seats"`
	Loc   geofield.Point `bson:"loc,omitempty"`
	Geo   int64          `bson:"geo"`
	Hash  string         `bson:"hash,omitempty"`
}

type (
	cafeField  = geofield.Field[cafe, int64]
	cafeChange = model.ChangeOf[model.Stored[cafe]]
)

var (
	cafes = model.NewCollection[cafe, int64]("cafes")

	byKey     = geofield.NewField(cafes, "loc", "geo", geofield.FieldSpec{Sphere: true})
	cafeStore = model.NewStore(model.New("cafes", byKey), cafes)

	byText  = geofield.NewField(cafes, "loc", "hash", geofield.FieldSpec{Zero: true})
	byChain = geofield.NewField(cafes, "loc", "geo", geofield.FieldSpec{
		Prefix: []string{"chain"}, Suffix: []string{"seats"}, Ranges: 4,
	})
)

// paris has some cafés, the rest of the world fewer.
func somewhere(random *rand.Rand) geohash.Point {
	switch random.IntN(8) {
	case 0:
		return geohash.Point{Lat: 90 - random.Float64()*random.Float64(), Lng: random.Float64()*360 - 180}
	case 1:
		return geohash.Point{Lat: -90 + random.Float64()*random.Float64(), Lng: random.Float64()*360 - 180}
	case 2:
		return geohash.Point{
			Lat: random.Float64()*20 - 10,
			Lng: math.Copysign(180-random.Float64()*random.Float64(), random.Float64()-0.5),
		}
	case 3:
		return [...]geohash.Point{
			{Lat: 90}, {Lat: -90, Lng: 77}, {Lat: 5, Lng: 180}, {Lat: 5, Lng: -180}, {Lat: -90, Lng: -180}, {Lat: 90, Lng: 180},
		}[random.IntN(6)]
	case 4:
		return geohash.Point{Lat: random.Float64()*180 - 90, Lng: random.Float64()*360 - 180}
	}
	return geohash.Point{Lat: 48.86 + random.NormFloat64()*0.05, Lng: 2.33 + random.NormFloat64()*0.08}
}

// open stores n cafés at random, with keys of both kinds.
func open(t *testing.T, db *mongo.Database, n int, fields ...*cafeField) []cafe {
	t.Helper()
	random := rand.New(rand.NewPCG(7, uint64(n)))
	list := make([]cafe, n)
	for i := range list {
		p := somewhere(random)
		list[i] = cafe{
			ID: int64(i + 1), Chain: string(rune('a' + i%3)), Seats: i % 7, Loc: geofield.Point(p), Geo: int64(keyOf(p)),
			Hash: keyOf(p).String(),
		}
	}
	run(t, db, cafes.InsertMany(list))
	for _, f := range fields {
		if err := model.New("test", f).Indexes().Ensure(t.Context(), db); err != nil {
			t.Fatal(err)
		}
	}
	return list
}

type runner interface {
	Run(context.Context, model.DB) (model.Result, error)
}

func run(t testing.TB, db *mongo.Database, plans ...runner) {
	t.Helper()
	for _, p := range plans {
		if _, err := p.Run(t.Context(), db); err != nil {
			t.Fatal(err)
		}
	}
}

func change(t testing.TB, db *mongo.Database, c cafeChange) {
	t.Helper()
	if _, _, err := c.Run(t.Context(), db); err != nil {
		t.Fatal(err)
	}
}

// moved sets the place of a café.
func moved(id int64, p geohash.Point) cafeChange {
	return cafeStore.Set(id, bson.D{{Key: "loc", Value: geofield.Point(p)}})
}

// removed takes the place of a café away.
func removed(id int64) cafeChange {
	return cafeStore.Set(id, bson.D{{Key: "loc", Value: bson.RawValue{}}})
}

func keyOf(p geohash.Point) geohash.Key {
	k, err := geohash.Encode(p)
	if err != nil {
		panic(err)
	}
	return k
}

func ids(list []geofield.Place[cafe]) []int64 {
	out := make([]int64, len(list))
	for i, p := range list {
		out[i] = p.Doc.ID
	}
	return out
}

func sorted(list []int64) []int64 {
	slices.Sort(list)
	return list
}

// inside are the ids of cafés that an area holds.
func inside(list []cafe, area geofield.Area, also func(cafe) bool) []int64 {
	out := []int64{}
	for _, c := range list {
		if area.Contains(geohash.Point(c.Loc)) && (also == nil || also(c)) {
			out = append(out, c.ID)
		}
	}
	return out
}

func areas(random *rand.Rand, n int) []geofield.Area {
	list := []geofield.Area{
		geohash.Box{South: -90, West: -180, North: 90, East: 180}, geohash.Box{South: -20, West: 179, North: 20, East: -179},
		geohash.Box{South: 0, West: -180, North: 10, East: -179.5}, geohash.Box{South: 0, West: 179.5, North: 10, East: 180},
		geohash.Box{South: 5, West: 180, North: 5, East: 180}, geohash.Box{South: 89.9, West: -10, North: 90, East: 10},
		geohash.Circle{Meters: math.Inf(1)}, geohash.Circle{Center: geohash.Point{Lat: 5, Lng: 180}},
		geohash.Circle{Center: geohash.Point{Lat: 90}, Meters: 5e4},
		geohash.Circle{Center: geohash.Point{Lat: -89.9, Lng: 10}, Meters: 1e5},
		geohash.Circle{Center: geohash.Point{Lat: 3, Lng: -179.9}, Meters: 3e5},
	}
	for range n {
		p, q := somewhere(random), somewhere(random)
		list = append(list, geohash.Circle{Center: p, Meters: math.Exp(random.Float64()*12 + 2)},
			geohash.Circle{Center: p, Meters: geohash.Distance(p, q)}, // some on the rim
			geohash.Box{South: min(p.Lat, q.Lat), West: p.Lng, North: max(p.Lat, q.Lat), East: q.Lng})
	}
	return list
}

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

func (p pair) Validate() error               { return p[0].Validate() }
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

func (nowhere) Validate() error                                  { return nil }
func (nowhere) Contains(geohash.Point) bool                      { return true }
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
