package expr

import (
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
)

// objects are operators that take documents apart and make them. {$getField: "a.b"} is the field whose name has a dot,
// which a field path can't reach.
//
//	{$mergeObjects: [{x: 1, y: 2}, {x: 9}]}                →   {x: 9, y: 2}
//	{$setField: {field: "a.b", input: {}, value: 1}}       →   {"a.b": 1}
//	{$unsetField: {field: "x", input: {x: 1, y: 2}}}       →   {y: 2}
var objects = table{
	"$arrayToObject": call(1, 1, arrayToObject),
	"$objectToArray": call(1, 1, objectToArray),
	"$mergeObjects":  call(0, -1, mergeAll),
	"$getField":      parseGetField,
	"$setField":      parseSetField,
	"$unsetField":    parseSetField,
	"$bsonSize":      call(1, 1, bsonSize),
}

// arrayToObject is {$arrayToObject: array}. The first element decides the form of all elements. Of two fields with one
// name the last value counts, at the place of the first:
//
//	[{k: "x", v: 1}, {k: "y", v: 2}]   →   {x: 1, y: 2}
//	[["x", 1], ["y", 2], ["x", 3]]     →   {x: 3, y: 2}
func arrayToObject(args []any) (any, error) {
	if bsonval.IsNullish(args[0]) {
		return nil, nil
	}
	a, ok := args[0].(bson.A)
	if !ok {
		return nil, mongoerr.New(40386, "$arrayToObject requires an array input, found: %s", bsonval.TypeName(args[0]))
	}
	out := merging{d: bson.D{}}
	for i, item := range a {
		k, v, err := readPair(item, a[0])
		if err != nil {
			return nil, mongoerr.Convert(err).Prefix("element %d: ", i)
		}
		if strings.IndexByte(k, 0) >= 0 {
			return nil, mongoerr.New(4940400, "Key field cannot contain an embedded null byte")
		}
		out.set(bson.D{{Key: k, Value: v}})
	}
	return out.d, nil
}

// readPair reads the key and the value of an element of $arrayToObject. first is the first element of the array.
func readPair(item, first any) (string, any, error) {
	_, inPairs := first.(bson.A)
	switch x := item.(type) {
	case bson.A:
		if !inPairs {
			return "", nil, mongoerr.New(40391, "$arrayToObject requires a consistent input format. "+
				"Elements must all be arrays or all be objects. Object was detected, now found: array")
		}
		if len(x) != 2 {
			return "", nil, mongoerr.New(40397,
				"$arrayToObject requires an array of size 2 arrays,found array of size: %d", len(x))
		}
		k, ok := x[0].(string)
		if !ok {
			return "", nil, mongoerr.New(40395, "$arrayToObject requires an array of key-value pairs, "+
				"where the key must be of type string. Found key type: %s", bsonval.TypeName(x[0]))
		}
		return k, x[1], nil
	case bson.D:
		if inPairs {
			return "", nil, mongoerr.New(40396, "$arrayToObject requires a consistent input format. "+
				"Elements must all be arrays or all be objects. Array was detected, now found: object")
		}
		k, hasKey := bsonval.Get(x, "k")
		v, hasValue := bsonval.Get(x, "v")
		if len(x) != 2 || !hasKey || !hasValue {
			return "", nil, mongoerr.New(40392,
				"$arrayToObject requires an object keys of 'k' and 'v'. Found incorrect number of keys:%d", len(x))
		}
		name, ok := k.(string)
		if !ok {
			return "", nil, mongoerr.New(40394, "$arrayToObject requires an object with keys 'k' and 'v', "+
				"where the value of 'k' must be of type string. Found type: %s", bsonval.TypeName(k))
		}
		return name, v, nil
	}
	return "", nil, mongoerr.New(40398, "Unrecognised input type format for $arrayToObject: %s", bsonval.TypeName(item))
}

// objectToArray is {$objectToArray: document}: {x: 1} becomes [{k: "x", v: 1}]. Embedded documents stay as they are.
func objectToArray(args []any) (any, error) {
	if bsonval.IsNullish(args[0]) {
		return nil, nil
	}
	d, ok := args[0].(bson.D)
	if !ok {
		return nil, mongoerr.New(40390,
			"$objectToArray requires a document input, found: %s", bsonval.TypeName(args[0]))
	}
	out := make(bson.A, len(d))
	for i, e := range d {
		out[i] = bson.D{{Key: "k", Value: e.Key}, {Key: "v", Value: e.Value}}
	}
	return out, nil
}

