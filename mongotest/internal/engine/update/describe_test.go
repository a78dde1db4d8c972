package update_test

import (
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/bsonval/valuetest"
	. "github.com/docmodel/docmodel/mongotest/internal/engine/update"
)

func TestDescribe(t *testing.T) {
	long := "'" + strings.Repeat("x", 80) + "'"
	for _, c := range []struct{ reason, old, next, updated, removed, truncated string }{
		{"a field", "{_id: 1, a: 1, b: 2}", "{_id: 1, a: 2, b: 2}", "{a: 2}", "[]", "[]"},
		{"a type", "{a: 1}", "{a: 1.0}", "{a: 1.0}", "[]", "[]"},
		{"a new field", "{a: 1}", "{a: 1, b: {c: 1}}", "{b: {c: 1}}", "[]", "[]"},
		{"a removed field", "{a: 1, b: 2}", "{b: 2}", "{}", "['a']", "[]"},
		{"one embedded field of many", "{a: {b: 1, c: 2, d: 3}}", "{a: {b: 1, c: 5, d: 3}}", "{'a.c': 5}", "[]", "[]"},
		{
			reason: "a new embedded field", old: "{a: {b: 1, l: " + long + "}}",
			next:    "{a: {b: 1, l: " + long + ", c: 2}}",
			updated: "{'a.c': 2}", removed: "[]", truncated: "[]",
		},
		{"20 bytes to say it, 19 for the document", "{a: {b: 1}}", "{a: {b: 1, c: 2}}", "{a: {b: 1, c: 2}}", "[]",
			"[]"},
		{"24 bytes to say it, 27 for the document", "{a: {b: 1.0}}", "{a: {b: 1.0, c: 2.0}}", "{'a.c': 2.0}", "[]",
			"[]"},
		{"a removed embedded field", "{a: {b: 1, l: " + long + "}}", "{a: {l: " + long + "}}", "{}", "['a.b']", "[]"},
		{
			reason: "what is shorter as a whole", old: "{a: {b: 1, c: 2, d: 3, e: 4}}",
			next:    "{a: {b: 3, c: 4, d: 5, e: 6}}",
			updated: "{a: {b: 3, c: 4, d: 5, e: 6}}", removed: "[]", truncated: "[]",
		},
		{"a document for a scalar", "{a: 1}", "{a: {b: 1}}", "{a: {b: 1}}", "[]", "[]"},
		{"an array for a document", "{a: {b: 1}}", "{a: [1]}", "{a: [1]}", "[]", "[]"},
		{"$push", "{a: [1, 2]}", "{a: [1, 2, 3]}", "{'a.2': 3}", "[]", "[]"},
		{"an element", "{a: [1, 2, 3]}", "{a: [1, 5, 3]}", "{'a.1': 5}", "[]", "[]"},
		{
			reason: "a field of an element", old: "{a: [{b: 1, c: 1}, {l: " + long + ", c: 2}]}",
			next: "{a: [{b: 1, c: 1}, {l: " + long + ", c: 3}]}", updated: "{'a.1.c': 3}", removed: "[]",
			truncated: "[]",
		},
		{
			reason: "an element that is shorter as a whole", old: "{a: [{b: 1, c: 1}, {b: 2, c: 2}]}",
			next: "{a: [{b: 1, c: 1}, {b: 2, c: 3}]}", updated: "{'a.1': {b: 2, c: 3}}", removed: "[]", truncated: "[]",
		},
		{
			reason: "$pop", old: "{a: [" + long + ", " + long + ", 3]}", next: "{a: [" + long + ", " + long + "]}",
			updated: "{}", removed: "[]", truncated: "[{field: 'a', newSize: 2}]",
		},
		{
			reason: "a shorter and changed array", old: "{a: [" + long + ", 2, 3]}", next: "{a: [" + long + ", 4]}",
			updated: "{'a.1': 4}", removed: "[]", truncated: "[{field: 'a', newSize: 2}]",
		},
		{"$pull from the front is the whole array", "{a: [1, 2, 3, 4]}", "{a: [2, 3, 4]}", "{a: [2, 3, 4]}", "[]",
			"[]"},
		{
			reason: "a short array cut off", old: "{a: ['foo', {b: 'bar'}, 1, 2, 3]}", next: "{a: ['foo', {b: 'bar'}]}",
			updated: "{}", removed: "[]", truncated: "[{field: 'a', newSize: 2}]",
		},
		{"an array cut to less than it takes to say so", "{a: [1, 2, 3]}", "{a: [1]}", "{a: [1]}", "[]", "[]"},
		{"an emptied array", "{a: [1]}", "{a: []}", "{a: []}", "[]", "[]"},
		{"an array in an array", "{a: [[1, 2], " + long + "]}", "{a: [[1, 2, 3], " + long + "]}", "{'a.0.2': 3}",
			"[]", "[]"},
		{
			reason: "a name with a dot", old: "{a: {'b.c': 1, l: " + long + "}}",
			next:    "{a: {'b.c': 2, l: " + long + "}}",
			updated: "{'a.b.c': 2}", removed: "[]", truncated: "[]",
		},
		{"fields that changed places", "{a: 1, b: 2, c: 3}", "{b: 2, a: 1, c: 3}", "{b: 2, a: 1, c: 3}", "[]", "[]"},
		{"embedded fields that changed places", "{a: {b: 1, c: 2}}", "{a: {c: 2, b: 1}}", "{a: {c: 2, b: 1}}", "[]",
			"[]"},
		{"nothing", "{a: {b: [1]}}", "{a: {b: [1]}}", "{}", "[]", "[]"},
	} {
		got := Describe(valuetest.Doc(c.old), valuetest.Doc(c.next))[:3]
		want := bson.D{
			{Key: "updatedFields", Value: valuetest.Value(c.updated)},
			{Key: "removedFields", Value: valuetest.Value(c.removed)},
			{Key: "truncatedArrays", Value: valuetest.Value(c.truncated)},
		}
		if g, w := valuetest.Text(got), valuetest.Text(want); g != w {
			t.Errorf("%s: %s to %s is\n%s, want\n%s", c.reason, c.old, c.next, g, w)
		}
	}
}

