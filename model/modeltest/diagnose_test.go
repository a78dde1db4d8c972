package modeltest_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/docmodel/docmodel/internal/tenancy"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
)

// A failed price shows what was sent, how the server runs it, and the index that it lacks.
func TestWantCostDiagnosis(t *testing.T) {
	tenancy.Differs(t, "the tenant is in the commands")
	ctx := context.Background()
	m := mongotest.NewMonitor()
	db := mongotest.NewClient(t, m).Database("shop")
	orders := db.Collection("orders")
	var docs []any
	for n := range 100 {
		docs = append(docs, bson.D{
			{Key: "_id", Value: n},
			{Key: "status", Value: []string{"new", "paid"}[n%2]},
			{Key: "at", Value: n}, {Key: "sum", Value: n % 7},
		})
	}
	if _, err := orders.InsertMany(ctx, docs); err != nil {
		t.Fatal(err)
	}
	all := func(cursor *mongo.Cursor, err error) error {
		if err != nil {
			return err
		}
		var found []bson.D
		return cursor.All(ctx, &found)
	}
	r := &recorder{TB: t}
	modeltest.WantCost(r, m, model.Cost{Commands: 1}, func() error {
		filter := bson.D{{Key: "sum", Value: bson.D{{Key: "$gt", Value: 3}}}, {Key: "status", Value: "paid"}}
		if err := all(orders.Find(ctx, filter, options.Find().SetSort(bson.D{{Key: "at", Value: -1}}))); err != nil {
			return err
		}
		if err := all(orders.Find(ctx, bson.D{{Key: "_id", Value: 3}})); err != nil {
			return err
		}
		_, err := orders.UpdateOne(ctx, bson.D{{Key: "at", Value: 3}}, bson.D{{
			Key: "$set", Value: bson.D{{Key: "x", Value: 1}},
		}})
		return err
	})
	const want = `cost: commands: want 1, got 3; documents written: want 0, got 1; documents returned: want 0, got 22
sent:
	orders.find {filter: {sum: {$gt: 3}, status: 'paid'}, sort: {at: -1}}
	orders.find {filter: {_id: 3}}
	orders.update {updates: [{q: {at: 3}, u: {$set: {x: 1}}}]}
plans, for what is stored now:
	orders.find {filter: {sum: {$gt: 3}, status: 'paid'}, sort: {at: -1}}
		COLLSCAN, a sort in memory; examined: 100 documents, 0 keys; found: 21
		no index serves it; one that would: db.orders.createIndex({status: 1, at: -1, sum: 1})
	orders.find {filter: {_id: 3}}
		index _id_; examined: 1 documents, 1 keys; found: 1
	orders.update {updates: [{q: {at: 3}, u: {$set: {x: 1}}}]}
		COLLSCAN; examined: 4 documents, 0 keys; found: 1
		no index serves it; one that would: db.orders.createIndex({at: 1})`
	if r.text != want {
		t.Errorf("got\n%s\nwant\n%s", r.text, want)
	}
	r = &recorder{TB: t}
	modeltest.WantCost(r, m, model.Cost{Commands: 1, Returned: 8}, func() error {
		for n := range 8 {
			if err := all(orders.Find(ctx, bson.D{{Key: "_id", Value: n}})); err != nil {
				return err
			}
		}
		return nil
	})
	if !strings.HasSuffix(r.text, "\n\t… and the plans of 3 more commands") || strings.Count(r.text, "examined:") != 5 {
		t.Errorf("many commands: %s", r.text)
	}
}

// A query that no index serves is told the one that would.
func TestWantIndexedDiagnosis(t *testing.T) {
	tenancy.Differs(t, "the plan examines the other tenant's documents")
	ctx := context.Background()
	db := mongotest.NewClient(t).Database("shop")
	orders := db.Collection("orders")
	for n := range 10 {
		if _, err := orders.InsertOne(ctx, bson.D{{Key: "_id", Value: n}, {Key: "n", Value: n}}); err != nil {
			t.Fatal(err)
		}
	}
	find := func(filter, sort bson.D) bson.D {
		return bson.D{{Key: "find", Value: "orders"}, {Key: "filter", Value: filter}, {Key: "sort", Value: sort}}
	}
	r := &recorder{TB: t}
	modeltest.WantIndexed(r, db,
		find(bson.D{{Key: "n", Value: bson.D{{Key: "$gt", Value: 3}}}}, bson.D{{Key: "at", Value: 1}}), "at_1_n_1")
	const head = "indexed: {find: 'orders', filter: {n: {$gt: 3}}, sort: {at: 1}}: the collection is scanned (COLLSCAN), want index at_1_n_1\n"
	const tail = "\nexamined: 10 documents, 0 keys; found: 6\nno index serves it; one that would: db.orders.createIndex({at: 1, n: 1})"
	if !strings.HasPrefix(r.text, head) || !strings.HasSuffix(r.text, tail) {
		t.Errorf("got\n%s\nwant\n%s…%s", r.text, head, tail)
	}
	hinted := append(find(bson.D{{Key: "n", Value: 3}}, bson.D{}), bson.E{
		Key: "hint", Value: bson.D{{Key: "$natural", Value: 1}},
	})
	if _, err := orders.Indexes().CreateOne(ctx, mongo.IndexModel{Keys: bson.D{{Key: "n", Value: 1}}}); err != nil {
		t.Fatal(err)
	}
	r = &recorder{TB: t}
	modeltest.WantIndexed(r, db, hinted, "n_1")
	if !strings.HasSuffix(r.text, "\nindex n_1 has the keys that would serve it") {
		t.Errorf("an index that isn't used: %s", r.text)
	}
}

