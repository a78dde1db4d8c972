package model_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/writeconcern"

	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
)

var others = model.NewCollection[part, int32]("others")

// withBulkWrite is the database whose plans are joined, and whether the server has the command for it.
func withBulkWrite(t *testing.T, db model.DB) (model.DB, bool) {
	t.Helper()
	on, err := model.WithBulkWrite(t.Context(), db, nil)
	if err != nil {
		t.Fatal(err)
	}
	_, has := core.BulkWriteConcern(on)
	return on, has
}

// anyOther sets a field of a document of the other collection, which needn't be there.
func anyOther(id, qty int32) model.Write {
	upsert := true
	return model.Write{
		Collection: "others",
		Model:      &mongo.UpdateOneModel{Filter: d("_id", id), Update: d("$set", d("qty", qty)), Upsert: &upsert},
	}
}

// fewSteps are steps of three batches up to one that expects a match, and two behind it.
func fewSteps() model.Plan {
	return model.NewPlan(
		anyOther(1, 1), parts.Insert(part{3, "c", 1}), parts.Insert(part{4, "d", 1}),
		expectOne(updateOne(d("_id", 1), d("$set", d("name", "z")))),
		anyOther(2, 2), parts.Insert(part{5, "e", 1}),
	)
}

// TestWithBulkWrite: a plan is one command up to each write that expects a match, and the answers are those of separate
// commands.
func TestWithBulkWrite(t *testing.T) {
	monitor := mongotest.NewMonitor()
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		on, _ := withBulkWrite(t, db)
		for name, c := range map[string]struct {
			plan model.Plan
			sent []string
		}{
			"few":                      {fewSteps(), []string{"bulkWrite", "bulkWrite"}},
			"all kinds":                {everyKind(), []string{"bulkWrite", "update", "update", "bulkWrite"}},
			"one collection":           {parts.InsertMany([]part{{6, "f", 1}, {7, "g", 1}}), []string{"insert"}},
			"a stale write takes back": {staleAfter(), []string{"bulkWrite", "find", "delete"}},
			"an insert of before": {
				plan: model.NewPlan(anyOther(1, 1), parts.Insert(part{2, "b", 5}), parts.Insert(part{3, "c", 1}), anyOther(2, 2)),
				sent: []string{"bulkWrite", "find", "bulkWrite"},
			},
			"the last insert is of before": {
				plan: model.NewPlan(anyOther(1, 1), parts.Insert(part{2, "b", 5})),
				sent: []string{"bulkWrite", "find"},
			},
			"an insert of another": {
				plan: model.NewPlan(anyOther(1, 1), parts.Insert(part{2, "x", 5}), anyOther(2, 2)),
				sent: []string{"bulkWrite", "find"},
			},
			"an update that the server refuses": {model.NewPlan(anyOther(1, 1), model.Write{
				Collection: "parts", Model: &mongo.UpdateOneModel{Filter: d("_id", 2), Update: d("$inc", d("name", 1))},
			}, anyOther(2, 2)), []string{"bulkWrite"}},
		} {
			var results []model.Result
			var texts []string
			var left [][]part
			for _, db2 := range []model.DB{db, on} {
				mustRun(t, db, updateManyPlan(t, db))
				monitor.Reset()
				got, err := model.Plan{
					Steps: c.plan.Steps, IfStale: c.plan.IfStale, Options: model.PlanOptions{AllowPartial: true},
				}.Run(t.Context(), db2)
				if _, is := core.BulkWriteConcern(db2); is && !slices.Equal(sentBy(monitor), c.sent) {
					t.Errorf("%s: sent %v, want %v", name, sentBy(monitor), c.sent)
				}
				var step *model.StepError
				text := ""
				if errors.As(err, &step) {
					text = model.Shell(d("step", step.Step, "where", step.Where, "duplicate", mongo.IsDuplicateKeyError(err), "stale",
						errors.Is(err, model.ErrStale)))
				}
				results, texts, left = append(results, got), append(texts, text),
					append(left, append(stock(t, db), stockOf(t, db, others)...))
				if _, err := db.Collection("others").DeleteMany(t.Context(), d()); err != nil {
					t.Fatal(err)
				}
			}
			if diff := mongotest.Diff(results[0], results[1]); diff != "" {
				t.Errorf("%s: results differ: %s", name, diff)
			}
			if texts[0] != texts[1] || !slices.Equal(left[0], left[1]) {
				t.Errorf("%s: %s and %s; left %v and %v", name, texts[0], texts[1], left[0], left[1])
			}
		}
	}, monitor)
	if c := fewSteps().CostBulkWrite(); c.Commands != 2 || c.Written != fewSteps().Cost().Written ||
		fewSteps().Cost().Commands != 5 {
		t.Errorf("declared %v, and %v apart", c, fewSteps().Cost())
	}
}

