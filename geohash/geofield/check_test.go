package geofield_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/docmodel/docmodel/geohash"
	"github.com/docmodel/docmodel/geohash/geofield"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// damage breaks a third of the places in every way that other code may, and returns the ids of those.
func damage(t *testing.T, db *mongo.Database, list []cafe) (broken []int64) {
	t.Helper()
	random := rand.New(rand.NewPCG(5, 5))
	for _, c := range list {
		if random.IntN(3) > 0 {
			continue
		}
		set := func(op, path string, v any) bson.D { return bson.D{{Key: op, Value: bson.D{{Key: path, Value: v}}}} }
		update := [...]bson.D{
			set("$set", "geo", c.Geo+1), set("$unset", "geo", ""), set("$set", "geo", nil), set("$set", "geo", float64(c.Geo)),
			set("$set", "geo", c.Hash), set("$set", "loc.coordinates.1", c.Loc.Lat/2+1), set("$unset", "loc", ""),
			set("$set", "loc", geo("Point", 1, 91)), set("$set", "loc.type", "point"), set("$set", "loc", bson.A{1, 2}),
			set("$set", "loc.coordinates.0", math.NaN()), set("$set", "loc.coordinates", bson.A{0, 0}),
		}[random.IntN(12)]
		run(t, db, cafes.Unchecked().Update(c.ID, update))
		broken = append(broken, c.ID)
	}
	return broken
}

// Whatever other code does to points and keys is found, all of it and nothing else, and mended as far as a point says
// where.
func TestCheckAndRepair(t *testing.T) {
	t.Parallel()
	for reason, mend := range map[string]func(context.Context, *mongo.Database) error{
		"Checks": func(ctx context.Context, db *mongo.Database) error {
			_, err := byKey.Checks()[0].Job().Run(ctx, db, model.JobOptions{})
			return err
		},
		"Rebuild": func(ctx context.Context, db *mongo.Database) error {
			job := byKey.Rebuild()
			job.Stages[0].BatchSize = 50
			_, err := job.Run(ctx, db, model.JobOptions{})
			return err
		},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
				list := open(t, db, 300) // without the 2dsphere index, which refuses some of the damage
				if found, err := byKey.Checks()[0].All(t.Context(), db); err != nil || len(found) > 0 {
					t.Fatalf("found before anything is damaged: %v, %v", found, err)
				}
				broken := damage(t, db, list)
				found, err := byKey.Checks()[0].All(t.Context(), db)
				var got []int64
				for _, f := range found {
					got = append(got, f.ID.Int64())
					if f.Problem == "" || f.Check != byKey.Checks()[0].Name || f.Collection != "cafes" {
						t.Errorf("%+v says not what is wrong where", f)
					}
				}
				if err != nil || !slices.Equal(sorted(got), broken) {
					t.Fatalf("found %v, %v, want %v", got, err, broken)
				}
				if err := mend(t.Context(), db); err != nil {
					t.Fatal(err)
				}
				left, err := byKey.Checks()[0].All(t.Context(), db)
				for _, f := range left {
					if len(byKey.Checks()[0].Mend([]model.Finding{f}).Steps) > 0 || f.Detail.Lookup("geo").Type != 0 {
						t.Errorf("left: %v", f)
					}
				}
				if err != nil {
					t.Error(err)
				}
				wantKeys(t, db)
			})
		})
	}
}

