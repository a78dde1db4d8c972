package router_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval/valuetest"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/router"
)

func parseKey(t *testing.T, s string) router.Key {
	t.Helper()
	key, err := router.ParseKey(valuetest.Doc(s))
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// divide returns a collection of three shards that is split at some keys. The chunks lie on the shards 0, 1, 2, 0 and
// so on.
func divide(t *testing.T, key string, at ...string) *router.Collection {
	t.Helper()
	c := router.New(3).Shard(parseKey(t, key), false, false)
	for i, s := range at {
		bound := valuetest.Doc(s)
		next, err := c.Split(bound)
		if err == nil {
			next, err = next.MoveFound(bound, (i+1)%3)
		}
		if err != nil {
			t.Fatal(err)
		}
		c = next
	}
	return c
}

func TestSplitAndMove(t *testing.T) {
	c := divide(t, "{k: 1, n: 1}", "{k: 'b', n: 0}", "{k: 'm', n: 5}")
	for _, x := range []struct {
		key   []any
		shard int
	}{
		{[]any{nil, nil}, 0}, {[]any{"b", int32(-1)}, 0}, {[]any{"b", int32(0)}, 1}, {[]any{"m", 4.5}, 1},
		{[]any{"m", int64(5)}, 2}, {[]any{bson.MaxKey{}, int32(0)}, 2},
	} {
		if got := c.ShardOf(x.key); got != x.shard {
			t.Errorf("%v is on %d, want %d", x.key, got, x.shard)
		}
	}
	moved, err := c.MoveBounds(valuetest.Doc("{k: 'b', n: 0}"), valuetest.Doc("{k: 'm', n: 5}"), 0)
	if err != nil || moved.ShardOf([]any{"c", nil}) != 0 || c.ShardOf([]any{"c", nil}) != 1 {
		t.Errorf("a chunk was moved: %v; or the old collection has changed", err)
	}
	for what, f := range map[string]func() error{
		"a split at a chunk's begin": func() error { _, err := c.Split(valuetest.Doc("{k: 'b', n: 0}")); return err },
		"a split at half a key":      func() error { _, err := c.Split(valuetest.Doc("{k: 'x'}")); return err },
		"a move by half a key":       func() error { _, err := c.MoveFound(valuetest.Doc("{k: 'x'}"), 1); return err },
		"a move of what is no chunk": func() error {
			_, err := c.MoveBounds(valuetest.Doc("{k: 'b', n: 0}"), valuetest.Doc("{k: 'm', n: 6}"), 0)
			return err
		},
	} {
		if err := f(); mongoerr.CodeOf(err) != mongoerr.BadValue {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// Documents are divided evenly, by hashes and by reshardCollection; equal keys stay together.
func TestSpread(t *testing.T) {
	r := router.New(4)
	hashed := r.Shard(parseKey(t, "{k: 'hashed'}"), false, true)
	count := make([]int, 4)
	for i := range 4000 {
		count[hashed.ShardOf([]any{int32(i)})]++
	}
	for shard, n := range count {
		if n < 850 || n > 1150 { // five standard deviations
			t.Errorf("shard %d has %d of 4000 hashes", shard, n)
		}
	}
	random := rand.New(rand.NewPCG(1, 2))
	var values [][]any
	for range 400 {
		values = append(values, []any{random.Int32N(1000)})
	}
	c := r.Spread(parseKey(t, "{k: 1}"), false, values)
	count = make([]int, 4)
	for _, v := range values {
		count[c.ShardOf(v)]++
	}
	for shard, n := range count {
		if n < 80 || n > 120 {
			t.Errorf("shard %d has %d of 400 documents", shard, n)
		}
	}
	same := r.Spread(parseKey(t, "{k: 1}"), false, [][]any{{"x"}, {"x"}, {"x"}})
	if got := fmt.Sprint(same.Find(router.Filter{}).Shards); got != "[0 1]" {
		t.Errorf("one key is divided among %s", got)
	}
}