// staleAfter is a plan of which the third step is stale, and whose first one is taken back.
func staleAfter() model.Plan {
	p := model.NewPlan(anyOther(1, 1), parts.Insert(part{3, "c", 1}),
		expectOne(updateOne(d("_id", 1, "qty", -1), d("$set", d("name", "z")))), anyOther(2, 2))
	p.IfStale = []model.Step{others.Delete(1)}
	return p
}

func stockOf(t *testing.T, db *mongo.Database, c *model.Collection[part, int32]) []part {
	t.Helper()
	all, err := c.Find(nil).Sorted(d("_id", 1)).All(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestWithBulkWriteCost: what is sent is what was declared, also under a scope, and an observer is told the same.
func TestWithBulkWriteCost(t *testing.T) {
	monitor := mongotest.NewMonitor()
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		on, has := withBulkWrite(t, db)
		want := fewSteps().Cost()
		if has {
			want = fewSteps().CostBulkWrite()
		}
		mustRun(t, db, updateManyPlan(t, db))
		var told model.Operation
		observer := model.Observer{End: func(_ context.Context, o model.Operation) { told = o }}
		modeltest.WantCost(t, monitor, want, func() error {
			_, err := fewSteps().Run(t.Context(), observer.On(on))
			return err
		})
		if told.Declared.Commands != want.Commands || told.Actual.Commands != want.Commands {
			t.Errorf("told %v and %v, want %v", told.Declared, told.Actual, want)
		}
		if text := (model.Plan{}).CostBulkWrite().String() + refusedParts.CostBulkWrite().
			String(); text != "0 commands0 commands" {
			t.Error(text)
		}
	}, monitor)
}

