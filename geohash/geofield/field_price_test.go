// These tests hold what each operation costs, and which index serves it.

package geofield_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/docmodel/docmodel/geohash"
	"github.com/docmodel/docmodel/geohash/geofield"
	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
)

// What each operation costs that no other test measures is what its value says, and what its documentation says: one
// after the other, on what the ones before have left.
func TestPrices(t *testing.T) {
	t.Parallel()
	paris, lyon := geofield.Point{Lat: 48.86, Lng: 2.33}, geofield.Point{Lat: 45.75, Lng: 4.85}
	rename := cafes.Update(1, bson.D{{Key: "$set", Value: bson.D{{Key: "chain", Value: "x"}}}})
	move := cafes.Update(1, bson.D{{Key: "$set", Value: bson.D{{Key: "loc", Value: lyon}}}})
	stray := model.NewPlan(cafes.Update(1, bson.D{{Key: "$set", Value: bson.D{{Key: "geo", Value: int64(7)}}}}),
		cafes.Update(3, bson.D{{Key: "$set", Value: bson.D{{Key: "geo", Value: int64(7)}}}}))
	m := mongotest.NewMonitor()
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		ctx := t.Context()
		for _, x := range []struct {
			reason string
			change model.ChangeOf[model.Stored[cafe]]
			want   model.Cost
		}{
			{"Insert", cafeStore.Insert(cafe{ID: 1, Loc: paris}), model.Cost{Commands: 1, Written: 1}},
			{
				reason: "InsertMany",
				change: cafeStore.InsertMany(cafe{ID: 2, Loc: lyon}, cafe{ID: 3, Loc: paris}, cafe{ID: 4, Loc: lyon}),
				want:   model.Cost{Commands: 1, Written: 3},
			},
			{"Set of the point", moved(4, geohash.Point(paris)), model.Cost{Commands: 1, Written: 1, Returned: 1}},
			{"Set that removes the point", removed(4), model.Cost{Commands: 1, Written: 1, Returned: 1}},
			{
				reason: "Set of a coordinate",
				change: cafeStore.Set(3, bson.D{{Key: "loc.coordinates", Value: bson.A{2.34, 48.86}}}),
				want:   model.Cost{Commands: 2, Written: 1, Returned: 1},
			},
			{"Replace", cafeStore.Replace(cafe{ID: 2, Loc: paris}), model.Cost{Commands: 2, Written: 1, Returned: 1}},
		} {
			t.Run(x.reason, func(t *testing.T) {
				modeltest.WantCost(t, m, x.want, func() error { _, _, err := x.change.Run(ctx, db); return err })
			})
		}
		for _, x := range []struct {
			reason string
			plan   model.Plan
			want   model.Cost
		}{
			{"Complete of an update", model.NewPlan(byKey.Complete(move)), model.Cost{Commands: 1, Written: 1}},
			{"Complete of what touches neither", model.NewPlan(byKey.Complete(rename)), rename.Cost()},
			{"other code", stray, stray.Cost()},
		} {
			t.Run(x.reason, func(t *testing.T) {
				modeltest.WantCost(t, m, x.want, func() error { _, err := x.plan.Run(ctx, db); return err })
				if said := x.plan.Cost(); said.Commands != x.want.Commands || said.Written != x.want.Written {
					t.Errorf("it says %v, want %v", said, x.want)
				}
			})
		}
		check := byKey.Checks()[0]
		var found []model.Finding
		modeltest.WantCost(t, m, model.Cost{Commands: 1, Returned: 4}, func() (err error) {
			found, err = check.All(ctx, db)
			return err
		})
		modeltest.WantCost(t, m, model.Cost{Commands: 1, Written: 2}, func() error {
			_, err := check.Mend(found).Run(ctx, db)
			return err
		})
		run(t, db, stray)
		// A batch is read for its _ids, and once more for keys; there are two reads to find the end.
		modeltest.WantCost(t, m, model.Cost{Commands: 5, Written: 2, Returned: 8}, func() error {
			_, err := check.Job().Run(ctx, db, model.JobOptions{})
			return err
		})
		run(t, db, stray)
		for _, written := range []int{2, 0} { // a second run writes nothing
			commands := 3 + written/2 // the batch, its write, and two to find the end
			modeltest.WantCost(t, m, model.Cost{Commands: commands, Written: written, Returned: 4}, func() error {
				_, err := byKey.Rebuild().Run(ctx, db, model.JobOptions{})
				return err
			})
		}
		circle := geohash.Circle{Center: geohash.Point(paris), Meters: 500}
		modeltest.WantCost(t, m, model.Cost{Commands: 1, Returned: 2}, func() error {
			_, err := byKey.Keys(circle).All(ctx, db)
			return err
		})
		modeltest.WantCost(t, m, model.Cost{Commands: 1, Returned: 1}, func() error {
			_, err := byKey.Clusters(circle, 20).All(ctx, db)
			return err
		})
	}, m)
}

