package pipeline

import (
	"math/rand/v2"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/bsonval/order"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/expr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/interrupt"
)

// sorting is $sort, stable.
type sorting struct {
	spec bson.D
	sort *order.Sort
	keep int64 // how many documents a $limit lets through; 0 means all
}

func parseSort(p *parser, _ string, arg any) (stage, error) {
	d, ok := arg.(bson.D)
	switch {
	case !ok:
		return nil, mongoerr.New(15973, "the $sort key specification must be an object")
	case len(d) == 0:
		return nil, mongoerr.New(15976, "$sort stage must have at least one sort key")
	}
	s, err := order.ParseScored(d, p.scope.IsScored())
	if err != nil {
		return nil, err
	}
	return &sorting{spec: d, sort: p.scope.Collation().Sort(s)}, nil
}

type keyed struct {
	key   bson.A
	d     bson.D
	score float64
}

func (s *sorting) run(r *run, in Docs) Docs {
	return func(yield func(bson.D, error) bool) {
		all, err := s.collect(r, in)
		if err == nil {
			all, err = s.sorted(r, all)
		}
		if err != nil {
			yield(nil, err)
			return
		}
		for _, k := range all {
			r.score = k.score
			if !yield(k.d, nil) {
				return
			}
		}
	}
}

// collect reads all documents. When a $limit follows, it forgets those that sort behind.
func (s *sorting) collect(r *run, in Docs) ([]keyed, error) {
	var all []keyed
	held := r.newMeter("$sort", order.TooLarge())
	for d, err := range in {
		if err != nil {
			return nil, err
		}
		all = append(all, keyed{s.key(r, d), d, r.score})
		err = held.add(d)
		full := err != nil || int64(len(all)) >= 2*s.keep+1000
		if s.keep > 0 && int64(len(all)) > s.keep && full {
			if all, err = s.sorted(r, all); err != nil {
				return nil, err
			}
			held.used = 0
			for i := 0; i < len(all) && err == nil; i++ {
				err = held.add(all[i].d)
			}
		}
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

func (s *sorting) key(r *run, d bson.D) bson.A {
	if s.sort.UsesScore() {
		return s.sort.ScoredKey(d, r.score)
	}
	return s.sort.Key(d)
}

// sorted returns the documents in order, as many of them as a $limit lets through.
func (s *sorting) sorted(r *run, all []keyed) ([]keyed, error) {
	err := interrupt.SortStable(r.watch, all, func(a, b keyed) int { return s.sort.CompareKeys(a.key, b.key) })
	if n := int64(len(all)); err == nil && s.keep > 0 && s.keep < n {
		clear(all[s.keep:])
		all = all[:s.keep]
	}
	return all, err
}

// follow tells a $sort before the $limit how many documents it lets through. A $skip may stand between them.
func (n limit) follow(before []stage) {
	skipped := int64(0)
	for i := len(before) - 1; i >= 0; i-- {
		switch s := before[i].(type) {
		case skip:
			skipped += int64(s)
		case *sorting:
			if total := int64(n) + skipped; total > 0 && total < 1<<32 {
				s.keep = total
			}
			return
		default:
			return
		}
	}
}

type limit int64

func parseLimit(_ *parser, _ string, arg any) (stage, error) {
	n, problem := expr.NonNegative("$limit", arg)
	switch {
	case problem != "":
		return nil, mongoerr.New(5107201, "invalid argument to $limit stage: %s", problem)
	case n == 0:
		return nil, mongoerr.New(15958, "the limit must be positive")
	}
	return limit(n), nil
}

func (n limit) run(_ *run, in Docs) Docs {
	return func(yield func(bson.D, error) bool) {
		left := n
		for d, err := range in {
			left--
			if !yield(d, err) || err != nil || left == 0 {
				return
			}
		}
	}
}

type skip int64

func parseSkip(_ *parser, _ string, arg any) (stage, error) {
	n, problem := expr.NonNegative("$skip", arg)
	if problem != "" {
		return nil, mongoerr.New(5107200, "invalid argument to $skip stage: %s", problem)
	}
	return skip(n), nil
}

func (n skip) run(_ *run, in Docs) Docs {
	return func(yield func(bson.D, error) bool) {
		left := n
		for d, err := range in {
			if left > 0 && err == nil {
				left--
				continue
			}
			if !yield(d, err) || err != nil {
				return
			}
		}
	}
}

// count is $count: one document with the number, none when there is nothing to count.
type count string

func parseCount(_ *parser, _ string, arg any) (stage, error) {
	name, ok := arg.(string)
	switch {
	case !ok:
		return nil, mongoerr.New(40156, "the count field must be a non-empty string")
	case name == "":
		return nil, mongoerr.New(40157, "the count field must be a non-empty string")
	case strings.HasPrefix(name, "$"):
		return nil, mongoerr.New(40158, "the count field cannot be a $-prefixed path")
	case strings.IndexByte(name, 0) >= 0:
		return nil, mongoerr.New(40159, "the count field cannot contain a null byte")
	case strings.Contains(name, "."):
		return nil, mongoerr.New(40160, "the count field cannot contain '.'")
	}
	return count(name), nil
}

func (name count) run(_ *run, in Docs) Docs {
	return func(yield func(bson.D, error) bool) {
		var n int64
		for _, err := range in {
			if err != nil {
				yield(nil, err)
				return
			}
			n++
		}
		if n > 0 {
			yield(bson.D{{Key: string(name), Value: bsonval.Integer(n)}}, nil)
		}
	}
}

// sample is $sample: that many documents by chance, in random order.
type sample int64

func parseSample(_ *parser, _ string, arg any) (stage, error) {
	d, ok := arg.(bson.D)
	if !ok {
		return nil, mongoerr.New(28745, "the $sample stage specification must be an object")
	}
	n := int64(-1)
	for _, f := range d {
		if f.Key != "size" {
			return nil, mongoerr.New(28748, "unrecognized option to $sample: %s", f.Key)
		}
		if !bsonval.IsNumber(f.Value) {
			return nil, mongoerr.New(28746, "size argument to $sample must be a number")
		}
		if n, ok = bsonval.TruncInt64(f.Value); !ok || n < 0 {
			return nil, mongoerr.New(28747, "size argument to $sample must not be negative")
		}
	}
	if n < 0 {
		return nil, mongoerr.New(28749, "$sample stage must specify a size")
	}
	return sample(n), nil
}

func (n sample) run(r *run, in Docs) Docs {
	return func(yield func(bson.D, error) bool) {
		all, err := collectDocs(in, r.newMeter("$sample", order.TooLarge()))
		if err != nil {
			yield(nil, err)
			return
		}
		rand.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		for _, d := range all[:min(int64(n), int64(len(all)))] {
			if !yield(d, nil) {
				return
			}
		}
	}
}

func replay(all []bson.D) Docs {
	return func(yield func(bson.D, error) bool) {
		for _, d := range all {
			if !yield(d, nil) {
				return
			}
		}
	}
}
