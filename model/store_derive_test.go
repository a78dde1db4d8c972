package model_test

import (
	"errors"
	"testing"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

var errNegative = errors.New("negative")

// sumUnread is a rule that sets b to the sum of a and c, whatever is stored.
func sumUnread() model.Technique {
	return rule(model.Reaction{
		Collection: "leaves", Paths: []string{"a", "c", "b"}, Derives: []string{"b"}, Unread: true,
		Amend: func(w model.StoreWrite) (bson.D, error) {
			a, _ := w.After.Lookup("a").AsInt64OK()
			c, _ := w.After.Lookup("c").AsInt64OK()
			if a < 0 {
				return nil, errNegative
			}
			return bson.D{{Key: "b", Value: a + c}}, nil
		},
	})
}

// A Set whose fields are all that reactions look at is one command. Else the document is read.
func TestStoreDerivesUnread(t *testing.T) {
	whole := bson.D{{Key: "a", Value: int64(2)}, {Key: "c", Value: int64(3)}}
	with := func(more ...bson.E) bson.D { return append(whole[:2:2], more...) }
	monitor := mongotest.NewMonitor()
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for i, c := range []struct {
			what     string
			also     []model.Technique
			set      bson.D
			commands int
			want     leaf
		}{
			{"all fields", nil, whole, 1, leaf{A: 2, B: 5, C: 3}},
			{"all fields, and another", nil, with(bson.E{Key: "note", Value: "x"}), 1, leaf{A: 2, B: 5, C: 3, Note: "x"}},
			{"a removed field", nil, bson.D{whole[0], {Key: "c", Value: bson.RawValue{}}}, 1, leaf{A: 2, B: 2}},
			{"one of the fields", nil, whole[:1], 2, leaf{A: 2, B: 9, C: 7}},
			{"also the computed field", nil, with(bson.E{Key: "b", Value: int64(5)}), 2, leaf{A: 2, B: 5, C: 3}},
			{"a field that needs a read", []model.Technique{plusOne("a", "note2")}, whole, 2, leaf{A: 2, B: 5, C: 3}},
			{"the computed field needs a read", []model.Technique{plusOne("b", "up")}, whole, 2, leaf{Up: 6, A: 2, B: 5, C: 3}},
		} {
			id := int64(i + 1)
			store := model.NewStore(model.New("unread", append(c.also, sumUnread())...), leaves)
			if _, _, err := store.Insert(leaf{ID: id, A: 1, C: 7}).Run(t.Context(), db); err != nil {
				t.Fatal(err)
			}
			monitor.Reset()
			s, _, err := store.Set(id, c.set).Run(t.Context(), db)
			c.want.ID = id
			if sent := monitor.Commands(); err != nil || s.Doc != c.want || len(sent) > c.commands+tenanted {
				t.Errorf("%s: %+v, %v, %v", c.what, s.Doc, err, sent)
			}
		}
		store := model.NewStore(model.New("unread", sumUnread()), leaves)
		monitor.Reset()
		_, _, err := store.Set(1, bson.D{{Key: "a", Value: int64(-1)}, whole[1]}).Run(t.Context(), db)
		if !errors.Is(err, errNegative) || len(monitor.Commands()) > 0 {
			t.Errorf("a refused value: %v, %v", err, monitor.Commands())
		}
		if _, _, err := store.Set(9, whole).Run(t.Context(), db); !errors.Is(err, model.ErrNotFound) {
			t.Errorf("a missing document: %v", err)
		}
		_, _, err = store.Set(1, with(bson.E{Key: "b", Value: int64(4)})).Run(t.Context(), db)
		if !errors.As(err, new(*model.ValueError)) {
			t.Errorf("another value of the computed field: %v", err)
		}
		// Conditions of the filter guard the write.
		if _, _, err := store.SetOne(bson.D{{Key: "_id", Value: 1}, {Key: "a", Value: 9}}, whole).
			Run(t.Context(), db); !errors.Is(err, model.ErrNotFound) {
			t.Errorf("a filter that doesn't match: %v", err)
		}
		t.Run("with transactions", func(t *testing.T) {
			mongotest.Need(t, db, mongotest.Transactions)
			tx, err := model.WithTransactions(t.Context(), db)
			if err != nil {
				t.Fatal(err)
			}
			monitor.Reset()
			if s, _, err := store.Set(1, whole).Run(t.Context(), tx); err != nil || s.Doc.B != 5 ||
				len(monitor.Commands()) != 1 {
				t.Errorf("%+v, %v, %v", s.Doc, err, monitor.Commands())
			}
		})
	}, monitor)
}
