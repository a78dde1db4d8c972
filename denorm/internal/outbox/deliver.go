package outbox

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

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

// work hands on the events of a part until the context ends or the lease is lost.
func (r *running) work(ctx context.Context, p *part) {
	for ctx.Err() == nil {
		more, err := r.pass(ctx, p)
		if errors.Is(err, errLost) {
			return
		}
		if !more || err != nil {
			pause(ctx, r.Spec.Poll)
		}
	}
}

func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

// batch is how many documents a pass reads at a time.
const batch = 100

// hashes is the number of values of hashOf.
const hashes = int64(1) << 31

// beginOf returns the least hash of a part.
func beginOf(n, parts int) int64 { return hashes * int64(n) / int64(parts) }

// partOf returns the part of a hash.
func partOf(hash int64, parts int) int {
	n := int(hash * int64(parts) / hashes)
	if n+1 < parts && beginOf(n+1, parts) <= hash { // the division lost its rest
		n++
	}
	return n
}

// due finds documents of a part in which an event waits that may be tried.
func (o *Outbox) due(n, parts int, now time.Time) *model.Find[bson.Raw] {
	f := o.dueIn(beginOf(n, parts), beginOf(n+1, parts), now)
	f.Limit, f.Projection = batch, bson.D{mql.E(o.path, 1)}
	return f
}

// firstDue finds the first document, by hash, of a part and those behind it.
func (o *Outbox) firstDue(n, parts int, now time.Time) *model.Find[bson.Raw] {
	f := o.dueIn(beginOf(n, parts), hashes, now)
	f.Limit, f.Projection, f.Sort = 1, bson.D{mql.E(o.hash, 1)}, bson.D{mql.E(o.hash, 1)}
	return f
}

func (o *Outbox) dueIn(from, to int64, now time.Time) *model.Find[bson.Raw] {
	return &model.Find[bson.Raw]{Query: model.Query{
		Collection: o.docs.Name(), Index: o.Indexes()[0].Name,
		Filter: bson.D{
			mql.E(o.hash, bson.D{mql.E("$gte", from), mql.E("$lt", to)}), o.waiting(),
			mql.E(o.events+".0.after", bson.D{mql.E("$not", mql.Op("$gt", now))}),
		},
	}}
}

// pass hands on events of a part. more says that there may be others now.
func (r *running) pass(ctx context.Context, p *part) (more bool, err error) {
	docs, err := r.Outbox.due(p.n, r.Spec.Parts, time.Now()).All(runctx.Deciding(ctx), r.db)
	if err != nil {
		return false, err
	}
	for _, doc := range docs {
		if err := r.document(ctx, p, doc); err != nil {
			return false, err
		}
	}
	return len(docs) > 0, nil
}

// document hands on the events of a document in their order, up to the first that fails.
func (r *running) document(ctx context.Context, p *part, doc bson.Raw) error {
	id := doc.Lookup("_id")
	box, _ := core.ValueAt(doc, r.Outbox.path)
	var held struct {
		Events []Event `bson:"events"`
		Fence  int64   `bson:"fence"`
	}
	if err := box.Unmarshal(&held); err != nil {
		return commands.InDocument(doc, err)
	}
	if held.Fence > p.fence {
		return errors.Join(errLost, r.leases.raise(ctx, held.Fence))
	}
	var handed []bson.ObjectID
	var failed *Event
	var ended error
	for _, e := range held.Events {
		if e.After.After(time.Now()) || ctx.Err() != nil {
			break
		}
		if !time.Now().Before(p.deadline()) {
			break
		}
		var err error
		if err, ended = r.hand(ctx, p, id, e); err != nil {
			if ended == nil {
				e.Error, failed = short(err), &e
			}
			break
		}
		handed = append(handed, e.ID)
	}
	return cmp.Or(r.settle(ctx, p, id, handed, failed), ended)
}