// TestDescribeApplied changes random documents and holds that what Describe
// says makes one of the other, as a consumer would: by $set and $unset.
func TestDescribeApplied(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		old := randomDocument(rng, 3)
		next := mutate(rng, old, 3).(bson.D)
		got := applyDescription(t, old, Describe(old, next))
		if !bsonval.Equal(sortFields(got), sortFields(next)) {
			t.Fatalf("%s to %s: %s gives %s", valuetest.Text(old), valuetest.Text(next),
				valuetest.Text(Describe(old, next)), valuetest.Text(got))
		}
	}
}

func applyDescription(t *testing.T, old, d bson.D) bson.D {
	t.Helper()
	doc := old
	truncated, _ := bsonval.Get(d, "truncatedArrays")
	for _, v := range truncated.(bson.A) {
		path, size := v.(bson.D)[0].Value.(string), v.(bson.D)[1].Value.(int32)
		doc = cutArray(doc, strings.Split(path, "."), int(size)).(bson.D)
	}
	updated, _ := bsonval.Get(d, "updatedFields")
	removed, _ := bsonval.Get(d, "removedFields")
	change := bson.D{}
	if set := updated.(bson.D); len(set) > 0 {
		change = append(change, bson.E{Key: "$set", Value: set})
	}
	unset := bson.D{}
	for _, name := range removed.(bson.A) {
		unset = append(unset, bson.E{Key: name.(string), Value: ""})
	}
	if len(unset) > 0 {
		change = append(change, bson.E{Key: "$unset", Value: unset})
	}
	if len(change) == 0 {
		return doc
	}
	u, err := Parse(change, nil, Options{})
	if err != nil {
		t.Fatalf("%s: %v", valuetest.Text(change), err)
	}
	next, err := u.Apply(doc, Input{Position: -1})
	if err != nil {
		t.Fatalf("%s on %s: %v", valuetest.Text(change), valuetest.Text(doc), err)
	}
	return next
}

func cutArray(v any, path []string, size int) any {
	switch v := v.(type) {
	case bson.D:
		next := append(bson.D{}, v...)
		i := bsonval.Index(v, path[0])
		next[i].Value = cutArray(v[i].Value, path[1:], size)
		return next
	case bson.A:
		next := append(bson.A{}, v...)
		if len(path) == 0 {
			return next[:size]
		}
		i, _ := strconv.Atoi(path[0])
		next[i] = cutArray(v[i], path[1:], size)
		return next
	}
	return v
}

// sortFields sorts fields by name, for a comparison that leaves their order out.
func sortFields(v any) any {
	switch v := v.(type) {
	case bson.D:
		out := bson.D{}
		for _, e := range v {
			at := 0
			for at < len(out) && out[at].Key < e.Key {
				at++
			}
			out = append(out[:at:at], append(bson.D{{Key: e.Key, Value: sortFields(e.Value)}}, out[at:]...)...)
		}
		return out
	case bson.A:
		out := bson.A{}
		for _, x := range v {
			out = append(out, sortFields(x))
		}
		return out
	}
	return v
}

