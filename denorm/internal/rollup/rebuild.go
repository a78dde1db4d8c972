package rollup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/docmodel/docmodel/denorm/internal/stored"
	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Rebuild is the job that counts the bins of a time anew: the finest from events, each other from the next finer.
func (r *Rollup) Rebuild(from, to time.Time) model.Job {
	j := model.Job{Name: "rebuild of " + r.bins.Name(), Err: r.span(from, to)}
	for _, u := range r.levels {
		j.Stages = append(j.Stages, model.Stage{Name: "count each " + u.String(), Do: does(func(ctx context.Context, w *work) error {
			return r.rebuildNext(ctx, w, u, from, to)
		})})
	}
	return j
}

// span refuses times that no whole finest bins lie between.
func (r *Rollup) span(from, to time.Time) error {
	if err := cmp.Or(r.checkTime(r.bins.Refuse, "start", from), r.checkTime(r.bins.Refuse, "end", to)); err != nil {
		return err
	}
	if !from.Before(to) {
		return r.bins.Refuse("end", to, "isn't after start: give a later time")
	}
	for i, t := range []time.Time{from, to} {
		if !r.finest().start(t, r.zone).Equal(t) {
			return r.bins.Refuse([]string{"start", "end"}[i], t, "isn't the beginning of "+article(r.finest())+" in "+r.zone.String())
		}
	}
	return nil
}

func article(u Unit) string {
	if u == Hourly {
		return "an hour"
	}
	return "a " + u.String()
}

// rebuildNext counts the next bins of a unit that begin at one time, of all groups. A zero to is no bound.
func (r *Rollup) rebuildNext(ctx context.Context, w *work, u Unit, from, to time.Time) error {
	at := from
	if ms, ok := w.After.DateTimeOK(); ok {
		at = time.UnixMilli(ms)
	}
	start, ok, err := r.seek(ctx, w.DB, u, at)
	if err != nil {
		return err
	}
	if !ok || !to.IsZero() && !start.Before(to) {
		w.Done = true
		return nil
	}
	end := u.next(start, r.zone)
	for n := 1; ; n++ {
		rows, open, err := r.examine(ctx, w.DB, u, start, end)
		if err != nil {
			return err
		}
		w.Documents = max(w.Documents, int64(len(rows)), 1)
		switch {
		case len(rows) == 0 && len(open) == 0, w.DryRun:
			w.Writes = max(w.Writes, int64(len(rows)))
			w.After, w.Done = core.MustRawValue(end), !to.IsZero() && !end.Before(to)
			return nil
		case n == most:
			return fmt.Errorf("docmodel: the bins of %s changed each time they were counted: %w", start, model.ErrStale)
		}
		for _, of := range open {
			if err := r.finish(ctx, w, of, true); err != nil {
				return err
			}
		}
		if len(open) > 0 {
			continue
		}
		steps := make([]model.Step, len(rows))
		for i, row := range rows {
			steps[i] = r.correct(row)
		}
		if err := w.run(ctx, commands.Leaving("some bins counted; the next run counts the others", steps...)); err != nil {
			return err
		}
	}
}

// firstBin is the query of the first bins of a unit that begin at or after a time; a zero time is no bound.
func (r *Rollup) firstBin(u Unit, at time.Time) *model.Aggregate[bson.Raw] {
	filter := bson.D{{Key: "unit", Value: u.String()}}
	if !at.IsZero() {
		filter = append(filter, bson.E{Key: "start", Value: bson.D{{Key: "$gte", Value: at}}})
	}
	return &model.Aggregate[bson.Raw]{Aggregation: model.Aggregation{Collection: r.bins.Name(), Keyed: []string{r.bins.Name()}, Index: r.ByStart().Name, Pipeline: mongo.Pipeline{
		mql.Match(filter...), mql.Sort(mql.E("unit", 1), mql.E("start", 1)), {{Key: "$limit", Value: 1}}, mql.Project(mql.E("start", 1)),
	}}}
}

