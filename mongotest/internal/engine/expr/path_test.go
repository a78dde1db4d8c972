package expr_test

import (
	"testing"

	"github.com/docmodel/docmodel/internal/mongoerr"
)

func TestPaths(t *testing.T) {
	check(t, []testCase{
		{"field", "'$n'", "7", 0},
		{"dotted", "'$o.y.z'", "2", 0},
		{"missing", "'$nope'", "missing", 0},
		{"below a scalar", "'$n.x'", "missing", 0},
		{"through an array, documents only", "'$l.q'", "[1, 2]", 0},
		{"a position isn't a path", "'$a.0'", "[]", 0},
		{"$$ROOT", "'$$ROOT.n'", "7", 0},
		{"$$CURRENT", "'$$CURRENT.o.x'", "1", 0},
		{"$$NOW", "'$$NOW'", "{$date: '2020-01-02T00:00:00Z'}", 0},
		{"$$REMOVE", "'$$REMOVE'", "missing", 0},
		{"variable", "'$$v.w'", "3", 0},
		{"unknown variable", "'$$x'", "", 17276},
		{"dollar alone", "'$'", "", 16872},
		{"ends with a dot", "'$a.'", "", 40353},
		{"literal", "{$literal: '$n'}", "'$n'", 0},
		{"object", "{p: '$n', q: '$nope', r: {s: 1}}", "{p: 7, r: {s: 1}}", 0},
		{"array", "['$n', '$nope', 1]", "[7, null, 1]", 0},
		{"unknown operator", "{$foo: 1}", "", mongoerr.InvalidPipelineOperator},
		{"two operators", "{$add: 1, $abs: 1}", "", 15983},
		{"dotted name", "{'a.b': 1}", "", 16412},
		{"too few arguments", "{$subtract: [1]}", "", 16020},
	})
}
