package pipeline

import (
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/expr"
)

// bucket is a $bucket that is being read.
type bucket struct {
	by         any
	boundaries []any
	fallback   any // Missing: none
	output     bson.D
}

// parseBucket makes of $bucket what it stands for: a $group by a $switch over the boundaries, and a $sort.
// https://www.mongodb.com/docs/manual/reference/operator/aggregation/bucket/
func parseBucket(p *parser, _ string, arg any) (stage, error) {
	d, ok := arg.(bson.D)
	if !ok {
		return nil, mongoerr.New(40201,
			"Argument to $bucket stage must be an object, but found type: %s.", bsonval.TypeName(arg))
	}
	b := bucket{
		by: bsonval.Missing, fallback: bsonval.Missing,
		output: bson.D{{Key: "count", Value: bson.D{{Key: "$sum", Value: int32(1)}}}},
	}
	for _, f := range d {
		if err := b.field(p, f); err != nil {
			return nil, err
		}
	}
	if bsonval.IsMissing(b.by) || b.boundaries == nil {
		return nil, mongoerr.New(40198, "$bucket requires 'groupBy' and 'boundaries' to be specified.")
	}
	by := p.scope.Collation()
	low, high := b.boundaries[0], b.boundaries[len(b.boundaries)-1]
	if !bsonval.IsMissing(b.fallback) && by.Compare(b.fallback, low) >= 0 && by.Compare(b.fallback, high) < 0 {
		return nil, mongoerr.New(40199,
			"The $bucket 'default' field must be less than the lowest boundary or greater than or equal to the highest boundary.")
	}
	g, err := parseGroup(p, "$group", append(bson.D{{Key: "_id", Value: b.key()}}, b.output...))
	if err != nil {
		return nil, err
	}
	s, err := parseSort(p, "$sort", bson.D{{Key: "_id", Value: int32(1)}})
	return several{g, s}, err
}

func (b *bucket) field(p *parser, f bson.E) error {
	switch f.Key {
	case "groupBy":
		return b.groupBy(f.Value)
	case "boundaries":
		return b.bounds(p, f.Value)
	case "default":
		var ok bool
		e, err := expr.Parse(f.Value, p.scope)
		if err != nil {
			return err
		}
		if b.fallback, ok = expr.Literal(e); !ok {
			return mongoerr.New(40195,
				"The $bucket 'default' field must be a constant expression, but found: %s.", expr.Show(f.Value))
		}
	case "output":
		var ok bool
		if b.output, ok = f.Value.(bson.D); !ok {
			return mongoerr.New(40196, "The $bucket 'output' field must be an object, but found type: %s.",
				bsonval.TypeName(f.Value))
		}
	default:
		return mongoerr.New(40197, "Unrecognized option to $bucket: %s.", f.Key)
	}
	return nil
}

func (b *bucket) groupBy(v any) error {
	path, isText := v.(string)
	d, isDocument := v.(bson.D)
	if isText && strings.HasPrefix(path, "$") || isDocument && len(d) > 0 && strings.HasPrefix(d[0].Key, "$") {
		b.by = v
		return nil
	}
	return mongoerr.New(40202,
		"The $bucket 'groupBy' field must be defined as a $-prefixed path or an expression, but found: %s.", expr.Show(v))
}

func (b *bucket) bounds(p *parser, v any) error {
	list, ok := v.(bson.A)
	if !ok {
		return mongoerr.New(40200,
			"The $bucket 'boundaries' field must be an array, but found type: %s.", bsonval.TypeName(v))
	}
	for _, x := range list {
		e, err := expr.Parse(x, p.scope)
		if err != nil {
			return err
		}
		c, constant := expr.Literal(e)
		if !constant {
			return mongoerr.New(40191,
				"The $bucket 'boundaries' field must be an array of constant values, but found value: %s.", expr.Show(x))
		}
		b.boundaries = append(b.boundaries, c)
	}
	if len(list) < 2 {
		return mongoerr.New(40192,
			"The $bucket 'boundaries' field must have at least 2 values, but found %d value(s).", len(list))
	}
	for i := range b.boundaries[1:] {
		lower, upper := b.boundaries[i], b.boundaries[i+1]
		switch {
		case bsonval.Rank(lower) != bsonval.Rank(upper):
			return mongoerr.New(40193,
				"All values in the the 'boundaries' option to $bucket must have the same type. Found conflicting types %s and %s.",
				bsonval.TypeName(lower), bsonval.TypeName(upper))
		case p.scope.Collation().Compare(lower, upper) >= 0:
			return mongoerr.New(40194,
				"The 'boundaries' option to $bucket must be sorted, but elements %d and %d are not in sorted order (%s is not less than %s).",
				i, i+1, expr.Show(lower), expr.Show(upper))
		}
	}
	return nil
}

// key is the expression of the bucket that a document goes to: its lower boundary.
func (b *bucket) key() bson.D {
	quote := func(v any) bson.D { return bson.D{{Key: "$literal", Value: v}} }
	compare := func(name string, bound any) bson.D { return bson.D{{Key: name, Value: bson.A{b.by, quote(bound)}}} }
	branches := bson.A{}
	for i, low := range b.boundaries[:len(b.boundaries)-1] {
		branches = append(branches, bson.D{
			{Key: "case", Value: bson.D{{Key: "$and", Value: bson.A{compare("$gte", low), compare("$lt", b.boundaries[i+1])}}}},
			{Key: "then", Value: quote(low)},
		})
	}
	spec := bson.D{{Key: "branches", Value: branches}}
	if !bsonval.IsMissing(b.fallback) {
		spec = append(spec, bson.E{Key: "default", Value: quote(b.fallback)})
	}
	return bson.D{{Key: "$switch", Value: spec}}
}
