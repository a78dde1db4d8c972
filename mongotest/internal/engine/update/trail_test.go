package update_test

import (
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/bsonval/valuetest"
	. "github.com/docmodel/docmodel/mongotest/internal/engine/update"
)

// readDisambiguated returns the last field of a description.
func readDisambiguated(t *testing.T, d bson.D) any {
	t.Helper()
	v, ok := bsonval.Get(d, Disambiguated)
	if !ok {
		t.Fatalf("%s has no %s", valuetest.Text(d), Disambiguated)
	}
	return v
}

// TestDisambiguated has the parts of paths whose dotted names have several meanings
// (https://www.mongodb.com/docs/manual/reference/change-events/update/#path-disambiguation).
func TestDisambiguated(t *testing.T) {
	for _, c := range []struct{ reason, doc, update, want string }{
		{"a path of names", "{a: {b: 1}}", "{$set: {'a.b': 2}}", "{}"},
		{"an element", "{a: [1, 2]}", "{$set: {'a.1': 3}}", "{}"},
		{"elements of elements", "{a: [[{b: [1]}]]}", "{$set: {'a.0.0.b.0': 3}}", "{}"},
		{"a number at the top", "{'1': 1}", "{$set: {'1': 2}}", "{}"},
		{"a number at the top, and an element", "{'1': [1]}", "{$set: {'1.0': 2}}", "{}"},
		{"a number within", "{a: {'1': 1}}", "{$set: {'a.1': 2}}", "{'a.1': ['a', '1']}"},
		{"a new number within", "{a: {}}", "{$set: {'a.0': 2}}", "{'a.0': ['a', '0']}"},
		{"a number within an element", "{a: [{'1': 1}]}", "{$set: {'a.0.1': 2}}", "{'a.0.1': ['a', 0, '1']}"},
		{
			reason: "numbers within elements", doc: "{a: [[{'0': 1, x: 1}]]}",
			update: "{$set: {'a.0.0.1': {'b.c': 1}}}",
			want:   "{'a.0.0.1': ['a', 0, 0, '1']}",
		},
		{"numbers within numbers", "{o: {'0': {'1': 1}}}", "{$set: {'o.0.1': 2}}", "{'o.0.1': ['o', '0', '1']}"},
		{"what follows a number", "{a: {'1': {b: 1}}}", "{$set: {'a.1.b': 2}}", "{'a.1.b': ['a', '1', 'b']}"},
		{"a leading zero", "{a: {'01': 1}}", "{$set: {'a.01': 2}}", "{}"},
		{
			reason: "a long number", doc: "{a: {'12345678901': 1}}", update: "{$set: {'a.12345678901': 2}}",
			want: "{'a.12345678901': ['a', '12345678901']}",
		},
		{"other digits", "{a: {'-1': 1, '1x': 1}}", "{$set: {'a.-1': 2, 'a.1x': 2}}", "{}"},
		{"a removed number", "{a: {'1': 1}}", "{$unset: {'a.1': ''}}", "{'a.1': ['a', '1']}"},
		{"an unset element", "{a: [1]}", "{$unset: {'a.0': ''}}", "{}"},
		{"a renamed number", "{a: {'1': 1}}", "{$rename: {'a.1': 'b'}}", "{'a.1': ['a', '1']}"},
		{"$push to a number", "{a: {'1': [1]}}", "{$push: {'a.1': 2}}", "{'a.1.1': ['a', '1', 1]}"},
		{"a number that is made on the way", "{}", "{$set: {'a.1': 1}}", "{}"},
		{"no change", "{a: {'1': 1}}", "{$set: {'a.1': 1}}", "{}"},
		{"twice", "{a: {'1': {}}}", "{$set: {'a.1.b.c': 1, 'a.1.b.d': 1}}", "{'a.1.b': ['a', '1', 'b']}"},
	} {
		u, err := parse(c.update, "")
		if err != nil {
			t.Fatal(err)
		}
		doc := valuetest.Doc(c.doc)
		next, err := u.Apply(doc, Input{Position: -1})
		if err != nil {
			t.Fatal(err)
		}
		got := readDisambiguated(t, Applied{u, Input{Position: -1}}.Describe(doc, next))
		if want := valuetest.Doc(c.want); !bsonval.Equal(got, want) {
			t.Errorf("%s: %s on %s has %s, want %s", c.reason, c.update, c.doc, valuetest.Text(got), c.want)
		}
	}
}

