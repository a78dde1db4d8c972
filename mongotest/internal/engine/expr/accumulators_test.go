package expr_test

import (
	"testing"
	"time"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/bsonval/valuetest"
	"github.com/docmodel/docmodel/internal/mongoerr"
	. "github.com/docmodel/docmodel/mongotest/internal/engine/expr"
)

func TestAccumulators(t *testing.T) {
	docs := []string{"{v: 1, s: 'a'}", "{v: 2.5, s: 'b'}", "{s: 'a'}", "{v: null, s: 'a'}"}
	for _, c := range []struct {
		reason, name, arg, want string
		code                    int32
	}{
		{"numbers only", "$sum", "'$v'", "3.5", 0},
		{"constant", "$sum", "1", "4", 0},
		{"mean of the numbers", "$avg", "'$v'", "1.75", 0},
		{"least, without null", "$min", "'$v'", "1", 0},
		{"greatest", "$max", "'$v'", "2.5", 0},
		{"first", "$first", "'$v'", "1", 0},
		{"last, of null", "$last", "'$v'", "null", 0},
		{"missing isn't pushed", "$push", "'$v'", "[1, 2.5, null]", 0},
		{"set", "$addToSet", "'$s'", "['a', 'b']", 0},
		{"documents", "$push", "{x: '$s'}", "[{x: 'a'}, {x: 'b'}, {x: 'a'}, {x: 'a'}]", 0},
		{"number of documents", "$count", "{}", "4", 0},
		{"merged", "$mergeObjects", "{x: '$v', y: '$s'}", "{x: null, y: 'a'}", 0},
		{"merging text", "$mergeObjects", "'$s'", "", 40400},
		{"unknown", "$foo", "1", "", 15952},
		{"two arguments", "$sum", "[1, 2]", "", 40237},
	} {
		a, err := ParseAccumulator(c.name, valuetest.Value(c.arg), NewScope())
		var got any
		if err == nil {
			g := a.Start()
			for _, d := range docs {
				if e := g.Add(NewContext(valuetest.Doc(d), time.Time{}, nil, nil)); e != nil {
					err = e
				}
			}
			got = g.Result()
		}
		switch {
		case c.code != 0 && mongoerr.CodeOf(err) != c.code:
			t.Errorf("%s: %v, want code %d", c.reason, err, c.code)
		case c.code == 0 && (err != nil || !bsonval.Equal(got, valuetest.Value(c.want))):
			t.Errorf("%s: %s, %v; want %s", c.reason, valuetest.Text(got), err, c.want)
		}
	}
}
