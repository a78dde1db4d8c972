package engine_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// wantPlan holds which plan explain shows for a command.
func wantPlan(t testing.TB, c *mongo.Collection, reason, command, want string) {
	t.Helper()
	var got explanation
	must(t,
		c.Database().
			RunCommand(ctx, bson.D{
				{Key: "explain", Value: doc(t, command)}, {Key: "verbosity", Value: "executionStats"},
			}).Decode(&got))
	if got.String() != want {
		t.Errorf("%s: %s\ngot  %s\nwant %s", reason, command, got, want)
	}
}

// TestHashedIndex is after core/indexes/index-types/index-hashed: equality is served, a range isn't, an array is
// refused.
func TestHashedIndex(t *testing.T) {
	c := collection(t)
	addIndex(t, c, `{"h":"hashed"}`, nil)
	insert(t, c, `{"_id":1,"h":"a"}`, `{"_id":2,"h":"b"}`, `{"_id":3,"h":{"x":1}}`, `{"_id":4}`)
	for _, x := range [][3]string{
		{"equality", `{"find":"things","filter":{"h":"a"}}`,
			`FETCH < IXSCAN h_hashed h[["a", "a"]]: 1 of 1 keys, 1 docs`},
		{
			"several values",
			`{"find":"things","filter":{"h":{"$in":["a","b"]}}}`,
			`FETCH < IXSCAN h_hashed h[["a", "a"] ["b", "b"]]: 2 of 2 keys, 2 docs`,
		},
		{
			"a document", `{"find":"things","filter":{"h":{"x":1}}}`,
			`FETCH < IXSCAN h_hashed h[[{ x: 1 }, { x: 1 }]]: 1 of 1 keys, 1 docs`,
		},
		{"a range", `{"find":"things","filter":{"h":{"$gt":"a"}}}`, `COLLSCAN: 1 of 0 keys, 4 docs`},
		{
			"an order",
			`{"find":"things","filter":{"h":"a"},"sort":{"h":1}}`,
			`SORT < FETCH < IXSCAN h_hashed h[["a", "a"]]: 1 of 1 keys, 1 docs`,
		},
		{"an order alone", `{"find":"things","sort":{"h":1}}`, `SORT < COLLSCAN: 4 of 0 keys, 4 docs`},
	} {
		wantPlan(t, c, x[0], x[1], x[2])
	}
	wantFound(t, c, `{"h":null}`, options.Find(), `{"_id":4}`)
	_, err := c.InsertOne(ctx, doc(t, `{"h":[1]}`))
	wantCode(t, "an array", err, 16766)
	_, err = c.Indexes().
		CreateOne(ctx, mongo.IndexModel{Keys: doc(t, `{"u":"hashed"}`), Options: options.Index().SetUnique(true)})
	wantCode(t, "unique and hashed", err, 67)
}

// TestSparseIndex is after core/index-sparse: it lacks documents without the field, and serves no query or order that
// wants them.
func TestSparseIndex(t *testing.T) {
	c := collection(t)
	addIndex(t, c, `{"s":1}`, options.Index().SetSparse(true).SetUnique(true))
	insert(t, c, `{"_id":1}`, `{"_id":2}`, `{"_id":3,"s":1}`, `{"_id":4,"s":null}`)
	_, err := c.InsertOne(ctx, doc(t, `{"s":null}`))
	wantCode(t, "a second null that is there", err, 11000)
	for _, x := range [][3]string{
		{"a value", `{"find":"things","filter":{"s":1}}`, `FETCH < IXSCAN s_1 s[[1, 1]]: 1 of 1 keys, 1 docs`},
		{"those that have it", `{"find":"things","filter":{"s":{"$exists":true}}}`, `COLLSCAN: 2 of 0 keys, 4 docs`},
		{"null, which missing equals", `{"find":"things","filter":{"s":null}}`, `COLLSCAN: 3 of 0 keys, 4 docs`},
		{"an order, which needs all documents", `{"find":"things","sort":{"s":1}}`,
			`SORT < COLLSCAN: 4 of 0 keys, 4 docs`},
		{
			"as hinted, without those that lack it", `{"find":"things","hint":"s_1"}`,
			`FETCH < IXSCAN s_1 s[[MinKey, MaxKey]]: 2 of 2 keys, 2 docs`,
		},
	} {
		wantPlan(t, c, x[0], x[1], x[2])
	}
}