// wantIndexed asks, among thousands of cafés, that writes find their documents by _id, and that rings, texts and
// conditions on a prefix are served by the index of their field.
func wantIndexed(t *testing.T, db *mongo.Database, m *mongotest.Monitor) {
	t.Helper()
	circle, chain := geohash.Circle{
		Center: geohash.Point{Lat: 40, Lng: 2.33}, Meters: 300000,
	}, bson.D{{Key: "chain", Value: "b"}}
	box := geohash.Box{South: 48.8, West: 2.3, North: 48.82, East: 2.32}
	run(t, db, cafes.Update(7, bson.D{{Key: "$set", Value: bson.D{{Key: "geo", Value: int64(7)}}}}))
	check := byKey.Checks()[0].In(bson.D{{Key: "_id", Value: 7}})
	found, err := check.All(t.Context(), db)
	if err != nil || len(found) != 1 {
		t.Fatal(found, err)
	}
	before := len(m.Commands())
	for place, err := range byKey.Nearest(geohash.Point{Lat: 40, Lng: 2.33}, geofield.NearestSpec{}, geofield.Mark{},
		2).Each(t.Context(), db) {
		if err != nil {
			t.Fatal(place, err)
		}
	}
	_, err = byKey.Within(box).Count(t.Context(), db)
	_, err2 := byText.Within(circle).All(t.Context(), db)
	if err := errors.Join(err, err2); err != nil {
		t.Fatal(err)
	}
	sent := slices.DeleteFunc(m.Commands()[before:], func(c mongotest.Command) bool { return c.Name == "getMore" })
	rings := len(sent) - 2
	for i, c := range sent {
		name := "geo_1"
		if i == len(sent)-1 {
			name = "hash_1"
		}
		t.Run(fmt.Sprintf("command %d of %d rings and two areas", i+1, rings), func(t *testing.T) {
			modeltest.WantIndexed(t, db, asSent(t, c), name)
		})
	}
	for _, x := range []struct {
		reason, index string
		query         any
	}{
		{"texts", "hash_1", byText.Within(circle).Find}, {"a box of texts", "hash_1", byText.Within(box).Find},
		{"keys that are texts", "hash_1", byText.Keys(circle)}, {"clusters by texts", "hash_1", byText.Clusters(circle, 20)},
		{"a ring of texts", "hash_1", ringOf(byText, circle)},
		{"a chain's keys", "chain_1_geo_1_seats_1", byChain.Keys(circle, chain)},
		{"a chain's clusters", "chain_1_geo_1_seats_1", byChain.Clusters(circle, 20, chain)},
		{"Mend", model.IDIndex, check.Mend(found).Steps[0]},
		{
			reason: "Complete", index: model.IDIndex,
			query: byKey.Complete(cafes.Update(7, bson.D{{
				Key:   "$set",
				Value: bson.D{{Key: "loc", Value: geofield.Point{Lat: 1}}},
			}})),
		},
	} {
		t.Run(x.reason, func(t *testing.T) { modeltest.WantIndexed(t, db, x.query, x.index) })
	}
}

// asSent is a command as explain takes it, without what the driver adds.
func asSent(t *testing.T, c mongotest.Command) (command bson.D) {
	t.Helper()
	var d bson.D
	if err := bson.Unmarshal(c.Body, &d); err != nil {
		t.Fatal(err)
	}
	for _, x := range d {
		switch x.Key {
		case "lsid", "$db", "$readPreference", "$clusterTime", "txnNumber":
		default:
			command = append(command, x)
		}
	}
	return command
}

// ringOf is what a circle holds beyond 100 km from its center, as the page after that distance is read.
func ringOf(f *geofield.Field[cafe, int64], c geohash.Circle) *model.Find[cafe] {
	return f.Nearest(c.Center, geofield.NearestSpec{Start: c.Meters},
		geofield.Mark{Meters: 100000, ID: testkit.Raw(int64(0))}, 1).First
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
	}, m)
}
