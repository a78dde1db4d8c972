package rollup

// This file counts bins again. Rollups run at the same time: see examineBins for how a
// bin that changes meanwhile is recognized.

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

// makeRebuildJob is the job that counts the bins of a span of time again: the finest from
// events, each other from the next finer ones.
func (r *untypedRollup) makeRebuildJob(from, to time.Time) model.Job {
	j := model.Job{Name: "rebuild of " + r.bins.Name(), Err: r.checkSpan(from, to)}
	for _, u := range r.levels {
		j.Stages = append(j.Stages, model.Stage{
			Name: "count each " + u.String(),
			Do: makeDo(func(ctx context.Context, w *work) error {
				return r.rebuildNextBins(ctx, w, u, from, to)
			}),
		})
	}
	return j
}

// checkSpan refuses times between which no whole finest bins lie.
func (r *untypedRollup) checkSpan(from, to time.Time) error {
	if err := cmp.Or(r.checkTime(r.bins.Refuse, "start", from), r.checkTime(r.bins.Refuse, "end", to)); err != nil {
		return err
	}
	if !from.Before(to) {
		return r.bins.Refuse("end", to, "isn't after start: give a later time")
	}
	for i, t := range []time.Time{from, to} {
		if !r.finestUnit().findStart(t, r.zone).Equal(t) {
			return r.bins.Refuse([]string{"start", "end"}[i], t,
				"isn't the beginning of "+addArticle(r.finestUnit())+" in "+r.zone.String())
		}
	}
	return nil
}

// addArticle returns a unit with its article, for messages.
func addArticle(u binUnit) string {
	if u == hourly {
		return "an hour"
	}
	return "a " + u.String()
}

// rebuildNextBins counts the next bins of a unit that begin at one time, of all groups. A
// zero to means no bound. It finishes open batches first, and compares again after each
// correction.
func (r *untypedRollup) rebuildNextBins(ctx context.Context, w *work, u binUnit, from, to time.Time) error {
	at := from
	if ms, ok := w.After.DateTimeOK(); ok {
		at = time.UnixMilli(ms)
	}
	start, ok, err := r.seekNextBin(ctx, w.DB, u, at)
	if err != nil {
		return err
	}
	if !ok || !to.IsZero() && !start.Before(to) {
		w.Done = true
		return nil
	}
	end := u.findNextStart(start, r.zone)
	// Compare and correct until nothing differs, because batches can come in between.
	for n := 1; ; n++ {
		rows, open, err := r.examineBins(ctx, w.DB, u, start, end)
		if err != nil {
			return err
		}
		w.Documents = max(w.Documents, int64(len(rows)), 1)
		switch {
		case len(rows) == 0 && len(open) == 0, w.DryRun:
			w.Writes = max(w.Writes, int64(len(rows)))
			w.After, w.Done = core.MustRawValue(end), !to.IsZero() && !end.Before(to)
			return nil
		case n == maxTries:
			return fmt.Errorf("docmodel: the bins of %s changed each time they were counted: %w", start, model.ErrStale)
		}
		for _, of := range open {
			if err := r.finishBatch(ctx, w, of, true); err != nil {
				return err
			}
		}
		if len(open) > 0 {
			// The batches have changed the bins, so the rows are out of date.
			continue
		}
		steps := make([]model.Step, len(rows))
		for i, row := range rows {
			steps[i] = r.correctBin(row)
		}
		if err := w.runPlan(ctx,
			commands.PlanLeaving("some bins counted; the next run counts the others", steps...)); err != nil {
			return err
		}
	}
}

// findFirstBin is the query of the first bins of a unit that begin at or after a time. A
// zero time means no bound.
func (r *untypedRollup) findFirstBin(u binUnit, at time.Time) *model.Aggregate[bson.Raw] {
	filter := bson.D{{Key: "unit", Value: u.String()}}
	if !at.IsZero() {
		filter = append(filter, bson.E{Key: "start", Value: bson.D{{Key: "$gte", Value: at}}})
	}
	return &model.Aggregate[bson.Raw]{
		Aggregation: model.Aggregation{
			Collection: r.bins.Name(), Keyed: []string{r.bins.Name()}, Index: r.startIndex().Name,
			Pipeline: mongo.Pipeline{
				mql.Match(filter...), mql.Sort(mql.E("unit", 1), mql.E("start", 1)), {{Key: "$limit", Value: 1}},
				mql.Project(mql.E("start", 1)),
			},
		},
	}
}

