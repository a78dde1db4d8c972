package model

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/internal/runctx"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// A Lease lets one writer at a time change a structure of several documents, such as a
// tree. Set the Lease as [Change.Lease].
//
// # Protocol
//
// A lock document stores the lease, the running change's plan, and the fence. The fence
// is a number that grows with each change. A writer that can't reach the server during
// Lease.For counts as dead. The next writer finishes a dead writer's plan.
//
// If you set a Lease, make sure that:
//
//   - Each plan is repeatable ([Plan.Repeatable]), even a plan of one write.
//   - Each write to an existing document compares and sets the fence: see [Fence].
//   - Each change's context has a deadline.
//   - The writers' clocks differ by much less than Lease.For.
//   - The write concern is majority, the default.
//   - The fence never decreases: see [Lease.Raise].
//   - Nobody deletes the lock document, unless Lease.Begin is set.
//
// If a dead writer's insert arrives late, it can restore a deleted document.
//
// # Transactions
//
// If another writer has the lease, a transaction is aborted, and runs again later. In a
// transaction that you began on a session, the change returns [ErrLeased].
//
// Cost: three commands per attempt, or one in a transaction.
//
// Source: "How to do distributed locking" (Kleppmann, 2016).
type Lease struct {
	Collection string        // the lock document's collection
	ID         any           // the lock document's _id
	For        time.Duration // how long a dead writer keeps the lease; 0 means 5 s
	Wait       time.Duration // how long to wait for the lease; 0 means max(30 s, 2 * For)

	// Begin is called if the lock document is missing. It returns your documents'
	// greatest [Fence]. Nil means 0.
	Begin func(ctx context.Context, db DB) (int64, error)
}

// lock is a lock document.
type lock struct {
	Fence  int64         `bson:"fence"`
	Holder bson.ObjectID `bson:"holder,omitempty"`
	Until  time.Time     `bson:"until,omitempty"`
	Intent *intent       `bson:"intent,omitempty"`
}

// intent is the stored plan of a writer.
type intent struct {
	Fence int64     `bson:"fence"`
	What  string    `bson:"what"` // the first steps as text
	Plan  []byte    `bson:"plan"` // encoded
	At    time.Time `bson:"at"`
}

// Fence returns the fence of the running change under a [Lease]: a number that grows with
// each change. Outside such a change Fence returns 0. The state from [ChangeOf].Read must
// contain the fence. No write may match a document with a greater fence. Each update
// must store the fence.
func Fence(ctx context.Context) int64 {
	return runctx.Fence(ctx)
}

// hold acquires the lease. The caller reads the state with the returned context, which
// contains the fence, and then calls run or release.
func (l Lease) hold(ctx context.Context, db DB, mends bool) (
	run func(Plan) (Result, error), release func(error) error, _ context.Context, _ error,
) {
	if err := l.check(); err != nil {
		return nil, nil, ctx, err
	}
	if err := core.CheckTenantNames(ctx, db, l.Collection); err != nil {
		return nil, nil, ctx, err
	}
	l.ID = tenantID(db, l.ID)
	h, err := l.acquire(ctx, db, mends)
	if err != nil {
		return nil, nil, ctx, err
	}
	ctx = runctx.WithFence(ctx, h.fence)
	return func(p Plan) (Result, error) { return h.run(ctx, db, p) },
		func(err error) error { return errors.Join(h.doubted(err), h.release(ctx, true)) }, ctx, nil
}

// doubted makes a refusal stale if the lease ran out before it. The state was then read partly before and partly after
// another writer's change.
func (h *held) doubted(err error) error {
	if time.Now().After(*h.until.Load()) {
		return fmt.Errorf("%w: the lease of %s ran out before a read ended: %w", ErrStale, shell(h.lease.ID), err)
	}
	return err
}

// held is an acquired lease.
type held struct {
	lease  Lease
	mends  bool
	locks  *mongo.Collection
	fence  int64
	holder bson.ObjectID
	until  atomic.Pointer[time.Time]
	leave  func() // ends the renewals; nil if there are none
}

func (l Lease) check() error {
	if l.Collection == "" || core.EmptyID(l.ID) {
		return &ValueError{Collection: l.Collection, Field: "Lease", Value: l.ID, Reason: "needs a Collection and an ID"}
	}
	return nil
}

func (l Lease) withDefaults() Lease {
	if l.For <= 0 {
		l.For = 5 * time.Second
	}
	if l.Wait <= 0 {
		l.Wait = max(2*l.For, 30*time.Second)
	}
	return l
}

