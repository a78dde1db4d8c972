package model_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/docmodel/docmodel/internal/tenancy"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
)

// A record keeps what an observer is told.
type record struct {
	mu      sync.Mutex
	started []model.Operation
	ended   []model.Operation
}

func (r *record) observer() model.Observer {
	return model.Observer{
		Start: func(ctx context.Context, o model.Operation) context.Context {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.started = append(r.started, o)
			return ctx
		},
		End: func(_ context.Context, o model.Operation) {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.ended = append(r.ended, o)
		},
	}
}

// taken returns the operations that ended since the last call, in the order in which they began.
func (r *record) taken() []model.Operation {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := r.ended
	slices.SortFunc(out, func(a, b model.Operation) int { return int(a.ID) - int(b.ID) })
	r.started, r.ended = nil, nil
	return out
}

// outline is each operation's kind, number, and what is said of its outcome, indented below the operation that it ran
// in.
func outline(list []model.Operation) string {
	depth, lines := map[uint64]int{}, []string(nil)
	for _, o := range list {
		if o.Parent != 0 {
			depth[o.ID] = depth[o.Parent] + 1
		}
		s := strings.Repeat(" ", depth[o.ID]) + o.Kind
		if o.Attempt > 0 {
			s += fmt.Sprint(" ", o.Attempt)
		}
		for _, flag := range []struct {
			on   bool
			name string
		}{{o.Stale, "stale"}, {o.Already, "already"}, {o.TakenBack, "taken back"}, {o.Failure != "" && !o.Stale, o.Failure}} {
			if flag.on {
				s += ", " + flag.name
			}
		}
		lines = append(lines, s)
	}
	return strings.Join(lines, "\n")
}

