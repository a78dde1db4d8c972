package model_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A writer has one note of each text.
var oneNote = model.IndexSet{Needed: []model.Index{
	{
		Collection: "notes", Name: "writer_1_text_1",
		Keys:   bson.D{{Key: "writer", Value: 1}, {Key: "text", Value: 1}},
		Unique: true,
	},
}}

func ensureNote(id, writer, text string) model.ChangeOf[model.Stored[note]] {
	store := model.NewStore(model.New("counted", noteCount, noteRef), diaryNotes)
	return store.EnsureOne(bson.D{{Key: "writer", Value: writer}, {Key: "text", Value: text}},
		note{ID: id, Writer: writer, Text: text})
}

func seedOneNote(ctx context.Context, db *mongo.Database) error {
	_, _, err := writerStore.InsertMany(writer{ID: "ann", Name: "Ann"}, writer{ID: "bob", Name: "Bob"}).Run(ctx, db)
	if err == nil {
		_, _, err = noteStore.Insert(note{ID: "n", Writer: "ann", Text: "x"}).Run(ctx, db)
	}
	return errors.Join(err, oneNote.Ensure(ctx, db))
}

// EnsureOne finds the stored document by the filter, under whatever _id it is.
func TestStoreEnsureOne(t *testing.T) {
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for _, mode := range []string{"plain", "transactions"} {
			t.Run(mode, func(t *testing.T) {
				on := model.DB(db)
				if err := errors.Join(db.Drop(t.Context()), seedOneNote(t.Context(), db)); err != nil {
					t.Fatal(err)
				}
				if mode == "transactions" {
					mongotest.Need(t, db, mongotest.Transactions)
					var err error
					if on, err = model.WithTransactions(t.Context(), db); err != nil {
						t.Fatal(err)
					}
				}
				for _, c := range []struct {
					what   string
					action model.ChangeOf[model.Stored[note]]
					id     string // of the result
					fails  error
					notes  int64
				}{
					{"a new document", ensureNote("m", "ann", "y"), "m", nil, 2},
					{"the document again", ensureNote("m", "ann", "y"), "m", nil, 2},
					{"a document under another _id", ensureNote("o", "ann", "x"), "n", nil, 2},
					{"a document whose _id is another's", ensureNote("n", "ann", "z"), "", model.ErrTaken, 2},
					{"a document of a missing writer", ensureNote("o", "cy", "x"), "", model.ErrNotFound, 2},
				} {
					s, _, err := c.action.Run(t.Context(), on)
					if !errors.Is(err, c.fails) || (err == nil) != (c.fails == nil) || err == nil && s.Doc.ID != c.id {
						t.Errorf("%s: %+v, %v", c.what, s.Doc, err)
					}
					if w, err := writers.ByID("ann").One(t.Context(), db); err != nil || w.Notes != c.notes {
						t.Errorf("%s: %+v, %v", c.what, w, err)
					}
				}
			})
		}
	})
}

// The error of a taken value names the fields and the values, and wraps the server's.
func TestStoreTaken(t *testing.T) {
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		if err := seedOneNote(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		_, _, inserted := noteStore.Insert(note{ID: "m", Writer: "ann", Text: "x"}).Run(t.Context(), db)
		_, _, err := noteStore.Insert(note{ID: "o", Writer: "ann", Text: "y"}).Run(t.Context(), db)
		if err != nil {
			t.Fatal(err)
		}
		_, _, edited := noteStore.Edit("o", func(n *note) error { n.Text = "x"; return nil }).Run(t.Context(), db)
		for what, err := range map[string]error{"insert": inserted, "edit": edited} {
			if !errors.Is(err, model.ErrTaken) || !mongo.IsDuplicateKeyError(err) ||
				model.DuplicateIndex(err) != "writer_1_text_1" ||
				!strings.Contains(err.Error(), "taken already") ||
				what == "insert" && !strings.Contains(err.Error(), "(notes {writer: 'ann', text: 'x'} is stored already)") {
				t.Errorf("%s: %v", what, err)
			}
		}
	})
}

func TestStoreEnsureOneRefuses(t *testing.T) {
	for _, c := range []struct {
		filter bson.D
		field  string
	}{
		{nil, "filter"},
		{bson.D{{Key: "text", Value: "y"}}, "text"},
		{bson.D{{Key: "writer", Value: "ann"}, {Key: "_id", Value: "n"}}, "_id"},
	} {
		err := noteStore.EnsureOne(c.filter, note{ID: "m", Writer: "ann", Text: "x"}).Err
		if value := (*model.ValueError)(nil); !errors.As(err, &value) || value.Field != c.field {
			t.Errorf("%v: %v", c.filter, err)
		}
	}
	if err := noteStore.EnsureOne(bson.D{{Key: "text", Value: bson.D{{Key: "$gt", Value: "a"}}}},
		note{ID: "m"}).Err; err != nil {
		t.Errorf("a condition that isn't an equality: %v", err)
	}
}

// Two clients ensure one document under two _ids. Both succeed, and it counts once.
func TestStoreEnsureOneTogether(t *testing.T) {
	for _, mode := range []string{"plain", "transactions"} {
		ensure := func(id string) func(context.Context, *mongo.Database) error {
			return func(ctx context.Context, db *mongo.Database) (err error) {
				on := model.DB(db)
				if mode == "transactions" {
					if on, err = model.WithTransactions(ctx, db); err != nil {
						return err
					}
				}
				_, _, err = ensureNote(id, "bob", "x").Run(ctx, on)
				return err
			}
		}
		t.Run(mode, func(t *testing.T) {
			modeltest.Interleave(t, modeltest.InterleaveCase{
				Transactions: mode == "transactions", Nested: true, Seed: seedOneNote, A: ensure("A"), B: ensure("B"),
				Check: func(t testing.TB, db *mongo.Database, errA, errB error) {
					docs, err := diaryNotes.Find(bson.D{{Key: "writer", Value: "bob"}}).All(t.Context(), db)
					w, failed := writers.ByID("bob").One(t.Context(), db)
					if err := errors.Join(errA, errB, err, failed); err != nil || len(docs) != 1 || w.Notes != 1 {
						t.Errorf("%v, %+v, %+v", err, docs, w)
					}
				},
			})
		})
	}
}
