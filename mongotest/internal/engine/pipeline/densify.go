package pipeline

// This file parses $densify. densify_run.go runs it.

import (
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/dates"
	"github.com/docmodel/docmodel/mongotest/internal/engine/expr"
)

// densify is $densify: it adds documents for the values of a field that are missing in a range. A partition is the
// documents that have the same values in some fields. Each partition is densified by itself.
// https://www.mongodb.com/docs/manual/reference/operator/aggregation/densify/
//
//	{$densify: {field: "n", partitionByFields: ["p"], range: {step: 2, bounds: [0, 6]}}}
//
//	{p: 1, n: 2}   gives   {p: 1, n: 0}, {p: 1, n: 2}, {p: 1, n: 4}
type densify struct {
	field      []string  // the path of the field
	partitions expr.Expr // a document of partitionByFields, such as {p: "$p"}; nil: all documents are one partition
	step       any       // a positive number; with a unit it is whole
	unit       string    // of a step between dates, such as "hour"; "": the values are numbers
	kind       densifyKind
	low, high  any // of explicitBounds
}

// densifyKind says which range a partition has.
type densifyKind uint8

const (
	fullBounds      densifyKind = iota // "full": from the least value of all partitions to the greatest
	partitionBounds                    // "partition": from the partition's least value to its greatest
	explicitBounds                     // [low, high]: high isn't in the range
)

// maxDensified is how many documents a $densify may add. It is the default of MongoDB's parameter
// internalQueryMaxAllowedDensifyDocs.
const maxDensified = 500_000

// parseDensify parses the stage, and puts a $sort before it: run needs the documents in the order of the field.
func parseDensify(p *parser, name string, arg any) (stage, error) {
	d, ok := arg.(bson.D)
	if !ok {
		return nil, mongoerr.New(mongoerr.FailedToParse, "The %s stage specification must be an object, found %s",
			name, bsonval.TypeName(arg))
	}
	s := &densify{}
	var field string
	var span bson.D
	var by []string
	for _, f := range d {
		var err error
		switch f.Key {
		case "field":
			if field, ok = f.Value.(string); !ok {
				err = newTypeError(name, f, "string")
			}
		case "partitionByFields":
			by, err = readTexts(name, f)
		case "range":
			span, err = readDocument(name, f)
		default:
			err = mongoerr.New(mongoerr.IDLUnknownField, "BSON field '%s.%s' is an unknown field.", name, f.Key)
		}
		if err != nil {
			return nil, err
		}
	}
	if _, ok := bsonval.Get(d, "field"); !ok {
		return nil, mongoerr.New(40414, "BSON field '%s.field' is missing but a required field", name)
	}
	if span == nil {
		return nil, mongoerr.New(40414, "BSON field '%s.range' is missing but a required field", name)
	}
	// The range first: whether partitions are needed depends on its bounds.
	if err := s.parseRange(name+".range", span); err != nil {
		return nil, err
	}
	if err := s.parsePaths(p, field, by); err != nil {
		return nil, err
	}
	sort, err := parseSort(p, "$sort", s.makeSort(field, by))
	return chain{sort, s}, err
}

// parsePaths reads the paths of the field and of partitionByFields, which may not contain each other.
func (s *densify) parsePaths(p *parser, field string, by []string) error {
	for _, path := range append(by, field) {
		if err := expr.CheckPath(path); err != nil {
			return err
		}
	}
	// The expression of a document's partition: of the paths "p" and "a.b" {p: "$p", a: {b: "$a.b"}}.
	s.field = strings.Split(field, ".")
	var partition bson.D
	for _, path := range by {
		list := strings.Split(path, ".")
		switch n := min(len(list), len(s.field)); {
		case slices.Equal(list, s.field):
			return mongoerr.New(8993000,
				"BSON field '$densify.partitionByFields' contains the field that is being densified")
		case slices.Equal(list[:n], s.field[:n]):
			return mongoerr.New(9554500,
				"BSON field '$densify.partitionByFields' and the field that is being densified contain each other")
		}
		partition = setPath(partition, list, "$"+path)
	}
	if s.kind == partitionBounds && len(by) == 0 {
		return mongoerr.New(5733408,
			"One cannot specify the bounds as 'partition' without specifying a non-empty array of partitionByFields. "+
				"You may have meant to specify 'full' bounds.")
	}
	if len(by) == 0 {
		return nil
	}
	var err error
	s.partitions, err = expr.Parse(partition, p.scope)
	return err
}

