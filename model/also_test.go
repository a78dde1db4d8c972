package model_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/docmodel/docmodel/internal/tenancy"
)

// counted is a change that reads n of a part, and adds one if it is still the same.
func counted(id int) model.ChangeOf[int32] {
	return model.ChangeOf[int32]{
		Name: "count",
		Read: func(ctx context.Context, db model.DB) (int32, error) {
			raw, err := (&model.Find[bson.Raw]{Query: model.Query{Collection: "parts", Filter: d("_id", id)}}).One(ctx, db)
			if err != nil {
				return 0, err
			}
			return raw.Lookup("n").Int32(), nil
		},
		Decide: func(n int32) (model.Plan, error) {
			return model.NewPlan(guarded(updateOne(d("_id", id), d("$set", d("n", n+1))), "n", n)), nil
		},
	}
}

// Each change decides from a state of its own, and the writes are one transaction.
func TestChangeAlsoReadsEach(t *testing.T) {
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		mongotest.Need(t, db, mongotest.Transactions)
		c := db.Collection("parts")
		if _, err := c.InsertMany(t.Context(), []any{d("_id", 1, "n", 1), d("_id", 2, "n", 5)}); err != nil {
			t.Fatal(err)
		}
		result, err := counted(1).Also(counted(2), updateOne(d("_id", 1), d("$set", d("x", true)))).Run(t.Context(), db)
		if err != nil || result.Modified() != 2 { // two updates of the first are one write
			t.Errorf("%v, %v", result, err)
		}
		wantStored(t, c, "{_id: 1, n: 2, x: true} {_id: 2, n: 6}")

		missing := counted(1).Also(counted(3))
		if err := ended(missing.Run(t.Context(), db)); !errors.Is(err, mongo.ErrNoDocuments) {
			t.Errorf("a document that isn't there: %v", err)
		}
		wantStored(t, c, "{_id: 1, n: 2, x: true} {_id: 2, n: 6}")
	})
}

// What changes ask to be run afterwards is run in their order.
func TestChangeAlsoThen(t *testing.T) {
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		mongotest.Need(t, db, mongotest.Transactions)
		c := db.Collection("parts")
		if _, err := c.InsertMany(t.Context(), []any{d("_id", 1, "n", 1), d("_id", 2, "n", 5)}); err != nil {
			t.Fatal(err)
		}
		saying := func(id int, words ...string) model.ChangeOf[int32] {
			out := counted(id)
			for i := len(words) - 1; i >= 0; i-- {
				next := model.ChangeOf[int32]{
					Read: out.Read, Then: out.Then,
					Decide: func(int32) (model.Plan, error) {
						return model.NewPlan(updateOne(d("_id", 1), d("$push", d("said", words[i])))), nil
					},
				}
				then := next.Change()
				out.Then = func(int32) *model.Change { return &then }
			}
			return out
		}
		if err := ended(saying(1, "a", "b").Also(saying(2, "c")).Run(t.Context(), db)); err != nil {
			t.Fatal(err)
		}
		wantStored(t, c, "{_id: 1, n: 2, said: ['a', 'b', 'c']} {_id: 2, n: 6}")
	})
}

func TestChangeAlsoRefuses(t *testing.T) {
	leased := func() model.ChangeOf[int32] {
		c := counted(1)
		c.Lease = &model.Lease{Collection: "leases", ID: "l"}
		return c
	}
	one := leased()
	noDecide, failing := counted(1), counted(1)
	noDecide.Decide = nil
	failing.Decide = func(int32) (model.Plan, error) { return model.Plan{}, errors.New("own") }
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		mongotest.Need(t, db, mongotest.Transactions)
		if _, err := db.Collection("parts").InsertOne(t.Context(), d("_id", 1, "n", 1)); err != nil {
			t.Fatal(err)
		}
		for _, test := range []struct {
			reason, says string
			change       model.Change
		}{
			{"nil", "others[1]: is nil: give a Change, a Plan or a Step", counted(1).Also(counted(1), nil)},
			{"two leases", "two changes of Also have a Lease", leased().Also(leased())},
			{"one without Decide", "needs Read and Decide", counted(1).Also(noDecide)},
			{"the first without Decide", "needs Read and Decide", noDecide.Also(counted(1))},
			{"an error of the second", "own", counted(1).Also(failing)},
			{"bad input of a step", "refused", counted(1).Also(model.Refused("parts", errors.New("refused")))},
		} {
			if err := ended(test.change.Run(t.Context(), db)); err == nil || !strings.Contains(err.Error(), test.says) {
				t.Errorf("%s: %v", test.reason, err)
			}
		}
		if same := one.Also(one); same.Err != nil || same.Lease != one.Lease {
			t.Errorf("one lease in both: %v", same.Err)
		}
		wantStored(t, db.Collection("parts"), "{_id: 1, n: 1}")
	})
}

