package model_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Without transactions, an insert that counts is cut at each of its writes. The retry, with
// the same token, counts once.
func TestStoreUnfinishedCut(t *testing.T) {
	token := bson.NewObjectID()
	modeltest.FaultMatrix(t, modeltest.FaultCase{
		Seed: func(ctx context.Context, db *mongo.Database) error {
			_, _, err := writerStore.Insert(writer{ID: "ann", Name: "Ann"}).Run(ctx, db)
			return err
		},
		Run: func(ctx context.Context, db *mongo.Database) error {
			_, _, err := noteStore.Insert(note{ID: "n", Writer: "ann", Text: "x"}).Run(model.WithToken(ctx, token), db)
			return err
		},
		Check: func(t testing.TB, db *mongo.Database) {
			w, err := writers.ByID("ann").One(context.Background(), db)
			if err != nil || w.Notes != 1 {
				t.Errorf("%+v, %v", w, err)
			}
		},
	})
}

// Another client, or the repair, finishes an action that was interrupted after its first
// write.
func TestStoreUnfinished(t *testing.T) {
	for what, c := range map[string]struct {
		run   func(ctx context.Context, db *mongo.Database) error
		notes int64
	}{
		"edit": {notes: 1, run: func(ctx context.Context, db *mongo.Database) error {
			_, _, err := noteStore.Edit("n", func(n *note) error { n.Text = "y"; return nil }).Run(ctx, db)
			return err
		}},
		"move": {notes: 0, run: func(ctx context.Context, db *mongo.Database) error {
			_, _, err := noteStore.Set("n", bson.D{{Key: "writer", Value: "bob"}}).Run(ctx, db)
			return err
		}},
		"delete": {notes: 0, run: func(ctx context.Context, db *mongo.Database) error {
			_, _, err := noteStore.Delete("n").Run(ctx, db)
			return err
		}},
		"repair": {notes: 1, run: func(ctx context.Context, db *mongo.Database) error {
			_, err := diary.Audit().Job().Run(ctx, db, model.JobOptions{})
			return err
		}},
	} {
		t.Run(what, func(t *testing.T) {
			mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
				ctx := t.Context()
				for _, w := range []writer{{ID: "ann", Name: "Ann"}, {ID: "bob", Name: "Bob"}} {
					if _, _, err := writerStore.Insert(w).Run(ctx, db); err != nil {
						t.Fatal(err)
					}
				}
				insertUnfinished(t, db)
				if found := auditOf(t, db); len(found) == 0 || !strings.Contains(found[0].Problem, "isn't finished") {
					t.Errorf("the audit finds %v", found)
				}
				if err := c.run(ctx, db); err != nil {
					t.Error(err)
				}
				if w, err := writers.ByID("ann").One(ctx, db); err != nil || w.Notes != c.notes {
					t.Errorf("%+v, %v", w, err)
				}
				if found := auditOf(t, db); len(found) > 0 {
					t.Errorf("the audit finds %v", found)
				}
			})
		})
	}
}

// insertUnfinished stores the first write of an insert of a note: the note isn't counted.
func insertUnfinished(t *testing.T, db *mongo.Database) {
	t.Helper()
	token := bson.NewObjectID()
	first := bson.D{
		{Key: "_id", Value: "n"}, {Key: "writer", Value: "ann"}, {Key: "by", Value: "Ann"}, {Key: "text", Value: "x"},
		{Key: "_m", Value: bson.D{
			{
				Key:   "op",
				Value: bson.D{{Key: "id", Value: token}, {Key: "at", Value: time.Unix(1, 0)}, {Key: "new", Value: true}},
			},
			{Key: "ops", Value: bson.A{token}},
		}},
	}
	if _, err := db.Collection(diaryNotes.Name()).InsertOne(t.Context(), first); err != nil {
		t.Fatal(err)
	}
}

// Outside transactions, a request that comes twice edits a document once, also if no other
// document is written. The next request edits it again.
func TestStoreTokenOfOneDocument(t *testing.T) {
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		ctx := t.Context()
		if _, _, err := writerStore.Insert(writer{ID: "ann", Name: "Ann"}).Run(ctx, db); err != nil {
			t.Fatal(err)
		}
		if _, _, err := noteStore.Insert(note{ID: "n", Writer: "ann"}).Run(ctx, db); err != nil {
			t.Fatal(err)
		}
		first, second := bson.NewObjectID(), bson.NewObjectID()
		for _, c := range []struct {
			token bson.ObjectID
			want  string
		}{{first, "x"}, {first, "x"}, {second, "xx"}, {first, "xx"}, {second, "xx"}} {
			s, _, err := noteStore.Edit("n", func(n *note) error { n.Text += "x"; return nil }).
				Run(model.WithToken(ctx, c.token), db)
			if err != nil || s.Doc.Text != c.want {
				t.Errorf("%+v, %v, want %s", s.Doc, err, c.want)
			}
		}
	})
}

// A request that comes again knows the document that it inserted, also after another client has changed it. A request
// of another token doesn't.
func TestStoreTokenOfAnInsert(t *testing.T) {
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		ctx, first, second := t.Context(), bson.NewObjectID(), bson.NewObjectID()
		insert := func(token bson.ObjectID) error {
			_, _, err := writerStore.Insert(writer{ID: "ann", Name: "Ann"}).Run(model.WithToken(ctx, token), db)
			return err
		}
		if err := errors.Join(insert(first), insert(first)); err != nil {
			t.Fatal(err)
		}
		if _, _, err := writerStore.Set("ann", bson.D{{Key: "name", Value: "Anna"}}).Run(ctx, db); err != nil {
			t.Fatal(err)
		}
		if err := insert(first); err != nil {
			t.Errorf("the same request: %v", err)
		}
		if err := insert(second); !errors.Is(err, model.ErrTaken) {
			t.Errorf("another request: %v", err)
		}
		if w, err := writers.ByID("ann").One(ctx, db); err != nil || w.Name != "Anna" {
			t.Errorf("%+v, %v", w, err)
		}
	})
}

func auditOf(t *testing.T, db *mongo.Database) (found []model.Finding) {
	for f, err := range diary.Audit().Each(t.Context(), db) {
		if err != nil {
			t.Fatal(err)
		}
		found = append(found, f)
	}
	return found
}
