package denorm

import (
	"reflect"
	"time"

	"github.com/docmodel/docmodel/denorm/internal/rollup"
	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// RollupSpec says what the bins of a [Rollup] count. Time, Bins and Mark are required.
type RollupSpec struct {
	Time string   // path of an event's time, a time.Time or bson.DateTime
	By   []string // paths of an event's group: strings, integers, ObjectIDs; or none

	// Sums, Mins and Maxs are paths of an event's numbers. A bin stores their sum,
	// minimum or maximum, and how many events have a value, for averages.
	Sums, Mins, Maxs []string

	Bins []Period       // which bins are kept: Hourly, Daily, Monthly
	Zone *time.Location // of hours, days and months; nil means UTC
	Mark string         // path of an event's *RollupMark, tagged omitempty

	// Keep is the number of batches that a bin ([RollupDoc]) remembers, from 1 to 10,000;
	// 0 means 100. The bin counts a remembered batch only once. A batch is the events
	// that [Rollup.Roll] counts together.
	Keep int

	// For is how long you keep events ([Rollup.Expire] deletes them). [Rollup.Checks]
	// compares only younger events with their bins. 0 means for ever.
	For time.Duration
}

// A RollupMark is a field that an event has until it is counted in its bins
// ([RollupDoc]). Only [Rollup] writes it.
type RollupMark struct {
	Batch bson.ObjectID `bson:"batch"` // token of the batch; zero while the event waits
	// Events lists, in the first event of a batch, the _ids of the events that
	// [Rollup.Roll] read for the batch.
	Events []bson.RawValue `bson:"events,omitempty"`
}

// A RollupDoc is a bin: the totals of one group's events in one hour, day or month.
//
// G is the type of the event's field at RollupSpec.By. For several paths, G is a struct
// with a field per path, named with "/" for each dot. Without paths, G is struct{}. V is
// int64, float64 or bson.Decimal128.
type RollupDoc[G, V any] struct {
	ID     string                    `bson:"_id"` // group, unit and start
	Group  G                         `bson:"group,omitempty"`
	Unit   string                    `bson:"unit"` // "hour", "day" or "month"
	Start  time.Time                 `bson:"start"`
	N      int64                     `bson:"n"`                // number of events
	Values map[string]RollupValue[V] `bson:"values,omitempty"` // by path, with "/" for a dot
	Ops    []bson.ObjectID           `bson:"ops,omitempty"`
}

// A RollupValue is what a bin ([RollupDoc]) stores of its events' numbers at one path.
// Sum, Min and Max are zero unless Sums, Mins or Maxs of [RollupSpec] lists that path.
type RollupValue[V any] struct {
	N   int64 `bson:"n"` // number of events with a value
	Sum V     `bson:"sum,omitempty"`
	Min V     `bson:"min,omitempty"`
	Max V     `bson:"max,omitempty"`
}

// A RollupTotal is the total of several bins ([RollupDoc]), by [Rollup.Total].
type RollupTotal[V any] struct {
	N      int64                     `bson:"n"`      // number of events
	Values map[string]RollupValue[V] `bson:"values"` // by path, with "/" for a dot
}

// Rollup keeps totals of events in bins ([RollupDoc]), one per group and hour, day or
// month. Counted events stay counted if you delete them.
//
// [Rollup.Insert] stores an event with a mark. [Rollup.Roll], run by a timer, adds marked
// events to the bins and removes the marks. Don't change events.
//
// # Consistency
//
// Each event counts once, even if [Rollup.Roll] is interrupted. But a slow runner can
// count a batch twice if RollupSpec.Keep is too small. Don't delete events with a mark.
// [Rollup.Rebuild] repairs wrong bins.
//
// # Scopes
//
// Under a [model.Scope] with a Tenant, put the tenant's field first in By. Events that
// the Scope soft-deletes still count.
//
// Source:
// https://www.mongodb.com/docs/manual/data-modeling/design-patterns/computed-values/computed-schema-pattern/.
//
// Indexes returns indexes of marked events, of events by time, and of bins by start.
//
// Checks returns these checks:
//
//   - Events with a mark. The repair works as [Rollup.Roll].
//   - Bins of the shortest Period that don't match their events. The repair works as
//     [Rollup.Rebuild].
//   - Longer bins that don't match the shorter bins, with the same repair.
//
// Cost: the last two read every bin, and every event younger than RollupSpec.For.
type Rollup[E, K, G, V any] struct {
	model.Parts

	events *model.Collection[E, K]
	bins   *model.Collection[RollupDoc[G, V], string]
	r      *rollup.Rollup
}

// NewRollup declares that bins keep totals of events. It panics with a
// [*model.DeclarationError] if a path doesn't exist, lies inside an array or overlaps
// another, if types don't fit, or for a bad spec.
func NewRollup[E, K, G, V any](
	events *model.Collection[E, K], bins *model.Collection[RollupDoc[G, V], string], spec RollupSpec,
) *Rollup[E, K, G, V] {
	core := rollup.Spec{
		Time: spec.Time, By: spec.By, Sums: spec.Sums, Mins: spec.Mins, Maxs: spec.Maxs,
		Zone: spec.Zone, Mark: spec.Mark, Keep: spec.Keep, For: spec.For,
	}
	for _, p := range spec.Bins {
		core.Bins = append(core.Bins, rollup.Unit(p))
	}
	types := rollup.Types{Group: reflect.TypeFor[G](), Number: reflect.TypeFor[V](), Mark: reflect.TypeFor[RollupMark]()}
	out := &Rollup[E, K, G, V]{model.Parts{}, events, bins, rollup.Declare(events.Docs(), bins.Docs(), core, types)}
	out.Parts = model.NewParts(out.r.Indexes, nil, out.r.Checks, out.r.Footprints)
	return out
}

// Insert returns the write that stores an event, to be counted by [Rollup.Roll]. If an
// equal event is stored, it does nothing. If a different event has the _id, it gives
// [model.ErrTaken]. The event's [RollupMark] must be nil.
//
// Cost: one command, one document.
func (x *Rollup[E, K, G, V]) Insert(event E) model.Write { return x.r.Insert(x.events.Insert(event)) }

// Roll returns the job that adds waiting events to their bins ([RollupDoc]). Several
// runners may run it. Events that can't be counted keep waiting, and the job returns a
// [*model.LeftError].
//
// Cost: two commands if no event waits. Otherwise seven commands per batch of 500 events
// (JobOptions.BatchSize).
func (x *Rollup[E, K, G, V]) Roll() model.Job { return x.r.Roll() }

// Rebuild returns the job that recounts the bins ([RollupDoc]) from start to end. Both
// times must be starts of bins of the shortest Period in RollupSpec.Bins. Deleted events
// no longer count in these bins. If interrupted, run it again. If bins change too often
// meanwhile, the job ends with [model.ErrStale].
//
// Cost: five commands for each hour, day and month that has bins.
func (x *Rollup[E, K, G, V]) Rebuild(start, end time.Time) model.Job { return x.r.Rebuild(start, end) }

// Bins returns the query of a group's bins of one unit with start ≤ bin < end, in order.
// A zero time means no bound. For the next page, pass the last bin's ID to
// [model.Find.After]. A unit that isn't in the spec's Bins gives a [*model.ValueError].
//
// Cost: one command per batch; served by _id.
func (x *Rollup[E, K, G, V]) Bins(group G, unit Period, start, end time.Time) *model.Find[RollupDoc[G, V]] {
	filter, err := x.r.Bins(group, rollup.Unit(unit), start, end)
	f := x.bins.Find(filter)
	f.Sort = bson.D{{Key: "_id", Value: 1}}
	return commands.Served(f, model.IDIndex, err)
}

// Total returns the pipeline that adds up a group's bins with start ≤ bin < end. Both
// times must be starts of bins of the shortest Period in RollupSpec.Bins. If no bin is
// stored, One returns [model.ErrNotFound].
//
// Cost: one command, served by _id.
func (x *Rollup[E, K, G, V]) Total(group G, start, end time.Time) *model.Aggregate[RollupTotal[V]] {
	pipeline, err := x.r.Total(group, start, end)
	return commands.Indexed(model.AggregateAs[RollupTotal[V]](x.bins, pipeline), model.IDIndex, err)
}

// Expire returns the write that deletes the events earlier than cutoff. It keeps events
// with a [RollupMark], which aren't counted yet. Set RollupSpec.For, so that the checks
// ignore old events. Never call [Rollup.Rebuild] for times of deleted events.
//
// Cost: one command, served by [Rollup.Indexes]. If interrupted, some events stay.
func (x *Rollup[E, K, G, V]) Expire(cutoff time.Time) model.Write { return x.r.Expire(cutoff) }
