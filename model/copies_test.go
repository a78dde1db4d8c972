package model_test

import (
	"testing"

	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// TestChangedCopies holds that what returns a changed query, pipeline or findAndModify leaves the one that it came from
// alone.
func TestChangedCopies(t *testing.T) {
	scope := model.Scope{Filter: d("tenant", "t"), Set: d("by", "x")}
	find := parts.Find(d("name", "a")).Sorted(d("qty", 1)).Limited(3)
	find.Projection = d("name", 1)
	pipeline := parts.Aggregate(mongo.Pipeline{d("$match", d("qty", 1))})
	modify := parts.Modify(d("name", "a"), d("$set", d("qty", 2)))
	for _, c := range []struct {
		name   string
		from   interface{ Command() bson.D }
		change func() interface{ Command() bson.D }
	}{
		{"Where", find, func() interface{ Command() bson.D } { return find.Where(d("name", "b")) }},
		{"Sorted", find, func() interface{ Command() bson.D } { return find.Sorted(nil) }},
		{"Limited", find, func() interface{ Command() bson.D } { return find.Limited(7) }},
		{"After", find, func() interface{ Command() bson.D } { return find.After(1, bson.NewObjectID()) }},
		{"Under", find, func() interface{ Command() bson.D } { return model.Scoped(scope, find) }},
		{"Project", find, func() interface{ Command() bson.D } { return model.Project[struct{ Qty int }](find) }},
		{"Aggregate.Under", pipeline, func() interface{ Command() bson.D } { return model.Scoped(scope, pipeline) }},
		{"Modify.Under", modify, func() interface{ Command() bson.D } { return model.Scoped(scope, modify) }},
	} {
		before := model.Shell(c.from.Command())
		if after := model.Shell(c.change().Command()); after == before {
			t.Errorf("%s changes nothing: %s", c.name, after)
		}
		if now := model.Shell(c.from.Command()); now != before {
			t.Errorf("%s changes what it is called on: %s, was %s", c.name, now, before)
		}
	}
}