// acquire takes the lease as soon as it is free, and finishes the plan of a dead writer.
func (l Lease) acquire(ctx context.Context, db DB, mends bool) (*held, error) {
	l = l.withDefaults()
	h := &held{lease: l, mends: mends, locks: openCollection(ctx, db, nil, l.Collection), holder: bson.NewObjectID()}
	giveUp := time.Now().Add(l.Wait)
	for n := 1; ; n++ {
		found, err := h.take(ctx)
		if err == nil {
			h.fence = found.Fence
			h.keep(ctx, found.Until)
			if err := h.finish(ctx, db, found.Intent); err != nil {
				return nil, errors.Join(err, h.release(ctx, false))
			}
			return h, nil
		}
		if !errors.Is(err, mongo.ErrNoDocuments) {
			_ = h.release(ctx, false) // the lease may be taken, and only the answer lost
			return nil, err
		}
		if n == 1 {
			if err := h.create(ctx, db); err != nil {
				return nil, err
			}
			continue
		}
		if time.Now().After(giveUp) {
			return nil, fmt.Errorf("%w: %s in %s, for %v", ErrLeased, shell(l.ID), l.Collection, l.Wait)
		}
		if err := jitter(ctx, min(n-1, 5), 0, 50*time.Millisecond); err != nil {
			return nil, err
		}
	}
}

// create stores the lock document if it is missing.
func (h *held) create(ctx context.Context, db DB) error {
	id, begin := bson.D{{Key: "_id", Value: mql.Eq(h.lease.ID)}}, int64(0)
	if h.lease.Begin != nil {
		there, err := (&runner{db: db}).holds(ctx, h.lease.Collection, id)
		if err != nil || there {
			return err
		}
		if begin, err = h.lease.Begin(ctx, db); err != nil {
			return err
		}
	}
	observationOf(ctx).sent(1)
	_, err := h.locks.UpdateOne(ctx, id, bson.D{{Key: "$setOnInsert", Value: bson.D{{Key: "fence", Value: begin}}}},
		options.UpdateOne().SetUpsert(true))
	if DuplicateIndex(err) == IDIndex {
		return nil // another writer was faster
	}
	return err
}

// take makes this writer the holder, if the lease is free.
func (h *held) take(ctx context.Context) (lock, error) {
	now := time.Now()
	update := bson.D{
		{Key: "$set", Value: bson.D{{Key: "holder", Value: h.holder}, {Key: "until", Value: now.Add(h.lease.For)}}},
		{Key: "$inc", Value: bson.D{{Key: "fence", Value: int64(1)}}},
	}
	var found lock
	observationOf(ctx).sent(1)
	err := h.locks.FindOneAndUpdate(ctx, h.lease.free(now), update,
		options.FindOneAndUpdate().SetReturnDocument(options.After)).Decode(&found)
	if err == nil {
		observationOf(ctx).returned(1)
	}
	return found, err
}

// finish runs the stored plan of a dead writer.
func (h *held) finish(ctx context.Context, db DB, i *intent) error {
	if i == nil {
		return nil
	}
	plan, err := decodePlan(i.Plan)
	var r Result
	if err == nil {
		plan.Options.AllowPartial = true // it was rerunnable when it was stored
		r, err = plan.Run(ctx, bare(db)) // the plan has its writer's scopes already
	}
	// A guard that doesn't hold means that the write was done, or never can be.
	if err != nil && !h.mends && !outdated(err) && !neverBegan(plan, r, err) {
		return fmt.Errorf("docmodel: another writer's unfinished plan (%s, fence %d) can't be finished: %w", i.What, i.Fence,
			err)
	}
	observationOf(ctx).sent(1)
	_, err = h.locks.UpdateOne(ctx, h.mine(), bson.D{{Key: "$unset", Value: bson.D{{Key: "intent", Value: ""}}}})
	return err
}

// neverBegan reports whether a unique index or a validator refused the plan's first
// write. If the dead writer had written that document, it would exist.
func neverBegan(p Plan, r Result, err error) bool {
	var refused mongo.BulkWriteException
	return errors.As(err, &refused) && len(refused.WriteErrors) > 0 && harmless(p, r, err)
}

// mine matches the lock document while this writer is its holder.
func (h *held) mine() bson.D {
	return bson.D{{Key: "_id", Value: mql.Eq(h.lease.ID)}, {Key: "holder", Value: h.holder}}
}

