package expr

// This file parses and evaluates field paths ("$a.b") and variables ("$$NOW", "$$x.b").

import (
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
)

// FieldPath is an expression that is a path from the document, as the list of its names: "$a.b" is ["a", "b"]. The
// empty path is the document itself.
type FieldPath []string

// Eval follows the path from the document, see followPath.
func (p FieldPath) Eval(c *Context) (any, error) { return followPath(c.Root, p), nil }

// variable is "$$name", or "$$name.a.b" with a path into the variable's value.
type variable struct {
	name string
	path FieldPath
}

func (v variable) Eval(c *Context) (any, error) { return followPath(c.lookup(v.name), v.path), nil }

// parsePath parses a string that begins with $. $$ROOT and $$CURRENT are both the document: nothing in this engine
// changes CURRENT. The other variables of the system belong to stages, which put them into the scope, such as
// $$PRUNE of $redact.
func parsePath(s string, scope Scope) (Expr, error) {
	name, isVariable := strings.CutPrefix(s, "$$")
	if !isVariable {
		return parseFieldPath(s[1:])
	}
	name, rest, dotted := strings.Cut(name, ".")
	var path FieldPath
	if dotted {
		p, err := parseFieldPath(rest)
		if err != nil {
			return nil, err
		}
		path = p
	}
	switch {
	case name == "ROOT" || name == "CURRENT":
		return FieldPath(path), nil
	case name == "NOW":
		return function(func(c *Context) (any, error) {
			return followPath(bson.NewDateTimeFromTime(c.Now), path), nil
		}), nil
	case name == "REMOVE":
		return function(func(*Context) (any, error) { return bsonval.Missing, nil }), nil
	case scope.hasVariable(name):
		return variable{name: name, path: path}, nil
	case name == "":
		return nil, mongoerr.New(mongoerr.FailedToParse, "empty variable names are not allowed")
	}
	return nil, mongoerr.New(17276, "Use of undefined variable: %s", name)
}

// parseFieldPath parses a dotted path without its $.
func parseFieldPath(path string) (FieldPath, error) {
	if path == "" {
		return nil, mongoerr.New(16872, "'$' by itself is not a valid FieldPath")
	}
	if err := CheckPath(path); err != nil {
		return nil, err
	}
	return strings.Split(path, "."), nil
}

// CheckPath refuses a dotted path that can't be a field path in an aggregation. Stages with paths that aren't
// expressions call it too, such as $unwind and $lookup, and so does package projection.
func CheckPath(path string) error {
	if strings.HasSuffix(path, ".") {
		return mongoerr.New(40353, "FieldPath must not end with a '.'.")
	}
	for name := range strings.SplitSeq(path, ".") {
		switch {
		case path == "":
			return mongoerr.New(40352, "FieldPath cannot be constructed with empty string")
		case name == "":
			return mongoerr.New(15998, "FieldPath field names may not be empty strings.")
		case strings.HasPrefix(name, "$"):
			return mongoerr.New(16410,
				"FieldPath field names may not start with '$'. Consider using $getField or $setField.")
		case strings.IndexByte(name, 0) >= 0:
			return mongoerr.New(16411, "FieldPath field names may not contain '\\0'.")
		}
	}
	return nil
}

// CheckVariable refuses a name that can't be a user's variable. The first letter is a small one, because the system's
// variables begin with a capital letter. Any character beyond ASCII is allowed. Names come without $$.
func CheckVariable(name string) error {
	if name == "" {
		return mongoerr.New(mongoerr.FailedToParse, "empty variable names are not allowed")
	}
	if c := name[0]; c < 0x80 && (c < 'a' || c > 'z') {
		return mongoerr.New(mongoerr.FailedToParse,
			"'%s' starts with an invalid character for a user variable name", name)
	}
	for _, c := range []byte(name) {
		if c < 0x80 && c != '_' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') {
			return mongoerr.New(mongoerr.FailedToParse,
				"'%s' contains an invalid character for a variable name: '%c'", name, c)
		}
	}
	return nil
}

// followPath returns the value at a path from v, Missing if there is no value. An array on the way gives the array of
// the values in its documents. A number in a path is a field's name, never a position in an array:
//
//	{a: {b: 1}}              "$a.b"   →   1
//	{a: [{b: 1}, {}, {b: 2}]} "$a.b"  →   [1, 2]
//	{a: [5, 6]}              "$a.0"   →   []
func followPath(v any, path FieldPath) any {
	for i, name := range path {
		switch x := v.(type) {
		case bson.D:
			v, _ = bsonval.Get(x, name)
		case bson.A:
			return followArray(x, path[i:])
		default:
			return bsonval.Missing
		}
	}
	return v
}

// followArray returns the values at a path from the documents of an array. Other elements of the array, also arrays in
// it, have no value.
func followArray(a bson.A, path FieldPath) any {
	out := bson.A{}
	for _, x := range a {
		if d, ok := x.(bson.D); ok {
			if v := followPath(d, path); !bsonval.IsMissing(v) {
				out = append(out, v)
			}
		}
	}
	return out
}
