package copies_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"testing"

	"github.com/docmodel/docmodel/internal/tenancy"
	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// listVersionedForms are the forms that keep versions, each once; of them the first two in quick runs.
func listVersionedForms() (out []copyForm) {
	for _, f := range copyForms {
		if f.versioned && (testkit.EveryPair || len(out) < 2) {
			out = append(out, f)
		}
	}
	return out
}

// oneOf stores a source, and documents that hold copies of it.
func (f copyForm) oneOf(ctx context.Context, db *mongo.Database) error {
	x := held{ID: "s", Name: "a"}
	hs := []holder{{ID: "h1"}, {ID: "h2"}, {ID: "h3"}}
	for i := range hs[:2] {
		switch f.depth {
		case 0:
			hs[i].Src, hs[i].Name = "s", "a"
		case 1:
			hs[i].Items = []held{{ID: "other"}, x}
		case 2:
			hs[i].Groups = []group{{Title: "none"}, {Items: []held{x, x}}}
		}
	}
	return testkit.Exec(ctx, db, model.NewPlan(origins.Insert(origin{ID: "s", Name: "a", Docs: []string{"h1", "h2"}})),
		model.NewPlan(origins.Insert(origin{ID: "other"})), holders.InsertMany(hs))
}

// rename reads the source and gives it another name.
func (f copyForm) rename(name string) func(context.Context, *mongo.Database) error {
	return func(ctx context.Context, db *mongo.Database) error {
		_, _, err := f.sources().Set("s", bson.D{testkit.E("name", name)}).Run(ctx, db)
		return err
	}
}

// Every plan and job can be cut anywhere and run again.
func TestCopyFaults(t *testing.T) {
	testkit.Parallel(t)
	later := origin{ID: "s", Name: "b", V: 4, Docs: []string{"h1", "h2"}}
	job := func(j model.Job) func(context.Context, *mongo.Database) error {
		return func(ctx context.Context, db *mongo.Database) error {
			j.Stages[0].BatchSize = 1
			_, err := j.Run(ctx, db, model.JobOptions{})
			return err
		}
	}
	for _, f := range copyForms {
		runs := map[string]func(context.Context, *mongo.Database) error{
			"set": func(ctx context.Context, db *mongo.Database) error {
				_, _, err := f.sources().Set("s", bson.D{testkit.E("name", "b"), testkit.E("note", "x")}).Run(ctx, db)
				return err
			},
			"rebuild": job(f.c.Rebuild()),
			"fold":    job(f.c.Fold("note", "info", "docs")),
		}
		if f.c != ofListed {
			runs["propagate"] = func(ctx context.Context, db *mongo.Database) error {
				if err := testkit.Exec(ctx, db, model.NewPlan(origins.Replace(later))); err != nil {
					return err
				}
				return job(f.c.PropagateJob(&later))(ctx, db)
			}
		}
		for name, run := range runs {
			if !testkit.EveryPair && name != "set" && f.c != inItems {
				continue
			}
			t.Run(f.name+" "+name, func(t *testing.T) {
				if name == "fold" {
					tenancy.Differs(t, "the tenant is no copied field, so that it folds no source")
				}
				modeltest.FaultMatrix(t, modeltest.FaultCase{
					Seed: func(ctx context.Context, db *mongo.Database) error {
						if err := f.oneOf(ctx, db); err != nil || name != "rebuild" {
							return err
						}
						_, err := origins.Update("s", bson.D{
							testkit.E("$set", bson.D{testkit.E("name", "b")}),
						}).Run(ctx, db)
						return err
					},
					Run: run,
					Check: func(t testing.TB, db *mongo.Database) {
						sources, hs := world(t, db)
						if _, there := sources["s"]; there == (name == "fold") {
							t.Errorf("the source is there: %v", there)
						}
						for i := range hs {
							for _, c := range f.copies(&hs[i], sources) {
								if want := map[bool]string{
									true: "a", false: "b",
								}[name == "fold"]; c.src == "s" && *c.name != want {
									t.Errorf("%s has %q", hs[i].ID, *c.name)
								}
							}
						}
					},
				})
			})
		}
	}
}

// Two operations in every order of their commands: the copies are the source's in the end.
func TestCopyInterleaved(t *testing.T) {
	testkit.Parallel(t)
	for _, f := range listVersionedForms() {
		second := map[string]func(context.Context, *mongo.Database) error{
			"set": f.rename("c"), "repair": testkit.MendedNow(f.c.Checks()...),
		}
		for name, b := range second {
			t.Run(f.name+" set | "+name, func(t *testing.T) {
				if os.Getenv("MONGODB_URI") == "" {
					t.Parallel()
				}
				modeltest.Interleave(t, modeltest.InterleaveCase{
					Match:  testkit.Interleaved,
					Sample: 3, Seed: f.oneOf, A: f.rename("b"), B: b,
					Check: func(t testing.TB, db *mongo.Database, errA, errB error) {
						for _, err := range []error{errA, errB} {
							if err != nil && !errors.Is(err, model.ErrStale) && !errors.Is(err, model.ErrNotFound) {
								t.Errorf("error %v", err)
							}
						}
						if found := f.wantDrift(t, db); len(found) > 0 {
							t.Errorf("drift %v", found)
						}
					},
				})
			})
		}
	}
}

