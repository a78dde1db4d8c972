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
	Time string   // path in an event of its time, a time.Time or bson.DateTime
	By   []string // paths in an event of its group: kinds of string or integer, or bson.ObjectID; none means one group

	// Sums, Mins and Maxs are paths in an event of the numbers that the bins add up, and of which they keep the smallest and
	// the greatest. An event without a value there is counted, and doesn't add to that number. A bin keeps how many have
	// one, for averages.
	Sums, Mins, Maxs []string

	Bins []Period       // Hourly, Daily, Monthly: which bins are kept
	Zone *time.Location // where an hour, a day and a month begin; nil means UTC
	Mark string         // path in an event of a *RollupMark, tagged omitempty

	// Keep is how many batches a bin remembers, 100 by default, at most 10,000. A batch counts twice if it is finished by two
	// runners, and so many other batches of one bin are finished between them.
	Keep int

	// For is how long events are kept, from their time on; older ones may have been deleted ([Rollup.Expire]).
	// [Rollup.Checks] passes over the bins of their time. 0 means that all events are kept.
	For time.Duration
}

// A RollupMark is what an event holds until it is rolled up.
type RollupMark struct {
	Batch  bson.ObjectID   `bson:"batch"`            // zero while the event waits
	Events []bson.RawValue `bson:"events,omitempty"` // of the first event of a batch: the events that the batch may claim
}

// A RollupDoc is a bin: the totals of a group's events of one hour, day or month. G is the type of the field at By; with several
// paths, a struct with a field for each, under the path with "/" for each dot; without By, struct{}. V is int64,
// float64 or bson.Decimal128: the type that holds all numbers of the bin.
type RollupDoc[G, V any] struct {
	ID     string                    `bson:"_id"` // the group, the unit and the beginning
	Group  G                         `bson:"group,omitempty"`
	Unit   string                    `bson:"unit"`             // "hour", "day" or "month"
	Start  time.Time                 `bson:"start"`            // when the bin begins
	N      int64                     `bson:"n"`                // how many events
	Values map[string]RollupValue[V] `bson:"values,omitempty"` // by the paths of the spec, with "/" for a dot
	Ops    []bson.ObjectID           `bson:"ops,omitempty"`    // the last batches that were added
}

// A RollupValue is what a bin keeps of one number. Sum, Min and Max are zero where the spec doesn't ask for them.
type RollupValue[V any] struct {
	N   int64 `bson:"n"` // how many events have a value
	Sum V     `bson:"sum,omitempty"`
	Min V     `bson:"min,omitempty"`
	Max V     `bson:"max,omitempty"`
}

// A RollupTotal is what several bins hold together ([Rollup.Total]).
type RollupTotal[V any] struct {
	N      int64                     `bson:"n"`      // how many events
	Values map[string]RollupValue[V] `bson:"values"` // by the paths of the spec, with "/" for a dot
}

// Rollup keeps totals of events by hour, day and month: how many page views each page had, how long they took in all, the
// longest. A chart of a year then reads twelve documents, and the events can be deleted. Make it with [NewRollup].
//
// [Rollup.Insert] stores an event with a mark: it waits. [Rollup.Roll] is run again and again, by a timer or in a loop: it adds what
// waits to the bins and takes the marks off. The bins are behind by what waits. An event that comes late or out of order
// is counted like any other, in the bin of its own time. An event is a fact: it must not be changed, and what deletes one
// that was rolled up leaves it in its bins.
//
// The bins begin at full hours, midnights and first days of months as clocks in Zone show them. A bin holds the moment at
// which it begins. So the hour that is shown twice when summer time ends makes two bins, a day has 23, 24 or 25 hours, and a
// clock that is changed by half an hour makes bins of half an hour.
//
// Counts and integer sums are exact; the server refuses a sum that leaves 64 bits. Sums of bson.Decimal128 are exact up to 34
// digits. A sum of floats drifts by rounding; the checks pass over 1e-9 of the sum.
//
// # Consistency
//
// A batch of events is led by the first of them. One write marks the leader with the batch's token and the list of the
// events that the batch may claim. A second write claims those of the list that still wait. From then on the events of the batch
// are fixed. Then each bin of the batch is updated once, finer ones first, and keeps the token,
// unless it holds that already. Then the marks are taken off, the leader's last. A batch that was cut is
// finished by the next run, of this runner or another. Runners that run at once make batches of their own; a batch that both
// finish counts once. The token is made from the batch's events. An event leads one batch at most, so no two batches
// have one token.
//
// Two things may break this: more than Keep batches for one bin between two runs of the same batch, and an event that is deleted while
// it waits or belongs to a batch. After either, [Rollup.Rebuild] mends the bins.
//
// # Scopes
//
// The _id of a bin holds the group, not the tenant: under a [model.Scope] with a Tenant name the tenant's field first in By. An event that
// a scope marked as deleted still counts.
//
// Source: data binning and materialized views (seed 003);
// https://www.mongodb.com/docs/manual/data-modeling/design-patterns/computed-values/computed-schema-pattern/.
//
// Indexes returns the partial index of the events that wait, which is next to empty, the index of the events by time, and
// the index of the bins by their beginning.
//
// Checks returns three checks. The first finds the events that are not rolled up; its job runs [Rollup.Roll]. The
// second finds the finest bins that are missing or differ from their events. The third finds the coarser bins that are missing or
// differ from the finer ones. An event under way is not a finding of these two. Their jobs count such bins anew, as [Rollup.Rebuild]
// does. An event that was stored past [Rollup.Insert], without a mark, is missing in its bin and found so.
//
// Cost: see [model.Check]. The first is served by the partial index. The others read every bin, and every event that is not
// older than RollupSpec.For, in three commands for each beginning of a bin.
type Rollup[E, K, G, V any] struct {
	model.Parts

	events *model.Collection[E, K]
	bins   *model.Collection[RollupDoc[G, V], string]
	r      *rollup.Rollup
}

