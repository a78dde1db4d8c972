// Package rollup keeps totals of events by hour, day and month: see [Rollup].
package rollup

import (
	"reflect"
	"time"

	"github.com/docmodel/docmodel/denorm"
	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Spec says what a [Rollup] counts in its bins ([Doc]). Time, Bins and Mark
// are required.
type Spec struct {
	Time string   // path to a time.Time or bson.DateTime in an event
	By   []string // paths to strings, integers or ObjectIDs by which events are grouped; none can be empty

	// Sums, Mins and Maxs are paths to numbers for a bin's sums, minimums and maximums.
	Sums, Mins, Maxs []string

	Bins []denorm.Period // lengths of the bins: Hourly, Daily, Monthly
	Zone *time.Location  // time zone of the bins; nil means UTC
	Mark string          // path to an event's *Mark, tagged omitempty

	// Keep is how many [Rollup.Roll] batches a bin remembers. A remembered batch isn't
	// counted twice. The maximum is 10,000. 0 means 100.
	Keep int

	// For is the age at which you delete events. The checks of bins ignore older events.
	// 0 means that events stay.
	For time.Duration
}

// A Mark marks an event that isn't counted yet. Only [Rollup] writes marks.
type Mark struct {
	Batch bson.ObjectID `bson:"batch"` // id of the event's [Rollup.Roll] batch, or zero
	// Events is set in a batch's first event. Events lists the _ids of events that the
	// batch can contain.
	Events []bson.RawValue `bson:"events,omitempty"`
}

// A Doc is a bin: the totals of one group's events in one hour, day or month.
//
// G is the type of the field at Spec.By, or struct{} if By is empty. If By has
// several paths, G is a struct. Its field for the path "a.b" has the BSON name "a/b". V
// is int64, float64 or bson.Decimal128.
type Doc[G, V any] struct {
	ID     string              `bson:"_id"`
	Group  G                   `bson:"group,omitempty"`
	Unit   string              `bson:"unit"` // length of the bin: "hour", "day" or "month"
	Start  time.Time           `bson:"start"`
	N      int64               `bson:"n"`                // number of events
	Values map[string]Value[V] `bson:"values,omitempty"` // totals by path, with "/" for a dot
	Ops    []bson.ObjectID     `bson:"ops,omitempty"`    // ids of the last Roll batches
}

// A Value summarizes one numeric field of the events in a bin ([Doc]). Sum,
// Min and Max are zero unless Sums, Mins or Maxs of [Spec] lists the field's path.
type Value[V any] struct {
	N   int64 `bson:"n"` // number of events with a value
	Sum V     `bson:"sum,omitempty"`
	Min V     `bson:"min,omitempty"`
	Max V     `bson:"max,omitempty"`
}

// A Total is the total of several bins ([Doc]): see [Rollup.Total].
type Total[V any] struct {
	N      int64               `bson:"n"`      // number of events
	Values map[string]Value[V] `bson:"values"` // totals by path, with "/" for a dot
}

// Rollup keeps totals of events in bins. A bin ([Doc]) is the total of one group in
// one hour, day or month.
//
// Insert events by a [model.Store], which adds a mark ([Mark]), by one command. Let a
// timer run [Rollup.Roll]. Roll adds the marked events to the bins and removes the marks.
//
// If an equal event is stored, the insert does nothing. An empty string, a zero ObjectID or
// a missing value at a path of Spec.By gives a [*model.ValueError].
//
// The store refuses a change of a counted field, and the deletion of a marked event. Bins
// keep the counts of deleted events.
//
// # Consistency
//
// Each event counts once, even after a crash. With a small Spec.Keep, a slow
// [Rollup.Roll] can count events twice. [Rollup.Rebuild] repairs wrong bins.
//
// # Scopes
//
// Under a [model.Scope] with a Tenant, the tenants' bins are separate. Soft-deleted
// events still count.
//
// Source:
// https://www.mongodb.com/docs/manual/data-modeling/design-patterns/computed-values/computed-schema-pattern/.
//
// # Indexes and checks
//
// Indexes returns indexes for uncounted events, events by time, and bins by start.
//
// Checks returns checks that find marked events and wrong bins. The repairs work as
// [Rollup.Roll] and [Rollup.Rebuild].
//
// Cost: the checks of bins read every bin, and every event younger than Spec.For.
type Rollup[E, K, G, V any] struct {
	model.Parts

	bins *model.Collection[Doc[G, V], string]
	r    *untypedRollup
}

// New declares that bins keep totals of events. It panics with a
// [*model.DeclarationError] if a path doesn't exist, lies inside an array or overlaps
// another, if types don't fit, or for a bad spec.
func New[E, K, G, V any](
	events *model.Collection[E, K], bins *model.Collection[Doc[G, V], string], spec Spec,
) *Rollup[E, K, G, V] {
	types := typeParameters{
		Group: reflect.TypeFor[G](), Number: reflect.TypeFor[V](), Mark: reflect.TypeFor[Mark](),
	}
	out := &Rollup[E, K, G, V]{model.Parts{}, bins, declareRollup(events.Docs(), bins.Docs(), spec, types)}
	out.Parts = model.NewParts(out.r.listIndexes, nil, out.r.listChecks, out.r.listFootprints).
		WithDocs(events.Docs(), bins.Docs()).WithKeys(out.r.describeKeys()).WithReactions(out.r.makeReactions)
	return out
}

// Roll returns the job that adds marked events to bins ([Doc]). Several
// clients can run Roll concurrently. Events that can't be counted stay marked, and Run
// returns a [*model.LeftError].
//
// Cost: two commands if no event is marked. Each batch of 500 events
// (JobOptions.BatchSize) takes seven commands.
func (x *Rollup[E, K, G, V]) Roll() model.Job { return x.r.makeRollJob() }

// Rebuild returns the job that recounts the bins ([Doc]) from start to end. Both
// times must be starts of the shortest bins (Spec.Bins), and start before end.
// Deleted events no longer count. After a crash, run the job again. Too many concurrent
// changes give [model.ErrStale].
//
// Cost: four to seven commands for each hour, day and month that has bins.
func (x *Rollup[E, K, G, V]) Rebuild(start, end time.Time) model.Job {
	return x.r.makeRebuildJob(start, end)
}

// Bins returns the query for a group's bins of length unit, in time order. Bounds:
// start ≤ Doc.Start < end. A zero time means no bound. For the next page, pass the
// last bin's ID to [model.Find.After].
//
// Cost: one command per batch, served by _id.
func (x *Rollup[E, K, G, V]) Bins(group G, unit denorm.Period, start, end time.Time) *model.Find[Doc[G, V]] {
	filter, err := x.r.findBins(group, binUnit(unit), start, end)
	f := x.bins.Find(filter)
	f.Sort = bson.D{{Key: "_id", Value: 1}}
	return commands.ServeFind(f, model.IDIndex, err)
}

// Total returns the pipeline that adds up a group's bins with start ≤ Doc.Start <
// end. Both times must be starts of the shortest bins (Spec.Bins).
// If no bin is stored, [model.Aggregate.One] returns [model.ErrNotFound].
//
// Cost: one command, served by _id.
func (x *Rollup[E, K, G, V]) Total(group G, start, end time.Time) *model.Aggregate[Total[V]] {
	pipeline, err := x.r.sumBins(group, start, end)
	return commands.ServeAggregate(model.AggregateAs[Total[V]](x.bins, pipeline), model.IDIndex, err)
}

// Expire returns the write that deletes the events earlier than cutoff. Events that
// aren't counted yet stay. Set Spec.For, so that the checks ignore old events.
// Never call [Rollup.Rebuild] for times of deleted events. After an interruption, run the
// write again.
//
// Cost: one command, served by [Rollup].Indexes.
func (x *Rollup[E, K, G, V]) Expire(cutoff time.Time) model.Write { return x.r.expireEvents(cutoff) }
