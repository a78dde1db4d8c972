package outbox

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// leases are the documents by which the runners of a relay divide its parts. They belong to the library, and no scope holds for them;
// their names hold the tenant.
type leases struct {
	name, collection string
	parts            int
	long             time.Duration
	db               model.DB
	me               bson.ObjectID
}

func newLeases(r *Relay, db model.DB) *leases {
	name := r.Name
	if t := core.Tenant(db); t != "" {
		name += " of " + t
	}
	return &leases{name, r.Spec.Leases, r.Spec.Parts, r.Spec.For, core.Database(db), bson.NewObjectID()}
}

// A lease is a part that this runner has.
type lease struct {
	n     int
	fence int64
	until *atomic.Int64 // when it runs out, in nanoseconds; extended while the part is worked on
}

// deadline is a moment before the lease runs out, after which nothing is begun.
func (l *lease) deadline() time.Time { return time.Unix(0, l.until.Load()) }

// A leaseDoc is a lease document, or a runner's.
type leaseDoc struct {
	ID    string        `bson:"_id"`
	Owner bson.ObjectID `bson:"owner,omitempty"`
	Until time.Time     `bson:"until"`
	Fence int64         `bson:"fence"`
}

func (l *leases) id(n int) string { return fmt.Sprintf("%s/%d/%d", l.name, l.parts, n) }

func (l *leases) runner(id bson.ObjectID) string { return l.name + "/runner/" + id.Hex() }

func (l *leases) write(filter, update bson.D, upsert bool) model.Write {
	one := &mongo.UpdateOneModel{Filter: filter, Update: update}
	if upsert {
		one.Upsert = &upsert
	}
	return model.Write{Collection: l.collection, Model: one, Index: model.IDIndex}
}

// alive says that this runner lives.
func (l *leases) alive(ctx context.Context) error {
	_, err := l.write(commands.ByID(l.runner(l.me)), mql.Op("$set", bson.D{mql.E("until", time.Now().Add(l.long))}), true).Run(ctx, l.db)
	return err
}

// quit gives all leases back, and takes this runner off the list, and those that died.
func (l *leases) quit(ctx context.Context) {
	own := model.Write{Collection: l.collection, Index: model.IDIndex, Model: &mongo.UpdateManyModel{
		Filter: bson.D{mql.E("_id", bson.D{mql.E("$gte", l.name+"/"), mql.E("$lt", l.name+"0")}), mql.E("owner", l.me)},
		Update: mql.Op("$set", bson.D{mql.E("until", time.Unix(0, 0))}),
	}}
	_, _ = own.Run(ctx, l.db)
	prefix := bson.D{mql.E("$gte", l.name+"/runner/"), mql.E("$lt", l.name+"/runner0")}
	w := model.Write{Collection: l.collection, Index: model.IDIndex, Model: &mongo.DeleteManyModel{Filter: bson.D{
		mql.E("_id", prefix), mql.E("$or", bson.A{commands.ByID(l.runner(l.me)), bson.D{mql.E("until", mql.Op("$lt", time.Now().Add(-10*l.long)))}}),
	}}}
	_, _ = w.Run(ctx, l.db)
}

func (l *leases) find(filter bson.D) *model.Find[leaseDoc] {
	return &model.Find[leaseDoc]{Query: model.Query{Collection: l.collection, Filter: filter, Index: model.IDIndex}}
}

// runners counts the runners that live.
func (l *leases) runners(ctx context.Context) (int, error) {
	n, err := l.find(bson.D{
		mql.E("_id", bson.D{mql.E("$gte", l.name+"/runner/"), mql.E("$lt", l.name+"/runner0")}), mql.E("until", mql.Op("$gt", time.Now())),
	}).Count(ctx, l.db)
	return max(int(n), 1), err
}

// free are the parts that nobody has.
func (l *leases) free(ctx context.Context) (out []int, err error) {
	ids := make([]string, l.parts)
	for n := range ids {
		ids[n] = l.id(n)
	}
	taken, err := l.find(bson.D{mql.E("_id", mql.Op("$in", ids)), mql.E("until", mql.Op("$gt", time.Now()))}).All(ctx, l.db)
	for n := range ids {
		if !slices.ContainsFunc(taken, func(s leaseDoc) bool { return s.ID == ids[n] }) {
			out = append(out, n)
		}
	}
	return out, err
}

// take takes a part if nobody has it. Its fence is greater than all that the relay had before, in whatever number of parts.
func (l *leases) take(ctx context.Context, n int) (out lease, ok bool, _ error) {
	began := time.Now()
	until := began.Add(l.long)
	free := model.And(commands.ByID(l.id(n)), bson.D{mql.E("until", mql.Op("$lte", began))})
	set := mql.Op("$set", bson.D{mql.E("owner", l.me), mql.E("until", until)})
	if _, err := l.write(free, set, true).Run(ctx, l.db); mongo.IsDuplicateKeyError(err) { // somebody has it
		return out, false, nil
	} else if err != nil {
		return out, false, err
	}
	counter := &model.Modify[leaseDoc]{FindAndModify: model.FindAndModify{
		Collection: l.collection, Filter: commands.ByID(l.name + "/fence"), Update: mql.Op("$inc", bson.D{mql.E("fence", int64(1))}), Upsert: true, After: true,
	}}
	count, err := counter.Run(ctx, l.db)
	if err != nil {
		return out, false, errors.Join(err, l.giveBack(ctx, &lease{n: n}))
	}
	if ok, err := l.set(ctx, n, bson.D{mql.E("fence", count.Fence)}); !ok || err != nil {
		return out, false, err
	}
	out = lease{n: n, fence: count.Fence, until: &atomic.Int64{}}
	out.until.Store(began.Add(l.long * 3 / 4).UnixNano())
	return out, true, nil
}

// raise has fences go on above one that a document holds, should the leases have been lost.
func (l *leases) raise(ctx context.Context, fence int64) error {
	_, err := l.write(commands.ByID(l.name+"/fence"), mql.Op("$max", bson.D{mql.E("fence", fence)}), true).Run(ctx, l.db)
	return err
}

// mine is the filter of a lease that this runner has.
func (l *leases) mine(n int) bson.D {
	return model.And(commands.ByID(l.id(n)), bson.D{mql.E("owner", l.me), mql.E("until", mql.Op("$gt", time.Now()))})
}

// set writes to a lease that this runner has. It reports whether it still had it.
func (l *leases) set(ctx context.Context, n int, fields bson.D) (bool, error) {
	w := l.write(l.mine(n), mql.Op("$set", fields), false)
	w.Expect = model.One
	_, err := w.Run(ctx, l.db)
	if errors.Is(err, model.ErrStale) || errors.Is(err, model.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

// extend makes a lease last longer. It reports whether this runner still has it.
func (l *leases) extend(ctx context.Context, p *lease) (bool, error) {
	began := time.Now()
	ok, err := l.set(ctx, p.n, bson.D{mql.E("until", began.Add(l.long))})
	if ok && err == nil {
		p.until.Store(began.Add(l.long * 3 / 4).UnixNano())
	}
	return ok, err
}

// giveBack ends a lease.
func (l *leases) giveBack(ctx context.Context, p *lease) error {
	_, err := l.set(ctx, p.n, bson.D{mql.E("until", time.Unix(0, 0))})
	return err
}
