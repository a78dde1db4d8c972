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

// bucketAuto is $bucketAuto: so many buckets, of about as many documents each, whose bounds may be rounded.
// https://www.mongodb.com/docs/manual/reference/operator/aggregation/bucketAuto/
type bucketAuto struct {
	by      expr.Expr
	buckets int64
	fields  []groupField
	round   rounder // nil: bounds are as they are
}

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
			err = s.groupBy(p, f.Value)
		case "buckets":
			counted, err = true, s.count(f.Value)
		case "output":
			err = s.output(p, f.Value)
		case "granularity":
			name, ok := f.Value.(string)
			if !ok {
				return nil, mongoerr.New(40261, "The $bucketAuto 'granularity' field must be a string, but found type: %s",
					bsonval.TypeName(f.Value))
			}
			s.round, err = granularity(name)
		default:
			err = mongoerr.New(40245, "Unrecognized option to $bucketAuto: %s", f.Key)
		}
		if err != nil {
			return nil, err
		}
	}
	switch {
	case s.by == nil || !counted:
		return nil, mongoerr.New(40246, "$bucketAuto requires 'groupBy' and 'buckets' to be specified")
	case s.buckets <= 0:
		return nil, mongoerr.New(40243, "The $bucketAuto 'buckets' field must be greater than 0, but found: %d", s.buckets)
	case len(s.fields) == 0:
		return s, s.output(p, bson.D{{Key: "count", Value: bson.D{{Key: "$sum", Value: int32(1)}}}})
	}
	return s, nil
}

func (s *bucketAuto) groupBy(p *parser, v any) (err error) {
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

func (s *bucketAuto) count(v any) error {
	n, ok := bsonval.Int64(v)
	switch {
	case !bsonval.IsNumber(v):
		return mongoerr.New(40241,
			"The $bucketAuto 'buckets' field must be a numeric value, but found type: %s", bsonval.TypeName(v))
	case !ok || int64(int32(n)) != n:
		return mongoerr.New(40242,
			"The $bucketAuto 'buckets' field must be representable as a 32-bit integer, but found %s", expr.Show(v))
	}
	s.buckets = n
	return nil
}

func (s *bucketAuto) output(p *parser, v any) error {
	d, ok := v.(bson.D)
	if !ok {
		return mongoerr.New(40244,
			"The $bucketAuto 'output' field must be an object, but found type: %s", bsonval.TypeName(v))
	}
	g := &group{}
	for _, f := range d {
		if err := g.add(p, f); err != nil {
			return err
		}
	}
	s.fields = g.fields
	return nil
}

// bucketed is a document with its key and its place in the input.
type bucketed struct {
	key   any
	place int
	d     bson.D
}

func (s *bucketAuto) run(r *run, in Docs) Docs {
	return func(yield func(bson.D, error) bool) {
		all, err := s.collect(r, in)
		if err != nil {
			yield(nil, err)
			return
		}
		size := max(1, int(math.Round(float64(len(all))/float64(s.buckets))))
		var low any // the bound before
		for n := int64(1); n <= s.buckets && len(all) > 0; n++ {
			to := min(size, len(all))
			if n == s.buckets {
				to = len(all)
			}
			if n == 1 {
				low = all[0].key
				if s.round != nil {
					low = s.round.down(low)
				}
			}
			var high any
			to, high = s.bound(r, all, to)
			d, err := s.bucket(r, all[:to], low, high)
			if !yield(d, err) || err != nil {
				return
			}
			low, all = high, all[to:]
		}
	}
}

// collect reads all documents, and sorts them by their keys.
func (s *bucketAuto) collect(r *run, in Docs) ([]bucketed, error) {
	var all []bucketed
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
		if bsonval.IsMissing(key) {
			key = nil
		}
		all = append(all, bucketed{key, len(all), d})
	}
	err := interrupt.SortStable(r.watch, all, func(a, b bucketed) int { return r.by.Compare(a.key, b.key) })
	return all, err
}

func checkRounded(key any) error {
	f, ok := bsonval.Float(key)
	switch {
	case !ok:
		return mongoerr.New(40258,
			"$bucketAuto can specify a 'granularity' with numeric boundaries only, but found a value with type: %s",
			bsonval.TypeName(key))
	case math.IsNaN(f):
		return mongoerr.New(40259, "$bucketAuto can specify a 'granularity' with numeric boundaries only, but found a NaN")
	case f < 0:
		return mongoerr.New(40260,
			"$bucketAuto can specify a 'granularity' with non-negative numbers only, but found a negative number")
	}
	return nil
}

// bound returns how many documents a bucket that has at least n of them takes, and its upper bound: the next bucket's
// lower one. Equal keys are in one bucket, and so is what is below a rounded bound.
func (s *bucketAuto) bound(r *run, all []bucketed, n int) (int, any) {
	last := all[n-1].key
	high := last
	if s.round != nil {
		high = s.round.up(last)
	}
	for n < len(all) && (r.by.Compare(all[n].key, last) == 0 || s.round != nil && bsonval.Compare(all[n].key, high) < 0) {
		last = all[n].key
		n++
	}
	switch {
	case n == len(all):
	case s.round == nil:
		high = all[n].key
	case bsonval.Compare(high, int32(0)) == 0:
		high = s.round.down(all[n].key)
	}
	return n, high
}

// bucket accumulates the documents in the order in which they came.
func (s *bucketAuto) bucket(r *run, all []bucketed, low, high any) (bson.D, error) {
	slices.SortFunc(all, func(a, b bucketed) int { return cmp.Compare(a.place, b.place) })
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
