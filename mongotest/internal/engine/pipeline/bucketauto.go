package pipeline

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/bsonval/order"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/expr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/interrupt"
)

// bucketAuto is $bucketAuto: it divides the documents by an expression into at most so many buckets, each with about
// the same number of documents. A granularity rounds the bounds to preferred numbers (granularity.go). The _id of a
// bucket is {min: 0, max: 10}: min is in the bucket, and max is the next bucket's min. Without a granularity the last
// bucket's max is in it. https://www.mongodb.com/docs/manual/reference/operator/aggregation/bucketAuto/
//
//	{$bucketAuto: {groupBy: "$n", buckets: 3}}   {n: 1}, {n: 2}, {n: 3}, {n: 4}, {n: 5}, {n: 6}, {n: 7}
//
//	{_id: {min: 1, max: 3}, count: 2}, {_id: {min: 3, max: 5}, count: 2}, {_id: {min: 5, max: 7}, count: 3}
type bucketAuto struct {
	by      expr.Expr    // groupBy
	buckets int64        // the greatest number of buckets
	fields  []groupField // output
	round   rounder      // nil: bounds are the documents' values
}

// parseBucketAuto parses {$bucketAuto: {groupBy: "$n", buckets: 4, output: {...}, granularity: "R5"}}.
func parseBucketAuto(p *parser, _ string, arg any) (stage, error) {
	d, ok := arg.(bson.D)
	if !ok {
		return nil, mongoerr.New(40240,
			"The argument to $bucketAuto must be an object, but found type: %s", bsonval.TypeName(arg))
	}
	s, counted := &bucketAuto{}, false
	for _, f := range d {
		var err error
		switch f.Key {
		case "groupBy":
			err = s.parseGroupBy(p, f.Value)
		case "buckets":
			counted, err = true, s.parseBuckets(f.Value)
		case "output":
			err = s.parseOutput(p, f.Value)
		case "granularity":
			name, ok := f.Value.(string)
			if !ok {
				return nil, mongoerr.New(40261,
					"The $bucketAuto 'granularity' field must be a string, but found type: %s",
					bsonval.TypeName(f.Value))
			}
			s.round, err = findGranularity(name)
		default:
			err = mongoerr.New(40245, "Unrecognized option to $bucketAuto: %s", f.Key)
		}
		if err != nil {
			return nil, err
		}
	}
	switch {
	// Options that are missing are reported after all wrong ones.
	case s.by == nil || !counted:
		return nil, mongoerr.New(40246, "$bucketAuto requires 'groupBy' and 'buckets' to be specified")
	case s.buckets <= 0:
		return nil, mongoerr.New(40243,
			"The $bucketAuto 'buckets' field must be greater than 0, but found: %d", s.buckets)
	// Without an output, the documents are counted, as in $bucket.
	case len(s.fields) == 0:
		return s, s.parseOutput(p, bson.D{{Key: "count", Value: bson.D{{Key: "$sum", Value: int32(1)}}}})
	}
	return s, nil
}

// parseGroupBy reads groupBy. As in $bucket, a constant is refused, but with other texts.
func (s *bucketAuto) parseGroupBy(p *parser, v any) (err error) {
	path, isText := v.(string)
	d, isDocument := v.(bson.D)
	if isText && len(path) > 1 && strings.HasPrefix(path, "$") ||
		isDocument && len(d) > 0 && strings.HasPrefix(d[0].Key, "$") {
		s.by, err = expr.Parse(v, p.scope)
		return err
	}
	return mongoerr.New(40239,
		"The $bucketAuto 'groupBy' field must be defined as a $-prefixed path or an expression object, but found: %s",
		bsonval.Text(v))
}

// parseBuckets reads the number of buckets. Whether it is positive is checked after all options.
func (s *bucketAuto) parseBuckets(v any) error {
	n, ok := bsonval.Int64(v)
	switch {
	case !bsonval.IsNumber(v):
		return mongoerr.New(40241,
			"The $bucketAuto 'buckets' field must be a numeric value, but found type: %s", bsonval.TypeName(v))
	case !ok || int64(int32(n)) != n:
		return mongoerr.New(40242,
			"The $bucketAuto 'buckets' field must be representable as a 32-bit integer, but found %s", bsonval.Show(v))
	}
	s.buckets = n
	return nil
}

// parseOutput reads the fields of the result. They have the form of a $group's fields.
func (s *bucketAuto) parseOutput(p *parser, v any) error {
	d, ok := v.(bson.D)
	if !ok {
		return mongoerr.New(40244,
			"The $bucketAuto 'output' field must be an object, but found type: %s", bsonval.TypeName(v))
	}
	g := &group{}
	for _, f := range d {
		if err := g.addField(p, f); err != nil {
			return err
		}
	}
	s.fields = g.fields
	return nil
}