// seek is the beginning of the next bin of a unit that is stored, or should be, and ends after a time.
func (r *Rollup) seek(ctx context.Context, db model.DB, u Unit, at time.Time) (start time.Time, ok bool, _ error) {
	if !at.IsZero() {
		at = u.start(at, r.zone)
	}
	consider := func(t time.Time) {
		if t = u.start(t, r.zone); !ok || t.Before(start) {
			start, ok = t, true
		}
	}
	for _, level := range r.levels[max(0, slices.Index(r.levels, u)-1) : slices.Index(r.levels, u)+1] {
		doc, err := r.firstBin(level, at).One(ctx, db)
		if err == nil {
			if t, ok := doc.Lookup("start").TimeOK(); ok {
				consider(t)
			}
		} else if !errors.Is(err, model.ErrNotFound) {
			return start, false, err
		}
	}
	if u == r.finest() {
		is := bson.D{{Key: "$gt", Value: bson.DateTime(-1 << 62)}}
		if !at.IsZero() {
			is = bson.D{{Key: "$gte", Value: at}}
		}
		doc, err := find(r.docs, bson.D{{Key: r.time, Value: is}}, commands.Fields(r.time), bson.D{{Key: r.time, Value: 1}}, 1, r.ByTime().Name).One(ctx, db)
		if errors.Is(err, model.ErrNotFound) {
			return start, ok, nil
		} else if err != nil {
			return start, false, err
		}
		t, err := stored.At(r.docs, doc, r.time)
		if err != nil {
			return start, false, err
		}
		if t, ok := t.TimeOK(); ok {
			consider(t)
		}
	}
	return start, ok, nil
}

// A row is a bin that differs from what it is made of.
type row struct {
	held bson.Raw // nil for a missing bin
	want *tally
	was  tally
}

// bin is what is read of a bin.
func (r *Rollup) binsAt(ctx context.Context, db model.DB, u Unit, from, to time.Time) ([]bson.Raw, error) {
	is := any(from)
	if !to.IsZero() {
		is = bson.D{{Key: "$gte", Value: from}, {Key: "$lt", Value: to}}
	}
	docs, err := find(r.bins, bson.D{{Key: "unit", Value: u.String()}, {Key: "start", Value: is}}, nil, nil, 0, r.ByStart().Name).All(ctx, db)
	return docs, err
}

// examine compares the bins of a unit that begin at one time with what they are made of. It reads the bins first: what a bin is
// made of can be held against it as long as it keeps the same tokens. open are batches that are in some finer bins and may be
// in others or not; while there are any, nothing is compared.
func (r *Rollup) examine(ctx context.Context, db model.DB, u Unit, start, end time.Time) (rows []row, open []batch, _ error) {
	docs, err := r.binsAt(ctx, db, u, start, time.Time{})
	if err != nil {
		return nil, nil, err
	}
	held := map[string]bson.Raw{}
	for _, doc := range docs {
		id, _ := doc.Lookup("_id").StringValueOK()
		held[id] = doc
	}
	var want tallies
	if u == r.finest() {
		want, err = r.fromEvents(ctx, db, held, start, end)
	} else {
		want, open, err = r.fromFiner(ctx, db, held, u, start, end)
	}
	if err != nil || len(open) > 0 {
		return nil, open, err
	}
	for id, doc := range held {
		if want[id] == nil {
			was := r.held(doc)
			want[id] = &tally{id: id, unit: u, start: start, group: was.group, parts: make([]part, len(r.sources))}
		}
	}
	for _, t := range want.sorted() {
		row := row{held: held[t.id], want: t}
		if row.held == nil {
			row.was.parts = make([]part, len(r.sources))
		} else {
			row.was = r.held(row.held)
		}
		if !r.same(&row.was, t) {
			rows = append(rows, row)
		}
	}
	return rows, nil, nil
}

func holds(bin bson.Raw, op bson.ObjectID) bool {
	return slices.ContainsFunc(core.Elements(bin.Lookup("ops")), func(v bson.RawValue) bool {
		id, _ := v.ObjectIDOK()
		return id == op
	})
}