// wantKeys fails the test unless every key is that of a point, and every point has its key.
func wantKeys(t testing.TB, db *mongo.Database) {
	t.Helper()
	raws, err := (&model.Find[bson.Raw]{Query: cafes.Find(nil).Query}).All(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	for _, raw := range raws {
		var p geofield.Point
		loc := raw.Lookup("loc")
		valid := loc.Type == bson.TypeEmbeddedDocument && p.UnmarshalBSONValue(byte(loc.Type), loc.Value) == nil &&
			geohash.Point(p).Validate() == nil && p != geofield.Point{}
		key, has := raw.Lookup("geo").Int64OK()
		if valid != has || valid && key != int64(keyOf(geohash.Point(p))) {
			t.Errorf("stored is %s", model.Shell(raw))
		}
	}
}

// A place that changed since the check stays as it is.
func TestRepairIsGuarded(t *testing.T) {
	t.Parallel()
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		list := open(t, db, 40)
		damage(t, db, list)
		found, err := byKey.Checks()[0].All(t.Context(), db)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range found {
			change(t, db, moved(m.ID.Int64(), geohash.Point{Lat: 10, Lng: float64(m.ID.Int64())}))
		}
		check := byKey.Checks()[0]
		run(t, db, check.Mend(found))
		if left, err := byKey.Checks()[0].All(t.Context(), db); err != nil || len(left) > 0 {
			t.Errorf("a repair from before the change broke %v, %v", left, err)
		}
		// Other code moves the point alone, under the wrong key that was found.
		run(t, db, cafes.Update(1, bson.D{{Key: "$set", Value: bson.D{{Key: "geo", Value: int64(7)}}}}))
		before, err := byKey.Checks()[0].All(t.Context(), db)
		run(t, db,
			cafes.Update(1, bson.D{{
				Key:   "$set",
				Value: bson.D{{Key: "loc", Value: geofield.Point{Lat: 1, Lng: 1}}},
			}}), check.Mend(before))
		after, err2 := byKey.Checks()[0].All(t.Context(), db)
		if len(before) != 1 || len(after) != 1 || after[0].Detail.Lookup("geo").Int64() != 7 ||
			errors.Join(err, err2) != nil {
			t.Errorf("a repair wrote the key of a point that is gone: %v, %v", before, after)
		}
	})
	check := byKey.Checks()[0]
	noID, err := bson.Marshal(bson.D{{Key: "geo", Value: int64(7)}})
	if err != nil {
		t.Fatal(err)
	}
	for reason, f := range map[string]model.Finding{
		"no id": {Check: check.Name, Detail: noID}, "no detail": {Check: check.Name},
		"of another check": {Check: byText.Checks()[0].Name, Detail: noID},
	} {
		if err := check.Mend([]model.Finding{f}).Err(); err == nil {
			t.Errorf("%s is taken", reason)
		}
	}
}

func TestFieldFaults(t *testing.T) {
	t.Parallel()
	paris, lyon := geofield.Point{Lat: 48.86, Lng: 2.33}, geofield.Point{Lat: 45.75, Lng: 4.85}
	seed := func(ctx context.Context, db *mongo.Database) error {
		_, err := cafes.InsertMany([]cafe{{ID: 1, Loc: paris}, {ID: 2, Loc: lyon, Geo: 5}, {ID: 3, Geo: 7}}).Run(ctx, db)
		return err
	}
	for reason, x := range map[string]struct {
		seed func(context.Context, *mongo.Database) error
		run  func(context.Context, *mongo.Database) error
	}{
		"InsertMany": {
			seed: func(context.Context, *mongo.Database) error { return nil },
			run: func(ctx context.Context, db *mongo.Database) error {
				_, _, err := cafeStore.InsertMany(cafe{ID: 1, Loc: paris}, cafe{ID: 2, Loc: lyon}, cafe{ID: 3}).Run(ctx, db)
				return err
			},
		},
		"Set and Unset": {seed, func(ctx context.Context, db *mongo.Database) error {
			for _, c := range []cafeChange{moved(1, geohash.Point(lyon)), removed(2), removed(3)} {
				if _, _, err := c.Run(ctx, db); err != nil {
					return err
				}
			}
			return nil
		}},
		"Checks": {seed, func(ctx context.Context, db *mongo.Database) error {
			_, err := byKey.Checks()[0].Job().Run(ctx, db, model.JobOptions{})
			return err
		}},
		"Rebuild": {seed, func(ctx context.Context, db *mongo.Database) error {
			job := byKey.Rebuild()
			job.Stages[0].BatchSize = 2
			_, err := job.Run(ctx, db, model.JobOptions{Checkpoint: "progress"})
			return err
		}},
	} {
		t.Run(reason, func(t *testing.T) {
			modeltest.FaultMatrix(t, modeltest.FaultCase{
				Seed: x.seed, Run: x.run,
				Check: func(t testing.TB, db *mongo.Database) { wantKeys(t, db) },
			})
		})
	}
}

