package update_test

import (
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/bsonval/valuetest"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/query"
	. "github.com/docmodel/docmodel/mongotest/internal/engine/update"
)

var now = time.Date(2020, 1, 2, 3, 4, 5, 0, time.UTC)

// parse reads an update; arrayFilters stand in the update's "filters" when it has them.
func parse(text, filters string) (*Update, error) {
	if filters == "" {
		filters = "[]"
	}
	return Parse(valuetest.Value(text), valuetest.Array(filters), Options{})
}

var applyCases = []struct{ reason, doc, update, filters, want string }{
	{"$set", "{_id: 1, a: 1}", "{$set: {a: 2}}", "", "{_id: 1, a: 2}"},
	{"$set changes the type", "{a: 1}", "{$set: {a: 'x'}}", "", "{a: 'x'}"},
	{"new fields come by name", "{z: 0}", "{$set: {c: 1, a: 2, b: 3}}", "", "{z: 0, a: 2, b: 3, c: 1}"},
	{"numeric names by number", "{}", "{$set: {'a.10': 1, 'a.9': 2}}", "", "{a: {'9': 2, '10': 1}}"},
	{"new fields of several operators by name", "{}", "{$set: {b: 1}, $inc: {a: 2}}", "", "{a: 2, b: 1}"},
	{"$set makes the path", "{}", "{$set: {'a.b.c': 1}}", "", "{a: {b: {c: 1}}}"},
	{"$set an element", "{a: [1, 2]}", "{$set: {'a.1': 5}}", "", "{a: [1, 5]}"},
	{"$set beyond the end pads", "{a: [1]}", "{$set: {'a.3': 5}}", "", "{a: [1, null, null, 5]}"},
	{"$set in an element", "{a: [{b: 1}]}", "{$set: {'a.0.b': 5}}", "", "{a: [{b: 5}]}"},
	{"$set of nothing", "{a: 1}", "{$set: {}}", "", "{a: 1}"},
	{"$unset", "{a: 1, b: 2}", "{$unset: {a: ''}}", "", "{b: 2}"},
	{"$unset of nothing", "{b: 2}", "{$unset: {a: '', 'b.c': ''}}", "", "{b: 2}"},
	{"$unset an element", "{a: [1, 2]}", "{$unset: {'a.0': ''}}", "", "{a: [null, 2]}"},
	{"$inc", "{a: 1}", "{$inc: {a: 2}}", "", "{a: 3}"},
	{"$inc widens", "{a: 2147483647}", "{$inc: {a: 1}}", "", "{a: {$numberLong: '2147483648'}}"},
	{"$inc by a double", "{a: 1}", "{$inc: {a: 0.5}}", "", "{a: 1.5}"},
	{"$inc of nothing", "{}", "{$inc: {'a.b': 2}}", "", "{a: {b: 2}}"},
	{"$mul", "{a: 3}", "{$mul: {a: 2}}", "", "{a: 6}"},
	{"$mul of nothing is zero in the argument's type", "{}", "{$mul: {a: 2.5}}", "", "{a: 0.0}"},
	{"$min", "{a: 3, b: 3}", "{$min: {a: 2, b: 4, c: 1}}", "", "{a: 2, b: 3, c: 1}"},
	{"$max keeps an equal value's type", "{a: 3}", "{$max: {a: 3.0}}", "", "{a: 3}"},
	{"$max across types", "{a: 3}", "{$max: {a: 'x'}}", "", "{a: 'x'}"},
	{"$rename", "{a: 1, b: 2}", "{$rename: {a: 'c'}}", "", "{b: 2, c: 1}"},
	{"$rename over another", "{a: 1, b: 2}", "{$rename: {a: 'b'}}", "", "{b: 1}"},
	{"$rename of nothing", "{b: 2}", "{$rename: {a: 'b'}}", "", "{b: 2}"},
	{"$rename into a document", "{a: 1}", "{$rename: {a: 'b.c'}}", "", "{b: {c: 1}}"},
	{"$setOnInsert doesn't update", "{a: 1}", "{$setOnInsert: {b: 1}}", "", "{a: 1}"},
	{
		reason: "$currentDate", doc: "{}",
		update:  "{$currentDate: {a: true, b: {$type: 'timestamp'}}}",
		filters: "",
		want:    "{a: {$date: '2020-01-02T03:04:05Z'}, b: {$timestamp: {t: 1577934245, i: 1}}}",
	},
	{"$bit", "{a: 13}", "{$bit: {a: {and: 10}}}", "", "{a: 8}"},
	{"$bit or with a long", "{a: 1}", "{$bit: {a: {or: {$numberLong: '2'}}}}", "", "{a: {$numberLong: '3'}}"},

	{"$push", "{a: [1]}", "{$push: {a: 2}}", "", "{a: [1, 2]}"},
	{"$push an array", "{a: [1]}", "{$push: {a: [2]}}", "", "{a: [1, [2]]}"},
	{"$push onto nothing", "{}", "{$push: {'a.b': 1}}", "", "{a: {b: [1]}}"},
	{"$push $each", "{a: [1]}", "{$push: {a: {$each: [2, 3]}}}", "", "{a: [1, 2, 3]}"},
	{"$push nothing makes the array", "{}", "{$push: {a: {$each: []}}}", "", "{a: []}"},
	{"$position", "{a: [1, 4]}", "{$push: {a: {$each: [2, 3], $position: 1}}}", "", "{a: [1, 2, 3, 4]}"},
	{"$position from the end", "{a: [1, 4]}", "{$push: {a: {$each: [2], $position: -1}}}", "", "{a: [1, 2, 4]}"},
	{"$slice of the first", "{a: [1, 2]}", "{$push: {a: {$each: [3], $slice: 2}}}", "", "{a: [1, 2]}"},
	{"$slice of the last", "{a: [1, 2]}", "{$push: {a: {$each: [3], $slice: -2}}}", "", "{a: [2, 3]}"},
	{"$slice to nothing", "{a: [1, 2]}", "{$push: {a: {$each: [3], $slice: 0}}}", "", "{a: []}"},
	{"$sort values", "{a: [3, 1]}", "{$push: {a: {$each: [2], $sort: -1}}}", "", "{a: [3, 2, 1]}"},
	{
		reason: "$sort by field, stable, then $slice", doc: "{a: [{s: 2, n: 1}, {s: 1}]}",
		update:  "{$push: {a: {$each: [{s: 2, n: 2}], $sort: {s: -1}, $slice: 2}}}",
		filters: "", want: "{a: [{s: 2, n: 1}, {s: 2, n: 2}]}",
	},
	{
		reason: "$sort by a field that is an array", doc: "{a: [{s: [-1]}, 7, {s: 1}]}",
		update:  "{$push: {a: {$each: [{s: null}], $sort: {s: 1}}}}",
		filters: "", want: "{a: [7, {s: null}, {s: 1}, {s: [-1]}]}",
	},
	{
		reason: "$sort by a place in an array", doc: "{a: [{s: [2]}, {s: [1, 9]}]}",
		update: "{$push: {a: {$each: [], $sort: {'s.0': 1}}}}", filters: "", want: "{a: [{s: [1, 9]}, {s: [2]}]}",
	},
	{"$addToSet", "{a: [1]}", "{$addToSet: {a: 2}}", "", "{a: [1, 2]}"},
	{"$addToSet what is there", "{a: [1]}", "{$addToSet: {a: 1.0}}", "", "{a: [1]}"},
	{"$addToSet $each", "{a: [1]}", "{$addToSet: {a: {$each: [1, 2, 2]}}}", "", "{a: [1, 2]}"},
	{
		reason: "$addToSet documents in order", doc: "{a: [{x: 1, y: 2}]}", update: "{$addToSet: {a: {y: 2, x: 1}}}",
		filters: "", want: "{a: [{x: 1, y: 2}, {y: 2, x: 1}]}",
	},
	{"$pop", "{a: [1, 2]}", "{$pop: {a: 1}}", "", "{a: [1]}"},
	{"$pop the first", "{a: [1, 2]}", "{$pop: {a: -1}}", "", "{a: [2]}"},
	{"$pop nothing", "{a: []}", "{$pop: {a: 1, b: 1}}", "", "{a: []}"},
	{"$pull a value", "{a: [1, 2, 1.0]}", "{$pull: {a: 1}}", "", "{a: [2]}"},
	{"$pull by operator", "{a: [1, 2, 3]}", "{$pull: {a: {$gte: 2}}}", "", "{a: [1]}"},
	{"$pull by a query on documents", "{a: [{b: 1, c: 1}, {b: 2}, 1]}", "{$pull: {a: {b: 1}}}", "", "{a: [{b: 2}, 1]}"},
	{
		reason: "$pull by a query with operators", doc: "{a: [{id: 1, v: 1}, {id: 1, v: 5}]}",
		update: "{$pull: {a: {id: 1, v: {$lte: 3}}}}", filters: "", want: "{a: [{id: 1, v: 5}]}",
	},
	{"$pull by $or", "{a: [{b: 1}, {b: 2}, {b: 3}]}", "{$pull: {a: {$or: [{b: 1}, {b: 3}]}}}", "", "{a: [{b: 2}]}"},
	{
		reason: "$pull by regular expression", doc: "{a: ['x', 'y']}",
		update:  "{$pull: {a: {$regularExpression: {pattern: '^x', options: ''}}}}",
		filters: "", want: "{a: ['y']}",
	},
	{"$pull of nothing", "{}", "{$pull: {a: 1}}", "", "{}"},
	{"$pullAll", "{a: [1, 2, 3, 1]}", "{$pullAll: {a: [1, 3]}}", "", "{a: [2]}"},

	{"$[]", "{a: [1, 2]}", "{$inc: {'a.$[]': 1}}", "", "{a: [2, 3]}"},
	{"$[] and a field", "{a: [{b: 1}, {b: 2, c: 0}]}", "{$set: {'a.$[].c': 5}}", "",
		"{a: [{b: 1, c: 5}, {b: 2, c: 5}]}"},
	{"$[e]", "{a: [1, 5, 9]}", "{$set: {'a.$[e]': 0}}", "[{e: {$gte: 5}}]", "{a: [1, 0, 0]}"},
	{
		reason: "$[e] by a field", doc: "{a: [{id: 1}, {id: 2}]}", update: "{$set: {'a.$[e].n': 'x'}}",
		filters: "[{'e.id': 2, 'e.v': {$not: {$gte: 3}}}]", want: "{a: [{id: 1}, {id: 2, n: 'x'}]}",
	},
	{
		reason: "$[g] and $[e]", doc: "{g: [{n: 1, i: [1, 2]}, {n: 2, i: [2]}]}",
		update:  "{$set: {'g.$[g].i.$[e]': 0}}",
		filters: "[{'g.n': 1}, {e: 2}]", want: "{g: [{n: 1, i: [1, 0]}, {n: 2, i: [2]}]}",
	},
	{"$[e] with $or", "{a: [1, 5, 9]}", "{$set: {'a.$[e]': 0}}", "[{$or: [{e: 1}, {e: 9}]}]", "{a: [0, 5, 0]}"},
	{"$[e] that matches none", "{a: [1]}", "{$set: {'a.$[e]': 0}}", "[{e: 7}]", "{a: [1]}"},
	{"replacement keeps the _id", "{_id: 1, a: 1}", "{b: 2}", "", "{_id: 1, b: 2}"},
	{"replacement with the same _id", "{_id: 1, a: 1}", "{b: 2, _id: 1}", "", "{b: 2, _id: 1}"},
	{"pipeline", "{_id: 1, a: 1, b: 2}", "[{$set: {c: {$add: ['$a', '$b']}}}, {$unset: 'a'}]", "",
		"{_id: 1, b: 2, c: 3}"},
	{"pipeline without _id", "{_id: 1, a: {x: 1}}", "[{$replaceWith: '$a'}]", "", "{_id: 1, x: 1}"},
}