// fromEvents counts events. Those whose batch the bin doesn't hold yet, and those that wait, are added to it later.
func (r *Rollup) fromEvents(ctx context.Context, db model.DB, held map[string]bson.Raw, start, end time.Time) (tallies, error) {
	ts := tallies{}
	is := bson.D{{Key: "$gte", Value: start}, {Key: "$lt", Value: end}}
	for doc, err := range find(r.docs, bson.D{{Key: r.time, Value: is}}, r.projection(), nil, 0, r.ByTime().Name).Each(ctx, db) {
		if err != nil {
			return nil, err
		}
		e, err := r.event(doc)
		if e.marked && e.batch == waiting {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("document %s: %w", model.Shell(e.id), err)
		}
		if e.marked && !holds(held[binID(e.key, r.finest(), start)], e.batch) {
			continue
		}
		if err := r.add(ts, e, r.finest()); err != nil {
			return nil, err
		}
	}
	return ts, nil
}

// fromFiner adds up finer bins. A batch that is in one of them and not in the coarser bin, and still under way, will be added
// to the coarser bin: it must be finished first.
func (r *Rollup) fromFiner(
	ctx context.Context, db model.DB, held map[string]bson.Raw, u Unit, start, end time.Time,
) (ts tallies, open []batch, _ error) {
	finer := r.levels[slices.Index(r.levels, u)-1]
	docs, err := r.binsAt(ctx, db, finer, start, end)
	if err != nil {
		return nil, nil, err
	}
	ts = tallies{}
	unknown := map[bson.ObjectID]bool{}
	for _, doc := range docs {
		t := r.held(doc)
		id := r.coarserID(t.id, finer, u, start)
		if ts[id] == nil {
			ts[id] = &tally{id: id, unit: u, start: start, group: t.group, parts: make([]part, len(r.sources))}
		}
		ts[id].n += t.n
		for i, p := range t.parts {
			if err := r.merge(&ts[id].parts[i], p, r.sources[i]); err != nil {
				return nil, nil, err
			}
		}
		for _, v := range core.Elements(doc.Lookup("ops")) {
			if op, _ := v.ObjectIDOK(); !holds(held[id], op) {
				unknown[op] = true
			}
		}
	}
	if len(unknown) == 0 {
		return ts, nil, nil
	}
	for doc, err := range r.begun(0).Each(ctx, db) {
		if err != nil {
			return nil, nil, err
		}
		if b := r.batchOf(doc); unknown[b.op] {
			open = append(open, b)
		}
	}
	return ts, open, nil
}

// coarserID is the _id of the coarser bin that a bin is in.
func (r *Rollup) coarserID(id string, finer, u Unit, start time.Time) string {
	key := id[:max(0, len(id)-len(finer.String()+"#"+binTime(start)))]
	return binID(strings.TrimSuffix(key, "#"), u, start)
}

// correct writes the numbers of a bin that is as it was read.
func (r *Rollup) correct(row row) model.Write {
	n, values := r.numbers(row.want)
	set, unset := bson.D{{Key: "n", Value: n}}, bson.D{}
	if len(values) > 0 {
		set = append(set, bson.E{Key: "values", Value: values})
	} else {
		unset = append(unset, bson.E{Key: "values", Value: ""})
	}
	if row.held == nil {
		return r.upsertBin(bson.D{{Key: "_id", Value: row.want.id}}, mql.Op("$setOnInsert", append(row.want.identity(), set...)))
	}
	filter := bson.D{{Key: "_id", Value: row.want.id}}
	for _, path := range []string{"ops", "n", "values"} {
		filter = append(filter, stored.HoldsAt(path, bsonval.Clone(row.held.Lookup(path))))
	}
	return commands.Keyed(commands.UpdateIf(r.bins.Name(), filter, commands.Operators(mql.E("$set", set), mql.E("$unset", unset))))
}

// upsertBin writes a bin by _id.
func (r *Rollup) upsertBin(filter bson.D, update any) model.Write {
	return commands.Keyed(commands.UpsertOne(r.bins.Name(), filter, update))
}
