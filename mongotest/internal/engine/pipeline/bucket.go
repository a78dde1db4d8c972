package pipeline

import (
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/expr"
)

// bucketSpec is a $bucket while its options are read.
type bucketSpec struct {
	by         any    // groupBy, as it was given; Missing until it is read
	boundaries []any  // the lower bounds of the buckets, in ascending order, and the last one's upper bound
	fallback   any    // default, the _id of documents outside of all buckets; Missing: such documents are an error
	output     bson.D // the fields of the result, as in $group
}

// parseBucket parses $bucket, and makes of it a $group by a $switch over the boundaries, and a $sort by _id:
//
//	{$bucket: {groupBy: "$n", boundaries: [0, 10, 20]}}
//
//	{n: 3}, {n: 5}, {n: 12}   gives   {_id: 0, count: 2}, {_id: 10, count: 1}
//
// The two stages for it:
//
//	{$group: {_id: {$switch: {branches: [
//	    {case: {$and: [{$gte: ["$n", 0]}, {$lt: ["$n", 10]}]}, then: 0},
//	    {case: {$and: [{$gte: ["$n", 10]}, {$lt: ["$n", 20]}]}, then: 10}]}}, count: {$sum: 1}}}
//
// The boundaries are in $literal. A $switch without a matching branch and a default fails, as a $bucket does.
// https://www.mongodb.com/docs/manual/reference/operator/aggregation/bucket/
func parseBucket(p *parser, _ string, arg any) (stage, error) {
	d, ok := arg.(bson.D)
	if !ok {
		return nil, mongoerr.New(40201,
			"Argument to $bucket stage must be an object, but found type: %s.", bsonval.TypeName(arg))
	}
	b := bucketSpec{
		by: bsonval.Missing, fallback: bsonval.Missing,
		output: bson.D{{Key: "count", Value: bson.D{{Key: "$sum", Value: int32(1)}}}},
	}
	for _, f := range d {
		if err := b.parseOption(p, f); err != nil {
			return nil, err
		}
	}
	if bsonval.IsMissing(b.by) || b.boundaries == nil {
		return nil, mongoerr.New(40198, "$bucket requires 'groupBy' and 'boundaries' to be specified.")
	}
	// A default inside of the boundaries could be the _id of a bucket.
	by := p.scope.Collation()
	low, high := b.boundaries[0], b.boundaries[len(b.boundaries)-1]
	if !bsonval.IsMissing(b.fallback) && by.Compare(b.fallback, low) >= 0 && by.Compare(b.fallback, high) < 0 {
		return nil, mongoerr.New(40199,
			"The $bucket 'default' field must be less than the lowest boundary or greater than or equal to the "+
				"highest boundary.")
	}
	// The fields of output are parsed as fields of a $group, with its errors.
	g, err := parseGroup(p, "$group", append(bson.D{{Key: "_id", Value: b.makeKey()}}, b.output...))
	if err != nil {
		return nil, err
	}
	s, err := parseSort(p, "$sort", bson.D{{Key: "_id", Value: int32(1)}})
	return chain{g, s}, err
}

// parseOption reads one option of the stage.
func (b *bucketSpec) parseOption(p *parser, f bson.E) error {
	switch f.Key {
	case "groupBy":
		return b.parseGroupBy(f.Value)
	case "boundaries":
		return b.parseBoundaries(p, f.Value)
	case "default":
		var ok bool
		e, err := expr.Parse(f.Value, p.scope)
		if err != nil {
			return err
		}
		if b.fallback, ok = expr.Literal(e); !ok {
			return mongoerr.New(40195,
				"The $bucket 'default' field must be a constant expression, but found: %s.", bsonval.Show(f.Value))
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

// parseGroupBy reads groupBy, which must depend on the document: a path or an operator.
func (b *bucketSpec) parseGroupBy(v any) error {
	path, isText := v.(string)
	d, isDocument := v.(bson.D)
	if isText && strings.HasPrefix(path, "$") || isDocument && len(d) > 0 && strings.HasPrefix(d[0].Key, "$") {
		b.by = v
		return nil
	}
	return mongoerr.New(40202,
		"The $bucket 'groupBy' field must be defined as a $-prefixed path or an expression, but found: %s.",
		bsonval.Show(v))
}

// parseBoundaries reads the boundaries: at least two constants of one type, in ascending order under the collation.
func (b *bucketSpec) parseBoundaries(p *parser, v any) error {
	list, ok := v.(bson.A)
	if !ok {
		return mongoerr.New(40200,
			"The $bucket 'boundaries' field must be an array, but found type: %s.", bsonval.TypeName(v))
	}
	// An expression without fields and variables, such as {$literal: 5}, is a constant too.
	for _, x := range list {
		e, err := expr.Parse(x, p.scope)
		if err != nil {
			return err
		}
		c, constant := expr.Literal(e)
		if !constant {
			return mongoerr.New(40191,
				"The $bucket 'boundaries' field must be an array of constant values, but found value: %s.",
				bsonval.Show(x))
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
				"All values in the the 'boundaries' option to $bucket must have the same type. "+
					"Found conflicting types %s and %s.",
				bsonval.TypeName(lower), bsonval.TypeName(upper))
		case p.scope.Collation().Compare(lower, upper) >= 0:
			return mongoerr.New(40194,
				"The 'boundaries' option to $bucket must be sorted, but elements %d and %d are not in sorted order "+
					"(%s is not less than %s).",
				i, i+1, bsonval.Show(lower), bsonval.Show(upper))
		}
	}
	return nil
}

// makeKey returns the expression of a document's bucket, which is the bucket's lower boundary.
func (b *bucketSpec) makeKey() bson.D {
	// A boundary such as "$x" is a string, and not a path.
	quote := func(v any) bson.D { return bson.D{{Key: "$literal", Value: v}} }
	compare := func(name string, bound any) bson.D { return bson.D{{Key: name, Value: bson.A{b.by, quote(bound)}}} }
	branches := bson.A{}
	for i, low := range b.boundaries[:len(b.boundaries)-1] {
		inside := bson.A{compare("$gte", low), compare("$lt", b.boundaries[i+1])}
		branches = append(branches, bson.D{
			{Key: "case", Value: bson.D{{Key: "$and", Value: inside}}},
			{Key: "then", Value: quote(low)},
		})
	}
	spec := bson.D{{Key: "branches", Value: branches}}
	if !bsonval.IsMissing(b.fallback) {
		spec = append(spec, bson.E{Key: "default", Value: quote(b.fallback)})
	}
	return bson.D{{Key: "$switch", Value: spec}}
}
