package model_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

type leaf struct {
	ID   int64  `bson:"_id"`
	Up   int64  `bson:"up,omitempty"`
	A    int64  `bson:"a"`
	B    int64  `bson:"b"`
	C    int64  `bson:"c"`
	Note string `bson:"note"`
}

var leaves = model.NewCollection[leaf, int64]("leaves")

// rule returns a technique that has only reactions.
func rule(reactions ...model.Reaction) model.Technique {
	return model.NewParts(nil, nil, nil, nil).WithReactions(func() []model.Reaction { return reactions })
}

// plusOne is a rule that sets a field to another field's value plus 1.
func plusOne(from, to string) model.Technique {
	return rule(model.Reaction{
		Collection: "leaves", Paths: []string{from},
		Amend: func(w model.StoreWrite) (bson.D, error) {
			return bson.D{{Key: to, Value: w.After.Lookup(from).AsInt64() + 1}}, nil
		},
	})
}

// cascade is a rule that deletes the leaves below a deleted leaf, and moves the ones below a
// changed leaf's a.
func cascade() model.Technique {
	return rule(model.Reaction{
		Collection: "leaves", Paths: []string{"a"},
		Fetch: func(w model.StoreWrite) ([]model.Fetch, error) {
			if w.Before == nil {
				return nil, nil
			}
			return []model.Fetch{{
				Job:   "the leaves' job",
				Query: &model.Query{Collection: "leaves", Filter: bson.D{{Key: "up", Value: w.Before.Lookup("_id")}}},
			}}, nil
		},
		React: func(w model.StoreWrite) (a model.Answer, err error) {
			for _, doc := range w.FoundAll(0) {
				below := model.StoreWrite{Collection: "leaves", Before: doc}
				if w.After != nil {
					if below, err = below.With(bson.D{{Key: "a", Value: w.After.Lookup("a")}}); err != nil {
						return a, err
					}
				}
				a.Writes = append(a.Writes, below)
			}
			return a, nil
		},
	})
}

func storedLeaves(t *testing.T, db model.DB) []leaf {
	t.Helper()
	out, err := leaves.Find(nil).All(t.Context(), db)
	if err != nil {
		t.Error(err)
	}
	slices.SortFunc(out, func(a, b leaf) int { return int(a.ID - b.ID) })
	return out
}

// An amendment concerns the reactions that look at its field, in whatever order they are.
func TestStoreAmendsInRounds(t *testing.T) {
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for i, techniques := range [][]model.Technique{
			{plusOne("a", "b"), plusOne("b", "c")}, {plusOne("b", "c"), plusOne("a", "b")},
		} {
			store := model.NewStore(model.New("rounds", techniques...), leaves)
			id := int64(i)
			s, _, err := store.Insert(leaf{ID: id, A: 1}).Run(t.Context(), db)
			if err != nil || s.Doc.B != 2 || s.Doc.C != 3 {
				t.Errorf("%+v, %v", s.Doc, err)
			}
			s, _, err = store.Set(id, bson.D{{Key: "a", Value: int64(5)}}).Run(t.Context(), db)
			if err != nil || s.Doc.B != 6 || s.Doc.C != 7 {
				t.Errorf("%+v, %v", s.Doc, err)
			}
		}
		store := model.NewStore(model.New("endless", plusOne("a", "b"), plusOne("b", "a")), leaves)
		_, _, err := store.Insert(leaf{ID: 9}).Run(t.Context(), db)
		if value := (*model.ValueError)(nil); !errors.As(err, &value) {
			t.Errorf("two rules without an end: %v", err)
		}
	})
}

