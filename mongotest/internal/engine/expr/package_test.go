// This document, and the check of an expression on it, are shared by the tests of package expr.

package expr_test

import (
	"testing"
	"time"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/bsonval/valuetest"
	"github.com/docmodel/docmodel/internal/mongoerr"
	. "github.com/docmodel/docmodel/mongotest/internal/engine/expr"
)

const doc = `{n: 7, m: -2, f: 2.5, s: 'Héllo', e: null, a: [3, 1, 2], o: {x: 1, y: {z: 2}},
	l: [{q: 1}, {q: 2}, {}, 5, [{q: 9}]], d: {$date: '2024-02-29T13:14:15.678Z'},
	big: {$numberLong: '9223372036854775807'}, id: {$oid: '507f1f77bcf86cd799439011'}}`

// testCase is an expression with its value on doc, or the code of its error.
type testCase struct {
	reason, expr, want string
	code               int32
}

func check(t *testing.T, cases []testCase) {
	t.Helper()
	for _, c := range cases {
		tree := valuetest.Value(c.expr)
		e, err := Parse(tree, NewScope("v"))
		var got any
		if err == nil {
			now := time.Date(2020, 1, 2, 0, 0, 0, 0, time.UTC)
			got, err = e.Eval(NewContext(valuetest.Doc(doc), now, nil, map[string]any{"v": valuetest.Value("{w: 3}")}))
		}
		switch {
		case c.code != 0 && mongoerr.CodeOf(err) != c.code:
			t.Errorf("%s: %s gave %s, %v; want code %d", c.reason, c.expr, valuetest.Text(got), err, c.code)
		case c.code == 0 && (err != nil || !bsonval.Equal(got, valuetest.Value(c.want))):
			t.Errorf("%s: %s gave %s (%T), %v; want %s", c.reason, c.expr, valuetest.Text(got), got, err, c.want)
		}
	}
}
