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
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/docmodel/docmodel/internal/tenancy"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
)

// statuses is what became of each step.
func statuses(r model.Result) string {
	out := make([]string, len(r.Steps))
	for i, s := range r.Steps {
		out[i] = s.Status.String()
	}
	return strings.Join(out, ", ")
}

// stock is the parts that are stored, in order of _id.
func stock(t *testing.T, db *mongo.Database) []part {
	t.Helper()
	all, err := parts.Find(nil).Sorted(d("_id", 1)).All(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestRun(t *testing.T) {
	tenancy.Differs(t, "a $merge is refused under a scope's filter")
	set := d("$set", d("name", "x"))
	guard := expectOne(updateOne(d("_id", 1, "qty", 5), d("$set", d("qty", 6))))
	for _, c := range []struct {
		plan     model.Plan
		want     string
		err      error
		left     []part // what is stored afterwards; two parts are before
		commands int    // when the plan fails; else its Cost
		reason   string
	}{
		{model.Plan{}, "", nil, []part{{1, "a", 5}, {2, "b", 5}}, 0, "nothing to do sends nothing"},
		{model.NewPlan(parts.Insert(part{3, "c", 0}), parts.Insert(part{4, "d", 0})), "applied, applied", nil,
			[]part{{1, "a", 5}, {2, "b", 5}, {3, "c", 0}, {4, "d", 0}}, 0, "inserts in one command"},
		{
			plan: model.NewPlan(parts.Update(1, set), parts.Delete(2), parts.Delete(9)),
			want: "applied, applied, applied", err: nil, left: []part{{1, "x", 5}}, commands: 0,

			reason: "a delete that finds nothing is applied",
		},
		{
			plan: model.NewPlan(parts.Update(1, set), parts.Update(9, set), parts.Delete(2)),
			want: "applied, not sent, not sent", err: model.ErrNotFound,
			left: []part{{1, "x", 5}, {2, "b", 5}}, commands: 2,
			reason: "a missing document stops the plan, and nothing later is sent",
		},
		{model.NewPlan(guard), "applied", nil, []part{{1, "a", 6}, {2, "b", 5}}, 0, "a guard that holds"},
		{
			plan: model.NewPlan(expectOne(updateOne(d("_id", 1, "qty", 4), set))),
			want: "not sent", err: model.ErrStale, left: []part{{1, "a", 5}, {2, "b", 5}}, commands: 2,

			reason: "a guard that doesn't: whether the document is there is asked",
		},
		{
			plan: model.NewPlan(expectOne(updateOne(d("_id", 9, "qty", 4), set))),
			want: "not sent", err: model.ErrNotFound, left: []part{{1, "a", 5}, {2, "b", 5}}, commands: 2,

			reason: "a guard of a document that is not there",
		},
		{
			plan: model.NewPlan(done(expectOne(updateOne(d("_id", 1, "qty", 4), set)), d("_id", 1, "qty", 5)), parts.Delete(2)),
			want: "already, applied", err: nil,
			left: []part{{1, "a", 5}}, commands: 3,
			reason: "Done holds: applied before, and the plan goes on",
		},
		{
			plan: model.NewPlan(done(expectOne(updateOne(d("_id", 1, "qty", 4), set)), d("_id", 1, "qty", 7)), parts.Delete(2)),
			want: "not sent, not sent",
			err:  model.ErrStale, left: []part{{1, "a", 5}, {2, "b", 5}}, commands: 3,
			reason: "Done doesn't hold",
		},
		{
			plan: parts.InsertMany([]part{{1, "a", 5}, {3, "c", 0}, {2, "b", 5}, {4, "d", 0}}),
			want: "already, applied, already, applied", err: nil,

			left:     []part{{1, "a", 5}, {2, "b", 5}, {3, "c", 0}, {4, "d", 0}},
			commands: 5,
			reason:   "documents of its own are passed over, the rest is stored",
		},
		{parts.InsertMany([]part{{3, "c", 0}, {1, "other", 5}, {4, "d", 0}}), "applied, not sent, not sent", errDuplicate,
			[]part{{1, "a", 5}, {2, "b", 5}, {3, "c", 0}}, 2, "a document of somebody else's under the _id"},
		{
			plan: model.NewPlan(updateMany(bson.D{}, d("$inc", d("qty", 1)))),
			want: "not sent", err: model.ErrTransactional, left: []part{{1, "a", 5}, {2, "b", 5}}, commands: 0,

			reason: "a transactional plan is refused",
		},
		{
			plan: model.Plan{
				Steps:   []model.Step{updateMany(bson.D{}, d("$inc", d("qty", 1)))},
				Options: model.PlanOptions{AllowPartial: true},
			},
			want: "applied", err: nil,
			left: []part{{1, "a", 6}, {2, "b", 6}}, commands: 0,
			reason: "unless the caller allows a partial result",
		},
		{
			plan: model.NewPlan(parts.Delete(1), model.Refused("parts", errBad)),
			want: "not sent, not sent", err: errBad, left: []part{{1, "a", 5}, {2, "b", 5}}, commands: 0,

			reason: "a bad step refuses the whole plan",
		},
		{model.NewPlan(once(updateOne(d("_id", 1), d("$bad", d("a", 1)))), parts.Delete(2)), "not sent, not sent", errServer,
			[]part{{1, "a", 5}, {2, "b", 5}}, 1, "the server refuses a step, and nothing later is sent"},
		{model.NewPlan(model.MergeInto{Collection: "parts", Pipeline: mongo.Pipeline{d("$match", d("_id", 1)),
			d("$set", d("name", "m")), d("$merge", d("into", "parts"))}, Idempotent: true}, parts.Delete(2)), "applied, applied",
			nil, []part{{1, "m", 5}}, 0,
			"a $merge, and a step after it"},
	} {
		t.Run(c.reason, func(t *testing.T) {
			monitor := mongotest.NewMonitor()
			mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
				mustRun(t, db, parts.InsertMany([]part{{1, "a", 5}, {2, "b", 5}}))
				monitor.Reset()
				got, err := c.plan.Run(t.Context(), db)
				cost := monitor.Cost()
				checkErr(t, err, c.err)
				if statuses(got) != c.want {
					t.Errorf("steps: %s, want %s", statuses(got), c.want)
				}
				if left := stock(t, db); !slices.Equal(left, c.left) {
					t.Errorf("stored %v, want %v", left, c.left)
				}
				if want := max(c.commands, pick(c.err == nil, c.plan.Cost().Commands, 0)); cost.Commands != want {
					t.Errorf("%d commands, want %d:%v", cost.Commands, want, monitor.Commands())
				}
			}, monitor)
		})
	}
}

