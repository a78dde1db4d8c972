package model_test

import (
	"testing"

	"github.com/docmodel/docmodel/internal/tenancy"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// TestScopeStages: stages that read nothing but the documents they are given see the tenant's documents alone.
func TestScopeStages(t *testing.T) {
	tenancy.Differs(t, "it has scopes of its own")
	docs := model.NewCollection[bson.D, int32]("parts")
	db := mongotest.NewClient(t).Database("test")
	mustRun(t, db,
		model.Scoped(tenantOf("a"), docs.InsertMany([]bson.D{d("_id", 1, "x", 1), d("_id", 2, "x", 4), d("_id", 3)})),
		model.Scoped(tenantOf("b"),
			docs.InsertMany([]bson.D{d("_id", 4, "x", 2), d("_id", 5, "x", 9), d("_id", 6, "x", -9)})))
	known := d("$match", d("x", d("$exists", true)))
	only := func(fields ...any) bson.D { return d("$project", append(d("_id", 0), d(fields...)...)) }
	for _, c := range []struct {
		reason string
		stages mongo.Pipeline
		want   string
	}{
		{
			reason: "a running sum",
			stages: mongo.Pipeline{
				known,
				d("$setWindowFields",
					d("sortBy", d("x", 1), "output",
						d("n", d("$sum", "$x", "window", d("documents", bson.A{"unbounded", "current"}))))),
				only("n", 1),
			},

			want: "[{n: 1}, {n: 5}]",
		},
		{
			reason: "buckets",
			stages: mongo.Pipeline{known, d("$bucketAuto", d("groupBy", "$x", "buckets", 1))},
			want:   "[{_id: {min: 1, max: 4}, count: 2}]",
		},
		{
			reason: "steps",
			stages: mongo.Pipeline{known, d("$densify", d("field", "x", "range", d("step", 1, "bounds", "full"))), only("x", 1)},
			want:   "[{x: 1}, {x: 2}, {x: 3}, {x: 4}]",
		},
		{
			reason: "a carried value",
			stages: mongo.Pipeline{d("$fill", d("sortBy", d("_id", 1), "output", d("x", d("method", "locf")))), only("x", 1)},
			want:   "[{x: 1}, {x: 4}, {x: 4}]",
		},
		{
			reason: "what is kept",
			stages: mongo.Pipeline{
				d("$redact", d("$cond", bson.A{d("$gt", bson.A{"$x", 1}), "$$KEEP", "$$PRUNE"})),
				only("x", 1),
			},
			want: "[{x: 4}]",
		},
	} {
		got, err := model.AggregateAs[bson.D](docs, c.stages).All(t.Context(), tenantOf("a").On(db))
		if err != nil || model.Shell(got) != c.want {
			t.Errorf("%s: %s, %v; want %s", c.reason, model.Shell(got), err, c.want)
		}
	}
}
