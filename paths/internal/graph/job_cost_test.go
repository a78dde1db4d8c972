package graph_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"testing"

	"github.com/docmodel/docmodel/internal/tenancy"
	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
	"github.com/docmodel/docmodel/paths"
	"github.com/docmodel/docmodel/paths/internal/graph"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// binaryTree has n accounts, of which the i-th follows the 2i-th and the next.
func binaryTree(n int) []account {
	id := func(i int) string { return fmt.Sprintf("%05d", i) }
	var out []account
	for i := 1; i <= n; i++ {
		a := account{ID: id(i)}
		for _, to := range []int{2 * i, 2*i + 1} {
			if to <= n {
				a.Follows = append(a.Follows, id(to))
			}
		}
		out = append(out, a)
	}
	return out
}

// What each superstep sends and writes: the table of the package's documentation.
func TestGraphCosts(t *testing.T) {
	tenancy.Differs(t, "a $merge is refused under a scope's filter")
	testkit.Alone(t)
	testkit.Parallel(t)
	m := mongotest.NewMonitor()
	same := func(n, times int) []int { return slices.Repeat([]int{n}, times) }
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		graphMustSeed(t, db, binaryTree(511))
		if err := model.New(
			"test", near.Distances("00001"), groups.Components(), toldProgram(),
		).Indexes().Ensure(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		for _, test := range []struct {
			name     string
			steps    *paths.Supersteps
			begin    int   // commands of the beginning
			commands []int // of each superstep, with the read of what it goes on from
			changed  []int // documents of each, the beginning first
		}{
			{"distances", near.Distances("00001"), 5, same(3, 9), []int{1, 2, 4, 8, 16, 32, 64, 128, 256, 0}},
			{"components", groups.Components(), 5, same(3, 9), []int{511, 510, 508, 504, 496, 480, 448, 384, 256, 0}},
			{"rank", ranks.PageRank(paths.RankSpec{}), 5, same(3, 24), same(511, 25)},
			{
				"program", toldProgram(), 4, []int{12, 12, 12, 12, 12, 12, 12, 12, 11},
				[]int{0, 511, 510, 508, 504, 496, 480, 448, 384, 256},
			},
		} {
			t.Run(test.name, func(t *testing.T) {
				run := func() error { return graphSteps(t.Context(), db, test.steps, 1) }
				commands, err := modeltest.Measure(m, run) // the beginning and the first superstep
				got := []int{commands.Commands - test.begin}
				for err == nil {
					var cost model.Cost
					if cost, err = modeltest.Measure(m, run); cost.Commands <= 1 {
						break // over: it reads the last record, and that is all
					}
					got = append(got, cost.Commands)
				}
				if err != nil || !slices.Equal(got, test.commands) {
					t.Errorf("commands %v, want %v, %v", got, test.commands, err)
				}
				records, err := test.steps.Steps().All(t.Context(), db)
				if err != nil {
					t.Fatal(err)
				}
				var changed []int
				for _, r := range records {
					changed = append(changed, int(r.Changed))
				}
				if !slices.Equal(changed, test.changed) {
					t.Errorf("changed %v, want %v", changed, test.changed)
				}
			})
		}
		for reason, plan := range map[string]model.Plan{
			"Begin": nearBy("00001").PlanBegin(),
			"Step":  nearBy("00001").PlanStep(graphBegun(t, db, near.Distances("00001"))), "Clear": near.Clear(),
		} {
			t.Run(reason, func(t *testing.T) {
				modeltest.WantCost(t, m, plan.Cost(), func() error {
					_, err := plan.Run(t.Context(), db)
					return err
				})
			})
		}
	}, m)
}

// graphBegun is the record of the beginning of a computation.
func graphBegun(t testing.TB, db *mongo.Database, s *paths.Supersteps) graph.Record {
	t.Helper()
	records, err := s.Steps().All(t.Context(), db)
	if err != nil || len(records) == 0 {
		t.Fatalf("no records, %v", err)
	}
	return graph.Record(records[0])
}