// TestDisambiguatedDifference has the same for the difference of documents, which may have names with dots.
func TestDisambiguatedDifference(t *testing.T) {
	long := "'" + strings.Repeat("x", 128) + "'"
	for _, c := range []struct{ reason, old, next, updated, removed, truncated, want string }{
		{"a name with a dot", "{'a.b': 1}", "{'a.b': 2}", "{'a.b': 2}", "[]", "[]", "{'a.b': ['a.b']}"},
		{"a new one", "{}", "{'a.': 2}", "{'a.': 2}", "[]", "[]", "{'a.': ['a.']}"},
		{"a removed one", "{'a.b': 1}", "{}", "{}", "['a.b']", "[]", "{'a.b': ['a.b']}"},
		{"one within another", "{a: {'b.c': 1, l: " + long + "}}", "{a: {'b.c': 2, l: " + long + "}}",
			"{'a.b.c': 2}", "[]", "[]", "{'a.b.c': ['a', 'b.c']}"},
		{"two of the same dotted name", "{'a.b': 1, a: {b: 1, l: " + long + "}}",
			"{'a.b': 2, a: {b: 2, l: " + long + "}}",
			"{'a.b': 2, 'a.b': 2}", "[]", "[]", "{'a.b': ['a.b']}"},
		{"what is said as a whole", "{a: {'b.c': 1}}", "{a: {'b.c': 2}}", "{a: {'b.c': 2}}", "[]", "[]", "{}"},
		{
			reason: "an array that is cut off", old: "{a: [" + long + ", 1]}", next: "{a: [" + long + "]}",
			updated: "{}",
			removed: "[]", truncated: "[{field: 'a', newSize: 1}]", want: "{}",
		},
		{"one within a name with a dot", "{'a.b': [" + long + ", 1]}", "{'a.b': [" + long + "]}",
			"{}", "[]", "[{field: 'a.b', newSize: 1}]", "{'a.b': ['a.b']}"},
		{"fields, numbers and elements", "{'a.b': [[{'0': [{'1.2': {'c.d': null, l: " + long + "}}]}]]}",
			"{'a.b': [[{'0': [{'1.2': {'c.d': true, l: " + long + "}}]}]]}",
			"{'a.b.0.0.0.0.1.2.c.d': true}", "[]", "[]",
			"{'a.b.0.0.0.0.1.2.c.d': ['a.b', 0, 0, '0', 0, '1.2', 'c.d']}"},
		{"cut off and changed", "{o: {'s.o': {'d..': [[{a: {'b.c': 1, l: " + long + "}}, 'x']]}}}",
			"{o: {'s.o': {'d..': [[{a: {'b.c': 2, l: " + long + "}}]]}}}",
			"{'o.s.o.d...0.0.a.b.c': 2}", "[]", "[{field: 'o.s.o.d...0', newSize: 1}]",
			"{'o.s.o.d...0': ['o', 's.o', 'd..', 0], 'o.s.o.d...0.0.a.b.c': ['o', 's.o', 'd..', 0, 0, 'a', 'b.c']}"},
	} {
		got := Describe(valuetest.Doc(c.old), valuetest.Doc(c.next))
		want := valuetest.Doc("{updatedFields: " + c.updated + ", removedFields: " + c.removed +
			", truncatedArrays: " + c.truncated +
			", disambiguatedPaths: " + c.want + "}")
		if g, w := valuetest.Text(got), valuetest.Text(want); g != w {
			t.Errorf("%s: %s to %s is\n%s, want\n%s", c.reason, c.old, c.next, g, w)
		}
	}
}
