package rollup

// This file has the job that adds waiting events to bins, batch by batch.

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

const (
	// Events in a batch, unless JobOptions say otherwise.
	batchSize = 500
	// The greatest number of events in a batch, because the leader lists them.
	mostEvents = 5000
)

// makeRollJob returns the job that adds the waiting events to their bins.
func (r *untypedRollup) makeRollJob() model.Job {
	return model.Job{Name: "roll-up of " + r.docs.Name() + " into " + r.bins.Name(), Stages: []model.Stage{
		{Name: "finish the interrupted batches", Do: makeDo(r.finishBegunBatch)},
		{Name: "roll up the waiting events", Do: makeDo(r.rollNextBatch)},
	}}
}

// A work is a batch of a job, with the results of its plans.
type work struct {
	*model.Batch
	// Results of the plans so far, for the repairs of checks.
	done model.Result
}

// makeDo returns a stage's Do.
func makeDo(f func(context.Context, *work) error) func(context.Context, *model.Batch) error {
	return func(ctx context.Context, b *model.Batch) error { return f(ctx, &work{Batch: b}) }
}

// runPlan runs a plan, and adds its result to done.
func (w *work) runPlan(ctx context.Context, p model.Plan) error {
	result, err := p.Run(ctx, w.DB)
	w.Writes, w.Modified = w.Writes+int64(len(p.Steps)), w.Modified+result.Modified()
	for _, s := range result.Steps {
		if s.Batch >= 0 {
			s.Batch += len(w.done.Batches)
		}
		w.done.Steps = append(w.done.Steps, s)
	}
	for _, b := range result.Batches {
		b.First += len(w.done.Steps) - len(result.Steps)
		w.done.Batches = append(w.done.Batches, b)
	}
	return err
}

// runToEnd repeats a part of a job until it is done.
func runToEnd(ctx context.Context, db model.DB, do func(context.Context, *work) error) (model.Result, error) {
	w := &work{Batch: &model.Batch{DB: db}}
	for {
		if err := do(ctx, w); err != nil || w.Done {
			return w.done, err
		}
	}
}

// findDocs reads at most n documents of the events or the bins, in one command. An event
// that a scope has marked as deleted still counts.
func findDocs(docs *core.Docs, filter, fields, sort bson.D, n int, index string) *model.Find[bson.Raw] {
	return &model.Find[bson.Raw]{Query: model.Query{
		Collection: docs.Name(), Filter: filter, Projection: fields, Sort: sort, Limit: int64(n), Index: index,
		Deleted: true, Keyed: docs.IsKeyed(),
		Options: model.ReadOptions{BatchSize: commands.SizeReply(0, n)},
	}}
}

// findBegun finds the batches that were begun, by the marks of their leaders.
func (r *untypedRollup) findBegun(limit int) *model.Find[bson.Raw] {
	is := bson.D{{Key: "$exists", Value: true}, {Key: "$gt", Value: waiting}}
	return findDocs(r.docs,
		bson.D{
			{Key: r.batchPath(), Value: is},
			{Key: r.mark + ".events", Value: bson.D{{Key: "$exists", Value: true}}},
		},
		bson.D{{Key: r.mark, Value: 1}}, nil, limit, r.waitingIndex().Name)
}

// readBatch reads the mark of a leader.
func (r *untypedRollup) readBatch(doc bson.Raw) (b batch) {
	b.leader = bsonval.Clone(doc.Lookup("_id"))
	b.op, _ = doc.Lookup(r.mark, "batch").ObjectIDOK()
	for _, id := range core.Elements(doc.Lookup(r.mark, "events")) {
		b.events = append(b.events, bsonval.Clone(id))
	}
	return b
}

// finishBegunBatch finishes one batch that was begun, by a run that crashed or is still
// running.
func (r *untypedRollup) finishBegunBatch(ctx context.Context, w *work) error {
	leader, err := r.findBegun(1).One(ctx, w.DB)
	if errors.Is(err, model.ErrNotFound) || err == nil && w.DryRun {
		w.Done = true
		return nil
	}
	if err != nil {
		return err
	}
	old := r.readBatch(leader)
	w.Documents = int64(len(old.events))
	return r.finishBatch(ctx, w, old, true)
}

// maxTries is how often something is tried while other clients write.
const maxTries = 100

// rollNextBatch makes a batch of the events that wait after the last batch, and finishes
// it. If another runner claims the leader first, it reads the waiting events again.
func (r *untypedRollup) rollNextBatch(ctx context.Context, w *work) error {
	for n := 1; ; n++ {
		next, after, err := r.chooseBatch(ctx, w)
		if err != nil {
			return err
		}
		if len(next.events) == 0 || w.DryRun {
			w.After, w.Writes = after, int64(len(next.events))
			return nil
		}
		err = w.runPlan(ctx, model.NewPlan(r.claimLeader(next)))
		if err == nil {
			w.After = after
			return r.finishBatch(ctx, w, next, false)
		}
		if taken := errors.Is(err, model.ErrStale) || errors.Is(err, model.ErrNotFound); !taken || n == maxTries {
			return err
		}
	}
}

