package order_test

import (
	"slices"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	. "github.com/docmodel/docmodel/internal/bsonval/order"
	"github.com/docmodel/docmodel/internal/bsonval/valuetest"
	"github.com/docmodel/docmodel/internal/mongoerr"
)

func TestCompare(t *testing.T) {
	for _, c := range []struct {
		reason, sort, a, b string
		want               int
	}{
		{"ascending", "{a: 1}", "{a: 1}", "{a: 2}", -1},
		{"descending", "{a: -1}", "{a: 1}", "{a: 2}", 1},
		{"second key", "{a: 1, b: -1}", "{a: 1, b: 1}", "{a: 1, b: 2}", 1},
		{"a missing field is null", "{a: 1}", "{}", "{a: null}", 0},
		{"types in their order", "{a: 1}", "{a: 'x'}", "{a: 5}", 1},
		{"an array by its least", "{a: 1}", "{a: [5, 1]}", "{a: 2}", -1},
		{"an array by its greatest", "{a: -1}", "{a: [5, 1]}", "{a: 2}", -1},
		{"an empty array before null", "{a: 1}", "{a: []}", "{a: null}", -1},
		{"dotted", "{'a.b': 1}", "{a: {b: 1}}", "{a: {b: 2}}", -1},
		{"dotted through an array", "{'a.b': 1}", "{a: [{b: 5}, {b: 1}]}", "{a: {b: 2}}", -1},
		{"an array's document without the field is null", "{'a.b': 1}", "{a: [{b: 5}, {}]}", "{a: {b: 2}}", -1},
		{"position", "{'a.1': 1}", "{a: [9, 1]}", "{a: [0, 2]}", -1},
		{"numbers of several types", "{a: 1}", "{a: 1}", "{a: 1.0}", 0},
		{"no key", "{}", "{a: 1}", "{a: 2}", 0},
	} {
		s, err := Parse(valuetest.Doc(c.sort))
		if err != nil {
			t.Errorf("%s: %v", c.reason, err)
			continue
		}
		a, b := valuetest.Doc(c.a), valuetest.Doc(c.b)
		if got := s.Compare(a, b); got != c.want {
			t.Errorf("%s: %d", c.reason, got)
		}
		if got := s.CompareKeys(s.Key(a), s.Key(b)); got != c.want {
			t.Errorf("%s: by keys %d", c.reason, got)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for _, c := range []struct {
		reason, sort string
		code         int32
	}{
		{"direction 2", "{a: 2}", 15975},
		{"direction 'x'", "{a: 'x'}", 15974},
		{"a score without a search", "{a: {$meta: 'textScore'}}", 40218},
		{"$meta of another kind", "{a: {$meta: 'indexKey'}}", mongoerr.NotImplemented},
		{"empty name", "{'': 1}", 40352},
		{"operator's name", "{$a: 1}", 16410},
	} {
		if _, err := Parse(valuetest.Doc(c.sort)); mongoerr.CodeOf(err) != c.code {
			t.Errorf("%s: %v", c.reason, err)
		}
	}
}

func TestStable(t *testing.T) {
	s, _ := Parse(valuetest.Doc("{a: 1}"))
	docs := []bson.D{
		valuetest.Doc("{a: 2, n: 1}"), valuetest.Doc("{a: 1, n: 2}"), valuetest.Doc("{a: 2, n: 3}"),
		valuetest.Doc("{a: 1, n: 4}"),
	}
	slices.SortStableFunc(docs, s.Compare)
	got := ""
	for _, d := range docs {
		got += valuetest.Text(d[1].Value)
	}
	if got != "2413" {
		t.Error(got)
	}
}
