package outbox

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/docmodel/docmodel/internal/bsondoc"
	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/internal/runctx"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

var (
	errLost    = errors.New("docmodel: another runner of the relay has taken over")
	errExpired = errors.New("docmodel: the lease of the relay's runner could not be extended in time")
)

// workOnPart delivers the events of a part until the context ends or the lease is lost.
func (r *running) workOnPart(ctx context.Context, p *part) {
	for ctx.Err() == nil {
		more, err := r.deliverBatch(ctx, p)
		if errors.Is(err, errLost) {
			return
		}
		if !more || err != nil {
			wait(ctx, r.Spec.Poll)
		}
	}
}

// wait waits until the duration is over or the context ends.
func wait(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

// batch is how many documents deliverBatch reads at a time.
const batch = 100

// hashes is the number of values of hashID.
const hashes = int64(1) << 31

// findPartStart returns the least hash of a part.
func findPartStart(n, parts int) int64 { return hashes * int64(n) / int64(parts) }

// findPart returns the part of a hash. It is the inverse of findPartStart.
func findPart(hash int64, parts int) int {
	n := int(hash * int64(parts) / hashes)
	if n+1 < parts && findPartStart(n+1, parts) <= hash { // the division lost its rest
		n++
	}
	return n
}

// findDue finds documents of a part whose first event may be tried now. The first event
// decides, because events are delivered in order.
func (o *untypedOutbox) findDue(n, parts int, now time.Time) *model.Find[bson.Raw] {
	f := o.findDueBetween(findPartStart(n, parts), findPartStart(n+1, parts), now)
	f.Limit, f.Projection = batch, bson.D{mql.E(o.path, 1)}
	return f
}

// findFirstDue finds the first document, by hash, in a part and all parts after it.
func (o *untypedOutbox) findFirstDue(n, parts int, now time.Time) *model.Find[bson.Raw] {
	f := o.findDueBetween(findPartStart(n, parts), hashes, now)
	f.Limit, f.Projection, f.Sort = 1, bson.D{mql.E(o.hash, 1)}, bson.D{mql.E(o.hash, 1)}
	return f
}

// findDueBetween finds due documents in a range of hashes. $not with $gt also matches a
// first event without a time.
func (o *untypedOutbox) findDueBetween(from, to int64, now time.Time) *model.Find[bson.Raw] {
	return &model.Find[bson.Raw]{Query: model.Query{
		Collection: o.docs.Name(), Index: o.listIndexes()[0].Name,
		Filter: bson.D{
			mql.E(o.hash, bson.D{mql.E("$gte", from), mql.E("$lt", to)}), o.matchWaiting(),
			mql.E(o.events+".0.after", bson.D{mql.E("$not", mql.Op("$gt", now))}),
		},
	}}
}

// deliverBatch delivers events of a part. more says that there may be more of them.
func (r *running) deliverBatch(ctx context.Context, p *part) (more bool, err error) {
	docs, err := r.Outbox.findDue(p.n, r.Spec.Parts, time.Now()).All(runctx.Deciding(ctx), r.db)
	if err != nil {
		return false, err
	}
	for _, doc := range docs {
		if err := r.deliverDocument(ctx, p, doc); err != nil {
			return false, err
		}
	}
	return len(docs) > 0, nil
}

// deliverDocument delivers the events of a document in their order, up to the first that
// fails. A greater fence in the document shows that another runner has the part, or that
// the leases were lost: then later fences must be greater.
func (r *running) deliverDocument(ctx context.Context, p *part, doc bson.Raw) error {
	id := doc.Lookup("_id")
	box, _ := core.ValueAt(doc, r.Outbox.path)
	var held struct {
		Events []untypedEvent `bson:"events"`
		Fence  int64          `bson:"fence"`
	}
	if err := box.Unmarshal(&held); err != nil {
		return commands.NameDocument(doc, err)
	}
	if held.Fence > p.fence {
		return errors.Join(errLost, r.leases.raiseFence(ctx, held.Fence))
	}
	var handed []bson.ObjectID
	var failed *untypedEvent
	var ended error
	for _, e := range held.Events {
		if e.After.After(time.Now()) || ctx.Err() != nil {
			break
		}
		if !time.Now().Before(p.deadline()) {
			break
		}
		var err error
		if err, ended = r.callDeliver(ctx, p, id, e); err != nil {
			if ended == nil {
				e.Error, failed = shortenError(err), &e
			}
			break
		}
		handed = append(handed, e.ID)
	}
	return cmp.Or(r.storeOutcome(ctx, p, id, handed, failed), ended)
}

// callDeliver calls the caller's function, which has until the lease ends. If the lease
// or the run ended before the function failed, ended says so: that isn't the event's
// failure.
func (r *running) callDeliver(ctx context.Context, p *part, id bson.RawValue, e untypedEvent) (err, ended error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	last := func() time.Duration { return time.Until(p.deadline().Add(r.Spec.For / 8)) }
	var mu sync.Mutex
	var watch *time.Timer
	cancelAtEnd := func() {
		mu.Lock()
		defer mu.Unlock()
		if left := last(); left > 0 { // it was extended meanwhile
			watch.Reset(left)
			return
		}
		cancel(errExpired)
	}
	mu.Lock() // the function can run before watch is set
	watch = time.AfterFunc(last(), cancelAtEnd)
	mu.Unlock()
	defer watch.Stop()
	if err = r.Hand(ctx, id, e, p.fence); err != nil {
		ended = context.Cause(ctx)
	}
	return err, ended
}

// shortenError returns the text of an error, short enough to be stored with each event.
func shortenError(err error) string {
	s := err.Error()
	if len(s) > 500 {
		s = strings.ToValidUTF8(s[:500], "") + "…"
	}
	return s
}

// storeOutcome removes the delivered events from a document, and notes the failed one.
func (r *running) storeOutcome(
	ctx context.Context, p *part, id bson.RawValue, handed []bson.ObjectID, failed *untypedEvent,
) error {
	o := r.Outbox
	var steps []model.Step
	if len(handed) > 0 {
		steps = append(steps,
			o.updateFenced(id, p.fence,
				mql.Op("$pull", bson.D{mql.E(o.events, bson.D{mql.E("id", mql.Op("$in", handed))})})))
	}
	if failed != nil {
		steps = append(steps, r.storeFailure(id, p.fence, failed))
	}
	if len(steps) == 0 {
		if !time.Now().Before(p.deadline()) {
			wait(ctx, r.Spec.Poll) // until the lease is extended
		}
		return nil
	}
	// what was handed on is noted, also at the end
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), r.Spec.For)
	defer cancel()
	for _, s := range steps {
		if _, err := s.(model.Write).Run(ctx, r.db); errors.Is(err, model.ErrStale) {
			return errLost
			// A document that was deleted took its events along.
		} else if err != nil && !errors.Is(err, model.ErrNotFound) {
			return err
		}
	}
	return nil
}