// NewRollup declares that bins keep totals of events. It panics with a [*model.DeclarationError] when a path doesn't exist,
// lies inside an array or overlaps another, when a type doesn't fit (a time, a group, a number that V can't hold
// exactly, the mark), when Bins is empty or holds another Period than Hourly, Daily and Monthly, and when Keep or For is out
// of its range.
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

// Insert returns the write that stores an event, for [Rollup.Roll] to count. An equal event that is stored is this one, whether it
// was rolled up since or not. Another one under the same _id is a model.ErrTaken. An event without a time, a
// group, or with a number that can't be added up is refused.
//
// Cost: one command, one document, and on a duplicate key one more to compare.
func (x *Rollup[E, K, G, V]) Insert(event E) model.Write { return x.r.Insert(x.events.Insert(event)) }

// Roll returns the job that adds the events that wait to their bins, and takes their marks off. First it finishes the
// batches that were begun. It can be run at any time, by several runners, and after a cut. What no bin can count,
// stored past [Rollup.Insert], is left as a finding.
//
// Cost: two commands when nothing waits. Seven for each batch of 500 events (JobOptions.BatchSize, at most 5,000): they read
// what waits, mark the leader, mark the others, read the batch, write the bins, and take the marks off. Documents: each
// event twice, each bin once. Served by the partial index and by _id.
func (x *Rollup[E, K, G, V]) Roll() model.Job { return x.r.Roll() }

// Rebuild returns the job that counts the bins of a time anew: the finest from their events, the others from finer ones.
// It writes what differs. Both times are beginnings of finest bins. All events of the time must be
// stored: bins whose events are gone would be set to less. So give for from the moment since when none was deleted. Finer bins must
// not be deleted while coarser ones are rebuilt.
//
// It holds while events come and are rolled up. Events that wait, and batches that a bin doesn't hold yet, are not counted: they
// are added later. A bin that changes between the reads and the write is counted again, up to 100 times.
//
// Cost: five commands for each beginning of a bin that has events or bins, all groups together, and two more if some
// differ; served by the indexes of [Rollup.Indexes]. Cut, it leaves some bins counted; it can be run again.
func (x *Rollup[E, K, G, V]) Rebuild(from, to time.Time) model.Job { return x.r.Rebuild(from, to) }

// Bins returns the query of a group's bins of a unit that begin at from ≤ t < to, in their order. A zero time is no bound. A
// time without events has no bin. Page it with Limited and After(bin.ID).
//
// Cost: one command, and one per further batch; served by _id.
func (x *Rollup[E, K, G, V]) Bins(group G, unit Period, from, to time.Time) *model.Find[RollupDoc[G, V]] {
	filter, err := x.r.Bins(group, rollup.Unit(unit), from, to)
	f := x.bins.Find(filter)
	f.Sort = bson.D{{Key: "_id", Value: 1}}
	return commands.Served(f, model.IDIndex, err)
}

// Total returns the pipeline that adds up a group's bins of a time: the coarsest bins that fit, and finer ones before and after
// them. Both times are beginnings of finest bins. Without bins it gives no result, so that One returns model.ErrNotFound.
//
// Cost: one command, served by _id. It reads as few bins as can be: for a year from noon to noon eleven months, some sixty
// days and two dozen hours.
func (x *Rollup[E, K, G, V]) Total(group G, from, to time.Time) *model.Aggregate[RollupTotal[V]] {
	pipeline, err := x.r.Total(group, from, to)
	return commands.Indexed(model.AggregateAs[RollupTotal[V]](x.bins, pipeline), model.IDIndex, err)
}

// Expire returns the write that deletes the events of before a time that are rolled up; events that wait stay. The bins stay.
// It is idempotent. Rebuild doesn't go with a time before it any more; RollupSpec.For tells the checks.
//
// Cost: one command, served by the index of [Rollup.Indexes]; all events of before the time. Cut, it leaves some of them.
func (x *Rollup[E, K, G, V]) Expire(before time.Time) model.Write { return x.r.Expire(before) }
