package copies_test

import (
	"context"
	"errors"
	"os"
	"testing"

	"github.com/docmodel/docmodel/denorm/copies"
	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

func runChange(c model.Action, way func(context.Context, model.DB) (model.DB, error)) testkit.DBFunc {
	return func(ctx context.Context, db *mongo.Database) error {
		on, err := way(ctx, db)
		if err != nil {
			return err
		}
		_, err = c.Change().Run(ctx, on)
		return err
	}
}

func plain(_ context.Context, db model.DB) (model.DB, error) { return db, nil }

// newHolder returns a new document that is to have copies of the source s.
func (f copyForm) newHolder() holder {
	h := holder{ID: "new"}
	switch {
	case f.c == ofListed:
		h.ID = "later"
	case f.depth == 0:
		h.Src = "s"
	case f.depth == 1:
		h.Items = []held{{ID: "other"}, {ID: "s", Note: "kept"}}
	default:
		h.Groups = []group{{Title: "none"}, {Items: []held{{ID: "s"}, {ID: "s", Note: "kept"}}}}
	}
	return h
}

// relating gives h3 copies of the source s.
func (f copyForm) relating() model.Action {
	if f.c == ofListed {
		return f.sources().Set("s", bson.D{testkit.E("docs", []string{"h1", "h2", "h3", "later"})})
	}
	return f.holders().Edit("h3", func(h *holder) error {
		like := f.newHolder()
		h.Src, h.Items, h.Groups = like.Src, like.Items, like.Groups
		return nil
	})
}

// A copy that is stored while its source changes is up to date after both, in every order, with transactions and
// without.
func TestCopyStoreInterleaved(t *testing.T) {
	testkit.Parallel(t)
	for _, f := range copyForms {
		for _, tx := range []bool{false, true} {
			way, with := plain, "without transactions"
			if tx {
				way, with = model.WithTransactions, "in transactions"
			}
			for name, action := range map[string]model.Action{
				"insert": f.holders().Insert(f.newHolder()), "update": f.relating(),
			} {
				t.Run(f.name+" "+name+" "+with, func(t *testing.T) {
					if os.Getenv(mongotest.EnvURI) == "" {
						t.Parallel()
					}
					f.interleave(t, tx, runChange(action.Change(), way),
						runChange(f.sources().Set("s", bson.D{testkit.E("name", "b")}), way))
				})
			}
		}
	}
}

func (f copyForm) interleave(t *testing.T, tx bool, a, b testkit.DBFunc) {
	for how, c := range map[string]modeltest.InterleaveCase{
		"writes": {Match: mongotest.Writes, Transactions: tx}, "commands": {Nested: true, Transactions: tx},
	} {
		c.Sample, c.A, c.B = 2, a, b
		c.Seed = func(ctx context.Context, db *mongo.Database) error {
			if err := f.oneOf(ctx, db); err != nil || f.c != ofListed {
				return err
			}
			return testkit.Updates(ctx, db, "origins", "s", bson.D{
				testkit.E("$push", bson.D{testkit.E("docs", "later")}),
			})
		}
		c.Check = func(t testing.TB, db *mongo.Database, errA, errB error) {
			if f.c == ofListed && errors.Is(errA, model.ErrNotFound) { // it lists a missing document
				errA = nil
			}
			if err := errors.Join(errA, errB); err != nil {
				t.Error(err)
			}
			if found := f.wantDrift(t, db); len(found) > 0 {
				t.Errorf("drift %v", found)
			}
		}
		t.Run(how, func(t *testing.T) { modeltest.Interleave(t, c) })
	}
}

// What storing a copy costs, in a transaction without its commit and the test's hello.
func TestCopyStoreCosts(t *testing.T) {
	testkit.Parallel(t)
	m := mongotest.NewMonitor()
	for _, f := range copyForms {
		for name, want := range map[string]model.Cost{
			"plain":            {Commands: 3, Written: 1, Returned: 2},
			"in a transaction": {Commands: 2 + 2, Written: 2, Returned: 1},
		} {
			if f.depth == 1 { // of two sources
				want.Returned *= 2
				if name != "plain" {
					want.Written++
				}
			}
			t.Run(f.name+" "+name, func(t *testing.T) {
				mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
					way := plain
					if name != "plain" {
						mongotest.Need(t, db, mongotest.Transactions)
						way = model.WithTransactions
					}
					if err := f.oneOf(t.Context(), db); err != nil {
						t.Fatal(err)
					}
					testkit.MustExec(t, db,
						model.NewPlan(origins.Update("s", bson.D{
							testkit.E("$push", bson.D{testkit.E("docs", "later")}),
						})))
					modeltest.WantCost(t, m, want, func() error {
						return runChange(f.holders().Insert(f.newHolder()), way)(t.Context(), db)
					})
				}, m)
			})
		}
	}
}

