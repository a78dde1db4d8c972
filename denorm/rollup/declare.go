// Inside package rollup: totals of events by
// hour, day and month. The public type gives the Go types, makes typed queries of findBins and
// sumBins, and passes the other methods to model.Parts. Stores call makeReactions, audits
// call listChecks.
//
// # Stored form
//
// An event that waits, the leader of a batch and one of its followers, and an event that
// is counted. The mark is the field m:
//
//	events {_id: 1, t: ISODate(…), shop: "a", paid: 9, m: {batch: ObjectId("000…")}}
//	events {_id: 2, …, m: {batch: ObjectId("5c1…"), events: [2, 3]}}
//	events {_id: 3, …, m: {batch: ObjectId("5c1…")}}
//	events {_id: 4, …}
//
// A bin of the group shop = "a". Its _id has the group, the unit and the time at which it
// begins, in UTC. ops are the tokens of the last Rollup.keep batches:
//
//	bins {_id: "a#day#2024-05-01T00:00:00Z", group: "a", unit: "day", start: ISODate(…),
//	      n: 3, values: {paid: {n: 3, sum: 27, min: 9, max: 9}}, ops: [ObjectId("5c1…")]}
//
// # Protocol of a batch
//
//  1. A store's insert marks the event as waiting (markEvent).
//  2. chooseBatch reads waiting events in the order of _id. The first is the leader.
//  3. claimLeader stores the batch's token and the list of its events in the leader, if it
//     still waits.
//  4. claimFollowers gives the token to those events of the list that still wait.
//  5. tallyBatch reads the events with the token, and adds them up for each bin.
//  6. addTally adds the numbers to each bin that doesn't have the token in ops, and the token.
//  7. unmarkFollowers removes the marks, and last unmarkLeader does.
//
// Any number of runners can do states 4 to 7 of one batch at a time: each write does
// nothing if it was done before. A bin forgets a token after Rollup.keep later batches. A
// runner that is slower than that counts events twice.
//
// # What a crash leaves
//
// Before state 3, events that wait. From 3 to 7, a leader with its list, and only some
// bins that count the batch: the next run of makeRollJob finishes it first
// (finishBegunBatch), from state
// 4. A crash in the job of makeRebuildJob leaves bins that are not counted again yet: each bin is
// one write, and the job is run again.

package rollup

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/docmodel/docmodel/denorm"
	"github.com/docmodel/docmodel/denorm/internal/keytext"
	"github.com/docmodel/docmodel/denorm/internal/stored"
	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// An untypedRollup is the Rollup without its Go types.
type untypedRollup struct {
	docs, bins *core.Docs // docs are the events
	place      core.Place
	// Path of an event's mark.
	time, mark string
	by         []string
	// Type of the groups in bins.
	group   reflect.Type
	sources []source
	kind    kind
	// Units of the bins, the finest first.
	levels []binUnit
	zone   *time.Location
	// Number of tokens in a bin.
	keep int
	// Age at which events are deleted; 0 if they stay.
	kept time.Duration
}

// A source is a number of an event, and which totals of it the bins have.
type source struct {
	path string
	// Which totals of the number a bin has.
	sum, min, max bool
}

// flatName is the name of the path in a bin.
func (s source) flatName() string { return flattenPath(s.path) }

// flattenPath returns a path with "/" for a dot, because each number has one field in a
// bin's values.
func flattenPath(path string) string { return strings.ReplaceAll(path, ".", "/") }

// typeParameters are the types that a Rollup's documents contain.
type typeParameters struct {
	Group, Number reflect.Type // of Doc
	Mark          reflect.Type // of an event's mark
}

// A kind is the number type of the bins.
type kind uint8

const (
	_ kind = iota // integers: a sum doesn't depend on the order of adding
	// Sums of floats depend on the order of adding, so hasSameSum allows a difference.
	floats
	decimals
)

// declareRollup panics with a model.DeclarationError if bins can't have totals of these
// events.
func declareRollup(events, bins *core.Docs, spec Spec, types typeParameters) *untypedRollup {
	r := &untypedRollup{
		docs: events, bins: bins, time: spec.Time, mark: spec.Mark, by: slices.Clone(spec.By), group: types.Group,
		zone: spec.Zone, keep: cmp.Or(spec.Keep, 100), kept: spec.For,
		place: core.Place(fmt.Sprintf("rollup.New of %s into %s", events.Name(), bins.Name())),
	}
	if r.zone == nil {
		r.zone = time.UTC
	}
	switch {
	case events.Name() == bins.Name():
		r.place.Fail("the bins are in the events' own collection", "give them a collection of their own")
	case r.keep < 1 || r.keep > 10_000:
		r.place.Fail(fmt.Sprintf("Keep is %d", spec.Keep), "give 1 to 10,000")
	case r.kept < 0:
		r.place.Fail(fmt.Sprintf("For is %s", r.kept), "give the time for which events are kept, or 0 for ever")
	}
	// The _ids of bins are made of values, so tenants need different ones.
	bins.MakeKeyed()
	r.declareBins(spec.Bins)
	r.declareTime()
	r.declareMark(types.Mark)
	r.declareNumbers(spec, types.Number)
	r.declareGroup()
	return r
}

