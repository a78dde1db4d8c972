package paths_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/paths"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/docmodel/docmodel/internal/tenancy"
)

type graphState = paths.VertexState[string]

// graphSeed empties the database and stores the accounts.
func graphSeed(ctx context.Context, db *mongo.Database, all []account) error {
	names, err := db.ListCollectionNames(ctx, bson.D{})
	for _, name := range names { // emptied, not dropped: DocumentDB may lose writes to a collection that is made again at once
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

func graphExec(ctx context.Context, db *mongo.Database, plans ...model.Plan) error {
	for _, p := range plans {
		if _, err := p.Run(ctx, db); err != nil {
			return err
		}
	}
	return nil
}

// graphRun runs a computation to its end and returns the states by _id.
func graphRun(t testing.TB, db *mongo.Database, g *paths.Graph[account, string], s *paths.Supersteps) map[string]graphState {
	t.Helper()
	if _, err := s.Run(t.Context(), db, paths.GraphOptions{BatchSize: 7}); err != nil {
		t.Fatal(err)
	}
	return graphStates(t, db, g)
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
	want, edges := distancesOf(all, from...), edgesOf(all)
	if len(got) != len(want) {
		t.Errorf("%d vertices reached, want %d", len(got), len(want))
	}
	for id, d := range want {
		s, ok := got[id]
		if !ok || s.Step != d {
			t.Errorf("%q is %d away (%v), want %d", id, s.Step, ok, d)
		}
		via := ""
		for _, a := range all {
			for _, to := range edges[a.ID] {
				if n, ok := want[a.ID]; ok && d > 0 && to == id && n == d-1 && (via == "" || a.ID < via) {
					via = a.ID
				}
			}
		}
		if s.Via != via {
			t.Errorf("%q is reached by %q, want %q", id, s.Via, via)
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
	tenancy.Differs(t, "a $merge is refused under a policy's filter")
	parallel(t)
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
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
				graphWantRanks(t, graphRun(t, db, ranks, ranks.PageRank()), all, 0.85)
				graphWantTold(t, graphRun(t, db, told, toldProgram()), all)
			})
		}
	})
}

func TestGraphRandom(t *testing.T) {
	tenancy.Differs(t, "a $merge is refused under a policy's filter")
	parallel(t)
	rounds := 6
	switch {
	case every:
		rounds = 40
	case few():
		rounds = 3
	}
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
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

// Whatever superstep is run again, at once or when others have followed, nothing changes; vertices that came later don't matter.
func TestGraphAgain(t *testing.T) {
	tenancy.Differs(t, "a $merge is refused under a policy's filter")
	parallel(t)
	all := graphOf("a:bc b:d c:d d:ef e:g f: g:ah h:h i:j j:")
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		for _, s := range graphComputations() {
			t.Run(s.name, func(t *testing.T) {
				ctx := t.Context()
				graphMustSeed(t, db, all)
				var records []paths.GraphStep
				for n := range 4 {
					if _, err := s.steps.Run(ctx, db, paths.GraphOptions{Steps: 1}); err != nil {
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

// graphUnchanged runs the beginning and the supersteps after these again, but for the last, which is not over, and at the end
// the whole computation if it is.
func graphUnchanged(t testing.TB, db *mongo.Database, s graphComputation, records []paths.GraphStep) {
	t.Helper()
	ctx := t.Context()
	before, err := modeltest.Dump(ctx, db)
	if err != nil {
		t.Fatal(err)
	}
	if err := graphExec(ctx, db, s.steps.Begin()); err != nil {
		t.Fatal(err)
	}
	for _, r := range records[:len(records)-1] {
		if s.graph == told {
			if _, err := s.steps.Vertices(r).Run(ctx, db, model.JobOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		if err := graphExec(ctx, db, s.steps.Step(r)); err != nil {
			t.Fatal(err)
		}
	}
	if last, err := s.steps.Last().One(ctx, db); err != nil {
		t.Fatal(err)
	} else if s.steps.Over(last) {
		if _, err := s.steps.Run(ctx, db, paths.GraphOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	if after, err := modeltest.Dump(ctx, db); err != nil || after != before {
		t.Errorf("changed, %v:\n%s\n%s", err, before, after)
	}
}

// graphComputation is each computation, as it is declared in the tests.
type graphComputation struct {
	name  string
	graph *paths.Graph[account, string]
	steps *paths.Supersteps
	want  func(t testing.TB, got map[string]graphState, all []account)
}

func graphComputations() []graphComputation {
	return []graphComputation{
		{"distances", near, near.Distances("a", "late"), func(t testing.TB, got map[string]graphState, all []account) {
			graphWantDistances(t, got, all, "a")
		}},
		{"components", groups, groups.Components(), graphWantComponents},
		{"rank", ranks, ranks.PageRank(paths.RankSpec{Tolerance: 1e-3}), func(t testing.TB, got map[string]graphState, all []account) {
			for id, r := range ranksOf(all, 0.85) {
				if math.Abs(got[id].Rank-r) > 1e-2 {
					t.Errorf("%q ranks %v, want %v", id, got[id].Rank, r)
				}
			}
		}},
		{"program", told, toldProgram(), graphWantTold},
		{"chatter", told, chatter(), graphWantChatter},
	}
}

// A process that dies at any write is followed by another that comes to the same states.
func TestGraphFaults(t *testing.T) {
	tenancy.Differs(t, "a $merge is refused under a policy's filter")
	parallel(t)
	all := graphOf("c:b b:a a:c e:ez")
	if os.Getenv("DOCMODEL_FULL") != "" {
		all = graphOf("d:c c:b b:a a:d e:e f:ez")
	}
	for _, s := range graphComputations() {
		t.Run(s.name, func(t *testing.T) {
			want := map[bool]string{} // of the engine and of the server, which order new fields differently
			modeltest.FaultMatrix(t, modeltest.FaultCase{
				OnServer: 6,
				Seed:     func(ctx context.Context, db *mongo.Database) error { return graphSeed(ctx, db, all) },
				Run: func(ctx context.Context, db *mongo.Database) error {
					_, err := s.steps.Run(ctx, db, paths.GraphOptions{BatchSize: 4, Steps: 0})
					return err
				},
				Check: func(t testing.TB, db *mongo.Database) {
					s.want(t, graphStates(t, db, s.graph), all)
					got, err := modeltest.Dump(t.Context(), db)
					server := strings.Contains(t.Name(), "/server")
					if want[server] == "" {
						want[server] = got
					}
					// The order in which a server adds up ranks, and so their last digit, depends on where its documents lie.
					if err != nil || got != want[server] && s.name != "rank" {
						t.Errorf("not as without a fault, %v:\n%s\n%s", err, got, want[server])
					}
				},
			})
		})
	}
}