// Supersteps and results are served by the indexes that the computations name.
func TestGraphIndexed(t *testing.T) {
	tenancy.Differs(t, "a $merge is refused under a scope's filter")
	testkit.Alone(t)
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		ctx, all := t.Context(), binaryTree(1500)
		graphMustSeed(t, db, all)
		if err := model.New(
			"test", near, near.Distances("00001"), groups.Components(), toldProgram(),
		).Indexes().Ensure(ctx, db); err != nil {
			t.Fatal(err)
		}
		run := func(s *paths.Supersteps, steps int) paths.GraphStep {
			if err := graphSteps(ctx, db, s, steps); err != nil {
				t.Fatal(err)
			}
			last, err := s.Steps().Sorted(bson.D{{Key: "_id", Value: -1}}).One(ctx, db)
			if err != nil {
				t.Fatal(err)
			}
			return last
		}
		reached := run(near.Distances("00001"), 10)
		early, err := near.Distances("00001").Steps().All(ctx, db)
		if err != nil {
			t.Fatal(err)
		}
		of := run(groups.Components(), 1)
		if _, err := toldCore.PlanBegin().Run(ctx, db); err != nil {
			t.Fatal(err)
		}
		said := graphBegun(t, db, toldProgram())
		messages := make([]any, 1500)
		for i := range messages {
			messages[i] = bson.D{
				{
					Key: "_id",
					Value: bson.D{
						{Key: "s", Value: int64(2 + i%3)}, {Key: "t", Value: fmt.Sprintf("%05d", i/3)},
						{Key: "f", Value: "00001"},
					},
				},
			}
		}
		if _, err := db.Collection("told_messages").InsertMany(ctx, messages); err != nil {
			t.Fatal(err)
		}
		pipeline := func(p model.Plan) bson.D { // of the superstep, without its $merge
			m := p.Steps[0].(model.MergeInto)
			a := model.Aggregation{Collection: m.Collection, Pipeline: m.Pipeline[:len(m.Pipeline)-1]}
			return a.Command()
		}
		job := toldCore.MakeVertexJob(said.Step + 1)
		for _, test := range []struct {
			reason, index string
			query         any
		}{
			{"States", model.IDIndex, near.States().After("01490")},
			{"State", model.IDIndex, near.States("00077")},
			{"Within", "step_1__id_1", near.Within(2)},
			{"Component", "component_1__id_1", groups.Component("00077")},
			{"Distances", "step_1__id_1", pipeline(nearBy("00001").PlanStep(graph.Record(early[3])))},
			{"Components", "step_1__id_1", pipeline(coreOf("groups").DeclareComponents().PlanStep(graph.Record(of)))},
			{
				"Components, against the edges", "to_1",
				bson.D{{Key: "find", Value: "groups"}, {Key: "filter", Value: bson.D{{Key: "to", Value: "00077"}}}},
			},
			{
				"a program's messages", "_id.t_1__id.s_1",
				bson.D{
					{Key: "find", Value: "told_messages"},
					{Key: "filter", Value: bson.D{{Key: "_id.t", Value: "00077"}, {Key: "_id.s", Value: 2}}},
				},
			},
			{"a program's vertices", model.IDIndex, bson.D{{
				Key: "aggregate", Value: job.Stages[0].Collection,
			}, {Key: "cursor", Value: bson.D{}}, {Key: "pipeline", Value: append(mongo.Pipeline{
				{{Key: "$match", Value: bson.D{{Key: "_id", Value: bson.D{{Key: "$gt", Value: "00500"}}}}}},
				{{Key: "$sort", Value: bson.D{{Key: "_id", Value: 1}}}}, {{Key: "$limit", Value: 5}},
			}, job.Stages[0].Pipeline...)}}},
		} {
			t.Run(test.reason, func(t *testing.T) { modeltest.WantIndexed(t, db, test.query, test.index) })
		}
		graphWantDistances(t, graphStates(t, db, near), all, "00001")
		if reached.Step != 10 {
			t.Errorf("last superstep %d", reached.Step)
		}
	})
}

// A deeper graph, with a superstep for each step of its paths: ten, in long runs forty.
func TestGraphLarge(t *testing.T) {
	tenancy.Differs(t, "a $merge is refused under a scope's filter")
	layers, wide := 10, 6
	if os.Getenv("DOCMODEL_LONG") != "" {
		layers, wide = 40, 25
	}
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		var all []account
		for i := range layers {
			for j := range wide {
				a := account{ID: fmt.Sprintf("%02d-%02d", i, j)}
				if i < layers-1 {
					a.Follows = []string{fmt.Sprintf("%02d-%02d", i+1, j), fmt.Sprintf("%02d-%02d", i+1, (j*7)%wide)}
				}
				all = append(all, a)
			}
		}
		if err := graphSeed(context.Background(), db, all); err != nil {
			t.Fatal(err)
		}
		if err := model.New(
			"test", near.Distances("00-01"), groups.Components(),
		).Indexes().Ensure(context.Background(), db); err != nil {
			t.Fatal(err)
		}
		graphWantDistances(t, graphRun(t, db, near, near.Distances("00-01")), all, "00-01")
		graphWantComponents(t, graphRun(t, db, groups, groups.Components()), all)
		graphWantRanks(t, graphRun(t, db, ranks, ranks.PageRank(paths.RankSpec{})), all, 0.85)
	})
}
