package graph_test

import (
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/paths"
	"github.com/docmodel/docmodel/paths/internal/graph"
	"go.mongodb.org/mongo-driver/v2/bson"
)

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
	return coreOf("near").DeclareDistances(ids, nil)
}