// TestObserver: what is told of each kind of operation, and that the cost of the outermost one is what the server was
// sent.
func TestObserver(t *testing.T) {
	tenancy.Differs(t, "another tenant's documents are met by what counts and modifies without a scope")
	meeting := func() model.ChangeOf[part] { // another writer comes between the first read and the first write
		c, met := addOne(0), false
		read := c.Read
		c.Read = func(ctx context.Context, db model.DB) (part, error) {
			p, err := read(ctx, db)
			if !met {
				met, p.Qty = true, p.Qty+7
			}
			return p, err
		}
		return c
	}
	inTx := meeting()
	inTx.Tx = true
	leased := addOne(0)
	leased.Lease = &model.Lease{Collection: "locks", ID: "parts"}
	decide := leased.Decide
	leased.Decide = func(p part) (model.Plan, error) {
		plan, err := decide(p)
		w := plan.Steps[0].(model.Write)
		w.Idempotent = true
		return model.NewPlan(w), err
	}
	back := model.NewPlan(parts.Insert(part{500, "x", 0}), expectOne(updateOne(d("_id", 1000), d("$set", d("qty", 0)))))
	back.IfStale = []model.Step{parts.Delete(500)}
	check := model.Check{
		Name: "parts: no name", Collection: "parts", Rule: "each part has a name", Index: "name_1",
		Pipeline: mongo.Pipeline{d("$match", d("name", ""))},
		Mend: func(found []model.Finding) (p model.Plan) {
			for _, f := range found {
				p.Steps = append(p.Steps, updateOne(d("_id", f.ID), d("$set", d("name", "?"))))
			}
			return p
		},
	}
	for _, c := range []struct {
		reason string
		run    func(ctx context.Context, db model.DB) error
		want   string
	}{
		{"a query of several batches", func(ctx context.Context, db model.DB) error {
			return second(parts.Find(nil).All(ctx, db))
		}, "find"},
		{"one document", func(ctx context.Context, db model.DB) error { return second(parts.ByID(1).One(ctx, db)) }, "find"},
		{
			reason: "no document",
			run:    func(ctx context.Context, db model.DB) error { return second(parts.ByID(1000).One(ctx, db)) },
			want:   "find, not found",
		},
		{"a sequence that is left", func(ctx context.Context, db model.DB) error {
			for range parts.Find(nil).Each(ctx, db) {
				break
			}
			return nil
		}, "find"},
		{"a count", func(ctx context.Context, db model.DB) error { return second(parts.Find(nil).Count(ctx, db)) }, "count"},
		{"a count of nothing", func(ctx context.Context, db model.DB) error {
			return second(parts.Find(d("qty", -5)).Count(ctx, db))
		}, "count"},
		{"distinct values", func(ctx context.Context, db model.DB) error {
			return parts.Find(nil).Distinct(ctx, db, "qty", new([]int))
		}, "distinct"},
		{"a pipeline", func(ctx context.Context, db model.DB) error {
			return second(parts.Aggregate(mongo.Pipeline{d("$limit", 3)}).All(ctx, db))
		}, "aggregate"},
		{"a pipeline's count", func(ctx context.Context, db model.DB) error {
			return second(parts.Aggregate(mongo.Pipeline{d("$match", d("qty", -5))}).Count(ctx, db))
		}, "count"},
		{"a page", func(ctx context.Context, db model.DB) error {
			return second(parts.Find(nil).Limited(10).Page(ctx, db, ""))
		}, "page"},
		{
			reason: "a refused query",
			run:    func(ctx context.Context, db model.DB) error { return second(parts.Find(d("nope", 1)).All(ctx, db)) },
			want:   "find, value",
		},
		{"a modify", func(ctx context.Context, db model.DB) error {
			return second(parts.Modify(d("_id", 1), d("$inc", d("qty", 1))).Run(ctx, db))
		}, "modify"},
		{"a modify that finds nothing", func(ctx context.Context, db model.DB) error {
			return second(parts.Modify(d("_id", 1000), d("$inc", d("qty", 1))).Run(ctx, db))
		}, "modify, not found"},
		{"a plan of three commands", func(ctx context.Context, db model.DB) error {
			return second(model.NewPlan(parts.Insert(part{300, "n", 1}), parts.Update(300, d("$inc", d("qty", 1))),
				parts.Delete(300)).Run(ctx, db))
		}, "plan, transactional"},
		{"a write", func(ctx context.Context, db model.DB) error {
			return second(parts.Update(1, d("$inc", d("qty", 1))).Run(ctx, db))
		}, "plan"},
		{"a write that was applied before", func(ctx context.Context, db model.DB) error {
			return second(done(expectOne(updateOne(d("_id", 1, "name", "none"), d("$set", d("name", "part")))),
				d("_id", 1, "name", "part")).Run(ctx, db))
		}, "plan, already"},
		{"a duplicate key", func(ctx context.Context, db model.DB) error {
			return second(parts.Insert(part{1, "other", 0}).Run(ctx, db))
		}, "plan, duplicate key"},
		{
			reason: "a plan that is taken back",
			run:    func(ctx context.Context, db model.DB) error { return second(back.Run(ctx, db)) },
			want:   "plan, stale, taken back",
		},
		{"a transaction", func(ctx context.Context, db model.DB) error { return second(moving(0).RunTx(ctx, db)) }, "plan"},
		{
			reason: "a transaction that is taken back",
			run:    func(ctx context.Context, db model.DB) error { return second(back.RunTx(ctx, db)) },
			want:   "plan, stale, taken back",
		},
		{"a transaction of one's own", func(ctx context.Context, db model.DB) error {
			return model.InTx(ctx, db, func(ctx context.Context) error {
				if _, err := parts.ByID(1).One(ctx, db); err != nil {
					return err
				}
				return second(parts.Update(1, d("$inc", d("qty", 1))).Run(ctx, db))
			})
		}, "transaction 1\n find\n plan"},
		{"a change that meets another writer", func(ctx context.Context, db model.DB) error {
			_, _, err := meeting().Run(ctx, db)
			return err
		}, "change 2\n attempt 1, stale\n  find\n  plan, stale\n attempt 2\n  find\n  plan"},
		{"a change in transactions", func(ctx context.Context, db model.DB) error {
			_, _, err := inTx.Run(ctx, db)
			return err
		}, "change 2\n attempt 1, stale\n  find\n  plan, stale\n attempt 2\n  find\n  plan"},
		{"a change under a lease", func(ctx context.Context, db model.DB) error {
			_, _, err := leased.Run(ctx, db)
			return err
		}, "change 1\n attempt 1\n  find\n  plan"},
		{"a check", func(ctx context.Context, db model.DB) error { return second(check.All(ctx, db)) }, "check\n aggregate"},
		{"a check's job", func(ctx context.Context, db model.DB) error {
			return second(check.In(d("_id", 1)).Job().Run(ctx, db, model.JobOptions{}))
		}, "job\n batch 1\n  find\n  change 1\n   attempt 1\n    check\n     aggregate\n    plan\n batch 1\n  find\n  find"},
	} {
		t.Run(c.reason, func(t *testing.T) {
			monitor := mongotest.NewMonitor()
			mongotest.Each(t, func(t *testing.T, plain *mongo.Database) {
				if strings.Contains(c.reason, "transaction") {
					mongotest.Need(t, plain, mongotest.Transactions)
				}
				var many []part
				for i := range int32(200) {
					many = append(many, part{i + 1, "part", 5})
				}
				mustRun(t, plain, parts.InsertMany(many))
				if strings.Contains(c.reason, "lease") { // whose lock document is there
					if _, _, err := leased.Run(t.Context(), plain); err != nil {
						t.Fatal(err)
					}
				}
				var r record
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				var failure error
				cost, _ := modeltest.Measure(monitor, func() error {
					failure = c.run(ctx, r.observer().On(plain))
					return nil
				})
				list := r.taken()
				if got := outline(list); got != c.want {
					t.Fatalf("told:\n%s\nwant:\n%s\n(%v)", got, c.want, failure)
				}
				first := list[0]
				if (failure != nil) != (first.Failure != "") {
					t.Errorf("%v is told as %q", failure, first.Failure)
				}
				if first.Caller == "" || !strings.Contains(first.Caller, "model_test.") || first.Parent != 0 {
					t.Errorf("caller %q, parent %d", first.Caller, first.Parent)
				}
				got := first.Actual
				if strings.Contains(c.reason, "lease") {
					got.Written += 3 // the lock document: taken, noted, given back
				}
				if got.Commands != cost.Commands || got.Returned != cost.Returned || got.Written != cost.Written {
					t.Errorf("told of %+v, measured %+v: %v", first.Actual, cost, monitor.Commands())
				}
				if want := first.Declared; failure == nil && want.Commands > 0 && !want.Batches && c.want == "plan" &&
					(want.Written != first.Actual.Written || want.Commands > first.Actual.Commands) {
					t.Errorf("declared %+v, told of %+v", want, first.Actual)
				}
			}, monitor)
		})
	}
}

