// These cafés and functions are shared by the tests of package geofield.

package geofield_test

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/docmodel/docmodel/geohash"
	"github.com/docmodel/docmodel/geohash/geofield"
	"github.com/docmodel/docmodel/model"
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