// A caller can't write what a copy in an array has. The values may be empty, as they are stored, or those of the
// source.
func TestCopyStoreRefuses(t *testing.T) {
	testkit.Parallel(t)
	loose := copies.New(origins, looseDocs, copies.Spec{
		KeyPath: "items.id", Fields: []copies.Field{{From: "name", To: "items.name"}}, Lists: []string{"items"},
	})
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		f, ctx := copyForms[2], t.Context()
		if err := f.oneOf(ctx, db); err != nil {
			t.Fatal(err)
		}
		items := func(list ...held) bson.D { return bson.D{testkit.E("items", list)} }
		for _, test := range []struct {
			reason string
			change model.Action
			is     error
		}{
			{
				reason: "another name",
				change: f.holders().Insert(holder{ID: "new", Items: []held{{ID: "s", Name: "x"}}}),
				is:     testkit.ErrRefused,
			},
			{"a missing source", f.holders().Insert(holder{ID: "new", Items: []held{{ID: "none"}}}), model.ErrNotFound},
			{"another name in an update", f.holders().Set("h1", items(held{ID: "s", Name: "x"})), testkit.ErrRefused},
			{
				reason: "another name in an element",
				change: f.holders().Set("h1", bson.D{testkit.E("items.1.name", "x")}),
				is:     testkit.ErrRefused,
			},
			{"a missing source in an update", f.holders().Set("h1", items(held{ID: "none"})), model.ErrNotFound},
			{
				reason: "no element of the array",
				change: model.NewStore(model.New("loose", loose), looseDocs).
					Set("h1", bson.D{testkit.E("items.id", "s")}),
				is: testkit.ErrRefused,
			},
			{"the name of the source", f.holders().Insert(holder{ID: "new", Items: []held{{ID: "s", Name: "a"}}}), nil},
			{"the stored name", f.holders().Set("h1", items(held{ID: "other", Name: "a"}, held{ID: "s"})), nil},
		} {
			_, err := test.change.Change().Run(ctx, db)
			testkit.WantError(t, err, test.is)
		}
		h, err := holders.ByID("h1").One(ctx, db)
		if err != nil || len(h.Items) != 2 || h.Items[0].Name != "" || h.Items[1].Name != "a" {
			t.Errorf("%+v, %v", h, err)
		}
		if found := f.wantDrift(t, db); len(found) > 0 {
			t.Errorf("drift %v", found)
		}
	})
}

// Two copies in one array have one update. A document that leaves one source's list has the copy of another source that
// lists it.
func TestCopyStoreTwice(t *testing.T) {
	testkit.Parallel(t)
	names := copies.New(origins, holders, copies.Spec{
		KeyPath: "items.id",
		Fields:  []copies.Field{{From: "name", To: "items.name"}},
	})
	cities := copies.New(origins, holders, copies.Spec{
		KeyPath: "items.id",
		Fields:  []copies.Field{{From: "info.city", To: "items.info.city"}},
	})
	both := model.New("both", names, cities)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		testkit.MustExec(t, db,
			origins.InsertMany([]origin{
				{ID: "s", Name: "a", Info: info{"Rome"}, Docs: []string{"l"}},
				{ID: "t", Name: "b", V: 3},
			}))
		want := func(id string, items ...held) {
			t.Helper()
			h, err := holders.ByID(id).One(t.Context(), db)
			if err != nil || model.Shell(asDoc(t, h.Items[0])) != model.Shell(asDoc(t, items[0])) {
				t.Errorf("%+v, %v, want %+v", h, err, items)
			}
		}
		testkit.MustChange(t, db, model.NewStore(both, holders).Insert(holder{ID: "h", Items: []held{{ID: "s"}}}))
		want("h", held{ID: "s", Name: "a", Info: info{"Rome"}})
		testkit.MustChange(t, db,
			model.NewStore(both, origins).Set("s", bson.D{testkit.E("name", "c"), testkit.E("info", info{"Oslo"})}))
		want("h", held{ID: "s", Name: "c", Info: info{"Oslo"}})

		f := copyForms[6]
		name := func(want string) {
			t.Helper()
			if h, err := holders.ByID("l").One(t.Context(), db); err != nil || h.Name != want {
				t.Errorf("%+v, %v, want %q", h, err, want)
			}
		}
		testkit.MustChange(t, db, f.holders().Insert(holder{ID: "l"}))
		name("c")
		testkit.MustChange(t, db, f.sources().Set("t", bson.D{testkit.E("docs", []string{"l"})}))
		name("b")
		testkit.MustChange(t, db, f.sources().Set("t", bson.D{testkit.E("docs", []string{})}))
		name("c")
		testkit.MustChange(t, db, f.sources().Set("s", bson.D{testkit.E("docs", []string{})}))
		name("")
	})
}
