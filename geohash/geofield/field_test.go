package geofield_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/docmodel/docmodel/geohash"
	"github.com/docmodel/docmodel/geohash/geofield"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
)

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