// declareBins sorts the units, the finest first.
func (r *untypedRollup) declareBins(periods []denorm.Period) {
	given := make([]binUnit, len(periods))
	for i, p := range periods {
		u := binUnit(p)
		given[i] = u
		switch {
		case !slices.Contains(units, u):
			r.place.Fail(fmt.Sprintf("Bins has the Period %d", u), "use denorm.Hourly, denorm.Daily and denorm.Monthly")
		case slices.Contains(given[:i], u):
			r.place.Fail(fmt.Sprintf("Bins names the %s twice", u), "name each period once")
		}
	}
	for _, u := range units {
		if slices.Contains(given, u) {
			r.levels = append(r.levels, u)
		}
	}
	if len(r.levels) == 0 {
		r.place.Fail("Bins is empty", "name denorm.Hourly, denorm.Daily, denorm.Monthly, or several of them")
	}
}

// checkOwnField looks up a field of the events that is outside arrays and doesn't overlap
// others.
func (r *untypedRollup) checkOwnField(what, path string, others ...string) core.Field {
	f := r.docs.MustField(path)
	if f.Arrays > 0 {
		r.place.Fail(fmt.Sprintf("%s %q is an array, or is in one", what, path),
			"name a field that is neither an array nor in one")
	}
	for _, other := range others {
		if core.Overlap(path, other) {
			r.place.Fail(fmt.Sprintf("%s %q overlaps %q", what, path, other), "name a field of its own")
		}
	}
	return f
}

// declareTime requires a time, because bins are spans of time.
func (r *untypedRollup) declareTime() {
	f := r.checkOwnField("Time", r.time, "_id")
	if !f.Untyped && f.Type != reflect.TypeFor[time.Time]() && f.Type != reflect.TypeFor[bson.DateTime]() {
		r.place.Fail(fmt.Sprintf("Time %q is of type %s", r.time, f.Type),
			"name a field of type time.Time or bson.DateTime")
	}
}

// declareMark requires a top-level field that isn't stored when it is empty: events
// without a mark are counted.
func (r *untypedRollup) declareMark(want reflect.Type) {
	f := r.checkOwnField("Mark", r.mark, append([]string{"_id", r.time}, r.by...)...)
	switch {
	case strings.Contains(r.mark, "."):
		r.place.Fail(fmt.Sprintf("Mark %q isn't a top-level field of the event", r.mark), "give it a field of its own")
	case !f.Untyped && f.Type != want:
		r.place.Fail(fmt.Sprintf("Mark %q is of type %s", r.mark, f.Type),
			"declare it as *rollup.Mark, tagged omitempty")
	}
	if raw, err := r.docs.Document(reflect.Zero(r.docs.Type()).Interface()); err == nil && !f.Untyped {
		if _, err := raw.LookupErr(r.mark); err == nil {
			r.place.Fail(fmt.Sprintf("Mark %q is stored even when it is empty", r.mark),
				"declare it as *rollup.Mark, tagged omitempty")
		}
	}
}

// declareNumbers sets the number type, and joins the lists of paths: a path in several
// lists is one source.
func (r *untypedRollup) declareNumbers(spec Spec, number reflect.Type) {
	switch number {
	case reflect.TypeFor[int64]():
	case reflect.TypeFor[float64]():
		r.kind = floats
	case reflect.TypeFor[bson.Decimal128]():
		r.kind = decimals
	default:
		r.place.Fail(fmt.Sprintf("the numbers of the bins are of type %s", number),
			"use int64, float64 or bson.Decimal128")
	}
	for i, list := range [][]string{spec.Sums, spec.Mins, spec.Maxs} {
		what := []string{"Sums", "Mins", "Maxs"}[i]
		for _, path := range list {
			f := r.checkOwnField(what, path, "_id", r.time, r.mark)
			if !f.Untyped && !r.kind.canHold(f.Type) {
				r.place.Fail(fmt.Sprintf("%s %q is of type %s, which bins of type %s can't hold exactly",
					what, path, f.Type, number),
					"name a number, and give rollup.Doc int64 for integers, float64 for floats, bson.Decimal128 for "+
						"decimals")
			}
			at := slices.IndexFunc(r.sources, func(s source) bool { return s.path == path })
			if at < 0 {
				at, r.sources = len(r.sources), append(r.sources, source{path: path})
			}
			// Index i is 0 for Sums, 1 for Mins, 2 for Maxs.
			s := &r.sources[at]
			s.sum, s.min, s.max = s.sum || i == 0, s.min || i == 1, s.max || i == 2
		}
	}
}

