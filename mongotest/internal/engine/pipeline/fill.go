package pipeline

// This file has $fill, and the readers of options that $densify and $setWindowFields use too.

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
)

// fillSpec is a $fill while its options are read.
type fillSpec struct {
	by      any    // the partitionBy of a $setWindowFields; Missing: there is none
	sort    bson.D // sortBy; nil: there is none
	windows bson.D // the output of a $setWindowFields, for the fields that are filled by a method
	plain   bson.D // the fields of an $addFields, for those that are filled by a value
}

// parseFill parses $fill, which sets fields that are null or missing, and makes other stages of it:
//
//	{$fill: {sortBy: {t: 1}, output: {a: {method: "locf"}, b: {value: 0}}}}
//
// The method locf (last observation carried forward) takes the value of the document before, the method linear a value
// on the line between the documents before and after. The stages for it:
//
//	{$setWindowFields: {sortBy: {t: 1}, output: {a: {$locf: "$a"}}}}
//	{$addFields: {b: {$ifNull: ["$b", 0]}}}
//
// https://www.mongodb.com/docs/manual/reference/operator/aggregation/fill/
func parseFill(p *parser, name string, arg any) (stage, error) {
	d, ok := arg.(bson.D)
	if !ok {
		return nil, mongoerr.New(mongoerr.FailedToParse, "The %s stage specification must be an object, found %s",
			name, bsonval.TypeName(arg))
	}
	f := fillSpec{by: bsonval.Missing}
	var output bson.D
	for _, e := range d {
		var err error
		switch e.Key {
		case "sortBy":
			f.sort, err = readDocument(name, e)
		case "partitionBy":
			err = f.parsePartition(name, e)
		case "partitionByFields":
			err = f.parsePartitionFields(name, e)
		case "output":
			output, err = readDocument(name, e)
		default:
			err = mongoerr.New(mongoerr.IDLUnknownField, "BSON field '%s.%s' is an unknown field.", name, e.Key)
		}
		if err != nil {
			return nil, err
		}
	}
	switch {
	case output == nil:
		return nil, mongoerr.New(40414, "BSON field '%s.output' is missing but a required field", name)
	case len(output) == 0:
		return nil, mongoerr.New(6050203,
			"The output field in '$fill' must contain an object with at least one element")
	}
	for _, e := range output {
		if err := f.parseOutput(name, e); err != nil {
			return nil, err
		}
	}
	return f.makeStages(p)
}

// readDocument reads an option that is a document. The result isn't nil, which stands for an option that isn't given.
func readDocument(stage string, f bson.E) (bson.D, error) {
	d, ok := f.Value.(bson.D)
	if !ok {
		return nil, newTypeError(stage, f, "object")
	}
	if d == nil {
		d = bson.D{}
	}
	return d, nil
}

// newTypeError returns the error of an option of another type than want.
func newTypeError(stage string, f bson.E, want string) error {
	return mongoerr.New(mongoerr.TypeMismatch, "BSON field '%s.%s' is the wrong type '%s', expected type '%s'",
		stage, f.Key, bsonval.TypeName(f.Value), want)
}

// errTwoPartitions is the error of a $fill with both ways of partitioning. The text is MongoDB's.
var errTwoPartitions = mongoerr.New(6050204,
	"Maximum one of 'partitionBy' and 'partitionByFields can be specified in '$fill'")

// parsePartition reads partitionBy, an expression. $setWindowFields parses it.
func (f *fillSpec) parsePartition(name string, e bson.E) error {
	if !bsonval.IsMissing(f.by) {
		return errTwoPartitions
	}
	switch e.Value.(type) {
	case string, bson.D:
		f.by = e.Value
		return nil
	}
	return mongoerr.New(mongoerr.TypeMismatch,
		"BSON field '%s.%s' is the wrong type '%s', expected types '[string, object]'",
		name, e.Key, bsonval.TypeName(e.Value))
}

// parsePartitionFields reads partitionByFields: ["a", "b"] is the expression {a: "$a", b: "$b"}.
func (f *fillSpec) parsePartitionFields(name string, e bson.E) error {
	if !bsonval.IsMissing(f.by) {
		return errTwoPartitions
	}
	names, err := readTexts(name, e)
	by := bson.D{}
	for _, s := range names {
		by = append(by, bson.E{Key: s, Value: "$" + s})
	}
	f.by = by
	return err
}

// readTexts reads an option that is a list of strings.
func readTexts(stage string, f bson.E) ([]string, error) {
	list, ok := f.Value.(bson.A)
	if !ok {
		return nil, newTypeError(stage, f, "array")
	}
	out := make([]string, len(list))
	for i, v := range list {
		if out[i], ok = v.(string); !ok {
			return nil, mongoerr.New(mongoerr.TypeMismatch,
				"BSON field '%s.%s.%d' is the wrong type '%s', expected type 'string'",
				stage, f.Key, i, bsonval.TypeName(v))
		}
	}
	return out, nil
}

// parseOutput reads how one field is filled: {method: "locf"}, {method: "linear"} or {value: expression}. A field with
// neither stays as it is.
func (f *fillSpec) parseOutput(stage string, e bson.E) error {
	d, ok := e.Value.(bson.D)
	if !ok {
		return mongoerr.New(6050200, "Each fill output specification must be an object with exactly one field")
	}
	method, by := "", bsonval.Missing
	for _, part := range d {
		switch part.Key {
		case "method":
			if method, ok = part.Value.(string); !ok {
				return newTypeError(stage, part, "string")
			}
			if method != "locf" && method != "linear" {
				return mongoerr.New(6050202, "Method must be either locf or linear")
			}
		case "value":
			by = part.Value
		default:
			return mongoerr.New(mongoerr.IDLUnknownField, "BSON field '%s.%s' is an unknown field.", stage, part.Key)
		}
	}
	switch {
	case method != "" && !bsonval.IsMissing(by):
		return mongoerr.New(6050201,
			"Each fill output specification must have exactly one of 'method' or 'value' fields, not both")
	case method != "":
		// The functions of $setWindowFields for the methods.
		function := map[string]string{"locf": "$locf", "linear": "$linearFill"}[method]
		f.windows = append(f.windows, bson.E{Key: e.Key, Value: bson.D{{Key: function, Value: "$" + e.Key}}})
	case !bsonval.IsMissing(by):
		f.plain = append(f.plain, bson.E{Key: e.Key, Value: bson.D{{Key: "$ifNull", Value: bson.A{"$" + e.Key, by}}}})
	}
	return nil
}

// makeStages parses the stages that the $fill stands for.
func (f *fillSpec) makeStages(p *parser) (chain, error) {
	var out chain
	if f.windows != nil {
		spec := bson.D{{Key: "output", Value: f.windows}}
		if f.sort != nil {
			spec = append(spec, bson.E{Key: "sortBy", Value: f.sort})
		}
		if !bsonval.IsMissing(f.by) {
			spec = append(spec, bson.E{Key: "partitionBy", Value: f.by})
		}
		s, err := parseWindowFields(p, "$setWindowFields", spec)
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	if f.plain != nil {
		s, err := parseFields(p, "$addFields", f.plain)
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, nil
}