// A reaction to inserts sees what others amend in a new document, and no update.
func TestStoreAmendsOnInsert(t *testing.T) {
	onInsert := rule(model.Reaction{
		Collection: "leaves", On: model.OnInsert, Paths: []string{"b"}, Amend: func(w model.StoreWrite) (bson.D, error) {
			return bson.D{{Key: "c", Value: w.After.Lookup("b").AsInt64() + 1}}, nil
		},
	})
	store := model.NewStore(model.New("inserts", onInsert, plusOne("a", "b")), leaves)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		s, _, err := store.Insert(leaf{ID: 1, A: 1}).Run(t.Context(), db)
		if err != nil || s.Doc.C != 3 {
			t.Errorf("%+v, %v", s.Doc, err)
		}
		s, _, err = store.Set(1, bson.D{{Key: "a", Value: int64(5)}}).Run(t.Context(), db)
		if err != nil || s.Doc.B != 6 || s.Doc.C != 3 {
			t.Errorf("%+v, %v", s.Doc, err)
		}
	})
}

// The writes that a reaction asks for concern the reactions too.
func TestStoreCascades(t *testing.T) {
	store := model.NewStore(model.New("cascade", cascade(), plusOne("a", "b")), leaves)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		mongotest.Need(t, db, mongotest.Transactions)
		tx, err := model.WithTransactions(t.Context(), db)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := store.InsertMany(leaf{ID: 1}, leaf{ID: 2, Up: 1}, leaf{ID: 3, Up: 2}, leaf{ID: 4, Up: 3},
			leaf{ID: 5}).Run(t.Context(), tx); err != nil {
			t.Fatal(err)
		}
		if _, _, err := store.Set(2, bson.D{{Key: "a", Value: int64(7)}}).Run(t.Context(), tx); err != nil {
			t.Error(err)
		}
		for i, doc := range storedLeaves(t, tx) {
			if want := map[bool]int64{true: 7}[i >= 1 && i <= 3]; doc.A != want || doc.B != want+1 {
				t.Errorf("%+v", doc)
			}
		}
		if _, _, err := store.Delete(2).Run(t.Context(), tx); err != nil {
			t.Error(err)
		}
		if left := storedLeaves(t, tx); len(left) != 2 || left[0].ID != 1 || left[1].ID != 5 {
			t.Errorf("%+v", left)
		}
		// Two leaves below each other are deleted once.
		if _, _, err := store.InsertMany(leaf{ID: 6, Up: 7}, leaf{ID: 7, Up: 6}).Run(t.Context(), tx); err != nil {
			t.Error(err)
		}
		if _, _, err := store.Delete(6).Run(t.Context(), tx); err != nil || len(storedLeaves(t, tx)) != 2 {
			t.Errorf("%v, %+v", err, storedLeaves(t, tx))
		}
	})
}

func TestStoreRefusesTooMany(t *testing.T) {
	store := model.NewStore(model.New("many", cascade()), leaves)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		docs := make([]leaf, 1002)
		for i := range docs {
			docs[i] = leaf{ID: int64(i + 1), Up: min(int64(i), 1)}
		}
		if _, err := leaves.InsertMany(docs).Run(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		_, _, err := store.Delete(1).Run(t.Context(), db)
		if value := (*model.ValueError)(nil); !errors.As(err, &value) || value.Collection != "leaves" ||
			value.Reason != "to write together are more than 1000: run the leaves' job" {
			t.Error(err)
		}
	})
}