var fieldNames = []string{"a", "b", "c", "d"}

func randomDocument(rng *rand.Rand, depth int) bson.D {
	d := bson.D{}
	for _, i := range rng.Perm(len(fieldNames))[:rng.IntN(len(fieldNames)+1)] {
		d = append(d, bson.E{Key: fieldNames[i], Value: randomValue(rng, depth-1)})
	}
	return d
}

func randomValue(rng *rand.Rand, depth int) any {
	switch k := rng.IntN(6); {
	case k == 0 && depth > 0:
		return randomDocument(rng, depth)
	case k == 1 && depth > 0:
		a := bson.A{}
		for range rng.IntN(5) {
			a = append(a, randomValue(rng, depth-1))
		}
		return a
	case k == 2:
		return strings.Repeat("x", rng.IntN(60))
	}
	return int32(rng.IntN(3))
}

// mutate returns a value that has something in common with v.
func mutate(rng *rand.Rand, v any, depth int) any {
	if rng.IntN(8) == 0 && depth < 3 {
		return randomValue(rng, depth)
	}
	switch v := v.(type) {
	case bson.D:
		d := bson.D{}
		for _, e := range v {
			if rng.IntN(8) > 0 {
				d = append(d, bson.E{Key: e.Key, Value: mutate(rng, e.Value, depth-1)})
			}
		}
		if name := fieldNames[rng.IntN(len(fieldNames))]; bsonval.Index(d, name) < 0 {
			d = append(d, bson.E{Key: name, Value: randomValue(rng, depth-1)})
		}
		if rng.IntN(6) == 0 {
			rng.Shuffle(len(d), func(i, j int) { d[i], d[j] = d[j], d[i] })
		}
		return d
	case bson.A:
		a := bson.A{}
		for _, x := range v {
			if rng.IntN(8) > 0 {
				a = append(a, mutate(rng, x, depth-1))
			}
		}
		for range rng.IntN(2) {
			a = append(a, randomValue(rng, depth-1))
		}
		return a
	}
	if rng.IntN(3) == 0 {
		return randomValue(rng, depth)
	}
	return v
}

// TestDescribeOperators has what the operators' paths say, whatever is shorter.
func TestDescribeOperators(t *testing.T) {
	for _, c := range []struct{ reason, doc, update, updated, removed string }{
		{"a field", "{a: 1}", "{$set: {a: 2, b: 3}}", "{a: 2, b: 3}", "[]"},
		{"no change", "{a: 1}", "{$set: {a: 1}, $unset: {b: ''}}", "{}", "[]"},
		{"a whole document", "{a: {b: 1, c: 2}}", "{$set: {a: {b: 1, c: 3}}}", "{a: {b: 1, c: 3}}", "[]"},
		{"a field within", "{a: {b: 1}}", "{$set: {'a.b': 2}}", "{'a.b': 2}", "[]"},
		{"what is made on the way", "{}", "{$set: {'a.b.c': 1, 'a.b.d': 2}}", "{a: {b: {c: 1, d: 2}}}", "[]"},
		{"$unset", "{a: {b: 1, c: 2}}", "{$unset: {'a.b': ''}}", "{}", "['a.b']"},
		{"$unset of an element", "{a: [1, 2]}", "{$unset: {'a.0': ''}}", "{'a.0': null}", "[]"},
		{"$rename", "{a: 1}", "{$rename: {a: 'b.c'}}", "{b: {c: 1}}", "['a']"},
		{"$push", "{a: [1]}", "{$push: {a: {$each: [2, 3]}}}", "{'a.1': 2, 'a.2': 3}", "[]"},
		{"$push to nothing", "{}", "{$push: {a: 1}}", "{a: [1]}", "[]"},
		{"$push at the beginning", "{a: [1]}", "{$push: {a: {$each: [2], $position: 0}}}", "{a: [2, 1]}", "[]"},
		{"$push and $slice", "{a: [1, 2]}", "{$push: {a: {$each: [3], $slice: -2}}}", "{a: [2, 3]}", "[]"},
		{"$push and $sort", "{a: [1]}", "{$push: {a: {$each: [2], $sort: 1}}}", "{a: [1, 2]}", "[]"},
		{"$addToSet", "{a: [1]}", "{$addToSet: {a: 2}}", "{a: [1, 2]}", "[]"},
		{"$pop", "{a: [1, 2, 3]}", "{$pop: {a: 1}}", "{a: [1, 2]}", "[]"},
		{"$pull", "{a: [1, 2, 3]}", "{$pull: {a: {$gt: 1}}}", "{a: [1]}", "[]"},
		{"an element", "{a: [1, 2]}", "{$set: {'a.1': 3}}", "{'a.1': 3}", "[]"},
		{"the next element", "{a: [1]}", "{$set: {'a.1': 3}}", "{'a.1': 3}", "[]"},
		{"an element beyond", "{a: [1]}", "{$set: {'a.2': 3}}", "{a: [1, null, 3]}", "[]"},
		{"every element", "{a: [{b: 1}, {b: 2}]}", "{$inc: {'a.$[].b': 1}}", "{'a.0.b': 2, 'a.1.b': 3}", "[]"},
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
		got := Applied{u, Input{Position: -1}}.Describe(doc, next)[:3]
		want := valuetest.Doc("{updatedFields: " + c.updated + ", removedFields: " + c.removed +
			", truncatedArrays: []}")
		if !bsonval.Equal(got, want) {
			t.Errorf("%s: %s, want %s", c.reason, valuetest.Text(got), valuetest.Text(want))
		}
	}
}