func TestApply(t *testing.T) {
	for _, c := range applyCases {
		u, err := parse(c.update, c.filters)
		if err != nil {
			t.Errorf("%s: %v", c.reason, err)
			continue
		}
		doc := valuetest.Doc(c.doc)
		got, err := u.Apply(doc, Input{Position: -1, Now: now})
		if err != nil || !bsonval.Equal(got, valuetest.Doc(c.want)) {
			t.Errorf("%s: %s, %v; want %s", c.reason, valuetest.Text(got), err, c.want)
		}
		if !bsonval.Equal(doc, valuetest.Doc(c.doc)) {
			t.Errorf("%s: the old document became %s", c.reason, valuetest.Text(doc))
		}
	}
}

var errorCases = []struct {
	reason, doc, update, filters string
	code                         int32
}{
	{"unknown operator", "{}", "{$foo: {a: 1}}", "", mongoerr.FailedToParse},
	{"operator after none", "{}", "{a: 1, $set: {b: 1}}", "", mongoerr.DollarPrefixedFieldName},
	{"none after operator", "{}", "{$set: {b: 1}, a: 1}", "", mongoerr.FailedToParse},
	{"argument that is no document", "{}", "{$set: 1}", "", mongoerr.FailedToParse},
	{"a path twice", "{}", "{$set: {a: 1}, $inc: {a: 1}}", "", mongoerr.ConflictingUpdateOperators},
	{"a path and one below", "{}", "{$set: {a: 1, 'a.b': 2}}", "", mongoerr.ConflictingUpdateOperators},
	{"$rename onto a set path", "{}", "{$set: {b: 1}, $rename: {a: 'b'}}", "", mongoerr.ConflictingUpdateOperators},
	{"by position and by operator", "{a: [1]}", "{$set: {'a.0': 1, 'a.$[]': 2}}", "",
		mongoerr.ConflictingUpdateOperators},
	{
		reason: "two filters, one element", doc: "{a: [1]}", update: "{$set: {'a.$[e]': 1, 'a.$[f]': 2}}",
		filters: "[{e: 1}, {f: 1}]", code: mongoerr.ConflictingUpdateOperators,
	},
	{"through a scalar", "{a: 1}", "{$set: {'a.b': 1}}", "", mongoerr.PathNotViable},
	{"through null", "{a: null}", "{$set: {'a.b': 1}}", "", mongoerr.PathNotViable},
	{"a name in an array", "{a: [1]}", "{$set: {'a.b': 1}}", "", mongoerr.PathNotViable},
	{"empty name", "{}", "{$set: {'a..b': 1}}", "", mongoerr.EmptyFieldName},
	{"dollar name", "{}", "{$set: {'a.$b': 1}}", "", mongoerr.DollarPrefixedFieldName},
	{"_id", "{_id: 1}", "{$set: {_id: 2}}", "", mongoerr.ImmutableField},
	{"_id away", "{_id: 1}", "{$unset: {_id: ''}}", "", mongoerr.ImmutableField},
	{"within _id", "{_id: {a: 1}}", "{$set: {'_id.a': 2}}", "", mongoerr.ImmutableField},
	{"replacement's _id", "{_id: 1}", "{_id: 2}", "", mongoerr.ImmutableField},
	{"pipeline's _id", "{_id: 1}", "[{$set: {_id: 2}}]", "", mongoerr.ImmutableField},
	{"$inc by a string", "{}", "{$inc: {a: 'x'}}", "", mongoerr.TypeMismatch},
	{"$inc of a string", "{a: 'x'}", "{$inc: {a: 1}}", "", mongoerr.TypeMismatch},
	{"$inc of null", "{a: null}", "{$inc: {a: 1}}", "", mongoerr.TypeMismatch},
	{"$inc overflows", "{a: {$numberLong: '9223372036854775807'}}", "{$inc: {a: 1}}", "", mongoerr.BadValue},
	{"$push onto a scalar", "{a: 1}", "{$push: {a: 1}}", "", mongoerr.BadValue},
	{"$push unknown clause", "{}", "{$push: {a: {$each: [], $foo: 1}}}", "", mongoerr.BadValue},
	{"$push $each of no array", "{}", "{$push: {a: {$each: 1}}}", "", mongoerr.BadValue},
	{"$push $slice of no number", "{}", "{$push: {a: {$each: [], $slice: 'x'}}}", "", mongoerr.BadValue},
	{"$push $sort by 2", "{}", "{$push: {a: {$each: [], $sort: 2}}}", "", mongoerr.BadValue},
	{"$addToSet onto null", "{a: null}", "{$addToSet: {a: 1}}", "", mongoerr.BadValue},
	{"$pop by 2", "{}", "{$pop: {a: 2}}", "", mongoerr.FailedToParse},
	{"$pop of a scalar", "{a: 1}", "{$pop: {a: 1}}", "", mongoerr.TypeMismatch},
	{"$pull of a scalar", "{a: 1}", "{$pull: {a: 1}}", "", mongoerr.BadValue},
	{"$pullAll by no array", "{}", "{$pullAll: {a: 1}}", "", mongoerr.BadValue},
	{"$rename to itself", "{}", "{$rename: {a: 'a'}}", "", mongoerr.BadValue},
	{"$rename to no string", "{}", "{$rename: {a: 1}}", "", mongoerr.BadValue},
	{"$rename from an array", "{a: [{b: 1}]}", "{$rename: {'a.0.b': 'c'}}", "", mongoerr.BadValue},
	{"$bit of a double", "{a: 1.5}", "{$bit: {a: {and: 1}}}", "", mongoerr.BadValue},
	{"$bit unknown", "{}", "{$bit: {a: {nand: 1}}}", "", mongoerr.BadValue},
	{"$currentDate of a number", "{}", "{$currentDate: {a: 1}}", "", mongoerr.BadValue},
	{"$ without a match", "{a: [1]}", "{$set: {'a.$': 1}}", "", mongoerr.BadValue},
	{"$ twice", "{}", "{$set: {'a.$.b.$': 1}}", "", mongoerr.BadValue},
	{"$ first", "{}", "{$set: {'$': 1}}", "", mongoerr.BadValue},
	{"$[] of nothing", "{}", "{$set: {'a.$[]': 1}}", "", mongoerr.BadValue},
	{"$setOnInsert by position without one", "{_id: 1}", "{$setOnInsert: {'c.$.b': 1}}", "", mongoerr.BadValue},
	{"$setOnInsert of all elements of nothing", "{_id: 1}", "{$setOnInsert: {'c.$[].b': 1}}", "", mongoerr.BadValue},
	{"$[] of a scalar", "{a: 1}", "{$set: {'a.$[]': 1}}", "", mongoerr.BadValue},
	{"no filter for it", "{}", "{$set: {'a.$[e]': 1}}", "", mongoerr.BadValue},
	{"a filter without use", "{}", "{$set: {a: 1}}", "[{e: 1}]", mongoerr.FailedToParse},
	{"a filter of two names", "{}", "{$set: {'a.$[e]': 1}}", "[{e: 1, f: 2}]", mongoerr.FailedToParse},
	{"two filters of a name", "{}", "{$set: {'a.$[e]': 1}}", "[{e: 1}, {e: 2}]", mongoerr.FailedToParse},
	{"a filter in capitals", "{}", "{$set: {'a.$[E]': 1}}", "[{E: 1}]", mongoerr.BadValue},
	{"an empty filter", "{}", "{$set: {'a.$[e]': 1}}", "[{}]", mongoerr.FailedToParse},
	{"filters with a pipeline", "{}", "[{$set: {a: 1}}]", "[{e: 1}]", mongoerr.FailedToParse},
	{"a stage that isn't for updates", "{}", "[{$match: {a: 1}}]", "", mongoerr.InvalidOptions},
}