// hand calls the user's function, which has until the lease ends. If the lease or the run ended before the function failed, ended
// says so: that isn't the event's failure.
func (r *running) hand(ctx context.Context, p *part, id bson.RawValue, e Event) (err, ended error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	last := func() time.Duration { return time.Until(p.deadline().Add(r.Spec.For / 8)) }
	var mu sync.Mutex
	var watch *time.Timer
	mu.Lock()
	watch = time.AfterFunc(last(), func() {
		mu.Lock()
		defer mu.Unlock()
		if left := last(); left > 0 { // it was extended meanwhile
			watch.Reset(left)
			return
		}
		cancel(errExpired)
	})
	mu.Unlock()
	defer watch.Stop()
	if err = r.Hand(ctx, id, e, p.fence); err != nil {
		ended = context.Cause(ctx)
	}
	return err, ended
}

// short is the text of an error, short enough to be stored with each event.
func short(err error) string {
	s := err.Error()
	if len(s) > 500 {
		s = strings.ToValidUTF8(s[:500], "") + "…"
	}
	return s
}

// settle takes the events that were handed on out of a document, and notes the one that failed.
func (r *running) settle(ctx context.Context, p *part, id bson.RawValue, handed []bson.ObjectID, failed *Event) error {
	o := r.Outbox
	var steps []model.Step
	if len(handed) > 0 {
		steps = append(steps, o.fenced(id, p.fence, mql.Op("$pull", bson.D{mql.E(o.events, bson.D{mql.E("id", mql.Op("$in", handed))})})))
	}
	if failed != nil {
		steps = append(steps, r.failure(id, p.fence, failed))
	}
	if len(steps) == 0 {
		if !time.Now().Before(p.deadline()) {
			pause(ctx, r.Spec.Poll) // until the lease is extended
		}
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), r.Spec.For) // what was handed on is noted, also at the end
	defer cancel()
	for _, s := range steps {
		if _, err := s.(model.Write).Run(ctx, r.db); errors.Is(err, model.ErrStale) {
			return errLost
		} else if err != nil && !errors.Is(err, model.ErrNotFound) { // a document that was deleted took its events along
			return err
		}
	}
	return nil
}

// fenced is an update of a document that no later holder of its part has written.
func (o *Outbox) fenced(id bson.RawValue, fence int64, update bson.D) model.Write {
	byID := commands.ByID(id)
	update = append(slices.Clone(update), mql.E("$max", bson.D{mql.E(o.fence, fence)}))
	return model.Write{
		Collection: o.docs.Name(), Index: model.IDIndex, Expect: model.One, Once: true,
		Model: &mongo.UpdateOneModel{Filter: model.And(byID, bson.D{mql.E(o.fence, bson.D{mql.E("$not", mql.Op("$gt", fence))})}), Update: update},
	}
}

// failure counts an attempt, or parks an event that had as many as there are.
func (r *running) failure(id bson.RawValue, fence int64, e *Event) model.Write {
	o := r.Outbox
	e.Attempts++
	if e.Attempts >= r.Spec.Attempts {
		e.After = time.Time{}
		return o.fenced(id, fence, bson.D{
			mql.E("$pull", bson.D{mql.E(o.events, bson.D{mql.E("id", e.ID)})}), mql.E("$push", bson.D{mql.E(o.parked, e)}),
		})
	}
	wait := r.Spec.Pause
	for n := 1; n < e.Attempts && wait < r.Spec.MaxPause; n++ {
		wait *= 2
	}
	// The event is the first that waits: those before it were taken out, and others are added behind it.
	w := o.fenced(id, fence, bson.D{mql.E("$set", bson.D{
		mql.E(o.events+".$.attempts", e.Attempts), mql.E(o.events+".$.after", time.Now().Add(min(wait, r.Spec.MaxPause))), mql.E(o.events+".$.error", e.Error),
	})})
	one := w.Model.(*mongo.UpdateOneModel)
	one.Filter = model.And(one.Filter.(bson.D), bson.D{mql.E(o.events+".id", e.ID)})
	w.Expect = model.Any
	return w
}