// updateFenced is an update of a document that no later holder of its part has written.
func (o *untypedOutbox) updateFenced(id bson.RawValue, fence int64, update bson.D) model.Write {
	byID := commands.MatchID(id)
	update = append(slices.Clone(update), mql.E("$max", bson.D{mql.E(o.fence, fence)}))
	return model.Write{
		Collection: o.docs.Name(), Index: model.IDIndex, Expect: model.One, Idempotent: true,
		Model: &mongo.UpdateOneModel{
			Filter: bsondoc.JoinFilters(byID, bson.D{mql.E(o.fence, bson.D{mql.E("$not", mql.Op("$gt", fence))})}),
			Update: update,
		},
	}
}

// storeFailure counts a failed attempt, and sets the pause until the next one. After the
// last attempt, it parks the event.
func (r *running) storeFailure(id bson.RawValue, fence int64, e *untypedEvent) model.Write {
	o := r.Outbox
	e.Attempts++
	if e.Attempts >= r.Spec.Attempts {
		e.After = time.Time{}
		return o.updateFenced(id, fence, bson.D{
			mql.E("$pull", bson.D{mql.E(o.events, bson.D{mql.E("id", e.ID)})}),
			mql.E("$push", bson.D{mql.E(o.parked, e)}),
		})
	}
	wait := r.Spec.Pause
	for n := 1; n < e.Attempts && wait < r.Spec.MaxPause; n++ {
		wait *= 2
	}
	// The event is the first that waits: those before it were taken out, and others are
	// added behind it.
	w := o.updateFenced(id, fence, bson.D{mql.E("$set", bson.D{
		mql.E(o.events+".$.attempts", e.Attempts),
		mql.E(o.events+".$.after", time.Now().Add(min(wait, r.Spec.MaxPause))), mql.E(o.events+".$.error", e.Error),
	})})
	one := w.Model.(*mongo.UpdateOneModel)
	one.Filter = bsondoc.JoinFilters(one.Filter.(bson.D), bson.D{mql.E(o.events+".id", e.ID)})
	w.Expect = model.Any
	return w
}
