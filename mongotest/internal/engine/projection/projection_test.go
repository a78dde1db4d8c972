package projection_test

import (
	"testing"
	"time"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/bsonval/valuetest"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/expr"
	. "github.com/docmodel/docmodel/mongotest/internal/engine/projection"
	"github.com/docmodel/docmodel/mongotest/internal/engine/query"
)

const doc = "{_id: 1, a: 1, b: {c: 2, d: 3}, e: [{f: 1, g: 2}, 5, {f: 3}, [{f: 4, g: 5}]], h: [1, 2, 3, 4]}"

func TestApply(t *testing.T) {
	for _, c := range []struct{ reason, spec, filter, want string }{
		{"nothing asked", "{}", "", doc},
		{"inclusion with _id", "{a: 1}", "", "{_id: 1, a: 1}"},
		{"inclusion without _id", "{a: 1, _id: 0}", "", "{a: 1}"},
		{"_id alone", "{_id: 1}", "", "{_id: 1}"},
		{"without _id alone", "{_id: 0, e: 0, h: 0}", "", "{a: 1, b: {c: 2, d: 3}}"},
		{"true", "{a: true}", "", "{_id: 1, a: 1}"},
		{"the document's order", "{h: 1, a: 1}", "", "{_id: 1, a: 1, h: [1, 2, 3, 4]}"},
		{"exclusion", "{e: 0, h: 0}", "", "{_id: 1, a: 1, b: {c: 2, d: 3}}"},
		{"dotted", "{'b.c': 1}", "", "{_id: 1, b: {c: 2}}"},
		{"nested", "{b: {c: 1}}", "", "{_id: 1, b: {c: 2}}"},
		{"dotted exclusion", "{'b.c': 0, e: 0, h: 0}", "", "{_id: 1, a: 1, b: {d: 3}}"},
		{"through an array, scalars drop out", "{'e.f': 1}", "", "{_id: 1, e: [{f: 1}, {f: 3}, [{f: 4}]]}"},
		{
			reason: "exclusion through an array keeps scalars", spec: "{'e.f': 0, h: 0, b: 0}", filter: "",
			want: "{_id: 1, a: 1, e: [{g: 2}, 5, {}, [{g: 5}]]}",
		},
		{"below a scalar there is nothing", "{'a.x': 1}", "", "{_id: 1}"},
		{"$slice keeps the other fields", "{h: {$slice: 2}, e: 0}", "", "{_id: 1, a: 1, b: {c: 2, d: 3}, h: [1, 2]}"},
		{"$slice from the end", "{h: {$slice: -1}, a: 1}", "", "{_id: 1, a: 1, h: [4]}"},
		{"$slice of a part", "{h: {$slice: [1, 2]}, a: 1}", "", "{_id: 1, a: 1, h: [2, 3]}"},
		{"$slice from before the start", "{h: {$slice: [-9, 2]}, a: 1}", "", "{_id: 1, a: 1, h: [1, 2]}"},
		{"$elemMatch alone includes", "{e: {$elemMatch: {f: 3}}}", "", "{_id: 1, e: [{f: 3}]}"},
		{"$elemMatch of a value", "{h: {$elemMatch: {$gt: 2}}}", "", "{_id: 1, h: [3]}"},
		{"$elemMatch without a match", "{h: {$elemMatch: {$gt: 9}}, a: 1}", "", "{_id: 1, a: 1}"},
		{"positional", "{'h.$': 1}", "{h: {$gte: 3}}", "{_id: 1, h: [3]}"},
		{"positional by $elemMatch", "{'e.$': 1}", "{e: {$elemMatch: {f: 3}}}", "{_id: 1, e: [{f: 3}]}"},
		{"expression", "{a: 1, s: {$add: ['$a', '$b.c']}}", "", "{_id: 1, a: 1, s: 3}"},
		{"field path", "{x: '$b.d'}", "", "{_id: 1, x: 3}"},
		{"literal text", "{x: 'y'}", "", "{_id: 1, x: 'y'}"},
		{"expression that is missing", "{x: '$nope', a: 1}", "", "{_id: 1, a: 1}"},
		{"computed in a document", "{'b.x': '$a'}", "", "{_id: 1, b: {x: 1}}"},
	} {
		m := query.MustParse(valuetest.Doc("{a: 1}"))
		if c.filter != "" {
			m = query.MustParse(valuetest.Doc(c.filter))
		}
		p, err := Parse(valuetest.Doc(c.spec), m)
		if err != nil {
			t.Errorf("%s: %v", c.reason, err)
			continue
		}
		d := valuetest.Doc(doc)
		got, err := p.Apply(d)
		if err != nil || !bsonval.Equal(got, valuetest.Doc(c.want)) {
			t.Errorf("%s: %s, %v; want %s", c.reason, valuetest.Text(got), err, c.want)
		}
		if !bsonval.Equal(d, valuetest.Doc(doc)) {
			t.Fatalf("%s: the document became %s", c.reason, valuetest.Text(d))
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for _, c := range []struct {
		reason, spec string
		code         int32
	}{
		{"inclusion among exclusions", "{a: 0, b: 1}", 31253},
		{"exclusion among inclusions", "{a: 1, b: 0}", 31254},
		{"expression among exclusions", "{a: 0, b: '$c'}", 31252},
		{"a path and one below", "{b: 1, 'b.c': 1}", 31249},
		{"a path and one above", "{'b.c': 1, b: 1}", 31250},
		{"empty document", "{b: {}}", 51270},
		{"positional in the middle", "{'a.$.b': 1}", 31394},
		{"positional twice", "{'a.$': 1, 'b.$': 1}", 31276},
		{"positional with $elemMatch", "{'a.$': 1, b: {$elemMatch: {c: 1}}}", 31255},
		{"positional exclusion", "{'a.$': 0}", 31395},
		{"$elemMatch on a dotted field", "{'a.b': {$elemMatch: {c: 1}}}", 31275},
		{"$slice without limit", "{a: {$slice: [1, 0]}}", 28724},
		{"a score without a search", "{a: {$meta: 'textScore'}}", 40218},
		{"$meta of another kind", "{a: {$meta: 'indexKey'}}", mongoerr.NotImplemented},
		{"unknown operator", "{a: {$foo: 1}}", 31325},
		{"empty component", "{'a..b': 1}", 15998},
	} {
		if _, err := Parse(valuetest.Doc(c.spec),
			query.MustParse(valuetest.Doc("{x: 1}"))); mongoerr.CodeOf(err) != c.code {
			t.Errorf("%s: %v, want code %d", c.reason, err, c.code)
		}
	}
}

func TestPositionalWithoutMatch(t *testing.T) {
	p, err := Parse(valuetest.Doc("{'h.$': 1}"), query.MustParse(valuetest.Doc("{a: 1}")))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Apply(valuetest.Doc(doc)); mongoerr.CodeOf(err) != 51246 {
		t.Error(err)
	}
}

func TestAddFields(t *testing.T) {
	for _, c := range []struct{ reason, doc, spec, want string }{
		{"new at the end", "{a: 1}", "{b: '$a'}", "{a: 1, b: 1}"},
		{"old in its place", "{a: 1, b: 2}", "{a: {$add: ['$b', 1]}}", "{a: 3, b: 2}"},
		{"all see the old document", "{a: 1, b: 2}", "{a: '$b', b: '$a'}", "{a: 2, b: 1}"},
		{"dotted", "{a: {x: 1}}", "{'a.y': 2}", "{a: {x: 1, y: 2}}"},
		{"nested", "{a: {x: 1}}", "{a: {y: 2}}", "{a: {x: 1, y: 2}}"},
		{"into each element", "{a: [{x: 1}, 2]}", "{'a.y': 2}", "{a: [{x: 1, y: 2}, {y: 2}]}"},
		{"over a scalar", "{a: 1}", "{'a.y': 2}", "{a: {y: 2}}"},
		{"$$REMOVE", "{a: 1, b: 2}", "{a: '$$REMOVE'}", "{b: 2}"},
		{"a missing value takes the field away", "{a: 1, b: 2}", "{a: '$c'}", "{b: 2}"},
		{"numbers are values", "{a: 1}", "{b: 1, c: 0}", "{a: 1, b: 1, c: 0}"},
	} {
		f, err := ParseAddFields("$set", valuetest.Doc(c.spec), expr.NewScope())
		if err != nil {
			t.Errorf("%s: %v", c.reason, err)
			continue
		}
		d := valuetest.Doc(c.doc)
		got, err := f.Apply(expr.NewContext(d, time.Time{}, nil, nil), d)
		if err != nil || !bsonval.Equal(got, valuetest.Doc(c.want)) {
			t.Errorf("%s: %s, %v; want %s", c.reason, valuetest.Text(got), err, c.want)
		}
	}
}