// bucketItem is a document with the value of groupBy and its place in the input. Buckets are cut in the order of keys,
// and accumulators see documents in the order of places.
type bucketItem struct {
	key   any
	place int
	d     bson.D
}

// run cuts the sorted documents into buckets:
//
//  1. A bucket should have a share of the documents: their number by the number of buckets, rounded.
//  2. findBound makes it larger, because documents with equal keys stay together. So there may be fewer buckets.
//  3. computeBucket runs the accumulators of its documents.
func (s *bucketAuto) run(r *run, in Docs) Docs {
	return func(yield func(bson.D, error) bool) {
		all, err := s.collectItems(r, in)
		if err != nil {
			yield(nil, err)
			return
		}
		// The last bucket takes what rounding has left over.
		size := max(1, int(math.Round(float64(len(all))/float64(s.buckets))))
		var low any // the bucket's lower bound
		for n := int64(1); n <= s.buckets && len(all) > 0; n++ {
			to := min(size, len(all))
			if n == s.buckets {
				to = len(all)
			}
			// Later buckets begin where the one before ends.
			if n == 1 {
				low = all[0].key
				if s.round != nil {
					low = s.round.roundDown(low)
				}
			}
			var high any
			to, high = s.findBound(r, all, to)
			d, err := s.computeBucket(r, all[:to], low, high)
			if !yield(d, err) || err != nil {
				return
			}
			low, all = high, all[to:]
		}
	}
}

// collectItems reads all documents, and sorts them by their keys.
func (s *bucketAuto) collectItems(r *run, in Docs) ([]bucketItem, error) {
	var all []bucketItem
	held := r.newMeter("$bucketAuto", order.TooLarge())
	for d, err := range in {
		if err == nil {
			err = held.add(d)
		}
		if err != nil {
			return nil, err
		}
		key, err := s.by.Eval(r.base.ForDocument(d))
		if err == nil && s.round != nil {
			err = checkRounded(key)
		}
		if err != nil {
			return nil, err
		}
		// A document without the field is in the bucket of null.
		if bsonval.IsMissing(key) {
			key = nil
		}
		all = append(all, bucketItem{key: key, place: len(all), d: d})
	}
	err := interrupt.SortStable(r.watch, all, func(a, b bucketItem) int { return r.by.Compare(a.key, b.key) })
	return all, err
}

// checkRounded refuses a key that a granularity can't round.
func checkRounded(key any) error {
	f, ok := bsonval.Float(key)
	switch {
	case !ok:
		return mongoerr.New(40258,
			"$bucketAuto can specify a 'granularity' with numeric boundaries only, but found a value with type: %s",
			bsonval.TypeName(key))
	case math.IsNaN(f):
		return mongoerr.New(40259,
			"$bucketAuto can specify a 'granularity' with numeric boundaries only, but found a NaN")
	case f < 0:
		return mongoerr.New(40260,
			"$bucketAuto can specify a 'granularity' with non-negative numbers only, but found a negative number")
	}
	return nil
}

// findBound returns how many documents a bucket takes that should have n, and the bucket's upper bound. The bucket also
// takes the documents with the last key, and the documents below a rounded bound.
func (s *bucketAuto) findBound(r *run, all []bucketItem, n int) (int, any) {
	last := all[n-1].key
	high := last
	if s.round != nil {
		high = s.round.roundUp(last)
	}
	belongs := func(key any) bool {
		return r.by.Compare(key, last) == 0 || s.round != nil && bsonval.Compare(key, high) < 0
	}
	for n < len(all) && belongs(all[n].key) {
		last = all[n].key
		n++
	}
	switch {
	// The last bucket ends with its last key.
	case n == len(all):
	case s.round == nil:
		high = all[n].key
	// Zero can't be rounded up, so a bucket of zeros ends below the next key.
	case bsonval.Compare(high, int32(0)) == 0:
		high = s.round.roundDown(all[n].key)
	}
	return n, high
}

// computeBucket returns the result of one bucket. It sorts the documents back into the order of the input, which $push
// and $first show.
func (s *bucketAuto) computeBucket(r *run, all []bucketItem, low, high any) (bson.D, error) {
	slices.SortFunc(all, func(a, b bucketItem) int { return cmp.Compare(a.place, b.place) })
	out := bson.D{{Key: "_id", Value: bson.D{{Key: "min", Value: low}, {Key: "max", Value: high}}}}
	for _, f := range s.fields {
		state := f.acc.Start()
		for _, x := range all {
			if err := state.Add(r.base.ForDocument(x.d)); err != nil {
				return nil, err
			}
		}
		out = append(out, bson.E{Key: f.name, Value: state.Result()})
	}
	return out, nil
}
