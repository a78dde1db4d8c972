package router_test

import (
	"fmt"
	"testing"

	"github.com/docmodel/docmodel/internal/bsonval/valuetest"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/router"
)

// Chunks: up to {k: 'b'} on shard 0, up to {k: 'm', n: 5} on 1, up to {k: 'x'} on 2, and the rest on 0.
func TestFind(t *testing.T) {
	c := divide(t, "{k: 1, n: 1}", "{k: 'b', n: {$minKey: 1}}", "{k: 'm', n: 5}", "{k: 'x', n: {$minKey: 1}}")
	for _, x := range []struct {
		what, filter, shards string
	}{
		{"the whole key", "{k: 'm', n: 5}", "[2] whole"},
		{"the whole key in $and", "{$and: [{k: {$eq: 'm'}}, {n: {$in: [4]}}]}", "[1] whole"},
		{"a value given twice", "{$and: [{k: 'm'}, {k: 'a'}]}", "[0]"},
		{"the first field", "{k: 'm'}", "[1 2]"},
		{"the first field, and a range of the other", "{k: 'm', n: {$gt: 7}}", "[2]"},
		{"a range", "{k: {$gte: 'c', $lt: 'd'}}", "[1]"},
		{"values", "{k: {$in: ['a', 'z']}}", "[0]"},
		{"values with a range behind them", "{k: {$in: ['c', 'm']}, n: {$lt: 5}}", "[1 2]"},
		{"no value", "{k: {$in: []}}", "[0]"},
		{"branches", "{$or: [{k: 'a'}, {k: 'n'}]}", "[0 2]"},
		{"a branch without the key", "{$or: [{k: 'a'}, {other: 1}]}", "[0 1 2] broadcast"},
		{"another field", "{n: 5}", "[0 1 2] broadcast"},
		{"nothing", "{}", "[0 1 2] broadcast"},
		{"not a value", "{k: {$ne: 'a'}}", "[0 1 2] broadcast"},
	} {
		if got := showRoute(c.Find(router.Filter{Query: valuetest.Doc(x.filter)})); got != x.shards {
			t.Errorf("%s: %s goes to %s, want %s", x.what, x.filter, got, x.shards)
		}
	}
	text := router.Filter{Query: valuetest.Doc("{k: 'm', n: 5}"), Collated: true}
	if got := showRoute(c.Find(text)); got != "[0 1 2] broadcast" {
		t.Errorf("a text under a collation goes to %s", got)
	}
}

// A document that a field above the key equals has the key's field in it.
func TestFindAboveTheKey(t *testing.T) {
	c := divide(t, "{'a.b': 1}", "{'a.b': 10}", "{'a.b': 20}")
	for filter, want := range map[string]string{
		"{a: {b: 15, c: 1}}": "[1] whole", "{'a.b': 25}": "[2] whole", "{a: {c: 1}}": "[0 1 2] broadcast",
	} {
		if got := showRoute(c.Find(router.Filter{Query: valuetest.Doc(filter)})); got != want {
			t.Errorf("%s goes to %s, want %s", filter, got, want)
		}
	}
}

// Values of a hashed field are found by their hashes. A range says nothing of hashes.
func TestFindHashed(t *testing.T) {
	c := router.New(3).Shard(parseKey(t, "{k: 'hashed'}"), false, true)
	for i := range 50 {
		one := c.Find(router.Filter{Query: valuetest.Doc(fmt.Sprintf("{k: %d}", i))})
		if len(one.Shards) != 1 || one.Shards[0] != c.ShardOf([]any{int64(i)}) || !one.Whole {
			t.Errorf("%d goes to %v", i, one)
		}
		two := c.Find(router.Filter{Query: valuetest.Doc(fmt.Sprintf("{k: {$in: [%d, %d]}}", i, i+1))})
		for _, k := range []any{int32(i), int32(i + 1)} {
			if got := c.ShardOf([]any{k}); two.Shards[0] != got && two.Shards[len(two.Shards)-1] != got {
				t.Errorf("%d of two goes to %v, and is on %d", k, two, got)
			}
		}
	}
	if got := showRoute(c.Find(router.Filter{Query: valuetest.Doc("{k: {$gt: 7}}")})); got != "[0 1 2] broadcast" {
		t.Errorf("a range goes to %s", got)
	}
}

// An upsert needs the whole key. An update of many goes to all shards if it can't go to one, outside of transactions.
func TestWrite(t *testing.T) {
	c := divide(t, "{k: 1}", "{k: 10}")
	for _, x := range []struct {
		what, filter string
		change       router.Change
		want         string
		code         int32
	}{
		{"an upsert", "{k: 3}", router.Change{Command: "update", Upsert: true}, "[0] whole", 0},
		{
			what: "an upsert by a range", filter: "{k: {$lt: 3}}",
			change: router.Change{Command: "update", Upsert: true}, code: mongoerr.ShardKeyNotFound,
		},
		{"many on one shard", "{k: {$lt: 3}}", router.Change{Command: "update", Multi: true}, "[0]", 0},
		{"many", "{k: {$lt: 30}}", router.Change{Command: "update", Multi: true}, "[0 1 2]", 0},
		{
			what: "many in a transaction", filter: "{k: {$lt: 30}}",
			change: router.Change{Command: "update", Multi: true, InTxn: true}, want: "[0 1]",
		},
	} {
		x.change.Query = valuetest.Doc(x.filter)
		route, err := c.Write(x.change)
		if mongoerr.CodeOf(err) != x.code || x.code == 0 && showRoute(route) != x.want {
			t.Errorf("%s: %s, %v, want %s or code %d", x.what, showRoute(route), err, x.want, x.code)
		}
	}
}

// showRoute is a route as text: "[0 1] broadcast".
func showRoute(r router.Route) string {
	text := fmt.Sprint(r.Shards)
	if r.Broadcast {
		text += " broadcast"
	}
	if r.Whole {
		text += " whole"
	}
	return text
}
