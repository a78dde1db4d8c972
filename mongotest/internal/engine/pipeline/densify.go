package pipeline

import (
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/dates"
	"github.com/docmodel/docmodel/mongotest/internal/engine/expr"
)

// densify is $densify: documents for the values of a field that are missing in a range.
// https://www.mongodb.com/docs/manual/reference/operator/aggregation/densify/
type densify struct {
	field      []string
	partitions expr.Expr // a document of the fields; nil: all documents are one partition
	step       any
	unit       string // "": numbers
	kind       densifyKind
	low, high  any // of explicitBounds
}

type densifyKind uint8

const (
	fullBounds      densifyKind = iota // all values of all partitions
	partitionBounds                    // the values of each partition
	explicitBounds                     // from low up to, but not, high
)

// maxDensified is how many documents a $densify may make: the default of MongoDB's internalQueryMaxAllowedDensifyDocs.
const maxDensified = 500_000

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
	if err := s.span(name+".range", span); err != nil {
		return nil, err
	}
	if err := s.fields(p, field, by); err != nil {
		return nil, err
	}
	sort, err := parseSort(p, "$sort", s.order(field, by))
	return several{sort, s}, err
}

// fields reads the paths.
func (s *densify) fields(p *parser, field string, by []string) error {
	for _, path := range append(by, field) {
		if err := expr.CheckPath(path); err != nil {
			return err
		}
	}
	s.field = strings.Split(field, ".")
	var partition bson.D
	for _, path := range by {
		list := strings.Split(path, ".")
		switch n := min(len(list), len(s.field)); {
		case slices.Equal(list, s.field):
			return mongoerr.New(8993000, "BSON field '$densify.partitionByFields' contains the field that is being densified")
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

// order is how the documents are sorted: where the bounds are those of all partitions, these come mixed.
func (s *densify) order(field string, by []string) bson.D {
	var d bson.D
	for _, path := range by {
		if s.kind != fullBounds && bsonval.Index(d, path) < 0 {
			d = append(d, bson.E{Key: path, Value: int32(1)})
		}
	}
	return append(d, bson.E{Key: field, Value: int32(1)})
}

// span parses the range.
func (s *densify) span(name string, d bson.D) error {
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
	_, hasUnit := bsonval.Get(d, "unit")
	_, whole := bsonval.Int64(s.step)
	switch {
	case bsonval.IsMissing(s.step):
		return mongoerr.New(40414, "BSON field '%s.step' is missing but a required field", name)
	case bsonval.IsMissing(bounds):
		return mongoerr.New(40414, "BSON field '%s.bounds' is missing but a required field", name)
	case !bsonval.IsNumber(s.step) || bsonval.Compare(s.step, int32(0)) <= 0:
		return mongoerr.New(5733401, "The step parameter in a range statement must be a strictly positive numeric value")
	case hasUnit && !whole:
		return mongoerr.New(6586400,
			"The step parameter in a range statement must be a whole number when densifying a date range")
	case hasUnit && !dates.IsUnit(s.unit):
		return mongoerr.New(mongoerr.FailedToParse, "unknown time unit value: %s", s.unit)
	}
	return s.bounds(bounds)
}

func (s *densify) bounds(v any) error {
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
		return s.pair(b)
	}
	return mongoerr.New(5733404,
		"The bounds in a range statement must be the string 'full', 'partition', or an ascending array of two numbers or two dates")
}

func (s *densify) pair(b bson.A) error {
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