// One transaction applied all changes, so if one finds its token, none is applied again.
func TestChangeAlsoApplied(t *testing.T) {
	applied := model.ChangeOf[bool]{
		Read:   func(context.Context, model.DB) (bool, error) { return true, nil },
		Decide: func(done bool) (model.Plan, error) { return model.Plan{Applied: done}, nil },
	}
	both := applied.Also(up("$inc", d("n", 1)))
	p, err := both.Decide([]any{true, nil})
	if err != nil || !p.Applied || len(p.Steps) != 0 {
		t.Errorf("%+v, %v", p, err)
	}
	p, err = both.Decide([]any{false, nil})
	if err != nil || p.Applied || len(p.Steps) != 1 {
		t.Errorf("%+v, %v", p, err)
	}
	if _, err := both.Decide(7); err == nil {
		t.Error("a state of another change: no error")
	}
}

// Inserts of one document are one insert, and so are deletes.
func TestMergePlansWholeDocuments(t *testing.T) {
	insert := func(doc bson.D) model.Plan {
		return model.NewPlan(model.Write{Collection: "parts", Model: &mongo.InsertOneModel{Document: doc}})
	}
	remove := func(expect model.Expect, guard ...any) model.Plan {
		filter := append(d("_id", 1), d(guard...)...)
		return model.NewPlan(model.Write{Collection: "parts", Model: &mongo.DeleteOneModel{Filter: filter}, Expect: expect})
	}
	for _, test := range []struct {
		reason string
		plans  []model.Plan
		want   string
	}{
		{"equal inserts", []model.Plan{insert(d("_id", 1, "a", 2)), insert(d("_id", 1, "a", 2))},
			"db.parts.insertOne({_id: 1, a: 2})"},
		{"inserts of two documents", []model.Plan{insert(d("_id", 1)), insert(d("_id", 2))},
			"db.parts.insertOne({_id: 1})\ndb.parts.insertOne({_id: 2})"},
		{"documents without _id stay two", []model.Plan{insert(d("a", 1)), insert(d("a", 1))},
			"db.parts.insertOne({a: 1})\ndb.parts.insertOne({a: 1})"},
		{
			reason: "deletes that both expect a match",
			plans:  []model.Plan{remove(model.One, "a", 1), remove(model.One, "b", 2)},
			want:   "db.parts.deleteOne({_id: 1, a: 1, b: 2})",
		},
		{"equal deletes", []model.Plan{remove(model.Any), remove(model.Any)}, "db.parts.deleteOne({_id: 1})"},
		{
			reason: "a delete with a condition that may match nothing stays a step",
			plans:  []model.Plan{remove(model.Any, "a", 1), remove(model.One)},

			want: "db.parts.deleteOne({_id: 1, a: 1})\ndb.parts.deleteOne({_id: 1})",
		},
		{
			reason: "a delete without a condition",
			plans:  []model.Plan{remove(model.Any), remove(model.One, "a", 1)},
			want:   "db.parts.deleteOne({_id: 1, a: 1})",
		},
	} {
		p := model.MergePlans(test.plans...)
		if got := p.String(); got != test.want || p.Err() != nil {
			t.Errorf("%s: %v\n%s\nwant\n%s", test.reason, p.Err(), got, test.want)
		}
	}
	p := model.MergePlans(insert(d("_id", 1, "a", 2)), insert(d("_id", 1, "a", 3)))
	var conflict *model.ConflictError
	if !errors.As(p.Err(), &conflict) ||
		!strings.Contains(conflict.Error(), "both insert a document with the _id 1, but the documents differ") {
		t.Errorf("different documents: %v", p.Err())
	}
}

// A $merge is refused in a transaction before anything is sent, whoever began it.
func TestMergeIntoInTx(t *testing.T) {
	tenancy.Differs(t, "a scope's filter refuses the $merge before")
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		mongotest.Need(t, db, mongotest.Transactions)
		c := db.Collection("parts")
		if _, err := c.InsertOne(t.Context(), d("_id", 1, "n", 1)); err != nil {
			t.Fatal(err)
		}
		merge := mergeInto("parts", d("$merge", d("into", "others")))
		p := model.NewPlan(updateOne(d("_id", 1), d("$set", d("n", 2))), merge)
		err := model.InTx(t.Context(), db, func(ctx context.Context) error {
			_, err := p.Run(ctx, db)
			if err == nil || !strings.Contains(err.Error(), "step 2: $merge and $out can't run in a transaction") {
				t.Errorf("in the caller's: %v", err)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
		if err := ended(counted(1).Also(merge).Run(t.Context(), db)); err == nil ||
			!strings.Contains(err.Error(), "can't run in a transaction") {
			t.Errorf("joined: %v", err)
		}
		wantStored(t, c, "{_id: 1, n: 1}")
	})
}
