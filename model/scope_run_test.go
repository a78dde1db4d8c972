package model_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/embed"
	"github.com/docmodel/docmodel/mongotest"

	"github.com/docmodel/docmodel/internal/tenancy"
)

// tenantOf is a tenant's scope, with soft deletion.
func tenantOf(tenant string) model.Scope {
	return model.Scope{Tenant: d("tenant", tenant), Delete: d("deletedAt", 7)}
}

// A scope that sets nothing adds no empty stage to an update by a pipeline, which a server refuses; one of a tenant
// says the tenant last, whatever the pipeline did.
func TestScopePipelineUpdates(t *testing.T) {
	tenancy.Differs(t, "it has a scope of its own")
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		mustRun(t, db, model.NewPlan(model.Scoped(tenantOf("a"), insertDoc(d("_id", 1, "x", 1)))))
		pipeline := once(updateMany(bson.D{}, mongo.Pipeline{d("$set", d("x", 2))}))
		for _, p := range []model.Scope{{Insert: d("createdAt", 1)}, {Filter: d("tenant", "a")}, {Delete: bson.D{}}} {
			if got := model.Scoped(p, pipeline); len(got.Model.(*mongo.UpdateManyModel).Update.(mongo.Pipeline)) != 1 {
				t.Errorf("%s", got)
			}
			mustRun(t, db, model.NewPlan(model.Scoped(p, pipeline)))
		}
		away := once(updateMany(bson.D{}, mongo.Pipeline{d("$set", d("tenant", "b")), d("$unset", bson.A{"x"})}))
		mustRun(t, db, model.NewPlan(model.Scoped(tenantOf("a"), model.Scoped(tenantOf("a"), away))))
		got, err := (&model.Find[bson.D]{Query: model.Query{Collection: "parts"}}).All(t.Context(), db)
		if err != nil || model.Shell(got) != "[{_id: 1, tenant: 'a'}]" {
			t.Errorf("%s, %v", model.Shell(got), err)
		}
		if _, err := model.Scoped(model.Scope{Delete: bson.D{}}, parts.Delete(1)).Run(t.Context(), db); err != nil {
			t.Errorf("a delete under an empty mark: %v", err)
		}
	})
}

// What a Change reads is under its scope: another tenant's document is not found, by one attempt, and nobody is handed
// it.
func TestScopeHidesFromChanges(t *testing.T) {
	docs := model.NewCollection[versionedPart, int32]("parts")
	store := model.NewStore(model.New("parts", embed.NewVersioned(docs, embed.VersionedSpec{})), docs)
	monitor := mongotest.NewMonitor()
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		a, b, both := tenantOf("a"), tenantOf("b"), model.Scope{Filter: d("tenant", "b")}
		mustRun(t, db, model.NewPlan(model.Scoped(b, docs.Insert(versionedPart{ID: 1, Qty: 3}))))
		base := asked(t, db, "parts")
		edit := store.Edit(1, func(p *versionedPart) error {
			t.Errorf("edit is handed %+v", *p)
			return nil
		})
		for name, run := range map[string]func(context.Context) error{
			"Edit": func(ctx context.Context) error { _, _, err := edit.Run(ctx, a.On(base)); return err },
			"ByID": func(ctx context.Context) error { _, err := parts.ByID(1).One(ctx, a.On(base)); return err },
			"two scopes": func(ctx context.Context) error {
				_, err := parts.ByID(1).One(ctx, both.On(a.On(base)))
				return err
			},
			"findAndModify": func(ctx context.Context) error {
				_, err := parts.Modify(d("_id", 1), d("$set", d("qty", 1))).Run(ctx, a.On(base))
				return err
			},
		} {
			monitor.Reset()
			if err := run(t.Context()); !errors.Is(err, model.ErrNotFound) {
				t.Errorf("%s: %v", name, err)
			}
			if n := monitor.Cost().Commands; n != 1 {
				t.Errorf("%s: %d commands", name, n)
			}
		}
		if n, err := parts.Find(nil).Count(t.Context(), a.On(db)); n != 0 || err != nil {
			t.Errorf("a counts %d, %v", n, err)
		}
		if n, err := parts.Find(nil).Count(t.Context(), b.On(db)); n != 1 || err != nil {
			t.Errorf("b counts %d, %v", n, err)
		}
	}, monitor)
}

// A change that reads the same again and again ends soon, with the error of its write.
func TestChangeGivesUpWhereNothingChanges(t *testing.T) {
	monitor := mongotest.NewMonitor()
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		mustRun(t, db, model.NewPlan(parts.Insert(part{1, "a", 0})))
		for _, tx := range []bool{false, true} {
			if tx {
				mongotest.Need(t, db, mongotest.Transactions)
			}
			change, plans := addOne(100), 0
			change.Tx = tx
			change.Decide = func(p part) (model.Plan, error) {
				plans++
				return model.NewPlan(expectOne(updateOne(d("_id", p.ID, "qty", 77), d("$set", d("qty", 1))))), nil
			}
			_, result, err := change.Run(t.Context(), db)
			var step *model.StepError
			if !errors.Is(err, model.ErrStale) || !errors.As(err, &step) || plans != 3 || result.Modified() != 0 {
				t.Errorf("Tx %v: %d plans, %v, %v", tx, plans, result, err)
			}
		}
	}, monitor)
}

