package engine_test

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// stagesFrom reads a pipeline in extended JSON.
func stagesFrom(t testing.TB, stages ...string) mongo.Pipeline {
	t.Helper()
	var p mongo.Pipeline
	for _, s := range stages {
		p = append(p, doc(t, s))
	}
	return p
}

func TestAggregate(t *testing.T) {
	c := collection(t)
	db := c.Database()
	insert(t, c, `{"_id":1,"k":"a","n":1}`, `{"_id":2,"k":"b","n":2}`, `{"_id":3,"k":"a","n":3}`)
	run := func(stages ...string) []bson.D {
		t.Helper()
		cur, err := c.Aggregate(ctx, stagesFrom(t, stages...), options.Aggregate().SetBatchSize(1))
		if err != nil {
			t.Fatalf("%v: %v", stages, err)
		}
		var got []bson.D
		if err := cur.All(ctx, &got); err != nil {
			t.Fatalf("%v: %v", stages, err)
		}
		return got
	}
	if got := run(`{"$match":{"n":{"$gt":1}}}`, `{"$sort":{"n":-1}}`, `{"$project":{"n":1}}`); len(got) != 2 ||
		show(t, got[0]) != `{"_id":3,"n":3}` {
		t.Errorf("match, sort, project: %v", got)
	}
	run(`{"$group":{"_id":"$k","n":{"$sum":"$n"}}}`, `{"$out":"sums"}`)
	run(`{"$group":{"_id":"$k","n":{"$sum":"$n"}}}`, `{"$sort":{"_id":1}}`, `{"$out":"sums"}`)
	wantAll(t, db.Collection("sums"), `{"_id":"a","n":4}`, `{"_id":"b","n":2}`)
	run(`{"$match":{"k":"a"}}`, `{"$group":{"_id":"$k","max":{"$max":"$n"}}}`, `{"$merge":{"into":"sums"}}`)
	run(`{"$project":{"_id":"$k"}}`, `{"$merge":{"into":"sums","whenMatched":"keepExisting"}}`)
	wantAll(t, db.Collection("sums"), `{"_id":"a","n":4,"max":3}`, `{"_id":"b","n":2}`)
	got := run(`{"$match":{"_id":2}}`, `{"$lookup":{"from":"sums","localField":"k","foreignField":"_id","as":"sum"}}`)
	if len(got) != 1 || show(t, got[0]) != `{"_id":2,"k":"b","n":2,"sum":[{"_id":"b","n":2}]}` {
		t.Errorf("lookup: %v", got)
	}
	_, err := c.Aggregate(ctx, stagesFrom(t, `{"$frobnicate":1}`))
	wantCode(t, "an unknown stage", err, 40324)
	if n, err := c.CountDocuments(ctx, doc(t, `{"k":"a"}`)); err != nil || n != 2 {
		t.Errorf("count %d, %v", n, err)
	}
	var keys []string
	if err := c.Distinct(ctx, "k", bson.D{}).Decode(&keys); err != nil || len(keys) != 2 {
		t.Errorf("distinct %v, %v", keys, err)
	}
}