// chooseBatch reads the events that a batch may claim. It leaves those that no bin can
// count. after is the _id of the last event.
func (r *untypedRollup) chooseBatch(ctx context.Context, w *work) (next batch, after bson.RawValue, err error) {
	size := min(cmp.Or(w.Size, batchSize), mostEvents)
	filter := bson.D{r.matchWaiting()}
	if after = w.After; after.Type != 0 {
		filter = append(filter, bson.E{Key: "_id", Value: bson.D{{Key: "$gt", Value: after}}})
	}
	found := findDocs(r.docs, filter, r.projectEvent(), bson.D{{Key: "_id", Value: 1}}, size, r.waitingIndex().Name)
	docs, err := found.All(ctx, w.DB)
	if err != nil {
		return next, after, err
	}
	// A read that isn't full has found the last waiting events.
	w.Documents, w.Done = int64(len(docs)), len(docs) < size
	if len(docs) > 0 {
		after = bsonval.Clone(docs[len(docs)-1].Lookup("_id"))
	}
	var fit []bson.Raw
	var left []model.Finding
	ts := tallies{}
	for _, doc := range docs {
		e, err := r.readEvent(doc)
		if err != nil {
			left = append(left, model.Finding{Collection: r.docs.Name(), ID: e.id, Problem: err.Error()})
			continue
		}
		if err := r.addToAllBins(ts, e); err != nil {
			// Nothing is claimed yet, so an overflow leaves all events waiting.
			return next, after, err // before anything is claimed
		}
		fit, next.events = append(fit, doc), append(next.events, e.id)
	}
	if w.Leave(left...); len(fit) > 0 {
		next.leader, next.op = next.events[0], makeToken(fit)
	}
	return next, after, nil
}

// finishBatch finishes a batch. It tries again while other batches make the same bins.
// again says that a part may be done.
func (r *untypedRollup) finishBatch(ctx context.Context, w *work, of batch, again bool) error {
	for n := 1; ; n++ {
		err := r.tryFinishBatch(ctx, w, of, again)
		if !mongo.IsDuplicateKeyError(err) || n == maxTries {
			return err
		}
		again = true
	}
}

// tryFinishBatch claims the events of a batch, adds them to their bins and removes the
// marks. Any number of runners can do so at the same time, and repeat it, because the
// bins have the token.
func (r *untypedRollup) tryFinishBatch(ctx context.Context, w *work, of batch, again bool) error {
	if len(of.events) > 1 {
		if err := w.runPlan(ctx, model.NewPlan(r.claimFollowers(of))); err != nil {
			return err
		}
	}
	ts, err := r.tallyBatch(ctx, w.DB, of)
	if err != nil {
		return err
	}
	list := ts.sortTallies()
	if again && len(list) > 0 {
		if list, err = r.skipCounted(ctx, w.DB, list, of.op); err != nil {
			return err
		}
	}
	// Followers lose their marks before the leader does: as long as the leader has its
	// list, findBegun finds the batch.
	steps := make([]model.Step, 0, len(list)+2)
	for _, t := range list {
		steps = append(steps, r.addTally(t, of.op))
	}
	if len(of.events) > 1 {
		steps = append(steps, r.unmarkFollowers(of))
	}
	return w.runPlan(ctx,
		commands.PlanLeaving("a batch of marked events that only some of its bins count; the next run finishes it",
			append(steps, r.unmarkLeader(of))...))
}

// tallyBatch returns the numbers that the events of a batch add to their bins.
func (r *untypedRollup) tallyBatch(ctx context.Context, db model.DB, of batch) (tallies, error) {
	found := findDocs(r.docs, append(commands.MatchIDs(mql.Array(of.events)), r.matchBatch(of.op)), r.projectEvent(),
		nil, len(of.events), model.IDIndex)
	ts := tallies{}
	for doc, err := range found.Each(ctx, db) {
		if err != nil {
			return nil, err
		}
		e, err := r.readEvent(doc)
		if err != nil {
			return nil, err
		}
		if err := r.addToAllBins(ts, e); err != nil {
			return nil, err
		}
	}
	return ts, nil
}

// skipCounted removes the tallies whose bins have the token already.
func (r *untypedRollup) skipCounted(
	ctx context.Context, db model.DB, list []*tally, op bson.ObjectID,
) ([]*tally, error) {
	ids := make(bson.A, len(list))
	for i, t := range list {
		ids[i] = t.id
	}
	done := map[string]bool{}
	for doc, err := range findDocs(r.bins, append(commands.MatchIDs(ids), bson.E{Key: "ops", Value: op}),
		bson.D{{Key: "_id", Value: 1}}, nil, len(ids), model.IDIndex).Each(ctx, db) {
		if err != nil {
			return nil, err
		}
		id, _ := doc.Lookup("_id").StringValueOK()
		done[id] = true
	}
	return slices.DeleteFunc(list, func(t *tally) bool { return done[t.id] }), nil
}