// Thirty-two that move the same places at once: every key stays its point's.
func TestFieldConcurrent(t *testing.T) {
	t.Parallel()
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		open(t, db, 5, byKey)
		errs := make([]error, 32)
		var all sync.WaitGroup
		for n := range errs {
			all.Go(func() {
				for i := range int64(5) {
					p := geohash.Point{Lat: float64(n) + 0.5, Lng: float64(i)}
					_, _, err := moved(i+1, p).Run(t.Context(), db)
					update := bson.D{
						{Key: "$set", Value: bson.D{{Key: "loc", Value: geofield.Point{Lat: p.Lng, Lng: p.Lat}}}},
						{Key: "$inc", Value: bson.D{{Key: "seats", Value: 1}}},
					}
					_, err2 := byKey.Complete(cafes.Update(i+1, update)).Run(t.Context(), db)
					errs[n] = errors.Join(errs[n], err, err2)
				}
			})
		}
		all.Wait()
		if err := errors.Join(errs...); err != nil {
			t.Fatal(err)
		}
		wantKeys(t, db)
		got, err := cafes.Find(nil).All(t.Context(), db)
		sum := 0
		for _, c := range got {
			sum += c.Seats
		}
		if err != nil || sum != 32*5+0+1+2+3+4 {
			t.Errorf("%d seats, %v", sum, err)
		}
	})
}

func TestFieldCostsAndIndex(t *testing.T) {
	t.Parallel()
	m := mongotest.NewMonitor()
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		open(t, db, 4000, byKey, byText, byChain)
		circle, box := geohash.Circle{Center: geohash.Point{Lat: 40, Lng: 2.33}, Meters: 300000}, geohash.Box{
			South: 48.8, West: 2.3, North: 48.82, East: 2.32,
		}
		chain := bson.D{{Key: "chain", Value: "b"}}
		few := bson.D{{Key: "seats", Value: bson.D{{Key: "$ne", Value: 1}}}}
		for _, x := range []struct {
			reason, index string
			query         any
		}{
			{"a circle", "geo_1", byKey.Within(circle).Find}, {"a box", "geo_1", byKey.Within(box).Find},
			{"with a condition", "geo_1", byKey.Within(circle, few).Find},
			{
				reason: "a box across the antimeridian", index: "geo_1",
				query: byKey.Within(geohash.Box{South: 30, West: 179.5, North: 31, East: -179.5}).Find,
			},
			{"a chain's circle", "chain_1_geo_1_seats_1", byChain.Within(circle, chain).Find},
			{"a chain's box", "chain_1_geo_1_seats_1", byChain.Within(box, chain, few).Find},
			{"keys", "geo_1", byKey.Keys(circle)}, {"clusters", "geo_1", byKey.Clusters(circle, 20)},
			{"a ring", "geo_1", ringOf(byKey, circle)},
		} {
			t.Run(x.reason, func(t *testing.T) { modeltest.WantIndexed(t, db, x.query, x.index) })
		}
		candidates, err := byKey.Within(circle).Find.Count(t.Context(), db)
		if err != nil {
			t.Fatal(err)
		}
		batches := model.Cost{Commands: 1, Returned: int(candidates)}
		modeltest.WantCost(t, m, batches, func() error { _, err := byKey.Within(circle).All(t.Context(), db); return err })
		modeltest.WantCost(t, m, batches, func() error { _, err := byKey.Within(circle).Count(t.Context(), db); return err })
		modeltest.WantCost(t, m, model.Cost{Commands: 1, Returned: 1}, func() error {
			_, err := byKey.Within(box).Count(t.Context(), db)
			return err
		})
		job := byKey.Rebuild()
		job.Stages[0].BatchSize = 2000
		modeltest.WantCost(t, m, model.Cost{Commands: 4, Returned: 4000}, func() error {
			_, err := job.Run(t.Context(), db, model.JobOptions{})
			return err
		})
		wantIndexed(t, db, m)
	}, mongotest.WithMonitor(m))
}