// run stores a plan, runs it and releases the lease. If this writer dies or is late, the
// next writer finishes the stored plan.
func (h *held) run(ctx context.Context, db DB, p Plan) (r Result, err error) {
	db = bare(db) // the plan has its scopes already
	r, whole := newResult(p), true
	defer func() { err = errors.Join(err, h.release(ctx, whole)) }()
	switch {
	case p.Err() != nil:
		return r, p.Err()
	case p.Guarantee() == Transactional:
		return r, p.needsTx()
	case time.Now().After(*h.until.Load()): // another writer may have the lease
		return r, fmt.Errorf("%w: the lease of %s ran out before the plan began", ErrStale, shell(h.lease.ID))
	case len(p.Steps) == 0, h.mends:
		return p.Run(ctx, db)
	case !p.Repeatable():
		return r, &ValueError{Collection: h.lease.Collection, Field: "Lease", Value: h.lease.ID,
			Reason: "needs a repeatable plan, even for a single write: put the fence into the write's filter, and mark it " +
				"Idempotent"}
	}
	begin, err := h.begin(p)
	if err == nil {
		err = checkCollations(ctx, db, p.used()) // before the plan is stored
	}
	if err != nil {
		return r, err
	}
	observationOf(ctx).sent(1)
	if _, err := NewPlan(begin).run(outsideObservation(ctx), db, nil); err != nil {
		return r, err
	}
	r, err = p.Run(ctx, db)
	whole = harmless(p, r, err)
	return r, err
}

// begin returns the write that stores a plan as the intent. The write is stale if the
// lease was lost.
func (h *held) begin(p Plan) (Write, error) {
	encoded, err := encodePlan(p)
	if err != nil {
		return Write{}, err
	}
	if len(encoded) > MaxDocument-64<<10 {
		return Write{}, &ValueError{
			Collection: h.lease.Collection, Field: "Lease", Value: len(encoded),
			Reason: "the plan is too large to be stored in the lock document: split the change",
		}
	}
	i := intent{Fence: h.fence, What: clip(p.String(), 1000), Plan: encoded, At: time.Now()}
	return Write{
		Collection: h.lease.Collection, Expect: One,
		Model: &mongo.UpdateOneModel{
			Filter: h.mine(),
			Update: bson.D{{Key: "$set", Value: bson.D{{Key: "intent", Value: i}}}},
		},
	}, nil
}

// harmless reports whether a plan left nothing to finish: it succeeded, or its first step
// was refused and writes at most one document.
func harmless(p Plan, r Result, err error) bool {
	if err == nil {
		return true
	}
	for _, s := range r.Steps {
		if s.Status != NotSent {
			return false
		}
	}
	return outdated(err) || writesOne(p.Steps[0])
}

// Forget deletes a dead writer's stored plan. Use Forget only if the plan can't be
// finished, and therefore blocks every writer. Check and repair the structure afterwards.
// While a writer has the lease, Forget does nothing. Cost: one command.
func (l Lease) Forget(ctx context.Context, db DB) error {
	l, err := l.in(ctx, db)
	if err != nil {
		return err
	}
	_, err = collectionOf(ctx, db, nil, l.Collection).
		UpdateOne(ctx, l.free(time.Now()), bson.D{{Key: "$unset", Value: bson.D{{Key: "intent", Value: ""}}}})
	return err
}

// Raise makes later fences (see [Fence]) greater than n. Use Raise after the lock
// document was restored from an older backup. As n, pass the greatest fence in the
// protected documents. If the lock document is missing, set Lease.Begin instead.
//
// Cost: one command.
func (l Lease) Raise(ctx context.Context, db DB, n int64) error {
	l, err := l.in(ctx, db)
	if err != nil {
		return err
	}
	_, err = collectionOf(ctx, db, nil, l.Collection).
		UpdateOne(ctx, bson.D{{Key: "_id", Value: mql.Eq(l.ID)}},
			bson.D{{Key: "$max", Value: bson.D{{Key: "fence", Value: n}}}})
	return err
}

// in checks the lease and the call, and returns the lease with its tenant's ID.
func (l Lease) in(ctx context.Context, db DB) (Lease, error) {
	if err := cmp.Or(l.check(), core.CheckRun(ctx, db)); err != nil {
		return l, err
	}
	if err := core.CheckTenantNames(ctx, db, l.Collection); err != nil {
		return l, err
	}
	l.ID = tenantID(db, l.ID)
	return l, nil
}

// free matches the lock document if no writer has the lease.
func (l Lease) free(now time.Time) bson.D {
	return bson.D{{Key: "_id", Value: mql.Eq(l.ID)}, {Key: "$or", Value: bson.A{
		bson.D{{Key: "holder", Value: bson.D{{Key: "$exists", Value: false}}}},
		bson.D{{Key: "until", Value: bson.D{{Key: "$lte", Value: now}}}},
	}}}
}

// release releases the lease. If done, it deletes the intent too.
func (h *held) release(ctx context.Context, done bool) error {
	if h.leave != nil {
		h.leave()
	}
	ctx, cancel := outlive(ctx, time.Second)
	defer cancel()
	fields := bson.D{{Key: "holder", Value: ""}, {Key: "until", Value: ""}}
	if done {
		fields = append(fields, bson.E{Key: "intent", Value: ""})
	}
	observationOf(ctx).sent(1)
	_, err := h.locks.UpdateOne(ctx, h.mine(), bson.D{{Key: "$unset", Value: fields}})
	return err
}
