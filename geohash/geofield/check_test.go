package geofield_test

import (
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
	"github.com/docmodel/docmodel/mongotest"
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