// What an index holds tells where, and how many.
func TestKeysAndClusters(t *testing.T) {
	t.Parallel()
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		list := open(t, db, 500, byKey, byText, byChain)
		world := geohash.Box{South: -90, West: -180, North: 90, East: 180}
		got, err := byChain.Keys(world, bson.D{{Key: "chain", Value: "b"}}).
			Sorted(bson.D{{Key: "geo", Value: 1}}).One(t.Context(), db)
		var first struct {
			Chain string
			Geo   geohash.Key
			Seats *int
		}
		if err != nil || bson.Unmarshal(got, &first) != nil || first.Chain != "b" || first.Seats == nil ||
			got.Lookup("_id").Type != 0 {
			t.Errorf("the first key is %v, %v", got, err)
		}
		for _, bits := range []int{1, 5, 12, 25, 60} {
			want := map[geohash.Cell]int64{}
			for _, c := range list {
				want[geohash.Key(c.Geo).Cell(bits)]++
			}
			for reason, f := range map[string]*cafeField{"numbers": byKey, "texts": byText} {
				if f == byText && bits%5 > 0 {
					wantField(t, f.Clusters(world, bits).Err, "bits")
					continue
				}
				clusters, err := f.Clusters(world, bits).All(t.Context(), db)
				if err != nil || len(clusters) != len(want) ||
					!slices.IsSortedFunc(clusters, func(a, b geofield.Cluster) int { return int(a.Cell.Key>>40 - b.Cell.Key>>40) }) {
					t.Errorf("%d bits by %s: %d clusters, %v, want %d", bits, reason, len(clusters), err, len(want))
				}
				for _, c := range clusters {
					if want[c.Cell] != c.Count {
						t.Errorf("%d bits by %s: %v, want %d", bits, reason, c, want[c.Cell])
					}
				}
			}
		}
	})
	wantField(t, byKey.Clusters(geohash.Box{}, 0).Err, "bits")
	wantField(t, byKey.Clusters(geohash.Box{}, 61).Err, "bits")
	wantField(t, byKey.Clusters(geohash.Box{North: 91}, 5).Err, "North")
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

func TestFieldDeclarations(t *testing.T) {
	t.Parallel()
	type many struct {
		ID  int64            `bson:"_id"`
		Loc []geofield.Point `bson:"loc"`
		Geo []int64          `bson:"geo"`
		At  geofield.Point   `bson:"at"`
		N   int32            `bson:"n"`
	}
	lists := model.NewCollection[many, int64]("lists")
	spec := func(s geofield.FieldSpec) func() { return func() { geofield.NewField(cafes, "loc", "geo", s) } }
	for reason, declare := range map[string]func(){
		"no such point":           func() { geofield.NewField(cafes, "place", "geo", geofield.FieldSpec{}) },
		"no such key":             func() { geofield.NewField(cafes, "loc", "key", geofield.FieldSpec{}) },
		"points in an array":      func() { geofield.NewField(lists, "loc", "n", geofield.FieldSpec{}) },
		"keys in an array":        func() { geofield.NewField(lists, "at", "geo", geofield.FieldSpec{}) },
		"a small number":          func() { geofield.NewField(lists, "at", "n", geofield.FieldSpec{}) },
		"a point that is a text":  func() { geofield.NewField(cafes, "chain", "geo", geofield.FieldSpec{}) },
		"a key in the point":      func() { geofield.NewField(loose, "loc", "loc.geo", geofield.FieldSpec{}) },
		"one field for both":      func() { geofield.NewField(loose, "loc", "loc", geofield.FieldSpec{}) },
		"a text that is a number": spec(geofield.FieldSpec{Text: true}),
		"too many ranges":         spec(geofield.FieldSpec{Ranges: 101}), "no ranges": spec(geofield.FieldSpec{Ranges: -1}),
		"no such prefix":      spec(geofield.FieldSpec{Prefix: []string{"city"}}),
		"no such suffix":      spec(geofield.FieldSpec{Suffix: []string{"city"}}),
		"a prefix twice":      spec(geofield.FieldSpec{Prefix: []string{"chain", "chain"}}),
		"the key as prefix":   spec(geofield.FieldSpec{Prefix: []string{"geo"}}),
		"before and after":    spec(geofield.FieldSpec{Prefix: []string{"chain"}, Suffix: []string{"chain"}}),
		"the point as suffix": spec(geofield.FieldSpec{Suffix: []string{"loc"}}),
	} {
		t.Run(reason, func(t *testing.T) {
			defer func() {
				if d, ok := recover().(*model.DeclarationError); !ok || d.Remedy == "" {
					t.Errorf("panicked with %v", d)
				}
			}()
			declare()
		})
	}
	const want = "db.cafes.createIndex({geo: 1})\ndb.cafes.createIndex({loc: '2dsphere'})\n"
	if got := fmt.Sprint(model.New("test", byKey).Indexes()); got != want {
		t.Errorf("declared is %s, want %s", got, want)
	}
}
