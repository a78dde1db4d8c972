package graph_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"strings"
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

type graphState = paths.VertexState[string]

// graphSeed empties the database and stores the accounts.
func graphSeed(ctx context.Context, db *mongo.Database, all []account) error {
	names, err := db.ListCollectionNames(ctx, bson.D{})
	// emptied, not dropped: DocumentDB may lose writes to a collection that is made again at once
	for _, name := range names {
		_, deleted := db.Collection(name).DeleteMany(ctx, bson.D{})
		err = errors.Join(err, deleted)
	}
	if err != nil || len(all) == 0 {
		return err
	}
	_, err = accounts.InsertMany(all).Run(ctx, db)
	return err
}

func graphMustSeed(t testing.TB, db *mongo.Database, all []account) {
	t.Helper()
	if err := graphSeed(t.Context(), db, all); err != nil {
		t.Fatal(err)
	}
}

// graphRun runs a computation to its end and returns the states by _id.
func graphRun(
	t testing.TB, db *mongo.Database, g *paths.Graph[account, string], s *paths.Supersteps,
) map[string]graphState {
	t.Helper()
	if _, err := s.Job().Run(t.Context(), db, model.JobOptions{BatchSize: 7}); err != nil {
		t.Fatal(err)
	}
	return graphStates(t, db, g)
}

// errGraphStop stops a computation.
var errGraphStop = errors.New("stop")

// graphSteps runs some supersteps of a computation, after its beginning.
func graphSteps(ctx context.Context, db *mongo.Database, s *paths.Supersteps, n int) error {
	_, err := s.Job().Run(ctx, db, model.JobOptions{Progress: func(p model.Progress) error {
		if step, over := p.After.AsInt64OK(); over && step > 0 && !p.Done {
			if n--; n == 0 {
				return errGraphStop
			}
		}
		return nil
	}})
	if errors.Is(err, errGraphStop) {
		return nil
	}
	return err
}

func graphStates(t testing.TB, db *mongo.Database, g *paths.Graph[account, string]) map[string]graphState {
	t.Helper()
	list, err := g.States().All(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]graphState{}
	for _, s := range list {
		out[s.ID] = s
	}
	return out
}

func graphWantDistances(t testing.TB, got map[string]graphState, all []account, from ...string) {
	t.Helper()
	want, via := distancesOf(all, from...), map[string]string{}
	for a, list := range edgesOf(all) {
		n, ok := want[a]
		for _, to := range list {
			if v, has := via[to]; ok && n+1 == want[to] && (!has || a < v) {
				via[to] = a
			}
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d vertices reached, want %d", len(got), len(want))
	}
	for id, d := range want {
		s, ok := got[id]
		if !ok || s.Step != d {
			t.Errorf("%q is %d away (%v), want %d", id, s.Step, ok, d)
		}
		if s.Via != via[id] {
			t.Errorf("%q is reached by %q, want %q", id, s.Via, via[id])
		}
	}
}

func graphWantComponents(t testing.TB, got map[string]graphState, all []account) {
	t.Helper()
	want := componentsOf(all)
	if len(got) != len(want) {
		t.Errorf("%d states, want %d", len(got), len(want))
	}
	for id, c := range want {
		if got[id].Component != c {
			t.Errorf("%q is in %q, want %q", id, got[id].Component, c)
		}
	}
}

func graphWantRanks(t testing.TB, got map[string]graphState, all []account, damping float64) {
	t.Helper()
	want, sum := ranksOf(all, damping), 0.0
	if len(got) != len(want) {
		t.Errorf("%d states, want %d", len(got), len(want))
	}
	for id, r := range want {
		if d := math.Abs(got[id].Rank - r); !(d < 1e-9) {
			t.Errorf("%q ranks %v, want %v: %g off", id, got[id].Rank, r, d)
		}
		sum += got[id].Rank
	}
	if len(want) > 0 && math.Abs(sum-1) > 1e-9 {
		t.Errorf("the ranks sum up to %v", sum)
	}
}

func TestGraphShapes(t *testing.T) {
	tenancy.Differs(t, "a $merge is refused under a scope's filter")
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for _, test := range []struct{ reason, graph string }{
			{"no vertex", ""},
			{"one vertex", "a:"},
			{"a self loop", "a:a"},
			{"all dangling", "a: b: c:"},
			{"a path", "a:b b:c c:d d:"},
			{"a path against the order of labels", "d:c c:b b:a a:"},
			{"a cycle", "a:b b:c c:a"},
			{"an edge twice", "a:bbc b:a c:a"},
			{"an edge that leads nowhere", "a:bz b:z"},
			{"disconnected", "a:b b:a c:d d: e:"},
			{"a star", "a:bcdef b: c: d: e: f:"},
			{"a sink", "a: b:a c:a d:a e:a"},
			{"a diamond", "a:bc b:d c:d d:"},
		} {
			t.Run(test.reason, func(t *testing.T) {
				all := graphOf(test.graph)
				graphMustSeed(t, db, all)
				graphWantDistances(t, graphRun(t, db, near, near.Distances("a")), all, "a")
				graphWantComponents(t, graphRun(t, db, groups, groups.Components()), all)
				graphWantRanks(t, graphRun(t, db, ranks, ranks.PageRank(paths.RankSpec{})), all, 0.85)
				graphWantTold(t, graphRun(t, db, told, toldProgram()), all)
			})
		}
	})
}