// seekNextBin returns the time at which the next bin of a unit begins that is stored, or
// that should be, and that ends after a time.
func (r *untypedRollup) seekNextBin(
	ctx context.Context, db model.DB, u binUnit, at time.Time,
) (start time.Time, ok bool, _ error) {
	if !at.IsZero() {
		at = u.findStart(at, r.zone)
	}
	consider := func(t time.Time) {
		if t = u.findStart(t, r.zone); !ok || t.Before(start) {
			start, ok = t, true
		}
	}
	// A bin of this unit can be missing. Then a finer bin, or an event, begins in its
	// time.
	for _, level := range r.levels[max(0, slices.Index(r.levels, u)-1) : slices.Index(r.levels, u)+1] {
		doc, err := r.findFirstBin(level, at).One(ctx, db)
		if err == nil {
			if t, ok := doc.Lookup("start").TimeOK(); ok {
				consider(t)
			}
		} else if !errors.Is(err, model.ErrNotFound) {
			return start, false, err
		}
	}
	if u == r.finestUnit() {
		// A range of dates keeps out events whose time is missing or of another type.
		is := bson.D{{Key: "$gt", Value: bson.DateTime(-1 << 62)}}
		if !at.IsZero() {
			is = bson.D{{Key: "$gte", Value: at}}
		}
		doc, err := findDocs(r.docs, bson.D{{Key: r.time, Value: is}}, commands.ProjectFields(r.time),
			bson.D{{Key: r.time, Value: 1}}, 1, r.timeIndex().Name).One(ctx, db)
		if errors.Is(err, model.ErrNotFound) {
			return start, ok, nil
		} else if err != nil {
			return start, false, err
		}
		t, err := stored.ValueAt(r.docs, doc, r.time)
		if err != nil {
			return start, false, err
		}
		if t, ok := t.TimeOK(); ok {
			consider(t)
		}
	}
	return start, ok, nil
}

// A row is a bin that differs from its events or finer bins.
type row struct {
	// Nil for a missing bin.
	held bson.Raw
	// What the events or finer bins make.
	want *tally
	// What the bin has.
	was tally
}

// readBins reads the bins of a unit that begin at one time, or in a span of time.
func (r *untypedRollup) readBins(ctx context.Context, db model.DB, u binUnit, from, to time.Time) ([]bson.Raw, error) {
	is := any(from)
	if !to.IsZero() {
		is = bson.D{{Key: "$gte", Value: from}, {Key: "$lt", Value: to}}
	}
	docs, err := findDocs(r.bins, bson.D{{Key: "unit", Value: u.String()}, {Key: "start", Value: is}}, nil, nil, 0,
		r.startIndex().Name).All(ctx, db)
	return docs, err
}

// examineBins compares the bins of a unit that begin at one time with their events or
// finer bins. It reads the bins first: the comparison is valid as long as a bin keeps the
// same tokens. open are batches that are in some finer bins, and may be in others or not.
// While there are any, nothing is compared.
func (r *untypedRollup) examineBins(
	ctx context.Context, db model.DB, u binUnit, start, end time.Time,
) (rows []row, open []batch, _ error) {
	docs, err := r.readBins(ctx, db, u, start, time.Time{})
	if err != nil {
		return nil, nil, err
	}
	held := map[string]bson.Raw{}
	for _, doc := range docs {
		id, _ := doc.Lookup("_id").StringValueOK()
		held[id] = doc
	}
	var want tallies
	if u == r.finestUnit() {
		want, err = r.countEvents(ctx, db, held, start, end)
	} else {
		want, open, err = r.addUpFinerBins(ctx, db, held, u, start, end)
	}
	if err != nil || len(open) > 0 {
		return nil, open, err
	}
	// A stored bin without events must become empty: it is compared with zero.
	for id, doc := range held {
		if want[id] == nil {
			was := r.decodeBin(doc)
			want[id] = &tally{id: id, unit: u, start: start, group: was.group, parts: make([]part, len(r.sources))}
		}
	}
	for _, t := range want.sortTallies() {
		row := row{held: held[t.id], want: t}
		if row.held == nil {
			row.was.parts = make([]part, len(r.sources))
		} else {
			row.was = r.decodeBin(row.held)
		}
		if !r.hasSameNumbers(&row.was, t) {
			rows = append(rows, row)
		}
	}
	return rows, nil, nil
}

// hasToken reports whether a bin has counted a batch.
func hasToken(bin bson.Raw, op bson.ObjectID) bool {
	return slices.ContainsFunc(core.Elements(bin.Lookup("ops")), func(v bson.RawValue) bool {
		id, _ := v.ObjectIDOK()
		return id == op
	})
}

