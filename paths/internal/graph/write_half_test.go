package graph_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/docmodel/docmodel/internal/tenancy"
	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"github.com/docmodel/docmodel/paths/internal/graph"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A $merge can stop half way: some states are of the superstep already, others not yet,
// in whatever order.
func TestGraphHalfMerged(t *testing.T) {
	tenancy.Differs(t, "a $merge is refused under a scope's filter")
	testkit.Parallel(t)
	r := rand.New(rand.NewPCG(3, 4))
	all := randomGraph(r, 30)
	all[0].ID, all[1].Follows = "a", append(all[1].Follows, "a", all[2].ID)
	all[0].Follows = []string{all[1].ID, all[3].ID, all[4].ID}
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for _, s := range graphComputations()[:3] {
			t.Run(s.name, func(t *testing.T) {
				ctx := t.Context()
				graphMustSeed(t, db, all)
				for n := 0; ; n++ {
					last, err := s.steps.Steps().Sorted(bson.D{{Key: "_id", Value: -1}}).One(ctx, db)
					plan := s.core.PlanStep(graph.Record(last))
					if errors.Is(err, model.ErrNotFound) {
						plan = s.core.PlanBegin()
					} else if err != nil {
						t.Fatal(err)
					}
					if len(plan.Steps) == 0 || n > 12 {
						break
					}
					before := graphRaw(t, db, s.name)
					merge := slices.IndexFunc(
						plan.Steps, func(s model.Step) bool { _, ok := s.(model.MergeInto); return ok },
					)
					first := plan
					first.Steps = plan.Steps[:merge+1]
					if _, err := first.Run(ctx, db); err != nil {
						t.Fatal(err)
					}
					whole := graphRaw(t, db, s.name)
					graphUndo(t, db, r, s.name, before, whole)
					if _, err := plan.Run(ctx, db); err != nil {
						t.Fatal(err)
					}
					if diff := mongotest.Diff(graphRounded(whole), graphRounded(graphRaw(t, db, s.name))); diff != "" {
						t.Fatalf("superstep %d:\n%s", n, diff)
					}
				}
				got := graphRun(t, db, s.graph, s.steps)
				s.want(t, got, all)
			})
		}
	})
}

// graphCollections are where the computations keep their states.
var graphCollections = map[string]string{"distances": "near", "components": "groups", "rank": "ranks"}

func graphRaw(t testing.TB, db *mongo.Database, name string) map[string]bson.D {
	t.Helper()
	cur, err := db.Collection(graphCollections[name]).Find(t.Context(), bson.D{})
	if err != nil {
		t.Fatal(err)
	}
	var list []bson.D
	if err := cur.All(t.Context(), &list); err != nil {
		t.Fatal(err)
	}
	out := map[string]bson.D{}
	for _, d := range list {
		out[d[0].Value.(string)] = d
	}
	return out
}

// graphRounded leaves out the last digits, which depend on the order in which a server
// adds up.
func graphRounded(docs map[string]bson.D) map[string]bson.D {
	out := map[string]bson.D{}
	for id, d := range docs {
		d = slices.Clone(d)
		for i, f := range d {
			if x, ok := f.Value.(float64); ok {
				d[i].Value = fmt.Sprintf("%.12f", x)
			}
		}
		out[id] = d
	}
	return out
}

// graphUndo takes back about half of what a $merge did.
func graphUndo(t testing.TB, db *mongo.Database, r *rand.Rand, name string, before, after map[string]bson.D) {
	t.Helper()
	c := db.Collection(graphCollections[name])
	for id := range after {
		var err error
		old, was := before[id]
		switch {
		case r.IntN(2) == 0:
		case was:
			_, err = c.ReplaceOne(t.Context(), bson.D{{Key: "_id", Value: id}}, old)
		default:
			_, err = c.DeleteOne(t.Context(), bson.D{{Key: "_id", Value: id}})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}
