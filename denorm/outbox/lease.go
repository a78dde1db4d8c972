package outbox

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/docmodel/docmodel/internal/bsondoc"
	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// leases are the documents by which the runners of a relay divide its parts. They belong
// to the library, so scopes don't apply to them. Their names contain the tenant.
type leases struct {
	name, collection string
	parts            int
	// How long a lease lasts: RelaySpec.For.
	duration time.Duration
	db       model.DB
	// The id of this runner.
	runner bson.ObjectID
}

// newLeases returns the leases of a run. Each run is a runner of its own, with a new id.
func newLeases(r *untypedRelay, db model.DB) *leases {
	name := r.Name
	if t := core.Tenant(db); t != "" {
		name += " of " + t
	}
	return &leases{name, r.Spec.Leases, r.Spec.Parts, r.Spec.For, core.Database(db), bson.NewObjectID()}
}

// A lease is a part that this runner has. until is read by the goroutine that delivers,
// and stored by the one that extends.
type lease struct {
	n     int
	fence int64
	until *atomic.Int64 // when it runs out, in nanoseconds; extended while the part is worked on
}

// deadline is a moment before the lease ends. After it, nothing is begun. The last
// quarter of the duration is the margin for the delivery and for differences of clocks.
func (l *lease) deadline() time.Time { return time.Unix(0, l.until.Load()) }

// A leaseDoc is a document of a lease, of a runner or of the relay's fence.
type leaseDoc struct {
	ID    string        `bson:"_id"`
	Owner bson.ObjectID `bson:"owner,omitempty"`
	Until time.Time     `bson:"until"`
	Fence int64         `bson:"fence"`
}

// leaseID is the _id of a part's lease. It contains the number of parts: after a change
// of it, old leases don't fit.
func (l *leases) leaseID(n int) string { return fmt.Sprintf("%s/%d/%d", l.name, l.parts, n) }

// runnerID is the _id of a runner's document.
func (l *leases) runnerID(id bson.ObjectID) string { return l.name + "/runner/" + id.Hex() }

// makeUpdate is an update of one document of the leases.
func (l *leases) makeUpdate(filter, update bson.D, upsert bool) model.Write {
	one := &mongo.UpdateOneModel{Filter: filter, Update: update}
	if upsert {
		one.Upsert = &upsert
	}
	return model.Write{Collection: l.collection, Model: one, Index: model.IDIndex}
}

// signalAlive stores that this runner lives, for the shares of the others.
func (l *leases) signalAlive(ctx context.Context) error {
	_, err := l.makeUpdate(commands.MatchID(l.runnerID(l.runner)),
		mql.Op("$set", bson.D{mql.E("until", time.Now().Add(l.duration))}), true).Run(ctx, l.db)
	return err
}

// giveAllBack gives all leases back, and removes this runner and dead runners from the
// list.
func (l *leases) giveAllBack(ctx context.Context) {
	own := model.Write{Collection: l.collection, Index: model.IDIndex, Model: &mongo.UpdateManyModel{
		Filter: bson.D{
			mql.E("_id", bson.D{mql.E("$gte", l.name+"/"), mql.E("$lt", l.name+"0")}),
			mql.E("owner", l.runner),
		},
		Update: mql.Op("$set", bson.D{mql.E("until", time.Unix(0, 0))}),
	}}
	_, _ = own.Run(ctx, l.db)
	prefix := bson.D{mql.E("$gte", l.name+"/runner/"), mql.E("$lt", l.name+"/runner0")}
	w := model.Write{Collection: l.collection, Index: model.IDIndex, Model: &mongo.DeleteManyModel{Filter: bson.D{
		mql.E("_id", prefix),
		mql.E("$or", bson.A{
			commands.MatchID(l.runnerID(l.runner)),
			bson.D{mql.E("until", mql.Op("$lt", time.Now().Add(-10*l.duration)))},
		}),
	}}}
	_, _ = w.Run(ctx, l.db)
}

func (l *leases) findLeases(filter bson.D) *model.Find[leaseDoc] {
	return &model.Find[leaseDoc]{Query: model.Query{Collection: l.collection, Filter: filter, Index: model.IDIndex}}
}