// mergeAll is {$mergeObjects: [document, …]}, or {$mergeObjects: array} for the documents of one array.
func mergeAll(args []any) (any, error) {
	if len(args) == 1 {
		if a, ok := args[0].(bson.A); ok {
			args = a
		}
	}
	m := &merging{d: bson.D{}}
	for _, v := range args {
		if err := m.add(v); err != nil {
			return nil, err
		}
	}
	return m.d, nil
}

// bsonSize is {$bsonSize: document}: the number of bytes of the encoded document.
func bsonSize(args []any) (any, error) {
	if bsonval.IsNullish(args[0]) {
		return nil, nil
	}
	d, ok := args[0].(bson.D)
	if !ok {
		return nil, mongoerr.New(31393, "$bsonSize requires a document input, found: %s", bsonval.TypeName(args[0]))
	}
	return int32(bsonval.Size(d)), nil
}

// parseGetField parses {$getField: {field: name, input: document}}. The input is the whole document if it isn't given.
// An argument that isn't an object of parts is the name: {$getField: "a.b"}.
func parseGetField(name string, arg any, s Scope) (Expr, error) {
	d, ok := arg.(bson.D)
	if !ok || (len(d) > 0 && strings.HasPrefix(d[0].Key, "$")) {
		d = bson.D{{Key: "field", Value: arg}}
	}
	for _, f := range d {
		if f.Key != "field" && f.Key != "input" {
			return nil, mongoerr.New(3041701, "$getField found an unknown argument: %s", f.Key)
		}
	}
	field, err := parseFieldName(name, d, s)
	if err != nil {
		return nil, err
	}
	var input Expr = FieldPath(nil)
	if v, ok := bsonval.Get(d, "input"); ok {
		if input, err = Parse(v, s); err != nil {
			return nil, err
		}
	}
	return function(func(c *Context) (any, error) { return getField(c, input, field) }), nil
}

// getField evaluates $getField. The field of null is null. The field of any other value that isn't a document is
// Missing.
func getField(c *Context, input Expr, field string) (any, error) {
	v, err := input.Eval(c)
	switch {
	case err != nil:
		return nil, err
	case v == nil:
		return nil, nil
	}
	d, _ := v.(bson.D)
	got, _ := bsonval.Get(d, field)
	return got, nil
}

// parseFieldName returns the constant string that $getField, $setField and $unsetField take as their part field. d has
// the parts.
func parseFieldName(name string, d bson.D, s Scope) (string, error) {
	v, ok := bsonval.Get(d, "field")
	if !ok {
		if name != "$getField" {
			return "", mongoerr.New(4161102, "%s requires 'field' to be specified", name)
		}
		return "", mongoerr.New(3041702, "%s requires 'field' to be specified", name)
	}
	e, err := Parse(v, s)
	if err != nil {
		return "", err
	}
	c, ok := Literal(e)
	if !ok {
		return "", mongoerr.New(5654600,
			"%s requires 'field' to evaluate to a constant, got a non-constant argument", name)
	}
	field, ok := c.(string)
	if !ok {
		return "", mongoerr.New(5654602, "%s requires 'field' to evaluate to type String, but got %s",
			name, bsonval.TypeName(c))
	}
	return field, nil
}

// parseSetField parses {$setField: {field: name, input: document, value: value}}, and $unsetField, which has no value.
func parseSetField(name string, arg any, s Scope) (Expr, error) {
	d, ok := arg.(bson.D)
	if !ok {
		return nil, mongoerr.New(4161100, "%s only supports an object as its argument", name)
	}
	field, err := parseFieldName(name, d, s)
	if err != nil {
		return nil, err
	}
	names := []string{"field!", "input!", "value!"}
	if name == "$unsetField" {
		names = names[:2]
	}
	parts, err := parseParts(name, arg, s, setFieldErrors, names...)
	if err != nil {
		return nil, err
	}
	return function(func(c *Context) (any, error) { return setField(c, field, parts) }), nil
}

// setField evaluates $setField or $unsetField. A missing value removes the field, so $unsetField, which has no value,
// does so too. In the errors of $unsetField MongoDB also writes $setField.
func setField(c *Context, field string, parts map[string]Expr) (any, error) {
	in, err := parts["input"].Eval(c)
	if err != nil || bsonval.IsNullish(in) {
		return nil, err
	}
	old, ok := in.(bson.D)
	if !ok {
		return nil, mongoerr.New(4161105, "$setField requires 'input' to evaluate to type Object")
	}
	v, err := evalPart(c, parts["value"], bsonval.Missing)
	if err != nil {
		return nil, err
	}
	if bsonval.IsMissing(v) {
		return bsonval.RemoveField(old, field), nil
	}
	return bsonval.SetField(old, field, v), nil
}