// TestObserverNames: what an operation says of itself.
func TestObserverNames(t *testing.T) {
	db := mongotest.NewClient(t).Database("test")
	var r record
	observed := r.observer().On(db)
	mustRun(t, db, parts.InsertMany([]part{{1, "a", 5}, {2, "b", 5}}))
	change := addOne(0)
	for _, name := range []string{"", "sell"} {
		change.Name = name
		if _, _, err := change.Run(t.Context(), observed); err != nil {
			t.Fatal(err)
		}
		list := r.taken()
		if got := list[0].Name; name != "" && got != name ||
			name == "" && !strings.Contains(got, "addOne.func") || list[1].Name != got {
			t.Errorf("%q is told as %q, %q", name, got, list[1].Name)
		}
		if list[2].Collection != "parts" || list[2].Declared.Commands != 1 ||
			!slices.Equal(list[2].Declared.Indexes, []string{"_id_"}) {
			t.Errorf("its read: %+v", list[2])
		}
		if plan := list[3]; plan.Collection != "parts" || plan.Declared.Written != 1 || plan.Modified != 1 ||
			plan.Took <= 0 || plan.Began.IsZero() {
			t.Errorf("its plan: %+v", plan)
		}
	}
	if _, err := renaming("x").Run(t.Context(), observed, model.JobOptions{Checkpoint: "jobs"}); err != nil {
		t.Fatal(err)
	}
	if job := r.taken()[0]; job.Name != "renaming" || job.Modified != 2 ||
		job.Caller != "github.com/docmodel/docmodel/model_test.TestObserverNames" {
		t.Errorf("%+v", job)
	}
	unique := model.NewCollection[part, int32]("unique")
	if _, err := db.Collection("unique").Indexes().
		CreateOne(t.Context(), mongo.IndexModel{Keys: d("name", 1), Options: uniqueIndex()}); err != nil {
		t.Fatal(err)
	}
	_, err := unique.InsertMany([]part{{1, "a", 5}, {2, "a", 5}}).Run(t.Context(), observed)
	if o := r.taken()[0]; o.Failure != "duplicate key" || o.Code != 11000 || o.Index != "name_1" ||
		o.Declared.Written != 2 || o.Actual.Written != 1 {
		t.Errorf("%+v, %v", o, err)
	}
}

