package model_test

import (
	"context"
	"errors"
	"testing"

	"github.com/docmodel/docmodel/internal/tenancy"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// tokened is a write that keeps a token, such as those of inbox.Inbox.
func tokened(id int, update bson.D, op bson.ObjectID) model.Write {
	w := guarded(updateOne(d("_id", id), append(update, d("$push", d("ops", op))...)), "ops", d("$ne", op))
	w.Done, w.Token, w.Idempotent = d("_id", id, "ops", op), op, true
	return w
}

// A change that is run three times has the effect of one run, whichever of its writes tells that it ran before.
func TestRerunAlso(t *testing.T) {
	t.Parallel()
	op := bson.ObjectID{11: 1}
	nothing := model.Plan{}.Change()
	insert := model.Write{Collection: "parts", Model: &mongo.InsertOneModel{Document: d("_id", 3, "a", 1)}}
	inc := updateOne(d("_id", 2), d("$inc", d("n", 1)))
	for _, test := range []struct {
		reason string
		change model.Change
		want   string
	}{
		{"an insert and a set", insert.Change().Also(updateOne(d("_id", 1), d("$set", d("a", 2)))),
			"{_id: 1, n: 1, a: 2} {_id: 2, n: 5} {_id: 3, a: 1}"},
		{"an insert and a number", insert.Change().Also(inc), "{_id: 1, n: 1} {_id: 2, n: 6} {_id: 3, a: 1}"},
		{"a number and an insert", inc.Change().Also(insert), "{_id: 1, n: 1} {_id: 2, n: 6} {_id: 3, a: 1}"},
		{
			reason: "a token and a number", change: tokened(1, nil, op).Change().Also(inc),
			want: "{_id: 1, n: 1, ops: [ObjectId('000000000000000000000001')]} {_id: 2, n: 6}",
		},
		{
			reason: "a number and a token", change: inc.Change().Also(tokened(1, nil, op)),
			want: "{_id: 1, n: 1, ops: [ObjectId('000000000000000000000001')]} {_id: 2, n: 6}",
		},
		{"a repeatable plan", nothing.Also(insert), "{_id: 1, n: 1} {_id: 2, n: 5} {_id: 3, a: 1}"},
		{"one document", tokened(1, nil, op).Change().Also(updateOne(d("_id", 1), d("$inc", d("n", 1)))),
			"{_id: 1, n: 2, ops: [ObjectId('000000000000000000000001')]} {_id: 2, n: 5}"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
				mongotest.Need(t, db, mongotest.Transactions)
				c := db.Collection("parts")
				if _, err := c.InsertMany(t.Context(), []any{d("_id", 1, "n", 1), d("_id", 2, "n", 5)}); err != nil {
					t.Fatal(err)
				}
				for n := range 3 {
					r, err := test.change.Run(t.Context(), db)
					if err != nil || r.Already() != (n > 0) {
						t.Errorf("run %d: already %t, %v", n+1, r.Already(), err)
					}
				}
				wantStored(t, c, test.want)
			})
		})
	}
}

// In the caller's transaction a rerun is an error, because the caller has to abort it. A
// link that another operation made isn't a rerun.
func TestRerunInTx(t *testing.T) {
	t.Parallel()
	op := bson.ObjectID{11: 1}
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		mongotest.Need(t, db, mongotest.Transactions)
		c := db.Collection("parts")
		if _, err := c.InsertMany(t.Context(), []any{d("_id", 1, "n", 1), d("_id", 2, "n", 5)}); err != nil {
			t.Fatal(err)
		}
		inc := updateOne(d("_id", 2), d("$inc", d("n", 1)))
		change := tokened(1, nil, op).Change().Also(inc)
		for n := range 3 {
			err := model.InTx(t.Context(), db, func(ctx context.Context) error {
				_ = ended(change.Run(ctx, db)) // the transaction is aborted even so
				return nil
			})
			if n == 0 && err != nil || n > 0 && !errors.Is(err, model.ErrTaken) {
				t.Errorf("run %d: %v", n+1, err)
			}
		}
		wantStored(t, c, "{_id: 1, n: 1, ops: [ObjectId('000000000000000000000001')]} {_id: 2, n: 6}")

		linked := guarded(updateOne(d("_id", 1), d("$push", d("links", 7))), "links", d("$ne", 7))
		linked.Done = d("_id", 1, "links", 7)
		for range 2 {
			if err := ended(linked.Change().Also(inc).Run(t.Context(), db)); err != nil {
				t.Error(err)
			}
		}
		wantStored(t, c, "{_id: 1, n: 1, ops: [ObjectId('000000000000000000000001')], links: [7]} {_id: 2, n: 8}")
	})
}

// A change on a handle with transactions leaves out an insert of before, as a plan does.
func TestRerunChangeWithTransactions(t *testing.T) {
	tenancy.Differs(t, "the documents are stored without the library")
	t.Parallel()
	change := model.ChangeOf[any]{
		Read: func(context.Context, model.DB) (any, error) { return nil, nil },
		Decide: func(any) (model.Plan, error) {
			return model.NewPlan(insertDoc(d("_id", 3, "a", 1)), updateOne(d("_id", 1), d("$set", d("a", 2)))), nil
		},
	}.Change()
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		mongotest.Need(t, db, mongotest.Transactions)
		c := db.Collection("parts")
		// the change was cut after its first write
		if _, err := c.InsertMany(t.Context(), []any{d("_id", 1), d("_id", 3, "a", 1)}); err != nil {
			t.Fatal(err)
		}
		tx, err := model.WithTransactions(t.Context(), db)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if err := ended(change.Run(t.Context(), tx)); err != nil {
				t.Error(err)
			}
		}
		wantStored(t, c, "{_id: 1, a: 2} {_id: 3, a: 1}")
	})
}

// A merged write is applied once if one of the writes has a token.
func TestRerunMerge(t *testing.T) {
	t.Parallel()
	op, other := bson.ObjectID{11: 1}, bson.ObjectID{11: 2}
	inc := updateOne(d("_id", 1), d("$inc", d("n", 1)))
	second := tokened(1, nil, other)
	second.Model = &mongo.UpdateOneModel{
		Filter: d("_id", 1, "more", d("$ne", other)), Update: d("$push", d("more", other)),
	}
	second.Done = d("_id", 1, "more", other)
	for reason, w := range map[string]model.Write{
		"first": model.Merge(tokened(1, nil, op), inc), "last": model.Merge(inc, tokened(1, nil, op)),
		"two tokens": model.Merge(inc, tokened(1, nil, op), second),
	} {
		if p := model.NewPlan(w); !p.Repeatable() {
			t.Errorf("%s isn't repeatable", reason)
		}
		mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
			if _, err := db.Collection("parts").InsertOne(t.Context(), d("_id", 1, "n", 1)); err != nil {
				t.Fatal(err)
			}
			for range 3 {
				if _, err := w.Run(t.Context(), db); err != nil {
					t.Errorf("%s: %v", reason, err)
				}
			}
			raw, err := db.Collection("parts").FindOne(t.Context(), d("_id", 1)).Raw()
			if err != nil || raw.Lookup("n").AsInt64() != 2 {
				t.Errorf("%s: %v, %v", reason, raw, err)
			}
		})
	}
}
