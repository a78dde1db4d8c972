package rollup

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
	batchSize  = 500
	mostEvents = 5000 // of a batch, for the leader lists them
)

// Roll is the job that adds the waiting events to their bins.
func (r *Rollup) Roll() model.Job {
	return model.Job{Name: "roll-up of " + r.docs.Name() + " into " + r.bins.Name(), Stages: []model.Stage{
		{Name: "finish the interrupted batches", Do: does(r.finishBegun)},
		{Name: "roll up the waiting events", Do: does(r.rollNext)},
	}}
}

// A work is a batch of a job, with what its plans did.
type work struct {
	*model.Batch
	done model.Result
}

// does is a stage's Do.
func does(f func(context.Context, *work) error) func(context.Context, *model.Batch) error {
	return func(ctx context.Context, b *model.Batch) error { return f(ctx, &work{Batch: b}) }
}

// run runs a plan, and adds up what it did.
func (w *work) run(ctx context.Context, p model.Plan) error {
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

// all does a part of a job until it is done.
func all(ctx context.Context, db model.DB, do func(context.Context, *work) error) (model.Result, error) {
	w := &work{Batch: &model.Batch{DB: db}}
	for {
		if err := do(ctx, w); err != nil || w.Done {
			return w.done, err
		}
	}
}

// find reads at most n documents of the events or the bins, in one command. An event that a scope has marked as deleted
// still counts.
func find(docs *core.Docs, filter, fields, sort bson.D, n int, index string) *model.Find[bson.Raw] {
	return &model.Find[bson.Raw]{Query: model.Query{
		Collection: docs.Name(), Filter: filter, Projection: fields, Sort: sort, Limit: int64(n), Index: index, Deleted: true, Keyed: docs.IsKeyed(),
		Options: model.ReadOptions{BatchSize: commands.WholeReply(0, n)},
	}}
}

// begun are the batches under way, by the marks of their leaders.
func (r *Rollup) begun(limit int) *model.Find[bson.Raw] {
	is := bson.D{{Key: "$exists", Value: true}, {Key: "$gt", Value: waiting}}
	return find(r.docs, bson.D{{Key: r.batchPath(), Value: is}, {Key: r.mark + ".events", Value: bson.D{{Key: "$exists", Value: true}}}},
		bson.D{{Key: r.mark, Value: 1}}, nil, limit, r.Waiting().Name)
}

// batchOf reads the mark of a leader.
func (r *Rollup) batchOf(doc bson.Raw) (b batch) {
	b.leader = bsonval.Clone(doc.Lookup("_id"))
	b.op, _ = doc.Lookup(r.mark, "batch").ObjectIDOK()
	for _, id := range core.Elements(doc.Lookup(r.mark, "events")) {
		b.events = append(b.events, bsonval.Clone(id))
	}
	return b
}

// finishBegun finishes one batch that was begun.
func (r *Rollup) finishBegun(ctx context.Context, w *work) error {
	leader, err := r.begun(1).One(ctx, w.DB)
	if errors.Is(err, model.ErrNotFound) || err == nil && w.DryRun {
		w.Done = true
		return nil
	}
	if err != nil {
		return err
	}
	old := r.batchOf(leader)
	w.Documents = int64(len(old.events))
	return r.finish(ctx, w, old, true)
}

// most is how often something is tried while others write.
const most = 100

// rollNext makes a batch of the events that wait after those of the one before, and finishes it. Where another runner claims
// the leader first, it reads again what waits.
func (r *Rollup) rollNext(ctx context.Context, w *work) error {
	for n := 1; ; n++ {
		next, after, err := r.next(ctx, w)
		if err != nil {
			return err
		}
		if len(next.events) == 0 || w.DryRun {
			w.After, w.Writes = after, int64(len(next.events))
			return nil
		}
		err = w.run(ctx, model.NewPlan(r.lead(next)))
		if err == nil {
			w.After = after
			return r.finish(ctx, w, next, false)
		}
		if taken := errors.Is(err, model.ErrStale) || errors.Is(err, model.ErrNotFound); !taken || n == most {
			return err
		}
	}
}

// next reads the events that a batch may claim, and leaves those that no bin can count. after is the last one.
func (r *Rollup) next(ctx context.Context, w *work) (next batch, after bson.RawValue, err error) {
	size := min(cmp.Or(w.Size, batchSize), mostEvents)
	filter := bson.D{r.isWaiting()}
	if after = w.After; after.Type != 0 {
		filter = append(filter, bson.E{Key: "_id", Value: bson.D{{Key: "$gt", Value: after}}})
	}
	found := find(r.docs, filter, r.projection(), bson.D{{Key: "_id", Value: 1}}, size, r.Waiting().Name)
	docs, err := found.All(ctx, w.DB)
	if err != nil {
		return next, after, err
	}
	w.Documents, w.Done = int64(len(docs)), len(docs) < size
	if len(docs) > 0 {
		after = bsonval.Clone(docs[len(docs)-1].Lookup("_id"))
	}
	var fit []bson.Raw
	var left []model.Finding
	ts := tallies{}
	for _, doc := range docs {
		e, err := r.event(doc)
		if err != nil {
			left = append(left, model.Finding{Collection: r.docs.Name(), ID: e.id, Problem: err.Error()})
			continue
		}
		if err := r.addAll(ts, e); err != nil {
			return next, after, err // before anything is claimed
		}
		fit, next.events = append(fit, doc), append(next.events, e.id)
	}
	if w.Leave(left...); len(fit) > 0 {
		next.leader, next.op = next.events[0], token(fit)
	}
	return next, after, nil
}

// finish finishes a batch, again while another one makes the bins that it makes. again says that some of it may be done.
func (r *Rollup) finish(ctx context.Context, w *work, of batch, again bool) error {
	for n := 1; ; n++ {
		err := r.finishOnce(ctx, w, of, again)
		if !mongo.IsDuplicateKeyError(err) || n == most {
			return err
		}
		again = true
	}
}

// finishOnce claims the events of a batch, adds them to their bins and takes the marks off. Any number of runners may do so
// at a time, and again: the bins hold the token.
func (r *Rollup) finishOnce(ctx context.Context, w *work, of batch, again bool) error {
	if len(of.events) > 1 {
		if err := w.run(ctx, model.NewPlan(r.claim(of))); err != nil {
			return err
		}
	}
	ts, err := r.members(ctx, w.DB, of)
	if err != nil {
		return err
	}
	list := ts.sorted()
	if again && len(list) > 0 {
		if list, err = r.without(ctx, w.DB, list, of.op); err != nil {
			return err
		}
	}
	steps := make([]model.Step, 0, len(list)+2)
	for _, t := range list {
		steps = append(steps, r.write(t, of.op))
	}
	if len(of.events) > 1 {
		steps = append(steps, r.release(of))
	}
	return w.run(ctx, commands.Leaving("a batch of marked events that only some of its bins count; the next run finishes it", append(steps, r.end(of))...))
}

// members are what the events of a batch add to their bins.
func (r *Rollup) members(ctx context.Context, db model.DB, of batch) (tallies, error) {
	found := find(r.docs, append(commands.AmongIDs(mql.A(of.events)), r.inBatch(of.op)), r.projection(), nil, len(of.events), model.IDIndex)
	ts := tallies{}
	for doc, err := range found.Each(ctx, db) {
		if err != nil {
			return nil, err
		}
		e, err := r.event(doc)
		if err != nil {
			return nil, err
		}
		if err := r.addAll(ts, e); err != nil {
			return nil, err
		}
	}
	return ts, nil
}

// without are the tallies whose bins don't hold a token yet.
func (r *Rollup) without(ctx context.Context, db model.DB, list []*tally, op bson.ObjectID) ([]*tally, error) {
	ids := make(bson.A, len(list))
	for i, t := range list {
		ids[i] = t.id
	}
	done := map[string]bool{}
	for doc, err := range find(r.bins, append(commands.AmongIDs(ids), bson.E{Key: "ops", Value: op}), bson.D{{Key: "_id", Value: 1}}, nil, len(ids), model.IDIndex).Each(ctx, db) {
		if err != nil {
			return nil, err
		}
		id, _ := doc.Lookup("_id").StringValueOK()
		done[id] = true
	}
	return slices.DeleteFunc(list, func(t *tally) bool { return done[t.id] }), nil
}