// TestObserverHandles: observers and scopes are given in any order, and what begins first ends last.
func TestObserverHandles(t *testing.T) {
	tenancy.Differs(t, "it has scopes of its own")
	db := mongotest.NewClient(t).Database("test")
	var log []string
	logging := func(name string) model.Observer {
		return model.Observer{
			Start: func(ctx context.Context, o model.Operation) context.Context {
				log = append(log, name+" starts "+o.Kind)
				return nil // which leaves the context
			},
			End: func(_ context.Context, o model.Operation) { log = append(log, name+" ends "+o.Kind) },
		}
	}
	if _, err := parts.Insert(part{1, "of a", 5}).Run(t.Context(), tenantOf("a").On(db)); err != nil {
		t.Fatal(err)
	}
	for i, under := range []model.DB{
		logging("second").On(tenantOf("b").On(logging("first").On(db))),
		tenantOf("b").On(logging("second").On(logging("first").On(db))),
		logging("second").On(logging("first").On(tenantOf("b").On(db))),
		model.Observer{}.On(logging("second").On(model.Scope{}.On(logging("first").On(tenantOf("b").On(db))))),
	} {
		log = nil
		if found, err := parts.Find(nil).All(t.Context(), under); err != nil || len(found) > 0 {
			t.Errorf("%d: %v, %v", i, found, err)
		}
		want := []string{"first starts find", "second starts find", "second ends find", "first ends find"}
		if !slices.Equal(log, want) {
			t.Errorf("%d: %v", i, log)
		}
	}
	for _, bad := range []model.DB{nil, (*mongo.Database)(nil), notADatabase{}} {
		log = nil
		var refused *model.ValueError
		if _, err := parts.Find(nil).All(t.Context(), logging("x").On(bad)); !errors.As(err, &refused) ||
			refused.Field != "db" || len(log) != 2 {
			t.Errorf("%T: %v, %v", bad, err, log)
		}
	}
	log = nil
	var refused *model.ValueError
	for _, under := range []model.DB{logging("x").On(tenantOf("").On(db)), tenantOf("").On(logging("x").On(db))} {
		if _, err := parts.Find(nil).All(t.Context(), under); !errors.As(err, &refused) {
			t.Errorf("an empty tenant: %v", err)
		}
	}
	if len(log) != 4 {
		t.Errorf("a refused scope: %v", log)
	}
	var none context.Context
	if _, err := parts.Find(nil).All(none, logging("x").On(db)); err == nil {
		t.Error("a nil context")
	}
}

// TestObserverContext: an operation runs with the context that Start returns.
func TestObserverContext(t *testing.T) {
	db := mongotest.NewClient(t).Database("test")
	mustRun(t, db, model.NewPlan(parts.Insert(part{1, "a", 5})))
	type key struct{}
	var ended []string
	db2 := model.Observer{
		Start: func(ctx context.Context, o model.Operation) context.Context {
			outer, _ := ctx.Value(key{}).(string)
			return context.WithValue(ctx, key{}, outer+"/"+o.Kind)
		},
		End: func(ctx context.Context, o model.Operation) { ended = append(ended, ctx.Value(key{}).(string)) },
	}.On(db)
	var read string
	change := addOne(0)
	inner := change.Read
	change.Read = func(ctx context.Context, db model.DB) (part, error) {
		read = ctx.Value(key{}).(string)
		return inner(ctx, db)
	}
	if _, _, err := change.Run(t.Context(), db2); err != nil {
		t.Fatal(err)
	}
	want := []string{"/change/attempt/find", "/change/attempt/plan", "/change/attempt", "/change"}
	if read != "/change/attempt" || !slices.Equal(ended, want) {
		t.Errorf("read in %s; ended %v", read, ended)
	}
}