// countEvents counts events. Events that wait, and events whose batch the bin doesn't
// have yet, are added to the bin later.
func (r *untypedRollup) countEvents(
	ctx context.Context, db model.DB, held map[string]bson.Raw, start, end time.Time,
) (tallies, error) {
	ts := tallies{}
	is := bson.D{{Key: "$gte", Value: start}, {Key: "$lt", Value: end}}
	for doc, err := range findDocs(r.docs, bson.D{{Key: r.time, Value: is}}, r.projectEvent(), nil, 0,
		r.timeIndex().Name).Each(ctx, db) {
		if err != nil {
			return nil, err
		}
		e, err := r.readEvent(doc)
		// Events that wait aren't judged here: chooseBatch reports those that can't be
		// counted.
		if e.marked && e.batch == waiting {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("document %s: %w", model.Shell(e.id), err)
		}
		if e.marked && !hasToken(held[makeBinID(e.key, r.finestUnit(), start)], e.batch) {
			continue
		}
		if err := r.addToBin(ts, e, r.finestUnit()); err != nil {
			return nil, err
		}
	}
	return ts, nil
}

// addUpFinerBins adds up finer bins. A batch that one of them has and the coarser bin
// doesn't, and that is still running, will be added to the coarser bin: it must be
// finished first.
func (r *untypedRollup) addUpFinerBins(
	ctx context.Context, db model.DB, held map[string]bson.Raw, u binUnit, start, end time.Time,
) (ts tallies, open []batch, _ error) {
	finer := r.levels[slices.Index(r.levels, u)-1]
	docs, err := r.readBins(ctx, db, finer, start, end)
	if err != nil {
		return nil, nil, err
	}
	ts = tallies{}
	unknown := map[bson.ObjectID]bool{}
	for _, doc := range docs {
		t := r.decodeBin(doc)
		id := r.makeCoarserID(t.id, finer, u, start)
		if ts[id] == nil {
			ts[id] = &tally{id: id, unit: u, start: start, group: t.group, parts: make([]part, len(r.sources))}
		}
		ts[id].n += t.n
		for i, p := range t.parts {
			if err := r.mergePart(&ts[id].parts[i], p, r.sources[i]); err != nil {
				return nil, nil, err
			}
		}
		for _, v := range core.Elements(doc.Lookup("ops")) {
			if op, _ := v.ObjectIDOK(); !hasToken(held[id], op) {
				unknown[op] = true
			}
		}
	}
	// Tokens that the coarser bin doesn't have are usually old ones, which it has
	// forgotten. Only those of batches that are still running matter.
	if len(unknown) == 0 {
		return ts, nil, nil
	}
	for doc, err := range r.findBegun(0).Each(ctx, db) {
		if err != nil {
			return nil, nil, err
		}
		if b := r.readBatch(doc); unknown[b.op] {
			open = append(open, b)
		}
	}
	return ts, open, nil
}

// makeCoarserID returns the _id of the coarser bin that contains a bin.
func (r *untypedRollup) makeCoarserID(id string, finer, u binUnit, start time.Time) string {
	key := id[:max(0, len(id)-len(finer.String()+"#"+formatTime(start)))]
	return makeBinID(strings.TrimSuffix(key, "#"), u, start)
}

// correctBin writes the numbers of a bin that is as it was read.
func (r *untypedRollup) correctBin(row row) model.Write {
	n, values := r.encodeNumbers(row.want)
	set, unset := bson.D{{Key: "n", Value: n}}, bson.D{}
	if len(values) > 0 {
		set = append(set, bson.E{Key: "values", Value: values})
	} else {
		unset = append(unset, bson.E{Key: "values", Value: ""})
	}
	// If another client has made the missing bin meanwhile, $setOnInsert leaves it as it
	// is.
	if row.held == nil {
		return r.upsertBin(bson.D{{Key: "_id", Value: row.want.id}},
			mql.Op("$setOnInsert", append(row.want.listFixedFields(), set...)))
	}
	filter := bson.D{{Key: "_id", Value: row.want.id}}
	// A batch that came meanwhile has changed ops, and another rebuild the numbers.
	for _, path := range []string{"ops", "n", "values"} {
		filter = append(filter, stored.MatchValueAt(path, bsonval.Clone(row.held.Lookup(path))))
	}
	return commands.MarkKeyed(commands.UpdateIf(r.bins.Name(), filter,
		commands.JoinOperators(mql.E("$set", set), mql.E("$unset", unset))))
}

// upsertBin writes a bin by _id.
func (r *untypedRollup) upsertBin(filter bson.D, update any) model.Write {
	return commands.MarkKeyed(commands.UpsertOne(r.bins.Name(), filter, update))
}
