// Package rollup is the core of denorm.Rollup: totals of events by hour, day and month.
package rollup

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/docmodel/docmodel/denorm/internal/keytext"
	"github.com/docmodel/docmodel/denorm/internal/stored"
	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// A Rollup is a denorm.Rollup without its types.
type Rollup struct {
	docs, bins *core.Docs // docs are the events
	place      core.Place
	time, mark string
	by         []string
	group      reflect.Type // of RollupDoc.Group
	sources    []source
	kind       kind
	levels     []Unit // the finest first
	zone       *time.Location
	keep       int
	kept       time.Duration
}

// A source is a number of an event.
type source struct {
	path          string
	sum, min, max bool
}

// name is the path as the bins have it.
func (s source) name() string { return flat(s.path) }

func flat(path string) string { return strings.ReplaceAll(path, ".", "/") }

// A Spec is a denorm.RollupSpec.
type Spec struct {
	Time             string
	By               []string
	Sums, Mins, Maxs []string
	Bins             []Unit
	Zone             *time.Location
	Mark             string
	Keep             int
	For              time.Duration
}

// Types are those of a denorm.Rollup.
type Types struct{ Group, Number, Mark reflect.Type }

// A kind says how the numbers of the bins are stored.
type kind uint8

const (
	ints kind = iota
	floats
	decimals
)

