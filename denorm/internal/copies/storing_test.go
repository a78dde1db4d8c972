package copies_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"

	"github.com/docmodel/docmodel/denorm"
	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

var (
	locked = copies(denorm.CopySpec{KeyPath: "src", Version: "v", VersionTo: "v", Lock: "lock"}, "")
	bare   = copies(denorm.CopySpec{KeyPath: "src", Lock: "lock"}, "")
)

// inserting stores a new holder with the copy of a source, as it is read.
func inserting(c *denorm.Copy[origin, string, string], id string) model.Change[any] {
	return c.Storing("s", func(s *origin) model.Action {
		return holders.Insert(holder{ID: id, Src: s.ID, Name: s.Name, Tags: s.Tags, Info: s.Info, V: s.V})
	}, id)
}

func changed[S any](c model.Change[S], way func(context.Context, model.DB) (model.DB, error)) testkit.DBFunc {
	return func(ctx context.Context, db *mongo.Database) error {
		on, err := way(ctx, db)
		if err != nil {
			return err
		}
		_, _, err = c.Run(ctx, on)
		return err
	}
}

func plain(_ context.Context, db model.DB) (model.DB, error) { return db, nil }

// renaming changes the source as it is read.
func renaming(c *denorm.Copy[origin, string, string], name string) model.Change[origin] {
	return model.Change[origin]{
		Read:   func(ctx context.Context, db model.DB) (origin, error) { return origins.ByID("s").One(ctx, db) },
		Decide: func(s origin) (model.Plan, error) { return c.Set(&s, bson.D{e("name", name)}), nil },
	}
}

// A copy that is stored while its source changes is up to date after both, in every order, with transactions and without.
func TestCopyStoringInterleaved(t *testing.T) {
	parallel(t)
	for name, c := range map[string]*denorm.Copy[origin, string, string]{"versioned": locked, "bare": bare} {
		for _, tx := range []bool{false, true} {
			if c == bare && !tx {
				continue // without a version the last write wins
			}
			way, with := plain, "without transactions"
			if tx {
				way, with = model.WithTransactions, "in transactions"
			}
			t.Run(name+" "+with, func(t *testing.T) {
				if os.Getenv(modeltest.EnvURI) == "" {
					t.Parallel()
				}
				modeltest.Interleave(t, modeltest.InterleaveCase{
					Match: modeltest.Writes, Transactions: tx, Sample: 2, Seed: copyForms[0].oneOf,
					A: changed(inserting(c, "new"), way), B: changed(renaming(c, "b"), way),
					Check: func(t testing.TB, db *mongo.Database, errA, errB error) {
						if err := errors.Join(errA, errB); err != nil {
							t.Error(err)
						}
						if found, err := foundBy(context.Background(), db, c.Checks()); len(found) > 0 || err != nil {
							t.Errorf("the checks find %v, %v", found, err)
						}
						if h, err := holders.ByID("new").One(context.Background(), db); err != nil || h.Name != "b" {
							t.Errorf("%+v, %v", h, err)
						}
					},
				})
			})
		}
	}
}

// What storing a copy costs, in a transaction without its commit and the test's hello.
func TestCopyStoringCosts(t *testing.T) {
	parallel(t)
	m := modeltest.NewMonitor()
	for _, test := range []struct {
		reason string
		tx     bool
		c      *denorm.Copy[origin, string, string]
		want   model.Cost
	}{
		{"plain", false, locked, model.Cost{Commands: 4, Written: 1, Returned: 2}},
		{"with a lock, in a transaction", true, locked, model.Cost{Commands: 2 + 2, Written: 2, Returned: 1}},
		{"without a lock, in a transaction", true, ofDocument, model.Cost{Commands: 2 + 2 + 3, Written: 1, Returned: 2}},
	} {
		t.Run(test.reason, func(t *testing.T) {
			modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
				way := plain
				if test.tx {
					modeltest.NeedTransactions(t, db)
					way = model.WithTransactions
				}
				if err := copyForms[0].oneOf(t.Context(), db); err != nil {
					t.Fatal(err)
				}
				mustExec(t, db, model.NewPlan(origins.Update("s", bson.D{e("$set", bson.D{e("v", int64(1))})})))
				modeltest.WantCost(t, m, test.want, func() error { return changed(inserting(test.c, "new"), way)(t.Context(), db) })
			}, modeltest.WithMonitor(m))
		})
	}
}