func pick[T any](cond bool, a, b T) T {
	if cond {
		return a
	}
	return b
}

var (
	errBad = errors.New("bad input")
)

// TestRunResults: the server's numbers, for each command.
func TestRunResults(t *testing.T) {
	tenancy.Differs(t,
		"a deletion is an update, which is sent with others in one command, and keeps what it counts or indexes")
	yes := true
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		p := model.NewPlan(
			parts.Insert(part{1, "a", 1}), parts.Insert(part{2, "b", 2}),
			updateMany(bson.D{}, d("$set", d("qty", 2))),
			write(&mongo.UpdateOneModel{Filter: d("_id", 3), Update: d("$set", d("name", "c")), Upsert: &yes}),
			parts.Delete(1),
		)
		p.Options.AllowPartial = true // an insert, and a delete that could be of it
		got, err := p.Run(t.Context(), db)
		if err != nil {
			t.Fatal(err)
		}
		want := []model.BatchResult{
			{Collection: "parts", First: 0, Count: 2, Inserted: 2},
			{Collection: "parts", First: 2, Count: 1, Matched: 2, Modified: 1},
			{Collection: "parts", First: 3, Count: 1, Upserted: 1},
			{Collection: "parts", First: 4, Count: 1, Deleted: 1},
		}
		got.Batches[2].Matched = 0 // servers differ in whether they count an upsert as a match
		if !slices.Equal(got.Batches, want) {
			t.Errorf("batches\n%+v, want\n%+v", got.Batches, want)
		}
		if got.Modified() != 5 || got.Already() || got.Steps[3].UpsertedID != int32(3) || got.Steps[1].Batch != 0 ||
			got.Steps[4].Batch != 3 {
			t.Errorf("modified %d, already %v, steps %+v", got.Modified(), got.Already(), got.Steps)
		}
		again, err := parts.Insert(part{2, "b", 2}).Run(t.Context(), db)
		if err != nil || !again.Already() || again.Modified() != 0 {
			t.Errorf("an insert run again: %+v, %v", again, err)
		}
	})
}

// TestRunSecondaryUnique: a duplicate key of another unique index is nobody's own document.
func TestRunSecondaryUnique(t *testing.T) {
	unique := model.NewIndex("parts", d("name", 1))
	unique.Unique = true
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		if err := model.New("test", wants{unique}).Indexes().Ensure(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		mustRun(t, db, parts.InsertMany([]part{{1, "a", 5}}))
		got, err := parts.InsertMany([]part{{2, "b", 0}, {3, "a", 0}, {4, "d", 0}}).Run(t.Context(), db)
		if !mongo.IsDuplicateKeyError(err) || statuses(got) != "applied, not sent, not sent" {
			t.Errorf("%s, %v", statuses(got), err)
		}
	})
}