// What needs no other document is one command, on a database of WithTransactions too.
func TestStoreAlone(t *testing.T) {
	store := model.NewStore(model.New("alone", plusOne("a", "b")), leaves)
	monitor := mongotest.NewMonitor()
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		on, err := model.WithTransactions(t.Context(), db)
		if errors.Is(err, model.ErrNoTransactions) {
			on, err = db, nil
		}
		if err != nil {
			t.Fatal(err)
		}
		run := func(what string, commands int, want leaf, c model.ChangeOf[model.Stored[leaf]]) {
			t.Helper()
			monitor.Reset()
			s, _, err := c.Run(t.Context(), on)
			if sent := monitor.Commands(); err != nil || s.Doc != want || len(sent) > commands+tenanted {
				t.Errorf("%s: %+v, %v, %v", what, s.Doc, err, sent)
			}
		}
		run("insert", 1, leaf{ID: 1, B: 1}, store.Insert(leaf{ID: 1}))
		run("ensure", 1, leaf{ID: 1, B: 1}, store.Ensure(leaf{ID: 1, Note: "other"}))
		run("ensure", 2, leaf{ID: 2, B: 1}, store.Ensure(leaf{ID: 2}))
		run("set", 1, leaf{ID: 1, B: 1, Note: "x"}, store.Set(1, bson.D{{Key: "note", Value: "x"}}))
		run("set a watched field", 2, leaf{ID: 1, A: 2, B: 3, Note: "x"}, store.Set(1, bson.D{{Key: "a", Value: int64(2)}}))
		run("edit", 2, leaf{ID: 1, A: 3, B: 4, Note: "x"}, store.Edit(1, func(l *leaf) error { l.A++; return nil }))
		run("replace", 2, leaf{ID: 1, B: 1, Note: "y"}, store.Replace(leaf{ID: 1, Note: "y", B: 1}))
		run("delete", 1, leaf{ID: 1, B: 1, Note: "y"}, store.Delete(1))
		for what, c := range map[string]model.ChangeOf[model.Stored[leaf]]{
			"set": store.Set(1, bson.D{{Key: "note", Value: "x"}}), "delete": store.Delete(1),
			"edit": store.Edit(1, func(*leaf) error { return nil }),
		} {
			if _, _, err := c.Run(t.Context(), on); !errors.Is(err, model.ErrNotFound) {
				t.Errorf("%s of a missing document: %v", what, err)
			}
		}
	}, monitor)
}

// Two clients edit a document at the same time, and write equal values. Both edits count.
func TestStoreEditTogether(t *testing.T) {
	store := model.NewStore(model.New("together", plusOne("a", "b")), leaves)
	for name, on := range map[string]func(context.Context, model.DB) (model.DB, error){
		"plain":        func(_ context.Context, db model.DB) (model.DB, error) { return db, nil },
		"transactions": model.WithTransactions,
	} {
		edit := func(ctx context.Context, db *mongo.Database) error {
			on, err := on(ctx, db)
			if err != nil {
				return err
			}
			_, _, err = store.Edit(1, func(l *leaf) error { l.A++; return nil }).Run(ctx, on)
			return err
		}
		t.Run(name, func(t *testing.T) {
			modeltest.Interleave(t, modeltest.InterleaveCase{
				Transactions: name == "transactions", A: edit, B: edit,
				Seed: func(ctx context.Context, db *mongo.Database) error {
					_, _, err := store.Insert(leaf{ID: 1}).Run(ctx, db)
					return err
				},
				Check: func(t testing.TB, db *mongo.Database, errA, errB error) {
					l, err := leaves.ByID(1).One(context.Background(), db)
					if err := errors.Join(errA, errB, err); err != nil || l.A != 2 || l.B != 3 {
						t.Errorf("%+v, %v", l, err)
					}
				},
			})
		})
	}
}

// All attempts of a run have one token. The n-th run of an action with a context's token has
// the same token in each context.
func TestStoreToken(t *testing.T) {
	var seen []bson.ObjectID
	stale := model.Reaction{
		Collection: "leaves", Paths: []string{"a"},
		React: func(w model.StoreWrite) (model.Answer, error) {
			if seen = append(seen, w.Token); len(seen) == 1 {
				return model.Answer{}, fmt.Errorf("%w (once)", model.ErrStale)
			}
			return model.Answer{}, nil
		},
	}
	store := model.NewStore(model.New("tokens", rule(stale)), leaves)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		if _, err := leaves.Insert(leaf{ID: 1}).Run(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		seen = nil
		own := bson.NewObjectID()
		first, second := model.WithToken(t.Context(), own), model.WithToken(t.Context(), own)
		for _, ctx := range []context.Context{t.Context(), first, first, second, second} {
			if _, _, err := store.Edit(1, func(l *leaf) error { l.A++; return nil }).Run(ctx, db); err != nil {
				t.Error(err)
			}
		}
		again := store.Edit(1, func(l *leaf) error { l.A++; return nil })
		for range 2 { // a change that runs again is the same action
			if _, _, err := again.Run(first, db); err != nil {
				t.Error(err)
			}
		}
		if len(seen) != 5 || seen[0].IsZero() || seen[0] != seen[1] || seen[2] == seen[3] || seen[2] == seen[0] ||
			seen[4] == seen[2] || seen[4] == seen[3] {
			t.Errorf("tokens %v", seen)
		}
		if got := storedLeaves(t, db); len(got) != 1 || got[0].A != 4 {
			t.Errorf("four actions made %+v", got)
		}
	})
}

