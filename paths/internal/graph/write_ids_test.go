package graph_test

import (
	"fmt"
	"testing"

	"github.com/docmodel/docmodel/internal/tenancy"
	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"github.com/docmodel/docmodel/paths"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Documents of no declared type, ids of several types: numbers are equal whatever their
// types, and what is no list of ids is no edge.
func TestGraphOpenDocuments(t *testing.T) {
	tenancy.Differs(t, "a $merge is refused under a scope's filter")
	testkit.Parallel(t)
	things := model.NewCollection[bson.D, any]("things")
	g := paths.NewGraph(things, "links.to", paths.GraphSpec{})
	id := bson.D{{Key: "a", Value: "$x"}, {Key: "n", Value: int32(2)}}
	to := func(ids ...any) (out bson.A) {
		for _, id := range ids {
			out = append(out, bson.D{{Key: "to", Value: id}})
		}
		return append(out, bson.D{{Key: "note", Value: 1}})
	}
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		plan := things.InsertMany([]bson.D{
			{{Key: "_id", Value: 1}, {Key: "links", Value: to(2.0, nil)}},
			{{Key: "_id", Value: 2}, {Key: "links", Value: to(id, bson.A{1, 2})}},
			{{Key: "_id", Value: id}, {Key: "links", Value: "none"}},
			{{Key: "_id", Value: "x"}, {Key: "links", Value: bson.D{{Key: "to", Value: 1}}}},
		})
		if err := testkit.Exec(t.Context(), db, plan); err != nil {
			t.Fatal(err)
		}
		for _, test := range []struct {
			steps *paths.Supersteps
			show  func(s paths.VertexState[any]) string
			want  string
		}{
			{
				g.Distances(1), func(s paths.VertexState[any]) string { return fmt.Sprint(s.Step) },
				"1:0 2:1 {a: '$x', n: 2}:2 ",
			},
			{
				g.Components(), func(s paths.VertexState[any]) string { return model.Shell(s.Component) },
				"1:1 2:1 'x':'x' {a: '$x', n: 2}:1 ",
			},
			{
				g.PageRank(paths.RankSpec{}),
				func(s paths.VertexState[any]) string { return fmt.Sprintf("%.4f", s.Rank) },
				"1:0.1557 2:0.2880 'x':0.1557 {a: '$x', n: 2}:0.4005 ",
			},
		} {
			if _, err := test.steps.Job().Run(t.Context(), db, model.JobOptions{}); err != nil {
				t.Fatal(err)
			}
			list, err := g.States().All(t.Context(), db)
			got := ""
			for _, s := range list {
				got += model.Shell(s.ID) + ":" + test.show(s) + " "
			}
			if err != nil || got != test.want {
				t.Errorf("got %s, want %s, %v", got, test.want, err)
			}
			if err := testkit.Exec(t.Context(), db, g.Clear()); err != nil {
				t.Fatal(err)
			}
		}
	})
}