// TestSphereIndex holds that it is listed with its version, and serves conditions on places alone.
func TestSphereIndex(t *testing.T) {
	c := collection(t)
	addIndex(t, c, `{"kind":1,"place":"2dsphere"}`, options.Index().SetSphereVersion(3))
	insert(t, c, `{"_id":1,"kind":"x","place":{"type":"Point","coordinates":[13.4,52.5]}}`)
	var list []bson.D
	must(t, must1[*mongo.Cursor](t)(c.Indexes().List(ctx)).All(ctx, &list))
	wantSame(t, "listed", show(t, list[1]),
		`{"v":2,"key":{"kind":1,"place":"2dsphere"},"name":"kind_1_place_2dsphere","2dsphereIndexVersion":3}`)
	insert(t, c, `{"_id":2,"kind":"x","place":{"type":"Point","coordinates":[-70,0.05]}}`, `{"_id":3,"kind":"x"}`)
	wantPlan(t, c, "no place", `{"find":"things","filter":{"kind":"x"}}`, `COLLSCAN: 3 of 0 keys, 3 docs`)
	near :=
		`{"find":"things","filter":{"place":{"$near":{"$geometry":{"type":"Point","coordinates":[-70,0.05]},` +
			`"$maxDistance":1000}}}}`
	wantPlan(t, c, "near a place", near,
		`GEO_NEAR_2DSPHERE kind_1_place_2dsphere < FETCH < IXSCAN kind_1_place_2dsphere place[[-1, -1] [3241099, `+
			`3241100]]: 1 of 2 keys, 1 docs`)
	within := `{"find":"things","filter":{"place":{"$geoWithin":{"$centerSphere":[[-70.05,0.05],0.0001]}}}}`
	wantPlan(t, c, "within an area", within,
		`FETCH < IXSCAN kind_1_place_2dsphere place[[-1, -1] [3241099, 3241099]]: 0 of 1 keys, 1 docs`)
	wantPlan(t, c, "within an area of the plane",
		`{"find":"things","filter":{"place":{"$geoWithin":{"$center":[[-70,0],1]}}}}`,
		`COLLSCAN: 1 of 0 keys, 3 docs`)
}

// TestTTLDocuments is after core/index-ttl: which documents expire, and when.
func TestTTLDocuments(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := collection(t)
		at := func(minutes ...int) bson.A {
			var list bson.A
			for _, m := range minutes {
				list = append(list, time.Now().Add(time.Duration(m)*time.Minute))
			}
			return list
		}
		addIndex(t, c, `{"at":1}`,
			options.Index().SetExpireAfterSeconds(60).SetPartialFilterExpression(doc(t, `{"keep":{"$eq":false}}`)))
		for id, v := range []any{
			at(10)[0], at(30, 5), "no date", nil, at(10)[0], bson.A{}, bson.D{{Key: "x", Value: at(1)[0]}},
		} {
			d := bson.D{{Key: "_id", Value: id}, {Key: "at", Value: v}, {Key: "keep", Value: id == 4}}
			must1[*mongo.InsertOneResult](t)(c.InsertOne(ctx, d))
		}
		left := func(want ...int) {
			t.Helper()
			var ids []int
			must(t, c.Distinct(ctx, "_id", bson.D{}).Decode(&ids))
			wantSame(t, fmt.Sprint("left at ", time.Now()), ids, want)
		}
		time.Sleep(6*time.Minute - time.Millisecond)
		left(0, 1, 2, 3, 4, 5, 6)
		time.Sleep(time.Millisecond)
		left(0, 2, 3, 4, 5, 6) // the earliest date of the array is a minute ago
		s, tx := begin(t, c)
		must(t, set(tx, c, 0, 1))
		time.Sleep(5*time.Minute + time.Second)
		left(2, 3, 4, 5, 6) // the transaction was over before, as it took more than a minute
		wantTransient(t, "its commit", s.CommitTransaction(ctx), 251)
	})
}

// An index on an array sorts by the fields behind it where one value of the array is asked for, and not by the array
// itself. MongoDB's manual: "Multikey Indexes", "Sort on an Array Field"; "The ESR Guideline".
func TestMultikeySort(t *testing.T) {
	c := collection(t)
	docs := make([]any, 60)
	for i := range docs {
		docs[i] = bson.D{
			{Key: "_id", Value: i}, {Key: "tags", Value: bson.A{i % 3, 3 + i%4}}, {Key: "at", Value: (i * 37) % 60},
		}
	}
	must1[*mongo.InsertManyResult](t)(c.InsertMany(ctx, docs))
	must1[string](t)(c.Indexes().
		CreateOne(ctx, mongo.IndexModel{Keys: bson.D{{Key: "tags", Value: 1}, {Key: "at", Value: -1}}}))
	tests := []struct {
		filter, sort bson.D
		examined     int32
	}{
		{bson.D{{Key: "tags", Value: 1}}, bson.D{{Key: "at", Value: -1}}, 4},
		{bson.D{{Key: "tags", Value: 1}}, bson.D{{Key: "at", Value: 1}}, 4},
		{bson.D{{Key: "tags", Value: 1}}, bson.D{{Key: "tags", Value: 1}, {Key: "at", Value: -1}}, 20},
	}
	for _, test := range tests {
		find := bson.D{
			{Key: "find", Value: c.Name()}, {Key: "filter", Value: test.filter}, {Key: "sort", Value: test.sort},
			{Key: "limit", Value: 4},
		}
		var plan struct {
			Stats struct {
				Examined int32 `bson:"totalDocsExamined"`
			} `bson:"executionStats"`
		}
		must(t,
			c.Database().
				RunCommand(ctx, bson.D{{Key: "explain", Value: find},
					{Key: "verbosity", Value: "executionStats"}}).Decode(&plan))
		wantSame(t, fmt.Sprint("examined by ", test.filter, test.sort), plan.Stats.Examined, test.examined)

		var found, scanned []bson.D
		must(t,
			must1[*mongo.Cursor](t)(c.Find(ctx, test.filter, options.Find().SetSort(test.sort).SetLimit(4))).All(ctx,
				&found))
		must(t,
			must1[*mongo.Cursor](t)(c.Find(ctx, test.filter,
				options.Find().SetSort(test.sort).SetLimit(4).SetHint(bson.D{{Key: "$natural", Value: 1}}))).All(ctx,
				&scanned))
		wantSame(t, "found", fmt.Sprint(found), fmt.Sprint(scanned))
	}
}
