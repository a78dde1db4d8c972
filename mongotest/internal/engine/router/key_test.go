package router_test

import (
	"fmt"
	"testing"

	"github.com/docmodel/docmodel/internal/bsonval/valuetest"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/router"
)

func TestParseKey(t *testing.T) {
	for s, ok := range map[string]bool{
		"{a: 1}": true, "{a: 1.0, 'b.c': 'hashed'}": true, "{}": false, "{a: -1}": false, "{a: 'text'}": false,
		"{a: 'hashed', b: 'hashed'}": false, "{a: 1, 'a.b': 1}": false, "{'a..b': 1}": false, "{'a.$b': 1}": false,
	} {
		key, err := router.ParseKey(valuetest.Doc(s))
		if (err == nil) != ok || !ok && mongoerr.CodeOf(err) != mongoerr.BadValue {
			t.Errorf("%s: %v, %v", s, key, err)
		}
	}
}

// An index can be unique among all shards if it begins with the key, and serves the key if the kinds are the same.
func TestIndexesOfKey(t *testing.T) {
	key := parseKey(t, "{a: 1, b: 'hashed'}")
	for _, c := range []struct {
		index          string
		allows, serves bool
	}{
		{"{a: 1, b: 'hashed', c: 1}", true, true}, {"{a: 1, b: 1}", true, false}, {"{a: 1}", false, false},
		{"{b: 'hashed', a: 1}", false, false}, {"{_id: 1}", true, false},
	} {
		index := valuetest.Doc(c.index)
		if key.Allows(index) != c.allows || key.Serves(index) != c.serves {
			t.Errorf("%s: allowed %v, serves %v", c.index, key.Allows(index), key.Serves(index))
		}
	}
	if !key.IsWithin([]string{"c", "b", "a"}) || key.IsWithin([]string{"a", "c"}) {
		t.Error("the fields of the key")
	}
}

// A missing field is null. A document with an array in the key can't be stored.
func TestValues(t *testing.T) {
	key := parseKey(t, "{a: 1, 'b.c': 1}")
	for doc, want := range map[string]string{
		"{a: 1, b: {c: 'x'}}": "[1 x] true", "{b: 7}": "[<nil> <nil>] true", "{a: [1]}": "[] false",
		"{a: 1, b: [{c: 1}]}": "[] false",
	} {
		values, ok := key.Values(valuetest.Doc(doc))
		if got := fmt.Sprint(values, ok); got != want {
			t.Errorf("%s: %s, want %s", doc, got, want)
		}
	}
}