// Another writer's mark that comes after the read and goes before the next one leaves nothing to see: the change is
// tried again.
func TestChangeMeetsMarks(t *testing.T) {
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		mustRun(t, db, model.NewPlan(parts.Insert(part{1, "a", 0})))
		parts := parts.Of(db)
		change, reads := addOne(100), 0
		read := change.Read
		change.Read = func(ctx context.Context, db model.DB) (part, error) {
			if _, err := parts.UpdateByID(ctx, 1, d("$unset", d("mark", ""))); err != nil {
				return part{}, err
			}
			reads++
			p, err := read(ctx, db)
			if err == nil && reads < 3 {
				_, err = parts.UpdateByID(ctx, 1, d("$set", d("mark", reads)))
			}
			return p, err
		}
		change.Decide = func(p part) (model.Plan, error) {
			return model.NewPlan(expectOne(updateOne(d("_id", p.ID, "mark", d("$exists", false)), d("$inc", d("qty", 1))))), nil
		}
		if _, result, err := change.Run(t.Context(), db); err != nil || result.Modified() != 1 || reads != 3 {
			t.Errorf("%d reads, %v, %v", reads, result, err)
		}
	})
}

// An insert that meets another tenant's document asks nothing of it, and tells nothing but the duplicate key.
func TestDuplicateOfAnotherTenant(t *testing.T) {
	monitor := mongotest.NewMonitor()
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		tenancy.Differs(t, "it has a scope of its own")
		mustRun(t, db, model.NewPlan(model.Scoped(tenantOf("a"), insertDoc(d("_id", 1, "x", 1)))))
		monitor.Reset()
		_, err := model.Scoped(tenantOf("b"), insertDoc(d("_id", 1, "x", 1))).Run(t.Context(), db)
		if !mongo.IsDuplicateKeyError(err) {
			t.Errorf("%v", err)
		}
		for _, c := range monitor.Commands() {
			if c.Name == "find" && c.Body.Lookup("filter", "tenant").String() != `"b"` {
				t.Errorf("asks %s", c)
			}
		}
	}, monitor)
}

// A whole document that was stored under a scope, and is stored again elsewhere, gets the new values of Set.
func TestScopeSetReplaces(t *testing.T) {
	p := model.Scope{Set: d("updatedAt", 8)}
	for _, w := range []model.Write{
		model.Scoped(p, insertDoc(d("_id", 1, "updatedAt", 7, "x", 1))),
		model.Scoped(p, docsAny.Replace(d("_id", 1, "updatedAt", 7, "x", 1))),
	} {
		if text := w.String(); w.Err != nil || strings.Contains(text, "7") || !strings.Contains(text, "updatedAt: 8") {
			t.Errorf("%v, %s", w.Err, text)
		}
	}
}

// A final delete deletes, the tenant's alone.
func TestScopeFinal(t *testing.T) {
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		tenancy.Differs(t, "it has a scope of its own")
		a, b := tenantOf("a"), tenantOf("b")
		mustRun(t, db, model.NewPlan(model.Scoped(a, insertDoc(d("_id", 1))), model.Scoped(b, insertDoc(d("_id", 2)))))
		w := docsAny.Named("parts").Delete(1)
		w.Final = true
		mustRun(t, db, model.NewPlan(model.Scoped(b, w)))
		if n := countAll(t, db, "parts"); n != 2 {
			t.Errorf("%d documents are left of 2", n)
		}
		mustRun(t, db, model.NewPlan(model.Scoped(a, w)))
		if n := countAll(t, db, "parts"); n != 1 {
			t.Errorf("%d documents are left", n)
		}
	})
}

// What a plan takes back leaves no mark of a deletion, which would keep the _id from the next run.
func TestScopeTakesBack(t *testing.T) {
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		tenancy.Differs(t, "it has a scope of its own")
		a := tenantOf("a").On(db)
		plan := model.NewPlan(once(insertDoc(d("_id", 1))), expectOne(updateOne(d("_id", 2), d("$set", d("x", 1)))))
		plan.IfStale = []model.Step{docsAny.Named("parts").Delete(1)}
		for range 2 {
			if _, err := plan.Run(t.Context(), a); !errors.Is(err, model.ErrNotFound) {
				t.Errorf("%v", err)
			}
			if n := countAll(t, db, "parts"); n != 0 {
				t.Errorf("%d documents are left", n)
			}
		}
	})
}