func TestGraphRandom(t *testing.T) {
	tenancy.Differs(t, "a $merge is refused under a scope's filter")
	testkit.Parallel(t)
	rounds := 6
	switch {
	case testkit.EveryPair:
		rounds = 40
	case testkit.Few():
		rounds = 3
	}
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for seed := range rounds {
			r := rand.New(rand.NewPCG(uint64(seed), 7))
			all := randomGraph(r, 10+r.IntN(50))
			from := []string{all[r.IntN(len(all))].ID, all[r.IntN(len(all))].ID, "nobody"}
			graphMustSeed(t, db, all)
			graphWantDistances(t, graphRun(t, db, near, near.Distances(from...)), all, from...)
			unreached, err := near.Unreached().All(t.Context(), db)
			if n := len(all) - len(distancesOf(all, from...)); err != nil || len(unreached) != n {
				t.Errorf("%d unreached, want %d, %v", len(unreached), n, err)
			}
			graphWantComponents(t, graphRun(t, db, groups, groups.Components()), all)
			graphWantRanks(t, graphRun(t, db, ranks, ranks.PageRank(paths.RankSpec{Damping: 0.7})), all, 0.7)
			graphWantTold(t, graphRun(t, db, told, toldProgram()), all)
			if t.Failed() {
				t.Fatal("graph ", seed)
			}
		}
	})
}

// Whatever superstep is run again, at once or when others have followed, nothing changes;
// vertices that came later don't matter.
func TestGraphAgain(t *testing.T) {
	tenancy.Differs(t, "a $merge is refused under a scope's filter")
	testkit.Parallel(t)
	all := graphOf("a:bc b:d c:d d:ef e:g f: g:ah h:h i:j j:")
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for _, s := range graphComputations() {
			t.Run(s.name, func(t *testing.T) {
				ctx := t.Context()
				graphMustSeed(t, db, all)
				var records []paths.GraphStep
				for n := range 4 {
					if err := graphSteps(ctx, db, s.steps, 1); err != nil {
						t.Fatal(err)
					}
					var err error
					if records, err = s.steps.Steps().All(ctx, db); err != nil || len(records) != n+2 {
						t.Fatalf("records %v, %v", records, err)
					}
					graphUnchanged(t, db, s, records)
				}
				if _, err := accounts.Insert(account{ID: "late"}).Run(ctx, db); err != nil {
					t.Fatal(err)
				}
				graphUnchanged(t, db, s, records)
				if _, err := accounts.Delete("late").Run(ctx, db); err != nil {
					t.Fatal(err)
				}
				s.want(t, graphRun(t, db, s.graph, s.steps), all)
				graphUnchanged(t, db, s, records)
			})
		}
	})
}

