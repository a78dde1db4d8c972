package query_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/bsonval/order"
	"github.com/docmodel/docmodel/internal/bsonval/valuetest"
	. "github.com/docmodel/docmodel/mongotest/internal/engine/query"
)

// checkBounds holds the promise of Bounds: a matching document has a key within them.
func checkBounds(t *testing.T, m *Matcher, d bson.D, matched bool) {
	t.Helper()
	if !matched {
		return
	}
	arrays := false
	for path, list := range m.Bounds() {
		inside := false
		order.Keys(d, bsonval.ParsePath(path), func(v any) {
			for _, i := range list {
				inside = inside || i.Contains(v)
			}
		})
		if !inside {
			t.Errorf("%v matches but has no key of %q within %v", d, path, list)
		}
		arrays = arrays || hasArray(d)
	}
	if arrays {
		return
	}
	for path, list := range m.TightBounds() {
		inside := false
		order.Keys(d, bsonval.ParsePath(path), func(v any) {
			for _, i := range list {
				inside = inside || i.Contains(v)
			}
		})
		if !inside {
			t.Errorf("%v matches but has no key of %q within the tight %v", d, path, list)
		}
	}
}

func hasArray(v any) bool {
	switch x := v.(type) {
	case bson.A:
		return true
	case bson.D:
		for _, e := range x {
			if hasArray(e.Value) {
				return true
			}
		}
	}
	return false
}

func TestBoundsHold(t *testing.T) {
	for _, c := range matchCases {
		checkBounds(t, MustParse(valuetest.Doc(c.filter)), valuetest.Doc(c.doc), c.want)
	}
	for _, c := range matchCases { // every filter against every document
		m := MustParse(valuetest.Doc(c.filter))
		for _, other := range matchCases {
			d := valuetest.Doc(other.doc)
			if ok, err := m.Match(d); ok && err == nil {
				checkBounds(t, m, d, true)
			}
		}
	}
}

func show(list []Interval) string {
	var parts []string
	for _, i := range list {
		open, end := "(", ")"
		if i.LoInc {
			open = "["
		}
		if i.HiInc {
			end = "]"
		}
		parts = append(parts, fmt.Sprintf("%s%s, %s%s", open, valuetest.Text(i.Lo), valuetest.Text(i.Hi), end))
	}
	return strings.Join(parts, " ")
}

func TestBounds(t *testing.T) {
	for _, c := range []struct{ reason, filter, path, bounds, tight string }{
		{"point", "{a: 1}", "a", "[1, 1]", "[1, 1]"},
		{"null is undefined or null", "{a: null}", "a", `[{"$undefined":true}, null]`, `[{"$undefined":true}, null]`},
		{
			reason: "greater, within numbers", filter: "{a: {$gt: 1}}", path: "a",
			bounds: `(1, {"$numberDouble":"Infinity"}]`,
			tight:  `(1, {"$numberDouble":"Infinity"}]`,
		},
		{"two sides hold together only without arrays", "{a: {$gte: 'a', $lt: 'b'}}", "a", `["a", {})`, `["a", "b")`},
		{"the points win over the range", "{a: {$gt: 1, $in: [2, 0]}}", "a", "[0, 0] [2, 2]", "[2, 2]"},
		{"one element fulfills both", "{a: {$elemMatch: {$gte: 1, $lt: 5}}}", "a", "[1, 5)", "[1, 5)"},
		{"below $elemMatch", "{a: {$elemMatch: {b: 1, c: {$gt: 2}}}}", "a.b", "[1, 1]", "[1, 1]"},
		{"$and", "{$and: [{a: 1}, {b: 2}]}", "b", "[2, 2]", "[2, 2]"},
		{
			reason: "prefix of a regular expression", filter: "{a: {$regex: '^ab'}}", path: "a",
			bounds: `["ab", "ac") [{"$regularExpression":{"pattern":"^ab","options":""}}, ` +
				`{"$regularExpression":{"pattern":"^ab","options":""}}]`,
			tight: "",
		},
		{"contradiction", "{a: {$gt: 5, $lt: 3}}", "a", "", ""},
		{"$in with an array has none", "{a: {$in: [1, [2]]}}", "a", "-", "-"},
		{"an array has none", "{a: [1]}", "a", "-", "-"},
		{"$ne has none", "{a: {$ne: 1}}", "a", "-", "-"},
		{"a regular expression that isn't anchored", "{a: {$regex: 'ab'}}", "a", "-", "-"},
		{"a number in the path", "{'a.0': 1}", "a.0", "-", "-"},
		{"$or has none", "{$or: [{a: 1}, {a: 2}]}", "a", "-", "-"},
		{"$in of nothing", "{a: {$in: []}}", "a", "", ""},
		{"documents", "{a: {b: 1}}", "a", `[{"b":1}, {"b":1}]`, ""},
	} {
		m := MustParse(valuetest.Doc(c.filter))
		list, ok := m.Bounds()[c.path]
		switch {
		case c.bounds == "-" && ok:
			t.Errorf("%s: got %s", c.reason, show(list))
		case c.bounds == "-" || c.bounds == "":
		case show(list) != c.bounds:
			t.Errorf("%s: got %s, want %s", c.reason, show(list), c.bounds)
		}
		if c.tight != "" && c.tight != "-" && show(m.TightBounds()[c.path]) != c.tight {
			t.Errorf("%s: tight %s, want %s", c.reason, show(m.TightBounds()[c.path]), c.tight)
		}
	}
}

func TestSplitOr(t *testing.T) {
	for filter, want := range map[string]string{
		"{$or: [{a: 1}, {b: 2}]}":                           "[[a] [b]]",
		"{$and: [{$or: [{a: 1}, {b: 2}]}]}":                 "[[a] [b]]",
		"{$or: [{a: 1}, {b: 2}], c: 1}":                     "[[a c] [b c]]",
		"{$and: [{c: 1}, {$or: [{a: 1}, {b: 2}]}, {d: 1}]}": "[[a c d] [b c d]]",
		"{$or: [{a: 1}, {b: 2}], $and: [{$or: [{c: 1}]}]}":  "[[a c] [b c] [c]]",
		"{a: 1}":                            "[]",
		"{$nor: [{$or: [{a: 1}, {b: 2}]}]}": "[]",
	} {
		got := []any{}
		for _, branches := range MustParse(valuetest.Doc(filter)).SplitOr() {
			for _, m := range branches {
				got = append(got, slices.Sorted(maps.Keys(m.Bounds())))
			}
		}
		if fmt.Sprint(got) != want {
			t.Errorf("%s: branches on %v, want %s", filter, got, want)
		}
	}
}
