package composite_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/docmodel/docmodel/internal/tenancy"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
)

// Documents that drifted, and those of a collection with other _ids, come under their keys, each whole; cut anywhere
// too.
func TestCompositeRekey(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	world := compositeWorld(r, 9)
	if compositeFull() {
		world = compositeWorld(r, 60)
	}
	var docs []any
	var want []string
	typed := int64(0) // documents with fields that aren't in their type
	for i, z := range world {
		z.Name = fmt.Sprint("n", i)
		z.ID, _ = byPlace.Key(&z)
		want = append(want, z.ID+"="+z.Name)
		doc := bson.D{
			{Key: "_id", Value: z.ID}, {Key: "state", Value: z.State}, {Key: "city", Value: z.City},
			{Key: "user", Value: z.User}, {Key: "name", Value: z.Name},
		}
		switch i % 4 {
		case 0:
			doc[0].Value = bson.ObjectID{1, 11: byte(i)}
		case 1:
			doc[0].Value = fmt.Sprint("old ", i)
		case 2:
			doc = append(doc, bson.E{Key: "more", Value: bson.A{i, nil, bson.D{{Key: "x", Value: "$y"}}}})
			doc[0].Value = i
			typed++
		}
		docs = append(docs, doc)
	}
	store := func(ctx context.Context, db *mongo.Database) error {
		_, err := db.Collection("residents").InsertMany(ctx, docs)
		return err
	}
	check := func(t testing.TB, db *mongo.Database) {
		t.Helper()
		all, err := byPlace.Prefix().All(context.Background(), db)
		var got []string
		for _, z := range all {
			got = append(got, z.ID+"="+z.Name)
		}
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%v, %v", got, err)
		}
		n, err := db.Collection("residents").CountDocuments(context.Background(), bson.D{{Key: "more.x", Value: "$y"}})
		if err != nil || n != typed {
			t.Errorf("%d documents of %d kept what isn't in their type, %v", n, typed, err)
		}
	}
	job := byPlace.Rekey()
	job.Stages[0].BatchSize = 5
	run := func(ctx context.Context, db *mongo.Database) error {
		_, err := job.Run(ctx, db, model.JobOptions{})
		return err
	}
	modeltest.FaultMatrix(t, modeltest.FaultCase{Seed: store, Run: run, Check: check, Sample: 4})
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		taken := resident{State: "CA", City: "San", User: 1, Name: "Ann"}
		taken.ID, _ = byPlace.Key(&taken)
		compositeStore(t, db, "residents",
			[]any{taken, resident{ID: "old", State: "CA", City: "San", User: 1, Name: "Bob"}})
		if err := run(t.Context(), db); !mongo.IsDuplicateKeyError(err) {
			t.Errorf("a key that is taken: %v", err)
		}
		// What gets another field between the reading and the writing is deleted under neither key.
		old := bson.D{
			{Key: "_id", Value: 1}, {Key: "state", Value: "CA"}, {Key: "city", Value: "San"},
			{Key: "user", Value: int64(9)},
		}
		compositeStore(t, db, "residents", []any{append(slices.Clone(old), bson.E{Key: "note", Value: "new"})})
		read, err := bson.Marshal(old)
		if err != nil {
			t.Fatal(err)
		}
		p, err := job.Stages[0].Plan([]bson.Raw{read})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Run(t.Context(), db); !errors.Is(err, model.ErrStale) {
			t.Errorf("another field: %v", err)
		}
		n, err := db.Collection("residents").CountDocuments(t.Context(), bson.D{})
		if n != 1 && !tenancy.On || err != nil {
			t.Errorf("%d documents: the copy stayed, or the document with the other field went, %v", n, err)
		}
		compositeStore(t, db, "residents", []any{bson.D{{Key: "_id", Value: 1}, {Key: "state", Value: "CA"}}})
		var bad *model.ValueError
		if err := run(t.Context(), db); !errors.As(err, &bad) || bad.Field != "city" {
			t.Errorf("a missing part: %v", err)
		}
	})
}

// A writer that changes a document beside the job or a Move, in every order of their commands, leaves one document with
// its change.
func TestCompositeRekeyInterleaved(t *testing.T) {
	ann := resident{ID: "old", State: "CA", City: "San", User: 1, Name: "Ann"}
	moving := ann
	moving.ID = ""
	moving.ID, _ = byPlace.Key(&moving)
	away := byPlace.Move(&moving, resident{State: "NV", City: "Reno", User: 1, Name: "Ann"})
	away.Options.AllowPartial = true
	for _, set := range []bson.D{{{Key: "name", Value: "Bob"}}, {{Key: "city", Value: "Ojai"}}} {
		t.Run("rekey beside "+set[0].Key, func(t *testing.T) {
			movedBeside(t, "residents", ann.ID, ann, set, nil, func(ctx context.Context, db *mongo.Database) error {
				_, err := byPlace.Rekey().Run(ctx, db, model.JobOptions{})
				return err
			})
		})
		t.Run("move beside "+set[0].Key, func(t *testing.T) {
			movedBeside(t, "residents", moving.ID, moving, set, model.ErrStale,
				func(ctx context.Context, db *mongo.Database) error {
					_, err := away.Run(ctx, db)
					return err
				})
		})
	}
}

// movedBeside runs what moves a document, and a writer that sets fields of the document, in every order of their
// commands: one document is left, with the change if there was one. The move may return the error may.
func movedBeside(
	t *testing.T, collection, id string, doc any, set bson.D, may error,
	move func(ctx context.Context, db *mongo.Database) error,
) {
	t.Helper()
	changed := int64(0)
	modeltest.Interleave(t, modeltest.InterleaveCase{
		Seed: func(ctx context.Context, db *mongo.Database) error {
			_, err := db.Collection(collection).InsertOne(ctx, doc)
			return err
		},
		A: move,
		B: func(ctx context.Context, db *mongo.Database) error {
			res, err := db.Collection(collection).UpdateByID(ctx, id, bson.D{{Key: "$set", Value: set}})
			if err == nil {
				changed = res.MatchedCount
			}
			return err
		},
		Check: func(t testing.TB, db *mongo.Database, errA, errB error) {
			ctx := context.Background()
			all, err1 := db.Collection(collection).CountDocuments(ctx, bson.D{})
			with, err2 := db.Collection(collection).CountDocuments(ctx, set)
			if errA != nil && (may == nil || !errors.Is(errA, may)) {
				t.Errorf("it says %v", errA)
			}
			if err := errors.Join(errB, err1, err2); err != nil || all != 1 || with != changed {
				t.Errorf("%d documents, %d with the change of %d, %v", all, with, changed, err)
			}
		},
	})
}