func TestErrors(t *testing.T) {
	for _, c := range errorCases {
		u, err := parse(c.update, c.filters)
		if err == nil {
			_, err = u.Apply(valuetest.Doc(c.doc), Input{Position: -1, Now: now})
		}
		if mongoerr.CodeOf(err) != c.code {
			t.Errorf("%s: %v, want code %d", c.reason, err, c.code)
		}
	}
}

func TestPosition(t *testing.T) {
	u, err := parse("{$set: {'a.$.n': 'x'}}", "")
	if err != nil || !u.NeedsPosition() {
		t.Fatal(err)
	}
	got, err := u.Apply(valuetest.Doc("{a: [{id: 1}, {id: 2}]}"), Input{Position: 1, Now: now})
	if err != nil || !bsonval.Equal(got, valuetest.Doc("{a: [{id: 1}, {id: 2, n: 'x'}]}")) {
		t.Errorf("%s, %v", valuetest.Text(got), err)
	}
}

func TestNothingModified(t *testing.T) {
	doc := valuetest.Doc("{_id: 1, a: [1, {b: 2}], c: 'x'}")
	for _, text := range []string{"{$set: {c: 'x'}}", "{$set: {'a.1.b': 2}}", "{$addToSet: {a: 1}}", "{$pull: {a: 9}}",
		"{$unset: {z: ''}}", "{$min: {'a.0': 5}}", "{$push: {a: {$each: []}}}", "[{$set: {c: 'x'}}]"} {
		u, err := parse(text, "")
		if err != nil {
			t.Fatal(err)
		}
		got, err := u.Apply(doc, Input{Position: -1})
		if err != nil || !bsonval.Equal(got, doc) {
			t.Errorf("%s made %s, %v", text, valuetest.Text(got), err)
		}
	}
}