// Declare declares that bins keep totals of events. It panics with a *model.DeclarationError when they can't.
func Declare(events, bins *core.Docs, spec Spec, types Types) *Rollup {
	r := &Rollup{
		docs: events, bins: bins, time: spec.Time, mark: spec.Mark, by: slices.Clone(spec.By), group: types.Group,
		zone: spec.Zone, keep: cmp.Or(spec.Keep, 100), kept: spec.For,
		place: core.Place(fmt.Sprintf("NewRollup of %s into %s", events.Name(), bins.Name())),
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
	bins.MakeKeyed()
	r.declareBins(spec.Bins)
	r.declareTime()
	r.declareMark(types.Mark)
	r.declareNumbers(spec, types.Number)
	r.declareGroup()
	return r
}

func (r *Rollup) declareBins(given []Unit) {
	for i, u := range given {
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

// own looks up a field of the events that lies outside arrays and doesn't overlap others.
func (r *Rollup) own(what, path string, others ...string) core.Field {
	f := r.docs.MustField(path)
	if f.Arrays > 0 {
		r.place.Fail(fmt.Sprintf("%s %q is an array, or is in one", what, path), "name a field that is neither an array nor in one")
	}
	for _, other := range others {
		if core.Overlap(path, other) {
			r.place.Fail(fmt.Sprintf("%s %q overlaps %q", what, path, other), "name a field of its own")
		}
	}
	return f
}

func (r *Rollup) declareTime() {
	f := r.own("Time", r.time, "_id")
	if !f.Open && f.Type != reflect.TypeFor[time.Time]() && f.Type != reflect.TypeFor[bson.DateTime]() {
		r.place.Fail(fmt.Sprintf("Time %q is of type %s", r.time, f.Type), "name a field of type time.Time or bson.DateTime")
	}
}

func (r *Rollup) declareMark(want reflect.Type) {
	f := r.own("Mark", r.mark, append([]string{"_id", r.time}, r.by...)...)
	switch {
	case strings.Contains(r.mark, "."):
		r.place.Fail(fmt.Sprintf("Mark %q isn't a top-level field of the event", r.mark), "give it a field of its own")
	case !f.Open && f.Type != want:
		r.place.Fail(fmt.Sprintf("Mark %q is of type %s", r.mark, f.Type), "declare it as *denorm.RollupMark, tagged omitempty")
	}
	if raw, err := r.docs.Document(reflect.Zero(r.docs.Type()).Interface()); err == nil && !f.Open {
		if _, err := raw.LookupErr(r.mark); err == nil {
			r.place.Fail(fmt.Sprintf("Mark %q is stored even when it is empty", r.mark), "declare it as *denorm.RollupMark, tagged omitempty")
		}
	}
}

func (r *Rollup) declareNumbers(spec Spec, number reflect.Type) {
	switch number {
	case reflect.TypeFor[int64]():
	case reflect.TypeFor[float64]():
		r.kind = floats
	case reflect.TypeFor[bson.Decimal128]():
		r.kind = decimals
	default:
		r.place.Fail(fmt.Sprintf("the numbers of the bins are of type %s", number), "use int64, float64 or bson.Decimal128")
	}
	for i, list := range [][]string{spec.Sums, spec.Mins, spec.Maxs} {
		what := []string{"Sums", "Mins", "Maxs"}[i]
		for _, path := range list {
			f := r.own(what, path, "_id", r.time, r.mark)
			if !f.Open && !r.kind.holds(f.Type) {
				r.place.Fail(fmt.Sprintf("%s %q is of type %s, which bins of type %s can't hold exactly", what, path, f.Type, number),
					"name a number, and give RollupDoc int64 for integers, float64 for floats, bson.Decimal128 for decimals")
			}
			at := slices.IndexFunc(r.sources, func(s source) bool { return s.path == path })
			if at < 0 {
				at, r.sources = len(r.sources), append(r.sources, source{path: path})
			}
			s := &r.sources[at]
			s.sum, s.min, s.max = s.sum || i == 0, s.min || i == 1, s.max || i == 2
		}
	}
}

// holds reports whether the numbers of the bins hold those of a type.
func (k kind) holds(t reflect.Type) bool {
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

// declareGroup checks that the groups of the bins are what the events have at By.
func (r *Rollup) declareGroup() {
	for i, path := range r.by {
		f := r.own("By", path, append([]string{"_id", r.time, r.mark}, r.by[:i]...)...)
		if !f.Open && !keytext.IsKeyType(f.Type) {
			r.place.Fail(fmt.Sprintf("By %q is of type %s, which can't be part of an _id", path, f.Type),
				"use a string type, an integer type or bson.ObjectID")
		}
		at := "group"
		if len(r.by) > 1 {
			at += "." + flat(path)
		}
		g, err := r.bins.Field(at)
		switch {
		case err != nil:
			r.place.Fail(fmt.Sprintf("the groups of the bins, of type %s, have no field %q", r.group, flat(path)),
				"give RollupDoc a struct with a field for each path of By, with / for a dot")
		case !keytext.IsKeyType(g.Type) || !f.Open && g.Type != f.Type:
			r.place.Fail(fmt.Sprintf("By %q is of type %s, but of type %s in the bins", path, f.Type, g.Type), "declare both with the same type")
		}
	}
	fields := 0
	if r.group.Kind() == reflect.Struct {
		fields = r.group.NumField()
	}
	switch {
	case len(r.by) == 0 && (r.group.Kind() != reflect.Struct || fields > 0):
		r.place.Fail(fmt.Sprintf("the groups of the bins are of type %s, but By is empty", r.group), "use struct{}, or name paths in By")
	case len(r.by) > 1 && fields != len(r.by):
		r.place.Fail(fmt.Sprintf("the groups of the bins, of type %s, have %d fields, but By has %d paths", r.group, fields, len(r.by)),
			"give the groups one field for each path")
	}
}

// finest is the unit of the bins that are counted from events.
func (r *Rollup) finest() Unit { return r.levels[0] }

// Waiting is the index of the events that are not rolled up yet. It holds no other event.
func (r *Rollup) Waiting() model.Index {
	x := commands.Index(r.docs.Name(), "events that are not rolled up yet", mql.E(r.batchPath(), 1), mql.E("_id", 1))
	x.Partial = bson.D{{Key: r.batchPath(), Value: mql.Exists(true)}}
	return x
}

// ByTime is the index of the events by their time.
func (r *Rollup) ByTime() model.Index {
	return commands.Index(r.docs.Name(), "the events of a bin", mql.E(r.time, 1))
}

// ByStart is the index of the bins by their beginning.
func (r *Rollup) ByStart() model.Index {
	return commands.Index(r.bins.Name(), "the bins of all groups at a time", mql.E("unit", 1), mql.E("start", 1))
}

// Indexes are the indexes of events and bins.
func (r *Rollup) Indexes() []model.Index { return []model.Index{r.Waiting(), r.ByTime(), r.ByStart()} }

// Footprints are the paths that are used.
func (r *Rollup) Footprints() []model.Footprint {
	name := r.docs.Name()
	return slices.Concat(model.Writes.In(name, append([]string{model.Whole}, r.counted()...)...), model.Owns.In(name, r.mark),
		model.Owns.In(r.bins.Name(), model.Whole))
}

func (r *Rollup) batchPath() string { return r.mark + ".batch" }
