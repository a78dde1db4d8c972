package model_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// trash marks what it deletes.
var trash = model.Scope{
	Delete: bson.D{{Key: "removedAt", Value: int64(7)}},
	Set:    bson.D{{Key: "stampedAt", Value: int64(8)}},
}

// A restored note is counted again, and gets its writer's present name.
func TestStoreRestore(t *testing.T) {
	for _, tx := range []bool{false, true} {
		t.Run(fmt.Sprintf("transactions %v", tx), func(t *testing.T) {
			plain := mongotest.NewClient(t).Database("diary")
			db := trash.On(diary.On(plain))
			if tx {
				var err error
				if db, err = model.WithTransactions(t.Context(), db); err != nil {
					t.Fatal(err)
				}
			}
			do := func(c model.ChangeOf[model.Stored[note]], want error) (n note) {
				t.Helper()
				s, _, err := c.Run(t.Context(), db)
				if !errors.Is(err, want) || (err == nil) != (want == nil) {
					t.Fatalf("%v, want %v", err, want)
				}
				return s.Doc
			}
			if _, _, err := writerStore.Insert(writer{ID: "ann", Name: "Ann"}).Run(t.Context(), db); err != nil {
				t.Fatal(err)
			}
			do(noteStore.Insert(note{ID: "n", Writer: "ann", Text: "x"}), nil)
			do(noteStore.Restore("n"), nil) // it isn't deleted
			do(noteStore.Delete("n"), nil)
			do(noteStore.Set("n", bson.D{{Key: "text", Value: "y"}}), model.ErrNotFound)
			if _, _, err := writerStore.Set("ann", bson.D{{Key: "name", Value: "Anna"}}).Run(t.Context(), db); err != nil {
				t.Fatal(err)
			}
			if got, want := do(noteStore.Restore("n"), nil), (note{ID: "n", Writer: "ann", By: "Anna", Text: "x"}); got != want {
				t.Errorf("restored as %+v, want %+v", got, want)
			}
			if w, err := writers.ByID("ann").One(t.Context(), db); err != nil || w.Notes != 1 {
				t.Errorf("%+v, %v", w, err)
			}
			do(noteStore.Restore("n"), nil)
			do(noteStore.Restore("m"), model.ErrNotFound)
			do(noteStore.Delete("n"), nil)
			if _, err := plain.Collection("writers").DeleteOne(t.Context(), bson.D{}); err != nil {
				t.Fatal(err)
			}
			do(noteStore.Restore("n"), model.ErrNotFound)
			do(noteStore.Set("n", bson.D{{Key: "text", Value: "y"}}), model.ErrNotFound)
			for f, err := range diary.Audit().Each(t.Context(), db) {
				t.Errorf("the audit finds %s (%v)", f, err)
			}
		})
	}
}

// The count of a restored writer begins at 0. The audit's repair counts the notes that kept
// naming the writer.
func TestStoreRestoreOwned(t *testing.T) {
	plain := mongotest.NewClient(t).Database("diary")
	db := trash.On(diary.On(plain))
	_, _, err := writerStore.Insert(writer{ID: "ann", Name: "Ann"}).Run(t.Context(), db)
	if err == nil {
		_, _, err = noteStore.Insert(note{ID: "n", Writer: "ann", Text: "x"}).Run(t.Context(), db)
	}
	if err == nil {
		_, _, err = writerStore.Delete("ann").Run(t.Context(), db)
	}
	if err != nil {
		t.Fatal(err)
	}
	s, _, err := writerStore.Restore("ann").Run(t.Context(), db)
	if err != nil || s.Doc.Notes != 0 {
		t.Fatalf("%+v, %v", s.Doc, err)
	}
	if _, err := diary.Audit().Job().Run(t.Context(), db, model.JobOptions{}); err != nil {
		t.Fatal(err)
	}
	if w, err := writers.ByID("ann").One(t.Context(), db); err != nil || w.Notes != 1 {
		t.Errorf("%+v, %v", w, err)
	}
}

// A restoration is cut at each of its writes. The retry, with the same token, counts once.
func TestStoreRestoreCut(t *testing.T) {
	token := bson.NewObjectID()
	modeltest.FaultMatrix(t, modeltest.FaultCase{
		Ignore: map[string]string{"notes.stampedAt": "the scope sets it", "writers.stampedAt": "the scope sets it"},
		Seed: func(ctx context.Context, db *mongo.Database) error {
			on := trash.On(diary.On(db))
			_, _, err := writerStore.Insert(writer{ID: "ann", Name: "Ann"}).Run(ctx, on)
			if err == nil {
				_, _, err = noteStore.Insert(note{ID: "n", Writer: "ann", Text: "x"}).Run(ctx, on)
			}
			if err == nil {
				_, _, err = noteStore.Delete("n").Run(ctx, on)
			}
			return err
		},
		Run: func(ctx context.Context, db *mongo.Database) error {
			_, _, err := noteStore.Restore("n").Run(model.WithToken(ctx, token), trash.On(diary.On(db)))
			return err
		},
		Check: func(t testing.TB, db *mongo.Database) {
			on := trash.On(diary.On(db))
			w, err := writers.ByID("ann").One(t.Context(), on)
			n, failed := diaryNotes.ByID("n").One(t.Context(), on)
			if err != nil || failed != nil || w.Notes != 1 || n.Text != "x" {
				t.Errorf("%+v, %+v, %v, %v", w, n, err, failed)
			}
		},
	})
}