// countRunners counts the runners that live.
func (l *leases) countRunners(ctx context.Context) (int, error) {
	n, err := l.findLeases(bson.D{
		mql.E("_id", bson.D{mql.E("$gte", l.name+"/runner/"), mql.E("$lt", l.name+"/runner0")}),
		mql.E("until", mql.Op("$gt", time.Now())),
	}).Count(ctx, l.db)
	return max(int(n), 1), err
}

// listFreeParts returns the parts that no runner has.
func (l *leases) listFreeParts(ctx context.Context) (out []int, err error) {
	ids := make([]string, l.parts)
	for n := range ids {
		ids[n] = l.leaseID(n)
	}
	taken, err := l.findLeases(bson.D{
		mql.E("_id", mql.Op("$in", ids)), mql.E("until", mql.Op("$gt", time.Now())),
	}).All(ctx, l.db)
	for n := range ids {
		if !slices.ContainsFunc(taken, func(s leaseDoc) bool { return s.ID == ids[n] }) {
			out = append(out, n)
		}
	}
	return out, err
}

// takePart takes a part if no runner has it. Its fence is greater than all fences of the
// relay before, with any number of parts. An upsert that meets a duplicate key shows that
// another runner has the lease.
func (l *leases) takePart(ctx context.Context, n int) (out lease, ok bool, _ error) {
	began := time.Now()
	until := began.Add(l.duration)
	free := bsondoc.JoinFilters(commands.MatchID(l.leaseID(n)), bson.D{mql.E("until", mql.Op("$lte", began))})
	set := mql.Op("$set", bson.D{mql.E("owner", l.runner), mql.E("until", until)})
	if _, err := l.makeUpdate(free, set, true).Run(ctx, l.db); mongo.IsDuplicateKeyError(err) { // somebody has it
		return out, false, nil
	} else if err != nil {
		return out, false, err
	}
	counter := &model.Modify[leaseDoc]{FindAndModify: model.FindAndModify{
		Collection: l.collection, Filter: commands.MatchID(l.name + "/fence"),
		Update: mql.Op("$inc", bson.D{mql.E("fence", int64(1))}), Upsert: true, After: true,
	}}
	count, err := counter.Run(ctx, l.db)
	if err != nil {
		return out, false, errors.Join(err, l.giveBack(ctx, &lease{n: n}))
	}
	if ok, err := l.setOwnLease(ctx, n, bson.D{mql.E("fence", count.Fence)}); !ok || err != nil {
		return out, false, err
	}
	out = lease{n: n, fence: count.Fence, until: &atomic.Int64{}}
	out.until.Store(began.Add(l.duration * 3 / 4).UnixNano())
	return out, true, nil
}

// raiseFence makes later fences greater than the one that a document has, in case the
// leases were lost.
func (l *leases) raiseFence(ctx context.Context, fence int64) error {
	_, err := l.makeUpdate(commands.MatchID(l.name+"/fence"),
		mql.Op("$max", bson.D{mql.E("fence", fence)}), true).Run(ctx, l.db)
	return err
}

// matchOwnLease is the filter of a lease that this runner has.
func (l *leases) matchOwnLease(n int) bson.D {
	return bsondoc.JoinFilters(commands.MatchID(l.leaseID(n)), bson.D{
		mql.E("owner", l.runner), mql.E("until", mql.Op("$gt", time.Now())),
	})
}

// setOwnLease writes a lease that this runner has. It reports whether it still had the
// lease.
func (l *leases) setOwnLease(ctx context.Context, n int, fields bson.D) (bool, error) {
	w := l.makeUpdate(l.matchOwnLease(n), mql.Op("$set", fields), false)
	w.Expect = model.One
	_, err := w.Run(ctx, l.db)
	if errors.Is(err, model.ErrStale) || errors.Is(err, model.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

// extendLease extends a lease. It reports whether this runner still has it.
func (l *leases) extendLease(ctx context.Context, p *lease) (bool, error) {
	began := time.Now()
	ok, err := l.setOwnLease(ctx, p.n, bson.D{mql.E("until", began.Add(l.duration))})
	if ok && err == nil {
		p.until.Store(began.Add(l.duration * 3 / 4).UnixNano())
	}
	return ok, err
}

// giveBack ends a lease.
func (l *leases) giveBack(ctx context.Context, p *lease) error {
	_, err := l.setOwnLease(ctx, p.n, bson.D{mql.E("until", time.Unix(0, 0))})
	return err
}
