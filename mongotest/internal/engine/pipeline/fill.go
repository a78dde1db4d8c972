package pipeline

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
)

// filling is a $fill that is being read.
type filling struct {
	by             any    // $setWindowFields' partitionBy; Missing: there is none
	sort           bson.D // nil: there is none
	windows, plain bson.D // the outputs by a method, and those by a value
}

// parseFill makes of $fill what it stands for: a $setWindowFields for the fields that are filled by a method, and an
// $addFields for those that are filled by a value.
// https://www.mongodb.com/docs/manual/reference/operator/aggregation/fill/
func parseFill(p *parser, name string, arg any) (stage, error) {
	d, ok := arg.(bson.D)
	if !ok {
		return nil, mongoerr.New(mongoerr.FailedToParse, "The %s stage specification must be an object, found %s",
			name, bsonval.TypeName(arg))
	}
	f := filling{by: bsonval.Missing}
	var output bson.D
	for _, e := range d {
		var err error
		switch e.Key {
		case "sortBy":
			f.sort, err = readDocument(name, e)
		case "partitionBy":
			err = f.partition(name, e)
		case "partitionByFields":
			err = f.partitionFields(name, e)
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
		return nil, mongoerr.New(6050203, "The output field in '$fill' must contain an object with at least one element")
	}
	for _, e := range output {
		if err := f.output(name, e); err != nil {
			return nil, err
		}
	}
	return f.stages(p)
}

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

func newTypeError(stage string, f bson.E, want string) error {
	return mongoerr.New(mongoerr.TypeMismatch, "BSON field '%s.%s' is the wrong type '%s', expected type '%s'",
		stage, f.Key, bsonval.TypeName(f.Value), want)
}

var twoPartitions = mongoerr.New(6050204,
	"Maximum one of 'partitionBy' and 'partitionByFields can be specified in '$fill'")

func (f *filling) partition(name string, e bson.E) error {
	if !bsonval.IsMissing(f.by) {
		return twoPartitions
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

func (f *filling) partitionFields(name string, e bson.E) error {
	if !bsonval.IsMissing(f.by) {
		return twoPartitions
	}
	names, err := readTexts(name, e)
	by := bson.D{}
	for _, s := range names {
		by = append(by, bson.E{Key: s, Value: "$" + s})
	}
	f.by = by
	return err
}

// readTexts reads a list of strings.
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

// output reads how one field is filled.
func (f *filling) output(stage string, e bson.E) error {
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
		function := map[string]string{"locf": "$locf", "linear": "$linearFill"}[method]
		f.windows = append(f.windows, bson.E{Key: e.Key, Value: bson.D{{Key: function, Value: "$" + e.Key}}})
	case !bsonval.IsMissing(by):
		f.plain = append(f.plain, bson.E{Key: e.Key, Value: bson.D{{Key: "$ifNull", Value: bson.A{"$" + e.Key, by}}}})
	}
	return nil
}

func (f *filling) stages(p *parser) (several, error) {
	var out several
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