// A repair loses neither an element that is pushed while it runs, nor a change of another field.
func TestCopyRepairLosesNothing(t *testing.T) {
	testkit.Parallel(t)
	modeltest.Interleave(t, modeltest.InterleaveCase{
		Match:  testkit.Interleaved,
		Sample: 3,
		Seed: func(ctx context.Context, db *mongo.Database) error {
			if err := copyForms[2].oneOf(ctx, db); err != nil {
				return err
			}
			return testkit.Exec(ctx, db,
				model.NewPlan(holders.Update("h1", bson.D{
					testkit.E("$set", bson.D{testkit.E("items.1.name", "wrong")}),
				})))
		},
		A: testkit.MendedNow(inItems.Checks()...),
		B: func(ctx context.Context, db *mongo.Database) error {
			push := holders.Update("h1", bson.D{
				testkit.E("$push", bson.D{
					testkit.E("items", bson.D{testkit.E("$each", []held{{ID: "new"}}), testkit.E("$position", 0)}),
				}),
			})
			note := mongo.NewUpdateOneModel().SetFilter(bson.D{testkit.E("_id", "h1"), testkit.E("items.id", "s")}).
				SetUpdate(bson.D{testkit.E("$set", bson.D{testkit.E("items.$.note", "mine")})})
			return testkit.Exec(ctx, db, model.NewPlan(push),
				model.NewPlan(model.Write{Collection: "holders", Model: note}))
		},
		Check: func(t testing.TB, db *mongo.Database, errA, errB error) {
			h, err := holders.ByID("h1").One(context.Background(), db)
			if errA != nil || errB != nil || err != nil {
				t.Fatal(errA, errB, err)
			}
			if len(h.Items) != 3 || h.Items[0].ID != "new" || h.Items[2].Name != "a" || h.Items[2].Note != "mine" {
				t.Errorf("items %v", h.Items)
			}
		},
	})
}

// 32 writers of one source: every change is made once, and the copies are the source's in the end.
func TestCopyWriters(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		f := copyForms[2]
		f.fill(t, db, rand.New(rand.NewPCG(1, 1)))
		var wait sync.WaitGroup
		for i := range 32 {
			wait.Go(func() {
				change := f.sources().Edit("s1", func(s *origin) error {
					s.Tags = append(s.Tags, fmt.Sprint(i))
					return nil
				})
				change.Attempts = 200
				_, _, err := change.Run(t.Context(), db)
				for testkit.Deadlocked(err) { // the source was written: what is left is its copies
					_, _, err = f.c.Refresh("s1").Run(t.Context(), db)
				}
				if err != nil {
					t.Error(err)
				}
			})
		}
		wait.Wait()
		sources, _ := world(t, db)
		if s := sources["s1"]; s.V != 32 || len(s.Tags) != 32 {
			t.Errorf("version %d, %d tags", s.V, len(s.Tags))
		}
		if found := f.wantDrift(t, db); len(found) > 0 {
			t.Errorf("drift %v", found)
		}
	})
}

// A source that gets a field of its own while it is folded away stays.
func TestCopyFoldRace(t *testing.T) {
	testkit.Parallel(t)
	f := copyForms[2]
	modeltest.Interleave(t, modeltest.InterleaveCase{
		Match:  testkit.Interleaved,
		Sample: 3, Seed: f.oneOf,
		A: func(ctx context.Context, db *mongo.Database) error {
			_, _, err := f.sources().Set("s", bson.D{testkit.E("name", "b"), testkit.E("note", "own")}).Run(ctx, db)
			return err
		},
		B: func(ctx context.Context, db *mongo.Database) error {
			_, err := f.c.Fold("info", "docs").Run(ctx, db, model.JobOptions{})
			return err
		},
		Check: func(t testing.TB, db *mongo.Database, errA, errB error) {
			gone := errors.Is(errA, model.ErrNotFound)
			if errB != nil || errA != nil && !gone {
				t.Fatal(errA, errB)
			}
			sources, hs := world(t, db)
			if _, there := sources["s"]; there == gone {
				t.Errorf("the source is there: %v, and its change was refused: %v", there, gone)
			}
			want := map[bool]string{true: "a", false: "b"}[gone]
			for i := range hs {
				for _, c := range f.copies(&hs[i], nil) {
					if c.src == "s" && *c.name != want {
						t.Errorf("%s has %q, want %q", hs[i].ID, *c.name, want)
					}
				}
			}
		},
	})
}