// canHold reports whether the bins can store numbers of a type exactly.
func (k kind) canHold(t reflect.Type) bool {
	switch {
	case t == reflect.TypeFor[bson.Decimal128]():
		return k == decimals
	case !stored.IsNumberType(t):
		return false
	case t.Kind() == reflect.Float32 || t.Kind() == reflect.Float64:
		return k == floats
	}
	return true
}

// declareGroup checks that the groups of the bins have the fields that the events have at
// By.
func (r *untypedRollup) declareGroup() {
	for i, path := range r.by {
		f := r.checkOwnField("By", path, append([]string{"_id", r.time, r.mark}, r.by[:i]...)...)
		if !f.Untyped && !keytext.IsKeyType(f.Type) {
			r.place.Fail(fmt.Sprintf("By %q is of type %s, which can't be part of an _id", path, f.Type),
				"use a string type, an integer type or bson.ObjectID")
		}
		at := "group"
		if len(r.by) > 1 {
			at += "." + flattenPath(path)
		}
		g, err := r.bins.Field(at)
		switch {
		case err != nil:
			r.place.Fail(fmt.Sprintf("the groups of the bins, of type %s, have no field %q",
				r.group, flattenPath(path)),
				"give rollup.Doc a struct with a field for each path of By, with / for a dot")
		case !keytext.IsKeyType(g.Type) || !f.Untyped && g.Type != f.Type:
			r.place.Fail(fmt.Sprintf("By %q is of type %s, but of type %s in the bins", path, f.Type, g.Type),
				"declare both with the same type")
		}
	}
	fields := 0
	if r.group.Kind() == reflect.Struct {
		fields = r.group.NumField()
	}
	switch {
	case len(r.by) == 0 && (r.group.Kind() != reflect.Struct || fields > 0):
		r.place.Fail(fmt.Sprintf("the groups of the bins are of type %s, but By is empty", r.group),
			"use struct{}, or name paths in By")
	case len(r.by) > 1 && fields != len(r.by):
		r.place.Fail(fmt.Sprintf("the groups of the bins, of type %s, have %d fields, but By has %d paths",
			r.group, fields, len(r.by)),
			"give the groups one field for each path")
	}
}

// finestUnit is the unit of the bins that are counted from events. Other bins are added
// up from finer ones.
func (r *untypedRollup) finestUnit() binUnit { return r.levels[0] }

// waitingIndex is the index of the events that aren't counted yet. It is partial, so it
// stays small.
func (r *untypedRollup) waitingIndex() model.Index {
	x := commands.MakeIndex(r.docs.Name(), "events that are not rolled up yet",
		mql.E(r.batchPath(), 1), mql.E("_id", 1))
	x.Partial = bson.D{{Key: r.batchPath(), Value: mql.Exists(true)}}
	return x
}

// timeIndex is the index of the events by their time.
func (r *untypedRollup) timeIndex() model.Index {
	return commands.MakeIndex(r.docs.Name(), "the events of a bin", mql.E(r.time, 1))
}

// startIndex is the index of the bins by the time at which they begin.
func (r *untypedRollup) startIndex() model.Index {
	return commands.MakeIndex(r.bins.Name(), "the bins of all groups at a time", mql.E("unit", 1), mql.E("start", 1))
}

// listIndexes returns the indexes of events and bins.
func (r *untypedRollup) listIndexes() []model.Index {
	return []model.Index{r.waitingIndex(), r.timeIndex(), r.startIndex()}
}

// listFootprints are the paths that are used.
func (r *untypedRollup) listFootprints() []model.Footprint {
	name := r.docs.Name()
	return slices.Concat(model.Writes.In(name, append([]string{model.Whole}, r.listCountedPaths()...)...),
		model.Owns.In(name, r.mark),
		model.Owns.In(r.bins.Name(), model.Whole))
}

// batchPath is the path of the token in an event's mark.
func (r *untypedRollup) batchPath() string { return r.mark + ".batch" }
