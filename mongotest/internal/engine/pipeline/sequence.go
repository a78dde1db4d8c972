package pipeline

// This file has the stages that order, count and choose documents without looking into them otherwise: $sort, $limit,
// $skip, $count and $sample.

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

// sortStage is $sort. It is stable: documents that compare as equal stay in the order of the input.
// https://www.mongodb.com/docs/manual/reference/operator/aggregation/sort/
type sortStage struct {
	spec bson.D // as it was given, for Leading
	sort *order.Sort
	keep int64 // how many documents a $limit behind it lets through; 0: all
}

// parseSort parses {$sort: {a: 1, b: -1}}. $bucket, $sortByCount and $densify call it too.
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
	return &sortStage{spec: d, sort: p.scope.Collation().Sort(s)}, nil
}

// sortItem is a document while it is sorted, with its key and its text score.
type sortItem struct {
	key   bson.A
	d     bson.D
	score float64
}

// run yields the documents in order, when all of the input was read.
func (s *sortStage) run(r *run, in Docs) Docs {
	return func(yield func(bson.D, error) bool) {
		all, err := s.collectItems(r, in)
		if err == nil {
			all, err = s.sortItems(r, all)
		}
		if err != nil {
			yield(nil, err)
			return
		}
		for _, k := range all {
			// Stages behind this one ask for the score of the document that they get.
			r.score = k.score
			if !yield(k.d, nil) {
				return
			}
		}
	}
}

// collectItems reads all documents. When a $limit follows, it sorts from time to time, and drops the documents that the
// $limit wouldn't let through. The limit of memory then counts only the documents that are left, as MongoDB's does.
func (s *sortStage) collectItems(r *run, in Docs) ([]sortItem, error) {
	var all []sortItem
	held := r.newMeter("$sort", order.TooLarge())
	for d, err := range in {
		if err != nil {
			return nil, err
		}
		all = append(all, sortItem{key: s.computeKey(r, d), d: d, score: r.score})
		err = held.add(d)
		// Sorting at twice the number that is kept costs each document a constant number of comparisons.
		full := err != nil || int64(len(all)) >= 2*s.keep+1000
		// The documents that are dropped aren't held any more, so the count begins again.
		if s.keep > 0 && int64(len(all)) > s.keep && full {
			if all, err = s.sortItems(r, all); err != nil {
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

// computeKey returns the values by which a document is sorted.
func (s *sortStage) computeKey(r *run, d bson.D) bson.A {
	if s.sort.UsesScore() {
		return s.sort.ScoredKey(d, r.score)
	}
	return s.sort.Key(d)
}

// sortItems sorts the documents, and returns as many as a $limit lets through.
func (s *sortStage) sortItems(r *run, all []sortItem) ([]sortItem, error) {
	err := interrupt.SortStable(r.watch, all, func(a, b sortItem) int { return s.sort.CompareKeys(a.key, b.key) })
	if n := int64(len(all)); err == nil && s.keep > 0 && s.keep < n {
		clear(all[s.keep:])
		all = all[:s.keep]
	}
	return all, err
}

// follow tells a $sort before the $limit how many documents are needed. A $skip may stand between them: of {$skip: 5},
// {$limit: 10} the $sort must keep 15.
func (n limit) follow(before []stage) {
	skipped := int64(0)
	for i := len(before) - 1; i >= 0; i-- {
		switch s := before[i].(type) {
		case skip:
			skipped += int64(s)
		case *sortStage:
			// The sum may overflow. So many documents don't fit into memory anyway.
			if total := int64(n) + skipped; total > 0 && total < 1<<32 {
				s.keep = total
			}
			return
		default:
			return
		}
	}
}

// limit is $limit: the first n documents.
type limit int64

// parseLimit parses {$limit: 10}.
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

// run ends with the last document, without asking its input for another one.
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

// skip is $skip: all documents but the first n.
type skip int64

// parseSkip parses {$skip: 10}. Zero is allowed, as it isn't for $limit.
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

// count is $count: one document with the number in the field of that name, no document if there is nothing to count.
type count string

// parseCount parses {$count: "n"}. The name is a field at the top level.
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

// run yields {n: 3}: an int, or a long if it doesn't fit.
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

// sample is $sample: n random documents, in random order. It can't choose the same document twice, which MongoDB's may.
// https://www.mongodb.com/docs/manual/reference/operator/aggregation/sample/
type sample int64

// parseSample parses {$sample: {size: 3}}. A size of 0 gives no documents.
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

// run reads all documents. MongoDB reads few if the stage comes first and the collection is large.
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

// replay returns documents that were collected as a sequence.
func replay(all []bson.D) Docs {
	return func(yield func(bson.D, error) bool) {
		for _, d := range all {
			if !yield(d, nil) {
				return
			}
		}
	}
}
