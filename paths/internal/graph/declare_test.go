package graph_test

import (
	"errors"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/docmodel/docmodel/internal/tenancy"
	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"github.com/docmodel/docmodel/paths"
	"github.com/docmodel/docmodel/paths/internal/graph"
)

func TestGraphDeclarations(t *testing.T) {
	tenancy.Differs(t, "a $merge is refused under a scope's filter")
	testkit.Parallel(t)
	declare := func(path, states string) func() {
		return func() { paths.NewGraph(towns, path, paths.GraphSpec{States: states}) }
	}
	for reason, f := range map[string]func(){
		"no such path": declare("streets.to", ""), "another type": declare("roads.km", ""),
		"documents": declare("roads", ""), "no list": declare("_id", ""),
		"the vertices": declare("roads.to", "towns"), "no name": declare("roads.to", "a$b"), "no path": declare("", ""),
		"Damping 1":          func() { ranks.PageRank(paths.RankSpec{Damping: 1}) },
		"Damping below 0":    func() { ranks.PageRank(paths.RankSpec{Damping: -.1}) },
		"negative Tolerance": func() { ranks.PageRank(paths.RankSpec{Tolerance: -1}) },
	} {
		t.Run(reason, func(t *testing.T) {
			var d *model.DeclarationError
			if err := graphPanic(f); !errors.As(err, &d) || d.Remedy == "" {
				t.Errorf("panicked with %v", err)
			}
		})
	}
	if x := near.Indexes(); x != nil {
		t.Errorf("indexes %v", x)
	}
	if r := near.Relations(); len(r) != 2 || r[0].FromPath != "follows" || near.Distances().Relations() != nil {
		t.Errorf("relations %v", r)
	}
}

func TestGraphRefused(t *testing.T) {
	tenancy.Differs(t, "a $merge is refused under a scope's filter")
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		graphMustSeed(t, db, graphOf("a:b b:"))
		ctx := t.Context()
		if _, err := near.Distances("a").Job().Run(ctx, db, model.JobOptions{}); err != nil {
			t.Fatal(err)
		}
		begun := graphBegun(t, db, near.Distances("a"))
		for reason, run := range map[string]func() error{
			"an empty source": func() error {
				_, err := near.Distances("a", "").Job().Run(ctx, db, model.JobOptions{})
				return err
			},
			"an empty component": func() error { return groups.Component("").Err },
			"no vertex at all":   func() error { return ranks.Top(0).Err },
			"a superstep before the beginning": func() error {
				last := begun
				last.Step = -1
				return nearBy("a").PlanStep(last).Err()
			},
		} {
			t.Run(reason, func(t *testing.T) {
				var bad *model.ValueError
				if err := run(); !errors.As(err, &bad) {
					t.Errorf("error %v", err)
				}
			})
		}
	})
}

type account struct {
	ID      string   `bson:"_id"`
	Follows []string `bson:"follows,omitempty"`
}

// The graphs of the tests, as a user declares them, and of the core.
var (
	accounts = model.NewCollection[account, string]("accounts")
	near     = paths.NewGraph(accounts, "follows", paths.GraphSpec{States: "near"})
	groups   = paths.NewGraph(accounts, "follows", paths.GraphSpec{States: "groups"})
	ranks    = paths.NewGraph(accounts, "follows", paths.GraphSpec{States: "ranks"})
)

func coreOf(states string) *graph.Graph {
	return graph.DeclareGraph("accounts", accounts.Docs().MustField("follows"), states)
}

// nearBy is near.Distances.
func nearBy(from ...string) *graph.Supersteps {
	ids := bson.A{}
	for _, id := range from {
		ids = append(ids, id)
	}
	return coreOf("near").DeclareDistances(ids)
}