// TestRunStopsWithItsContext: nothing is sent for a context that is over, and a server that is down is told within it.
func TestRunStopsWithItsContext(t *testing.T) {
	t.Parallel() // it waits
	monitor := mongotest.NewMonitor()
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		monitor.Reset()
		got, err := model.NewPlan(parts.Delete(1), parts.Update(2, d("$set", d("qty", 1)))).Run(ctx, db)
		if !errors.Is(err, context.Canceled) || statuses(got) != "not sent, not sent" || monitor.Cost().Commands != 0 {
			t.Errorf("%s, %v, %v", statuses(got), err, monitor.Cost())
		}
		for _, err := range parts.Find(nil).Each(ctx, db) {
			if !errors.Is(err, context.Canceled) {
				t.Errorf("Each: %v", err)
			}
		}
	}, monitor)
	client, err := mongo.Connect(options.Client().ApplyURI("mongodb://127.0.0.1:1/?directConnection=true"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = client.Disconnect(context.Background()) }()
	for name, run := range map[string]func(context.Context, *mongo.Database) error{
		"Run": func(ctx context.Context, db *mongo.Database) error {
			_, err := parts.Delete(1).Run(ctx, db)
			return err
		},
		"RunTx": func(ctx context.Context, db *mongo.Database) error {
			_, err := model.NewPlan(parts.Delete(1)).RunTx(ctx, db)
			return err
		},
		"One": func(ctx context.Context, db *mongo.Database) error { _, err := parts.ByID(1).One(ctx, db); return err },
		"Job": func(ctx context.Context, db *mongo.Database) error {
			_, err := model.Job{
				Stages: []model.Stage{{
					Collection: "parts",
					Plan:       func([]bson.Raw) (model.Plan, error) { return model.Plan{}, nil },
				}},
			}.Run(ctx, db, model.JobOptions{})
			return err
		},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		begin := time.Now()
		err := run(ctx, client.Database("x"))
		cancel()
		if err == nil || time.Since(begin) > 5*time.Second || errors.Is(err, model.ErrStale) ||
			errors.Is(err, model.ErrNotFound) {
			t.Errorf("%s: a server that is down gives %v after %v", name, err, time.Since(begin))
		}
	}
}

// A plan of more statements than a server takes in one command is sent in two: 25,000 is DocumentDB's limit.
func TestRunManyStatements(t *testing.T) {
	m := mongotest.NewMonitor()
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		docs := make([]part, 25_001)
		for i := range docs {
			docs[i].ID = int32(i)
		}
		modeltest.WantCost(t, m, model.Cost{Commands: 2, Written: len(docs)}, func() error {
			_, err := parts.InsertMany(docs).Run(t.Context(), db)
			return err
		})
	}, m)
}

// TestPlanOptionsAreSent: the options of a plan go with each of its commands.
func TestPlanOptionsAreSent(t *testing.T) {
	tenancy.Differs(t, "a $merge is refused under a scope's filter")
	monitor := mongotest.NewMonitor()
	db := mongotest.NewClient(t, monitor,
		mongotest.Settings{Client: options.Client()}).Database("test")
	p := model.NewPlan(parts.Insert(part{ID: 1}), parts.Delete(2), mergeInto("parts", d("$out", "copy")))
	p.Options = model.PlanOptions{Comment: "why", BypassDocumentValidation: true, AllowPartial: true}
	if _, err := p.Run(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	for _, c := range monitor.Commands() {
		if c.Body.Lookup("comment").String() != `"why"` ||
			c.Name != "delete" && !c.Body.Lookup("bypassDocumentValidation").Boolean() {
			t.Errorf("sent %s", c)
		}
	}
}

// TestReasonInstead: the steps of the reason that applies are sent instead of the plan's IfStale.
func TestReasonInstead(t *testing.T) {
	full := errors.New("full")
	docs := model.NewCollection[part, int32]("parts")
	instead := []model.Step{docs.Delete(1), docs.Delete(2)}
	for _, c := range []struct {
		name   string
		reason model.Reason
		want   error
		left   int64 // of the documents 1 and 2
	}{
		{"no reason", model.Reason{If: d("_id", 9), Err: full, Instead: instead}, model.ErrNotFound, 1},
		{"a filter", model.Reason{If: d("_id", 3), Err: full, Instead: instead}, full, 0},
		{"always", model.Reason{Err: full, Instead: instead}, full, 0},
		{"always, a missing document", model.Reason{Err: model.ErrNotFound, Instead: instead}, model.ErrNotFound, 0},
		{"nothing is taken back", model.Reason{Err: model.ErrNotFound, Instead: []model.Step{}}, model.ErrNotFound, 2},
		{"as IfStale says", model.Reason{Err: model.ErrNotFound}, model.ErrNotFound, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
				mustRun(t, db, docs.InsertMany([]part{{ID: 2}, {ID: 3}}))
				stale := expectOne(updateOne(d("_id", 8), d("$set", d("qty", 4))))
				stale.Reasons = []model.Reason{c.reason}
				plan := model.NewPlan(docs.Insert(part{ID: 1}), stale)
				plan.IfStale = []model.Step{docs.Delete(1)}
				if _, err := plan.Run(t.Context(), db); !errors.Is(err, c.want) {
					t.Errorf("it returned %v, want %v", err, c.want)
				}
				if n, err := docs.Find(d("_id", d("$lt", 3))).Count(t.Context(), db); err != nil || n != c.left {
					t.Errorf("%d documents are left, %v, want %d", n, err, c.left)
				}
			})
		})
	}
}