// An action that was applied before doesn't lock its source again: a retry changes nothing.
func TestCopyStoringApplied(t *testing.T) {
	parallel(t)
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		modeltest.NeedTransactions(t, db)
		if err := copyForms[0].oneOf(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		before, _ := modeltest.Dump(t.Context(), db)
		done := model.NewPlan(model.Write{Collection: "holders", Model: &mongo.DeleteOneModel{Filter: bson.D{e("_id", "none")}}})
		done.Applied = true
		c := locked.Storing("s", func(*origin) model.Action { return done }, "new")
		if err := changed(c, model.WithTransactions)(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		if after, _ := modeltest.Dump(t.Context(), db); after != before {
			t.Errorf("it is now\n%s\nand was\n%s", after, before)
		}
	})
}

// A copy within a copy: of two sources in one document, with what follows each change.
func TestCopyStoringNested(t *testing.T) {
	parallel(t)
	var followed []string
	following := func(c model.Change[any], name string) model.Change[any] {
		c.Then = func(any) *model.Change[any] {
			next := origins.Insert(origin{ID: name}).Change()
			followed = append(followed, name)
			return &next
		}
		return c
	}
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		followed = nil
		if err := copyForms[0].oneOf(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		err := changed(inItems.Storing("other", func(other *origin) model.Action {
			return locked.Storing("s", func(s *origin) model.Action {
				mustExec(t, db, model.NewPlan(origins.Update("s", bson.D{e("$set", bson.D{e("name", "late"), e("v", int64(9))})})))
				h := holder{ID: "new", Src: s.ID, Name: s.Name, V: s.V, Items: []held{{ID: other.ID, Name: other.Name, V: other.V}}}
				return following(holders.Insert(h).Change(), "then")
			}, "new")
		}, "new"), plain)(t.Context(), db)
		h, errRead := holders.ByID("new").One(t.Context(), db)
		if err := errors.Join(err, errRead); err != nil || h.Name != "late" || h.V != 9 || len(h.Items) != 1 || fmt.Sprint(followed) != "[then]" {
			t.Errorf("%+v, followed by %v, %v", h, followed, err)
		}
	})
}

// What can't be stored so is refused before anything is written.
func TestCopyStoringRefuses(t *testing.T) {
	parallel(t)
	broken := errors.New("broken")
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		if err := copyForms[0].oneOf(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		before, _ := modeltest.Dump(t.Context(), db)
		gives := func(a model.Action) model.Change[any] {
			return locked.Storing("s", func(*origin) model.Action { return a }, "new")
		}
		leased, needsTx, inTx := model.Plan{}.Change(), model.NewPlan(holders.Insert(holder{ID: "1"}), holders.Insert(holder{ID: "2"})), holders.Insert(holder{ID: "1"}).Change()
		leased.Lease, needsTx.Transactional, inTx.Tx = &model.Lease{}, true, true
		var refused *model.ValueError
		for _, test := range []struct {
			reason string
			change model.Change[any]
			is     error
		}{
			{"no store", locked.Storing("s", nil), nil},
			{"no action", gives(nil), nil},
			{"no such source", locked.Storing("none", func(*origin) model.Action { panic("called") }), model.ErrNotFound},
			{"an error of store", gives(model.Change[any]{Err: broken}), broken},
			{"a lease", gives(leased), nil},
			{"a change of nothing", gives(model.Change[any]{}), nil},
			{"a plan that needs a transaction", gives(needsTx), model.ErrTransactional},
			{"a change that needs one", gives(inTx), model.ErrTransactional},
			{"changes joined by Also, which need one", gives(holders.Insert(holder{ID: "1"}).Change().Also(holders.Insert(holder{ID: "2"}))), model.ErrTransactional},
		} {
			_, _, err := test.change.Run(t.Context(), db)
			if test.is == nil && !errors.As(err, &refused) || test.is != nil && !errors.Is(err, test.is) {
				t.Errorf("%s: %v", test.reason, err)
			}
		}
		if after, _ := modeltest.Dump(t.Context(), db); after != before {
			t.Errorf("it is now\n%s\nand was\n%s", after, before)
		}
	})
	if _, err := inserting(locked, "new").Decide(nil); !errors.As(err, new(*model.ValueError)) {
		t.Errorf("nothing was read: %v", err)
	}
}