func countAll(t *testing.T, db *mongo.Database, name string) int64 {
	t.Helper()
	n, err := db.Collection(name).CountDocuments(t.Context(), bson.D{})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// Two tenants' jobs of one name have checkpoints of their own, and their leases don't wait for each other.
func TestScopeKeepsTenantsApart(t *testing.T) {
	docs := model.NewCollection[bson.D, int32]("parts")
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		a, b := tenantOf("a"), tenantOf("b")
		mustRun(t, db,
			model.Scoped(a, docs.InsertMany([]bson.D{d("_id", 1), d("_id", 3), d("_id", 5)})),
			model.Scoped(b, docs.InsertMany([]bson.D{d("_id", 2), d("_id", 4)})))
		stop := errors.New("stop")
		seen := map[string][]int32{}
		run := func(name string, p model.Scope, halt bool) error {
			job := model.Job{
				Name: "mark",
				Stages: []model.Stage{{Collection: "parts", BatchSize: 1, Plan: func(batch []bson.Raw) (model.Plan, error) {
					id := batch[0].Lookup("_id").Int32()
					seen[name] = append(seen[name], id)
					return model.NewPlan(docs.Update(id, d("$set", d("seen", true)))), nil
				}}},
			}
			_, err := job.Run(t.Context(), p.On(db), model.JobOptions{
				Checkpoint: "checkpoints",
				Progress: func(model.Progress) error {
					if halt {
						return stop
					}
					return nil
				},
			})
			return err
		}
		for _, err := range []error{run("a", a, true), run("b", b, true)} {
			if !errors.Is(err, stop) {
				t.Fatal(err)
			}
		}
		if err := errors.Join(run("a", a, false), run("b", b, false)); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(seen["a"], []int32{1, 3, 5}) || !slices.Equal(seen["b"], []int32{2, 4}) {
			t.Errorf("the jobs went through %v", seen)
		}

		lease := &model.Lease{Collection: "locks", ID: "parts", For: time.Minute, Wait: 100 * time.Millisecond}
		var inner error
		bare := db
		outer := model.ChangeOf[int]{Lease: lease, Read: func(ctx context.Context, db model.DB) (int, error) {
			nested := model.ChangeOf[int]{Lease: lease, Read: func(context.Context, model.DB) (int, error) { return 0, nil },
				Decide: func(int) (model.Plan, error) { return docs.InsertMany([]bson.D{d("_id", 6), d("_id", 8)}), nil }}
			_, _, inner = nested.Run(t.Context(), b.On(bare))
			return 0, nil
		}, Decide: func(int) (model.Plan, error) { return docs.InsertMany([]bson.D{d("_id", 7), d("_id", 9)}), nil }}
		if _, _, err := outer.Run(t.Context(), a.On(db)); err != nil || inner != nil {
			t.Errorf("%v, %v", err, inner)
		}
		if n, err := docs.Find(nil).Count(t.Context(), a.On(db)); n != 5 || err != nil {
			t.Errorf("a has %d, %v", n, err)
		}
	})
}

// A writer that dies leaves its plan as it is under its own scope: a writer of another finishes that.
func TestScopeOfAnIntent(t *testing.T) {
	tenancy.Differs(t, "it has a scope of its own")
	docs := model.NewCollection[bson.D, int32]("parts")
	soft := model.Scope{Filter: d("deletedAt", nil), Set: d("by", "first")}
	faults := mongotest.NewFaults()
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		faults.Reset()
		faults.On(func(c mongotest.Command) bool { return c.Name == "update" && c.Collection == "parts" },
			1, mongotest.Fail(8000))
		lease := &model.Lease{Collection: "locks", ID: "parts", For: 300 * time.Millisecond}
		change := func(ids ...int32) model.ChangeOf[int] {
			return model.ChangeOf[int]{
				Lease: lease,
				Read:  func(context.Context, model.DB) (int, error) { return 0, nil },
				Decide: func(int) (model.Plan, error) {
					p := model.Plan{}
					for _, id := range ids {
						p.Steps = append(p.Steps, docs.Insert(d("_id", id)), docs.Update(id, d("$set", d("x", 1))))
					}
					return p, nil
				},
			}
		}
		if _, _, err := change(1, 2).Run(t.Context(), soft.On(db)); err == nil {
			t.Fatal("the first writer isn't cut")
		}
		if _, _, err := change().Run(t.Context(), model.Scope{Set: d("by", "second")}.On(db)); err != nil {
			t.Fatal(err)
		}
		got, err := docs.Find(nil).Sorted(d("_id", 1)).All(t.Context(), db)
		if err != nil || model.Shell(got) != "[{_id: 1, by: 'first', x: 1}, {_id: 2, by: 'first', x: 1}]" {
			t.Errorf("%s, %v", model.Shell(got), err)
		}
	}, faults)
}

// An insert under a scope that sets the time is the same insert when it is run again at another time.
func TestScopeRerun(t *testing.T) {
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for now := range int32(2) {
			p := tenantOf("a")
			p.Set = d("updatedAt", now)
			plan := model.Scoped(p, model.NewPlan(parts.Insert(part{1, "a", 1}), parts.Insert(part{2, "b", 2})))
			if _, err := plan.Run(t.Context(), db); err != nil || plan.Guarantee() != model.Rerunnable {
				t.Errorf("run %d: %v, %v", now, plan.Guarantee(), err)
			}
		}
		other := model.Scoped(tenantOf("b"), model.NewPlan(parts.Insert(part{1, "a", 1})))
		if _, err := other.Run(t.Context(), db); !mongo.IsDuplicateKeyError(err) {
			t.Errorf("another tenant's insert of an _id that is there: %v", err)
		}
	})
}