// graphUnchanged runs the beginning and the supersteps after these again, but for the
// last, which is not over, a dry run, and at the end the whole computation if it is over.
func graphUnchanged(t testing.TB, db *mongo.Database, s graphComputation, records []paths.GraphStep) {
	t.Helper()
	ctx := t.Context()
	before, err := mongotest.Dump(ctx, db)
	if err != nil {
		t.Fatal(err)
	}
	if err := testkit.Exec(ctx, db, s.core.PlanBegin()); err != nil {
		t.Fatal(err)
	}
	for _, r := range records[:len(records)-1] {
		if s.graph == told {
			if _, err := s.core.MakeVertexJob(r.Step+1).Run(ctx, db, model.JobOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		if err := testkit.Exec(ctx, db, s.core.PlanStep(graph.Record(r))); err != nil {
			t.Fatal(err)
		}
	}
	last, err := s.steps.Steps().Sorted(bson.D{{Key: "_id", Value: -1}}).One(ctx, db)
	if err != nil {
		t.Fatal(err)
	}
	over := s.core.IsOver(graph.Record(last))
	if done, err := s.steps.Job().Run(
		ctx, db, model.JobOptions{DryRun: true},
	); err != nil || !done.Done || (done.Writes == 0) != over || done.Modified > 0 {
		t.Fatalf("a dry run: %+v, %v", done, err)
	}
	if over {
		if _, err := s.steps.Job().Run(ctx, db, model.JobOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	if after, err := mongotest.Dump(ctx, db); err != nil || after != before {
		t.Errorf("changed, %v:\n%s\n%s", err, before, after)
	}
}

// graphComputation is each computation, as it is declared in the tests.
type graphComputation struct {
	name  string
	graph *paths.Graph[account, string]
	steps *paths.Supersteps
	core  *graph.Supersteps
	want  func(t testing.TB, got map[string]graphState, all []account)
}

func graphComputations() []graphComputation {
	return []graphComputation{
		{"distances", near, near.Distances("a", "late"), nearBy("a", "late"), func(
			t testing.TB, got map[string]graphState, all []account,
		) {
			graphWantDistances(t, got, all, "a")
		}},
		{"components", groups, groups.Components(), coreOf("groups").DeclareComponents(), graphWantComponents},
		{"rank", ranks, ranks.PageRank(paths.RankSpec{Tolerance: 1e-3}), coreOf("ranks").DeclarePageRank(0, 1e-3), func(
			t testing.TB, got map[string]graphState, all []account,
		) {
			for id, r := range ranksOf(all, 0.85) {
				if math.Abs(got[id].Rank-r) > 1e-2 {
					t.Errorf("%q ranks %v, want %v", id, got[id].Rank, r)
				}
			}
		}},
		{"program", told, toldProgram(), toldCore, graphWantTold},
		{"chatter", told, chatter(), chatterCore, graphWantChatter},
	}
}

// A process that dies at any write is followed by another that comes to the same states.
func TestGraphFaults(t *testing.T) {
	tenancy.Differs(t, "a $merge is refused under a scope's filter")
	testkit.Parallel(t)
	all := graphOf("c:b b:a a:c e:ez")
	if testkit.EveryPair {
		all = graphOf("d:c c:b b:a a:d e:e f:ez")
	}
	for _, s := range graphComputations() {
		t.Run(s.name, func(t *testing.T) {
			want := map[bool]string{} // of the engine and of the server, which order new fields differently
			modeltest.FaultMatrix(t, modeltest.FaultCase{
				Sample: 4,
				Seed:   func(ctx context.Context, db *mongo.Database) error { return graphSeed(ctx, db, all) },
				Run: func(ctx context.Context, db *mongo.Database) error {
					_, err := s.steps.Job().Run(ctx, db, model.JobOptions{BatchSize: 4})
					return err
				},
				Check: func(t testing.TB, db *mongo.Database) {
					s.want(t, graphStates(t, db, s.graph), all)
					got, err := mongotest.Dump(t.Context(), db)
					server := strings.Contains(t.Name(), "/server")
					if want[server] == "" {
						want[server] = got
					}
					// The order in which a server adds up ranks, and so their last digit,
					// depends on where its documents lie.
					if err != nil || got != want[server] && s.name != "rank" {
						t.Errorf("not as without a fault, %v:\n%s\n%s", err, got, want[server])
					}
				},
			})
		})
	}
}
