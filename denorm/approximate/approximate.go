// Package approximate counts events with few writes, right on average: see [Approximate].
package approximate

import (
	"fmt"
	"math"

	"github.com/docmodel/docmodel/denorm/internal/stored"
	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Approximate counts events with few writes. About one event in n adds n to a number in a
// document. The stored count is right on average. If events are counted one by one, the
// standard deviation of a count is √(count·(n-1)).
//
// Source: the approximation pattern,
// https://www.mongodb.com/docs/manual/data-modeling/design-patterns/computed-values/approximation-schema-pattern/.
type Approximate[D, K any] struct {
	model.Parts

	owners *model.Collection[D, K]
	path   string
	n      int64
}

// New declares that each owner's number at path counts events. About one event
// in n adds n to the number. If n is 1, the count is exact.
// New panics with a [*model.DeclarationError] if n is below 1, or if the field
// at path isn't a number, or is in an array.
func New[D, K any](owners *model.Collection[D, K], path string, n int64) *Approximate[D, K] {
	place := core.Place(fmt.Sprintf("approximate.New of %s.%s", owners.Name(), path))
	if n < 1 {
		place.Fail(fmt.Sprintf("n is %d", n), "give 1 or more")
	}
	checkNumber(place, owners.Docs().MustField(path))
	footprints := func() []model.Footprint { return model.Owns.In(owners.Name(), path) }
	return &Approximate[D, K]{model.NewParts(nil, nil, nil, footprints).
		WithDocs(owners.Docs()).WithReactions(func() []model.Reaction { return nil }), owners, path, n}
}

// Count returns the plan that adds a number of events to a document's count. The number
// is rounded up or down to a multiple of [New]'s n. As draw, pass
// rand.Float64(). A missing owner gives model.ErrNotFound, unless the number is rounded
// to 0. A retry can count twice.
//
// Cost: at most one command and one document, by _id.
func (a *Approximate[D, K]) Count(owner K, events int64, draw float64) model.Plan {
	docs := a.owners.Docs()
	w := commands.AdoptWrite(a.owners.Update(owner, bson.D{{
		Key: "$inc", Value: bson.D{{Key: a.path, Value: int64(1)}},
	}}))
	switch {
	case w.Err != nil:
	case events < 0:
		w = model.Refused(docs.Name(), docs.Refuse("events", events, "must not be negative"))
	case events > math.MaxInt64-a.n:
		w = model.Refused(docs.Name(), docs.Refuse("events", events, "is too large"))
	case !(draw >= 0 && draw < 1):
		w = model.Refused(docs.Name(), docs.Refuse("draw", draw, "must be in [0, 1)"))
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

// checkNumber panics unless the field is a number outside arrays.
func checkNumber(place core.Place, f core.Field) {
	problem := ""
	switch {
	case f.Arrays > 0:
		problem = fmt.Sprintf("path %q crosses an array", f.Path)
	case !f.Untyped && !stored.IsNumberType(f.Type):
		problem = fmt.Sprintf("path %q is of type %s, not a number", f.Path, f.Type)
	}
	if problem != "" {
		place.Fail(problem, "name a field of type int64, int32, int or float64")
	}
}