func TestInsert(t *testing.T) {
	newID := func() any { return "new" }
	for _, c := range []struct {
		reason, filter, update, want string
		code                         int32
	}{
		{
			reason: "equalities and operators", filter: "{a: 1, 'b.c': 2, d: {$gt: 3}}",
			update: "{$set: {e: 5}, $setOnInsert: {f: 6}}", want: "{_id: 'new', a: 1, b: {c: 2}, e: 5, f: 6}", code: 0,
		},
		{"the query's _id", "{n: {$lt: 3}, _id: 'k'}", "{$inc: {n: 1}}", "{_id: 'k', n: 1}", 0},
		{"the update's _id", "{a: 1}", "{$setOnInsert: {_id: 7}}", "{_id: 7, a: 1}", 0},
		{"both, which differ", "{_id: 1}", "{$set: {_id: 2}}", "", mongoerr.ImmutableField},
		{"replacement takes the _id only", "{_id: 3, a: 1}", "{b: 2}", "{_id: 3, b: 2}", 0},
		{"replacement without one", "{a: 1}", "{b: 2}", "{_id: 'new', b: 2}", 0},
		{"pipeline", "{_id: 3, a: 1}", "[{$set: {b: {$add: ['$a', 1]}}}]", "{_id: 3, a: 1, b: 2}", 0},
		{"a field and the update below it", "{a: 1}", "{$set: {'a.b': 1}}", "", mongoerr.PathNotViable},
		{"operators on what the query gave", "{a: {$eq: [1]}}", "{$push: {a: 2}}", "{_id: 'new', a: [1, 2]}", 0},
	} {
		u, err := parse(c.update, "")
		if err != nil {
			t.Fatal(err)
		}
		eq, err := query.MustParse(valuetest.Doc(c.filter)).EqualityFields()
		if err != nil {
			t.Fatal(err)
		}
		got, err := u.Insert(eq, Input{Position: -1, Now: now}, newID)
		if mongoerr.CodeOf(err) != c.code || (err == nil && !bsonval.Equal(got, valuetest.Doc(c.want))) {
			t.Errorf("%s: %s, %v; want %s", c.reason, valuetest.Text(got), err, c.want)
		}
	}
}

func TestVariables(t *testing.T) {
	u, err := Parse(bson.A{bson.D{{Key: "$set", Value: bson.D{{Key: "a", Value: "$$x"}}}}}, nil,
		Options{Vars: map[string]any{"x": int32(4)}})
	if err != nil {
		t.Fatal(err)
	}
	got, err := u.Apply(bson.D{}, Input{Position: -1})
	if err != nil || !bsonval.Equal(got, valuetest.Doc("{a: 4}")) {
		t.Errorf("%v, %v", got, err)
	}
}