// TestWithBulkWriteConcern: the plan's write concern comes before the one given, and both before the client's. Without
// an answer nothing is joined. A command is retried unless it has a write of many documents.
func TestWithBulkWriteConcern(t *testing.T) {
	monitor := mongotest.NewMonitor()
	client := mongotest.NewClient(t, monitor)
	raw := client.Database("concern")
	plan := model.NewPlan(anyOther(1, 1), parts.Insert(part{3, "c", 1}))
	many := model.NewPlan(
		model.Write{Collection: "parts", Model: &mongo.UpdateManyModel{Filter: d("qty", 1), Update: d("$set", d("qty", 2))}},
		model.Write{Collection: "others", Model: &mongo.DeleteManyModel{Filter: d("qty", 9)}},
	)
	with := func(p model.Plan, level *writeconcern.WriteConcern) model.Plan {
		p.Options.WriteConcern = level
		return p
	}
	one := &writeconcern.WriteConcern{W: 1}
	for name, c := range map[string]struct {
		plan    model.Plan
		level   *writeconcern.WriteConcern
		sent    []string
		w       any
		retried bool
	}{
		"the client's":  {plan, nil, []string{"bulkWrite"}, nil, true},
		"the one given": {plan, one, []string{"bulkWrite"}, int32(1), true},
		"the plan's":    {with(plan, writeconcern.Majority()), one, []string{"bulkWrite"}, "majority", true},
		"a plan that isn't answered": {
			plan: with(plan, writeconcern.Unacknowledged()), level: one, sent: []string{"update", "insert"}, w: int32(0),
			retried: false,
		},
		"a level that isn't answered":   {plan, writeconcern.Unacknowledged(), []string{"update", "insert"}, nil, true},
		"writes of many documents only": {many, nil, []string{"bulkWrite"}, nil, false},
	} {
		for _, collection := range []string{"parts", "others"} {
			if _, err := raw.Collection(collection).DeleteMany(t.Context(), d()); err != nil {
				t.Fatal(err)
			}
		}
		on, err := model.WithBulkWrite(t.Context(), raw, c.level)
		if err != nil {
			t.Fatal(err)
		}
		monitor.Reset()
		if _, err := c.plan.Run(t.Context(), on); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		first := monitor.Commands()[0].Body
		_, numbered := first.Lookup("txnNumber").Int64OK()
		if !slices.Equal(sentBy(monitor), c.sent) || numbered != c.retried {
			t.Errorf("%s: sent %v, retried %v", name, sentBy(monitor), numbered)
		}
		var w any
		if v := first.Lookup("writeConcern", "w"); v.Type != 0 {
			if err := v.Unmarshal(&w); err != nil {
				t.Fatal(err)
			}
		}
		if w != c.w {
			t.Errorf("%s: write concern %v, want %v", name, w, c.w)
		}
	}
}

// TestWithBulkWriteInTx: in a transaction nothing changes.
func TestWithBulkWriteInTx(t *testing.T) {
	monitor := mongotest.NewMonitor()
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		mongotest.Need(t, db, mongotest.Transactions)
		on, _ := withBulkWrite(t, db)
		mustRun(t, db, updateManyPlan(t, db))
		monitor.Reset()
		if _, err := moving(3).RunTx(t.Context(), on); err != nil {
			t.Fatal(err)
		}
		if sent := sentBy(monitor); !slices.Equal(sent, []string{"hello", "bulkWrite", "commitTransaction"}) {
			t.Errorf("sent %v", sent)
		}
		both, _ := withBulkWrite(t, withTransactions(t, db))
		monitor.Reset()
		mustRunOn(t, both, fewSteps())
		if sent := sentBy(monitor); !slices.Equal(sent, []string{"bulkWrite", "commitTransaction"}) {
			t.Errorf("with transactions: sent %v", sent)
		}
	}, monitor)
	var bad *model.ValueError
	if _, err := model.WithBulkWrite(t.Context(), nil, nil); !errors.As(err, &bad) {
		t.Errorf("of no database: %v", err)
	}
}

func mustRunOn(t *testing.T, db model.DB, p model.Plan) {
	t.Helper()
	if _, err := p.Run(t.Context(), db); err != nil {
		t.Fatal(err)
	}
}

// A plan that is cut anywhere, within a command too, is completed by the next run.
func TestWithBulkWriteFaults(t *testing.T) {
	before := testkit.Docs{"parts": {part{1, "a", 5}}, "others": {}}
	after := testkit.Docs{
		"parts":  {d("_id", int32(1), "name", "z", "qty", int32(5)), part{3, "c", 1}, part{4, "d", 1}, part{5, "e", 1}},
		"others": {d("_id", int32(1), "qty", int32(1)), d("_id", int32(2), "qty", int32(2))},
	}
	modeltest.FaultMatrix(t, modeltest.FaultCase{
		Seed: testkit.Stored(before), Sample: 4,
		Transactions: true, // a server without them has no bulkWrite either, and so other rows
		Run: func(ctx context.Context, db *mongo.Database) error {
			on, err := model.WithBulkWrite(ctx, db, nil)
			if err != nil {
				return err
			}
			_, err = fewSteps().Run(ctx, on)
			return err
		},
		Check: func(t testing.TB, db *mongo.Database) { testkit.WantDocsInAnyOrder(t, db, after) },
	})
}