func TestStoreInsertMany(t *testing.T) {
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		store := model.NewStore(model.New("many", plusOne("a", "b")), leaves)
		if _, _, err := store.InsertMany().Run(t.Context(), db); err == nil {
			t.Error("no documents are no error")
		}
		_, _, err := noteStore.InsertMany(note{ID: "a"}, note{}).Run(t.Context(), db)
		if value := (*model.ValueError)(nil); !errors.As(err, &value) || value.Field != "_id" {
			t.Errorf("a document without an _id: %v", err)
		}
		if _, _, err := store.InsertMany(leaf{ID: 1}, leaf{ID: 1}).Run(t.Context(), db); !errors.Is(err, model.ErrTaken) ||
			len(storedLeaves(t, db)) > 0 {
			t.Errorf("one _id twice: %v", err)
		}
		if _, _, err := store.InsertMany(leaf{ID: 1}, leaf{ID: 2, A: 1}).Run(t.Context(), db); err != nil {
			t.Error(err)
		}
		if got := storedLeaves(t, db); !slices.Equal(got, []leaf{{ID: 1, B: 1}, {ID: 2, A: 1, B: 2}}) {
			t.Errorf("%+v", got)
		}
		if _, _, err := store.InsertMany(leaf{ID: 3}, leaf{ID: 2}, leaf{ID: 4}).
			Run(t.Context(), db); !mongo.IsDuplicateKeyError(err) {
			t.Errorf("a taken _id: %v", err)
		}
		if got := storedLeaves(t, db); len(got) != 3 || got[2].ID != 3 {
			t.Errorf("want the document before the taken _id, got %+v", got)
		}
		tx, err := model.WithTransactions(t.Context(), db)
		if errors.Is(err, model.ErrNoTransactions) {
			return
		}
		if _, _, err := store.InsertMany(leaf{ID: 5}, leaf{ID: 2}).Run(t.Context(), tx); !mongo.IsDuplicateKeyError(err) {
			t.Errorf("a taken _id: %v", err)
		}
		if got := storedLeaves(t, db); len(got) != 3 {
			t.Errorf("a transaction stored a part: %+v", got)
		}
	})
}

// Two clients ensure one document. Both succeed, and the first one's document stays.
func TestStoreEnsureTogether(t *testing.T) {
	store := model.NewStore(model.New("ensure", plusOne("a", "b")), leaves)
	ensure := func(note string) func(context.Context, *mongo.Database) error {
		return func(ctx context.Context, db *mongo.Database) error {
			_, _, err := store.Ensure(leaf{ID: 1, Note: note}).Run(ctx, db)
			return err
		}
	}
	modeltest.Interleave(t, modeltest.InterleaveCase{
		Nested: true, A: ensure("A"), B: ensure("B"),
		Check: func(t testing.TB, db *mongo.Database, errA, errB error) {
			docs, err := leaves.Find(nil).All(t.Context(), db)
			if errA != nil || errB != nil || err != nil || len(docs) != 1 || docs[0].B != 1 {
				t.Errorf("%v, %v, %v, %+v", errA, errB, err, docs)
			}
		},
	})
}
