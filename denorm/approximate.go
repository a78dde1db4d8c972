package denorm

import (
	"fmt"
	"math"

	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Approximate is a count that is written about once in n events, by n: the views of a page that is seen more often than a
// document can be written. What is stored is right on average, with an error that [Approximate.Deviation] gives. Make it
// with [NewApproximate].
//
// Which events are written is decided by a number that the caller draws for each: what is generated stays a function of
// what goes in.
//
// Source: the approximation pattern,
// https://www.mongodb.com/docs/manual/data-modeling/design-patterns/computed-values/approximation-schema-pattern/.
type Approximate[D, K any] struct {
	owners *model.Collection[D, K]
	path   string
	n      int64
}

// NewApproximate declares that the number at a path of the owners' documents counts events, written once in n; with n 1
// every event is written, and the count is exact. It panics with a [*model.DeclarationError] when the path doesn't exist,
// is no number or crosses an array, or when n is below 1.
func NewApproximate[D, K any](owners *model.Collection[D, K], path string, n int64) *Approximate[D, K] {
	place := fmt.Sprintf("NewApproximate of %s.%s", owners.Name(), path)
	if n < 1 {
		panic(&model.DeclarationError{Problem: fmt.Sprintf("n is %d", n), Place: place, Remedy: "write once in 1 or more"})
	}
	checkNumber(place, model.MustField(owners, path))
	return &Approximate[D, K]{owners, path, n}
}

// Count returns the plan that counts one event of an owner: with a draw below 1/n, one write that adds n, and else none. The
// draw is uniform in [0, 1): rand.Float64(). The owner must exist: else running it gives model.ErrStale, if it writes.
//
// Cost: one command and one document, once in n; else nothing is sent. Consistency: one atomic update. A write of which no
// answer came may have counted; the driver's retryable writes count once.
func (a *Approximate[D, K]) Count(owner K, draw float64) model.Plan {
	return a.CountMany(owner, 1, draw)
}

// CountMany counts several events at once, as a process does that gathers them: it adds the multiple of n below their
// number, or with a chance of the rest's share the one above. 0 events write nothing; a negative number is refused. Draw and owner
// are as for [Approximate.Count].
//
// Cost: one command and one document, found by _id; fewer than n events send nothing, but for their chance. Consistency: one atomic
// update. What a process has gathered and not yet written is lost with it.
func (a *Approximate[D, K]) CountMany(owner K, events int64, draw float64) model.Plan {
	w := a.owners.Update(owner, bson.D{{Key: "$inc", Value: bson.D{{Key: a.path, Value: int64(1)}}}})
	switch {
	case w.Err != nil:
	case events < 0:
		w = a.refuse("events", events, "must not be negative")
	case events > math.MaxInt64-a.n:
		w = a.refuse("events", events, "is too large")
	case !(draw >= 0 && draw < 1):
		w = a.refuse("draw", draw, "must be in [0, 1)")
	}
	if w.Err != nil {
		return model.NewPlan(w)
	}
	by := events / a.n * a.n
	if draw < float64(events%a.n)/float64(a.n) {
		by += a.n
	}
	if by == 0 {
		return model.Plan{}
	}
	w.Model.(*mongo.UpdateOneModel).Update = bson.D{{Key: "$inc", Value: bson.D{{Key: a.path, Value: by}}}}
	return model.NewPlan(w)
}

func (a *Approximate[D, K]) refuse(field string, v any, reason string) model.Write {
	return model.Refused(a.owners.Name(), &model.ValueError{Collection: a.owners.Name(), Field: field, Value: v, Reason: reason})
}

// Deviation returns the standard deviation of a stored count of that many events, counted one by one: √(count·(n-1)). Two of
// three counts are within it, nineteen of twenty within twice of it. Events that are counted many at once deviate less.
func (a *Approximate[D, K]) Deviation(count int64) float64 {
	return math.Sqrt(float64(max(count, 0)) * float64(a.n-1))
}

// Indexes returns none: an owner is found by _id.
func (a *Approximate[D, K]) Indexes() []model.Index { return nil }

// Relations returns none.
func (a *Approximate[D, K]) Relations() []model.Relation { return nil }

// checkNumber panics unless the field is one number.
func checkNumber(place string, f model.Field) {
	problem := ""
	switch {
	case f.Arrays > 0:
		problem = fmt.Sprintf("path %q crosses an array", f.Path)
	case !f.Open && !isNumberType(f.Type):
		problem = fmt.Sprintf("path %q is a %s, not a number", f.Path, f.Type)
	}
	if problem != "" {
		panic(&model.DeclarationError{Problem: problem, Place: place, Remedy: "name a field that is an int64, int32, int or float64"})
	}
}