// MongoDB logs an update by a pipeline as a difference if the difference and 15 bytes are smaller than the new
// document. Each case has the length of a padding from which on they are smaller: the event is a replacement below it.
func TestLoggedWholeBySize(t *testing.T) {
	pad := func(n int, more ...bson.E) bson.D {
		return append(bson.D{{Key: "_id", Value: int32(1)}, {Key: "pad", Value: strings.Repeat("x", n)}}, more...)
	}
	inner := func(b, c int32) bson.D {
		return bson.D{{Key: "b", Value: b}, {Key: "c", Value: c}, {Key: "text", Value: strings.Repeat("y", 40)}}
	}
	for _, c := range []struct {
		reason    string
		old, next bson.E
		smaller   int
	}{
		// {u: {n: 2}} has 5+3+5+7 bytes, the document 5+9+10+7 and the padding.
		{"a field", bson.E{Key: "n", Value: int32(1)}, bson.E{Key: "n", Value: int32(2)}, 35 - 31 + 1},
		{"a longer name", bson.E{Key: "number", Value: int32(1)}, bson.E{Key: "number", Value: int32(2)}, 40 - 36 + 1},
		{"another type", bson.E{Key: "n", Value: int32(1)}, bson.E{Key: "n", Value: int64(1)}, 39 - 35 + 1},
		{"a new field", bson.E{}, bson.E{Key: "n", Value: int32(2)}, 35 - 31 + 1},
		// {d: {n: false}} has 5+3+5+4 bytes, the document 5+9+10.
		{"a removed field", bson.E{Key: "n", Value: int32(1)}, bson.E{}, 32 - 24 + 1},
		// {sa: {u: {b: 2}}} has 5+4+5+3+5+7 bytes, the document 5+9+10+3+(5+7+7+51).
		{"a field of an embedded document", bson.E{Key: "a", Value: inner(1, 1)},
			bson.E{Key: "a", Value: inner(2, 1)}, 0},
	} {
		doc := func(n int, e bson.E) bson.D {
			if e.Key == "" {
				return pad(n)
			}
			return pad(n, e)
		}
		for n := range 20 {
			old, next := doc(n, c.old), doc(n, c.next)
			u, err := Parse(bson.A{bson.D{{Key: "$replaceWith", Value: bson.D{{Key: "$literal", Value: next}}}}}, nil,
				Options{})
			if err != nil {
				t.Fatal(err)
			}
			for who, how := range map[string]interface{ IsLoggedWhole(old, next bson.D) bool }{
				"an update": Applied{u, Input{Position: -1}}, "$merge": Transformed{},
			} {
				if got := how.IsLoggedWhole(old, next); got != (n < c.smaller) {
					t.Errorf("%s, by %s, with a padding of %d: whole is %v", c.reason, who, n, got)
				}
			}
			set, err := Parse(bson.D{{Key: "$set", Value: bson.D{{Key: "n", Value: int32(2)}}}}, nil, Options{})
			if err != nil || (Applied{set, Input{Position: -1}}).IsLoggedWhole(old, next) {
				t.Errorf("%s, by an operator: a replacement, %v", c.reason, err)
			}
		}
	}
}
