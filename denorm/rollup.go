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

	// Keep is how many batches (events that [Rollup.Roll] counts together) a bin
	// ([RollupDoc]) remembers, so that the bin counts each batch once: 1 to 10,000; 0
	// means 100.
	Keep int

	// For is how long you keep events ([Rollup.Expire] deletes them). [Rollup.Checks]
	// compares only younger events with their bins. 0 means for ever.
	For time.Duration
}

// A RollupMark is a field that an event has until it is counted in its bins
// ([RollupDoc]). Only [Rollup] writes it.
type RollupMark struct {
	Batch bson.ObjectID `bson:"batch"` // token of the event's batch; zero while it waits
	// Events lists, in the first event of a batch, the _ids of the events that
	// [Rollup.Roll] read for the batch.
	Events []bson.RawValue `bson:"events,omitempty"`
}

// A RollupDoc is a bin: the totals of one group's events in one hour, day or month.
//
// G is the type of the field at RollupSpec.By. For several paths it is a struct with a
// field per path, named with "/" for each dot. For no path it is struct{}. V is int64,
// float64 or bson.Decimal128, and must represent all numbers of the bin.
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

// A RollupTotal is the total of several bins ([Rollup.Total]).
type RollupTotal[V any] struct {
	N      int64                     `bson:"n"`      // number of events
	Values map[string]RollupValue[V] `bson:"values"` // by path, with "/" for a dot
}

// Rollup keeps totals of events in bins ([RollupDoc]), one per group and hour, day or
// month, so that you can delete the events.
//
// [Rollup.Insert] stores an event with a mark: the event waits. [Rollup.Roll], run by a
// timer, adds waiting events to the bins and removes the marks. Late events count in the
// bin of their time. Don't change events. Deleted events stay counted.
//
// The hour that repeats when summer time ends makes two bins.
//
// Counts and integer sums are exact, and the server returns an error for sums over 64
// bits.
//
// # Consistency
//
// Events are added in batches. The next run finishes an interrupted batch. If two runners
// finish the same batch, the batch counts once. It can count twice only if a bin gets
// RollupSpec.Keep or more other batches in between. Don't delete events with a mark:
// their batch may count wrong. [Rollup.Rebuild] repairs the bins in both cases.
//
// # Scopes
//
// A bin's _id contains the group, not the tenant. Under a [model.Scope] with a Tenant,
// put the tenant's field first in By. Events that the Scope soft-deletes still count.
//
// Source:
// https://www.mongodb.com/docs/manual/data-modeling/design-patterns/computed-values/computed-schema-pattern/.
//
// Indexes returns a partial index of waiting events, and indexes of events by time and
// bins by start.
//
// Checks returns these checks. The last two ignore batches in progress:
//
//   - Events that still have a mark after a minute. The repair works as [Rollup.Roll].
//   - Finest bins (the shortest Period of RollupSpec.Bins) that are missing or differ
//     from their events, including events stored without [Rollup.Insert]. The repair
//     works as [Rollup.Rebuild].
//   - Coarser bins that are missing or differ from the finer bins of their time. This
//     repair also works as [Rollup.Rebuild].
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

// Insert returns the write that stores an event, which then waits for [Rollup.Roll]. If
// an equal event is stored, it does nothing. If a different event has the _id, it gives
// [model.ErrTaken]. An event gives a [*model.ValueError] if its [RollupMark] isn't nil,
// if it has no time or group, or if V can't represent one of its numbers.
//
// Cost: one command, one document; on a duplicate key error one more command.
func (x *Rollup[E, K, G, V]) Insert(event E) model.Write { return x.r.Insert(x.events.Insert(event)) }

// Roll returns the job that finishes interrupted batches, and then adds waiting events to
// their bins ([RollupDoc]). Several runners may run it at any time. Events that can't be
// counted keep their mark, and the job returns a [*model.LeftError].
//
// Cost: two commands if no event waits. Otherwise seven per batch of 500 events
// (JobOptions.BatchSize, at most 5,000). A batch writes each event twice and each bin
// once.
func (x *Rollup[E, K, G, V]) Roll() model.Job { return x.r.Roll() }

// Rebuild returns the job that recounts the bins with start ≤ bin < end: finest bins (of
// the shortest Period) from events, coarser bins from finer bins. If start or end
// isn't the start of a finest bin, the job ends with a [*model.ValueError].
//
// Deleted events no longer count in these bins. Don't delete finer bins meanwhile.
//
// Bins that change meanwhile are recounted, up to 100 times. Then the job ends with
// [model.ErrStale].
//
// Cost: five commands for each time at which bins start, and two more if bins differ.
// Served by [Rollup.Indexes]. If interrupted, run it again.
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
// times must be starts of bins of the shortest Period in RollupSpec.Bins, and start must
// be earlier than end. Otherwise it gives a [*model.ValueError]. Without bins, One
// returns [model.ErrNotFound].
//
// Cost: one command, served by _id.
func (x *Rollup[E, K, G, V]) Total(group G, start, end time.Time) *model.Aggregate[RollupTotal[V]] {
	pipeline, err := x.r.Total(group, start, end)
	return commands.Indexed(model.AggregateAs[RollupTotal[V]](x.bins, pipeline), model.IDIndex, err)
}

// Expire returns the write that deletes the events earlier than cutoff. It keeps
// events with a [RollupMark], which aren't counted yet. Afterwards don't call
// [Rollup.Rebuild] for times of deleted events, and set RollupSpec.For.
//
// Cost: one command, served by [Rollup.Indexes]. If interrupted, some events stay.
func (x *Rollup[E, K, G, V]) Expire(cutoff time.Time) model.Write { return x.r.Expire(cutoff) }