// The keys of a suggested index: equality, sort, range.
func TestSuggestedIndex(t *testing.T) {
	ctx := context.Background()
	db := mongotest.NewClient(t).Database("shop")
	tests := []struct{ reason, command, lines string }{
		{
			reason:  "equality before ranges",
			command: `{"find": "c", "filter": {"a": {"$gte": 1}, "b": 2, "c": {"$in": [1, 2]}}}`,
			lines:   "db.c.createIndex({b: 1, c: 1, a: 1})",
		},
		{
			reason:  "the sort before ranges, in its direction",
			command: `{"find": "c", "filter": {"a": {"$ne": 1}, "b": 2}, "sort": {"d": -1, "b": 1, "a": 1}}`,
			lines:   "db.c.createIndex({b: 1, d: -1, a: 1})",
		},
		{
			reason:  "$and is one filter",
			command: `{"find": "c", "filter": {"$and": [{"a": 1}, {"b": {"$exists": true}}, {"a": {"$lt": 3}}]}}`,
			lines:   "db.c.createIndex({a: 1, b: 1})",
		},
		{
			reason:  "an $or needs one for each branch",
			command: `{"find": "c", "filter": {"x": 1, "$or": [{"a": 1}, {"b": {"$lt": 1}}]}}`,
			lines:   "db.c.createIndex({x: 1, a: 1})\ndb.c.createIndex({x: 1, b: 1})",
		},
		{
			reason:  "elements of an array",
			command: `{"find": "c", "filter": {"items": {"$elemMatch": {"sku": "a", "qty": {"$gt": 1}}}, "tags": {"$elemMatch": {"$gt": 1, "$lt": 3}}}}`,
			lines:   "db.c.createIndex({'items.sku': 1, 'items.qty': 1, tags: 1})",
		},
		{
			reason:  "a leading $match and $sort",
			command: `{"aggregate": "c", "pipeline": [{"$match": {"a": 1}}, {"$match": {"b": 1}}, {"$sort": {"d": 1}}, {"$match": {"e": 1}}], "cursor": {}}`,
			lines:   "db.c.createIndex({a: 1, b: 1, d: 1})",
		},
		{"the key of a distinct", `{"distinct": "c", "key": "k", "query": {"a": 1}}`, "db.c.createIndex({a: 1, k: 1})"},
		{"a count", `{"count": "c", "query": {"a": null}}`, "db.c.createIndex({a: 1})"},
		{"a delete", `{"delete": "a.b", "deletes": [{"q": {"a": 1}, "limit": 1}]}`, "db.a.b.createIndex({a: 1})"},
		{
			reason:  "a findAndModify",
			command: `{"findAndModify": "my-c", "query": {"a": 1}, "sort": {"b": 1}, "remove": true}`,
			lines:   "db.getCollection('my-c').createIndex({a: 1, b: 1})",
		},
		{"operators that no index serves", `{"find": "c", "filter": {"$expr": {"$gt": ["$a", 1]}, "b": {"$size": 2}}}`, ""},
		{"no filter", `{"find": "c", "filter": {}}`, ""},
	}
	for _, tt := range tests {
		var command bson.D
		if err := bson.UnmarshalExtJSON([]byte(tt.command), false, &command); err != nil {
			t.Fatal(err)
		}
		collection := fmt.Sprint(command[0].Value)
		if _, err := db.Collection(collection).
			InsertOne(ctx, bson.D{{Key: "b", Value: 1}, {Key: "a", Value: 0}}); err != nil {
			t.Fatal(err)
		}
		r := &recorder{TB: t}
		modeltest.WantIndexed(r, db, command, "none")
		var lines []string
		for line := range strings.Lines(r.text) {
			if _, index, ok := strings.Cut(line, "one that would: "); ok {
				lines = append(lines, strings.TrimSuffix(index, "\n"))
			}
		}
		if got := strings.Join(lines, "\n"); got != tt.lines {
			t.Errorf("%s: got %q, want %q; %s", tt.reason, got, tt.lines, r.text)
		}
	}
}