// makeSort returns the $sort before the stage. The partitions come one after the other. With full bounds they come
// mixed, as MongoDB's do, because then the first document has the least value.
func (s *densify) makeSort(field string, by []string) bson.D {
	var d bson.D
	for _, path := range by {
		if s.kind != fullBounds && bsonval.Index(d, path) < 0 {
			d = append(d, bson.E{Key: path, Value: int32(1)})
		}
	}
	return append(d, bson.E{Key: field, Value: int32(1)})
}

// parseRange parses {step: 1, unit: "day", bounds: "full"}. name is the path of the range, for errors.
func (s *densify) parseRange(name string, d bson.D) error {
	bounds := bsonval.Missing
	s.step = bsonval.Missing
	for _, f := range d {
		var ok bool
		switch f.Key {
		case "step":
			s.step = f.Value
		case "bounds":
			bounds = f.Value
		case "unit":
			if s.unit, ok = f.Value.(string); !ok {
				return newTypeError(name, f, "string")
			}
		default:
			return mongoerr.New(mongoerr.IDLUnknownField, "BSON field '%s.%s' is an unknown field.", name, f.Key)
		}
	}
	// The unit "" is a mistake, and not the same as no unit.
	_, hasUnit := bsonval.Get(d, "unit")
	_, whole := bsonval.Int64(s.step)
	switch {
	case bsonval.IsMissing(s.step):
		return mongoerr.New(40414, "BSON field '%s.step' is missing but a required field", name)
	case bsonval.IsMissing(bounds):
		return mongoerr.New(40414, "BSON field '%s.bounds' is missing but a required field", name)
	case !bsonval.IsNumber(s.step) || bsonval.Compare(s.step, int32(0)) <= 0:
		return mongoerr.New(5733401,
			"The step parameter in a range statement must be a strictly positive numeric value")
	case hasUnit && !whole:
		return mongoerr.New(6586400,
			"The step parameter in a range statement must be a whole number when densifying a date range")
	case hasUnit && !dates.IsUnit(s.unit):
		return mongoerr.New(mongoerr.FailedToParse, "unknown time unit value: %s", s.unit)
	}
	return s.parseBounds(bounds)
}

// parseBounds parses "full", "partition" or a pair.
func (s *densify) parseBounds(v any) error {
	switch b := v.(type) {
	case string:
		switch b {
		case "full":
		case "partition":
			s.kind = partitionBounds
		default:
			return mongoerr.New(5946802, "Bounds string must either be 'full' or 'partition'")
		}
		return nil
	case bson.A:
		s.kind = explicitBounds
		return s.parsePair(b)
	}
	return mongoerr.New(5733404,
		"The bounds in a range statement must be the string 'full', 'partition', or an ascending array of two numbers "+
			"or two dates")
}

// parsePair parses explicit bounds: two numbers of the step's type, or two dates if there is a unit.
func (s *densify) parsePair(b bson.A) error {
	switch {
	case len(b) != 2:
		return mongoerr.New(5733403, "A bounding array in a range statement must have exactly two elements")
	case bsonval.Compare(b[0], b[1]) > 0:
		return mongoerr.New(5733402, "A bounding array must be an ascending array of either two dates or two numbers")
	}
	s.low, s.high = b[0], b[1]
	_, date := b[0].(bson.DateTime)
	_, date2 := b[1].(bson.DateTime)
	number := bsonval.IsNumber(b[0])
	// Numbers of different types are refused here, though they compare as equal: the documents that are added would
	// have values of another type than those in the collection.
	switch {
	case number && s.unit != "":
		return mongoerr.New(5733409, "Numeric bounds may not have unit parameter")
	case number && !bsonval.IsNumber(b[1]):
		return mongoerr.New(5733406, "A bounding array must contain either both dates or both numeric types")
	case number && (bsonval.Type(b[0]) != bsonval.Type(b[1]) || bsonval.Type(b[0]) != bsonval.Type(s.step)):
		return mongoerr.New(5876900, "Upper bound, lower bound, and step must all have the same type")
	case number:
	case !date:
		return mongoerr.New(5946800, "Explicit bounds must be numeric or dates")
	case !date2:
		return mongoerr.New(5733405, "A bounding array must contain either both dates or both numeric types")
	case s.unit == "":
		return mongoerr.New(5733410, "A bounding array of dates must specify a unit")
	}
	return nil
}
