package rollup

// This file has the checks. Their repairs do what makeRollJob and makeRebuildJob do.

import (
	"context"
	"fmt"
	"iter"
	"time"

	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/found"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// listChecks returns the checks of events that wait, and of bins that differ from their
// events or finer bins.
func (r *untypedRollup) listChecks() []model.Check {
	events, bins := r.docs.Name(), r.bins.Name()
	wait := mongo.Pipeline{
		mql.Match(mql.E(r.batchPath(), mql.Exists(true))),
		mql.Project(mql.E("_id", 1)), mql.SortID(),
	}
	out := []model.Check{
		{
			Name: fmt.Sprintf("%s.%s: events that aren't rolled up", events, r.mark), Collection: events,
			Rule:  "an event is rolled up within a minute",
			Index: r.waitingIndex().Name, Age: time.Minute, Pipeline: wait,
			Tell: found.DescribeDocuments("isn't rolled up"),
			MendAll: func(ctx context.Context, db model.DB, _ time.Duration) (model.Result, error) {
				result, err := runToEnd(ctx, db, r.finishBegunBatch)
				if err != nil {
					return result, err
				}
				more, err := runToEnd(ctx, db, r.rollNextBatch)
				return joinResults(result, more), err
			},
		},
		r.checkBins(r.levels[:1], fmt.Sprintf("%s: bins that differ from %s", bins, events),
			fmt.Sprintf("each %s bin counts the events of its time and group", r.finestUnit())),
	}
	if len(r.levels) > 1 {
		out = append(out, r.checkBins(r.levels[1:], bins+": bins that differ from the finer bins",
			"each bin is the total of the finer bins of its time and group"))
	}
	return out
}

// joinResults returns the result of two plans that ran one after the other.
func joinResults(a, b model.Result) model.Result {
	for _, s := range b.Steps {
		// A step that wasn't sent has the batch -1.
		if s.Batch >= 0 {
			s.Batch += len(a.Batches)
		}
		a.Steps = append(a.Steps, s)
	}
	for _, x := range b.Batches {
		x.First += len(a.Steps) - len(b.Steps)
		a.Batches = append(a.Batches, x)
	}
	return a
}

// checkBins is the check of the bins of some units.
func (r *untypedRollup) checkBins(levels []binUnit, name, rule string) model.Check {
	c := model.Check{
		Name: name, Collection: r.bins.Name(), Rule: rule,
		Queries: []*model.Aggregate[bson.Raw]{r.findFirstBin(levels[0], time.Time{})},
	}
	c.Read = func(ctx context.Context, db model.DB, filter bson.D) iter.Seq2[model.Finding, error] {
		return func(yield func(model.Finding, error) bool) {
			if len(filter) > 0 {
				yield(model.Finding{},
					r.bins.Refuse("filter", nil, "must be empty: the check also looks for missing bins"))
				return
			}
			for _, u := range levels {
				if !r.compareBins(ctx, db, u, func(f model.Finding, err error) bool {
					f.Check, f.Collection = name, r.bins.Name()
					return yield(f, err)
				}) {
					return
				}
			}
		}
	}
	c.MendAll = func(ctx context.Context, db model.DB, _ time.Duration) (done model.Result, err error) {
		for _, u := range levels {
			from := r.findCheckStart(u)
			more, err := runToEnd(ctx, db, func(ctx context.Context, w *work) error {
				return r.rebuildNextBins(ctx, w, u, from, time.Time{})
			})
			if done = joinResults(done, more); err != nil {
				return done, err
			}
		}
		return done, nil
	}
	return c
}

// findCheckStart returns the time at which the first bin begins of which all events are
// stored; zero for all. Finer bins are never deleted.
func (r *untypedRollup) findCheckStart(u binUnit) time.Time {
	if r.kept == 0 || u != r.finestUnit() {
		return time.Time{}
	}
	return u.findNextStart(time.Now().Add(-r.kept), r.zone)
}

// compareBins yields the bins of a unit that differ. It reports whether to go on.
func (r *untypedRollup) compareBins(
	ctx context.Context, db model.DB, u binUnit, yield func(model.Finding, error) bool,
) bool {
	fail := func(err error) bool { yield(model.Finding{}, err); return false }
	for at := r.findCheckStart(u); ; {
		start, ok, err := r.seekNextBin(ctx, db, u, at)
		if err != nil {
			return fail(err)
		}
		if !ok {
			return true
		}
		at = u.findNextStart(start, r.zone)
		rows, err := r.findDifferences(ctx, db, u, start, at)
		if err != nil {
			return fail(err)
		}
		for _, row := range rows {
			if !yield(r.describeRow(row), nil) {
				return false
			}
		}
	}
}

// findDifferences returns the bins that differ in two reads, and that are the same in
// both: so no batch came between the reads of a bin and of its events. Batches that are
// running are passed over.
func (r *untypedRollup) findDifferences(
	ctx context.Context, db model.DB, u binUnit, start, end time.Time,
) (out []row, _ error) {
	rows, _, err := r.examineBins(ctx, db, u, start, end)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	again, _, err := r.examineBins(ctx, db, u, start, end)
	for _, b := range again {
		for _, a := range rows {
			if a.want.id == b.want.id && isSameBin(a.held, b.held) {
				out = append(out, b)
			}
		}
	}
	return out, err
}

// describeRow returns the finding of a row.
func (r *untypedRollup) describeRow(x row) model.Finding {
	n, values := r.encodeNumbers(x.want)
	want := bson.D{{Key: "n", Value: n}, {Key: "values", Value: values}}
	f := model.Finding{ID: core.MustRawValue(x.want.id)}
	detail := append(bson.D{{Key: "_id", Value: x.want.id}}, x.want.listFixedFields()...)
	if x.held == nil {
		f.Problem = fmt.Sprintf("is missing, but should count %d events", n)
	} else {
		n, values := r.encodeNumbers(&x.was)
		held := bson.D{{Key: "n", Value: n}, {Key: "values", Value: values}}
		f.Problem = fmt.Sprintf("stores %s, but its events or finer bins make %s", model.Shell(held), model.Shell(want))
		detail = append(detail, bson.E{Key: "held", Value: held})
	}
	f.Detail, _ = bson.Marshal(append(detail, bson.E{Key: "want", Value: want}))
	return f
}
