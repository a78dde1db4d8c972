package model

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/docmodel/docmodel/internal/core"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// A Lease lets one writer at a time change a structure of several documents, such as a tree,
// and lets the next writer finish what a dead one left. It is a lock document, which every
// change really modifies; a lock that is only read would not stop two transactions from
// writing beside each other. Set it as [Change.Lease].
//
// The lock document holds who has the lease, until when, and a fence: a number that grows with
// each change. A change stores its plan in the lock document before the plan begins: the
// intent. When the writer dies, the lease expires, and the next writer runs the stored plan to
// its end before it reads anything. So each plan must be rerunnable, a plan of one write too,
// and its writes to documents that exist already carry the fence ([Fence]). A writer that was
// only slow and lost its lease, or a command that arrives after the lease ran out, then finds
// its writes done and changes nothing more. An insert has no filter to carry the fence: an
// insert that arrives after another writer finished it and a third one deleted the document
// stores the document again.
//
// A writer extends its lease at each third of For while its change runs. So For bounds how long
// a dead writer keeps others waiting, and not how long a change may take. A writer that can't
// reach the server for longer than For loses its lease. Another writer then finishes its plan;
// a change that has stored no plan yet begins anew. A short For costs one command at each third
// of it, of changes that take longer, and makes such a loss more likely. The writers' clocks
// must agree to a part of For: a writer whose clock is ahead takes leases too early.
//
// In a transaction, a change only counts the fence up. Of two such changes that meet, the server runs one again; a writer that
// dies leaves nothing. While a writer without a transaction holds the lease, or what a dead one began waits, the transaction is
// taken back and run again once the lease is free, after Wait at the latest. Only [InTx] and a [Change] can do that: in a
// transaction that was begun with the driver the change ends with [ErrLeased], also where there is no lock document yet.
//
// A change under a lease ends with its context, or a second later: it needs that second to give
// the lease back. A change that hangs keeps the lease until its context ends: give it a deadline.
//
// A fence that goes back would be mistaken for an earlier fence. Write the lock documents with
// the write concern majority, which is MongoDB's default. Don't delete a lock document while
// documents hold its numbers, unless Begin says where the fence goes on.
//
// Cost: three commands for each attempt of a change, or two if the plan is empty or the change
// has Mends; one in a transaction. The first change of all costs two more (four in a transaction), and with Begin one more than that. While
// another writer holds the lease, a change asks for it some forty times a second, by one
// command each time, and by one more the first time. A plan that a dead writer left costs its
// own commands, and one.
//
// Source: "How to do distributed locking" (Kleppmann, 2016), for fences; intent logging as in
// write-ahead logs.
type Lease struct {
	Collection string        // of the lock documents
	ID         any           // the _id of the lock document: the name of the structure
	For        time.Duration // how long a dead writer keeps others waiting; 0 means 5 s
	Wait       time.Duration // how long to wait for another's lease; 0 means 30 s, or twice For if that is longer

	// Begin, if it is not nil, is called when there is no lock document: before the first
	// change, and after the lock document was lost. The fence goes on above the number that
	// Begin returns, which is the greatest that a document holds.
	Begin func(ctx context.Context, db DB) (int64, error)
}

// lock is a lock document.
type lock struct {
	Fence  int64         `bson:"fence"`
	Holder bson.ObjectID `bson:"holder,omitempty"`
	Until  time.Time     `bson:"until,omitempty"`
	Intent *intent       `bson:"intent,omitempty"`
}

// intent is what a writer began.
type intent struct {
	Fence int64     `bson:"fence"`
	What  string    `bson:"what"` // the first steps, for a person
	Plan  []byte    `bson:"plan"` // encoded
	At    time.Time `bson:"at"`
}

type fenceKey struct{}

// Fence is the number of the change that runs under a [Lease]: what [Change.Read] gives to Decide, to be written to each document
// that the plan changes. It is 0 without a lease.
func Fence(ctx context.Context) int64 {
	if ctx == nil {
		return 0
	}
	n, _ := ctx.Value(fenceKey{}).(int64)
	return n
}

// hold acquires the lease. The state is to be read with the context, which carries the fence; then one of both functions is called.
func (l Lease) hold(ctx context.Context, db DB, mends bool) (
	run func(Plan) (Result, error), release func(error) error, _ context.Context, _ error,
) {
	if err := l.check(); err != nil {
		return nil, nil, ctx, err
	}
	l.ID = tenantID(db, l.ID)
	h, err := l.acquire(ctx, db, mends)
	if err != nil {
		return nil, nil, ctx, err
	}
	ctx = context.WithValue(ctx, fenceKey{}, h.fence)
	return func(p Plan) (Result, error) { return h.run(ctx, db, p) },
		func(err error) error { return errors.Join(err, h.release(ctx, true)) }, ctx, nil
}

// held is a lease that was acquired.
type held struct {
	lease  Lease
	mends  bool
	locks  *mongo.Collection
	fence  int64
	holder bson.ObjectID
	until  atomic.Pointer[time.Time]
	leave  func() // ends the renewals; nil where there are none
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

// acquire takes the lease, as soon as nobody has it, and finishes what its last holder left.
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
			_ = h.release(ctx, false) // the answer may have been lost, and the lease been taken
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

// create stores the lock document, if it is not there.
func (h *held) create(ctx context.Context, db DB) error {
	id, begin := bson.D{{Key: "_id", Value: Eq(h.lease.ID)}}, int64(0)
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
	_, err := h.locks.UpdateOne(ctx, id, bson.D{{Key: "$setOnInsert", Value: bson.D{{Key: "fence", Value: begin}}}}, options.UpdateOne().SetUpsert(true))
	if DuplicateIndex(err) == IDIndex {
		return nil // another was faster
	}
	return err
}

// take makes this writer the holder, unless another is.
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
	return found, err
}

// finish runs what a dead writer began.
func (h *held) finish(ctx context.Context, db DB, i *intent) error {
	if i == nil {
		return nil
	}
	plan, err := decodePlan(i.Plan)
	var r Result
	if err == nil {
		plan.Options.AllowPartial = true // it was rerunnable when it was stored
		r, err = plan.Run(ctx, bare(db)) // it was put under its writer's scopes
	}
	// A guard that doesn't hold means that the write was done, or never can be.
	if err != nil && !h.mends && !outdated(err) && !neverBegan(plan, r, err) {
		return fmt.Errorf("docmodel: another writer's unfinished plan (%s, fence %d) can't be finished: %w", i.What, i.Fence, err)
	}
	observationOf(ctx).sent(1)
	_, err = h.locks.UpdateOne(ctx, h.mine(), bson.D{{Key: "$unset", Value: bson.D{{Key: "intent", Value: ""}}}})
	return err
}

// neverBegan reports whether the server refused the first write of a plan by a unique index or
// a validator. If the dead writer had written that document, it would be there.
func neverBegan(p Plan, r Result, err error) bool {
	var refused mongo.BulkWriteException
	return errors.As(err, &refused) && len(refused.WriteErrors) > 0 && harmless(p, r, err)
}

// mine matches the lock document while this writer holds it.
func (h *held) mine() bson.D {
	return bson.D{{Key: "_id", Value: Eq(h.lease.ID)}, {Key: "holder", Value: h.holder}}
}

// run stores a plan, so that the next writer finishes it if this one dies or is late, runs it,
// and gives the lease back.
func (h *held) run(ctx context.Context, db DB, p Plan) (r Result, err error) {
	db = bare(db) // the plan was put under its scopes
	r, whole := newResult(p), true
	defer func() { err = errors.Join(err, h.release(ctx, whole)) }()
	switch {
	case p.Err() != nil:
		return r, p.Err()
	case p.Guarantee() == Transactional:
		return r, ErrTransactional
	case time.Now().After(*h.until.Load()): // another may be at work
		return r, fmt.Errorf("%w: the lease of %s ran out before the plan began", ErrStale, shell(h.lease.ID))
	case len(p.Steps) == 0, h.mends:
		return p.Run(ctx, db)
	case !p.Repeatable():
		return r, &ValueError{Collection: h.lease.Collection, Field: "Lease", Value: h.lease.ID,
			Reason: "needs a repeatable plan, even for a single write: put the fence into the write's filter, and mark it Once"}
	}
	begin, err := h.begin(p)
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

// begin is the write that stores a plan as the intent. It is stale when the lease was lost.
func (h *held) begin(p Plan) (Write, error) {
	encoded, err := encodePlan(p)
	if err != nil {
		return Write{}, err
	}
	if len(encoded) > MaxDocument-64<<10 {
		return Write{}, &ValueError{Collection: h.lease.Collection, Field: "intent", Value: len(encoded), Reason: "the plan is larger than a document: change less at a time"}
	}
	i := intent{Fence: h.fence, What: clip(p.String(), 1000), Plan: encoded, At: time.Now()}
	return Write{
		Collection: h.lease.Collection, Expect: One,
		Model: &mongo.UpdateOneModel{Filter: h.mine(), Update: bson.D{{Key: "$set", Value: bson.D{{Key: "intent", Value: i}}}}},
	}, nil
}

// harmless reports whether a plan ended so that nothing is left to be finished: it went well, or its first step wrote one document
// or none and was refused.
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

// Forget drops what a dead writer began, whether it can be finished or not: for what can't, so that the next writer doesn't try. The
// structure must then be checked and repaired. It does nothing while another holds the lease.
//
// Cost: one command.
func (l Lease) Forget(ctx context.Context, db DB) error {
	l, err := l.in(ctx, db)
	if err != nil {
		return err
	}
	_, err = collectionOf(ctx, db, nil, l.Collection).UpdateOne(ctx, l.free(time.Now()), bson.D{{Key: "$unset", Value: bson.D{{Key: "intent", Value: ""}}}})
	return err
}

// Raise lets the numbers of later changes be above n, where documents hold numbers that the lock
// document, which was lost or comes from an older backup, doesn't know of. Without a lock document
// it does nothing: see Begin.
//
// Cost: one command.
func (l Lease) Raise(ctx context.Context, db DB, n int64) error {
	l, err := l.in(ctx, db)
	if err != nil {
		return err
	}
	_, err = collectionOf(ctx, db, nil, l.Collection).UpdateOne(ctx, bson.D{{Key: "_id", Value: Eq(l.ID)}}, bson.D{{Key: "$max", Value: bson.D{{Key: "fence", Value: n}}}})
	return err
}

// in checks the lease and the call, and returns the lease with the ID that its lock document has.
func (l Lease) in(ctx context.Context, db DB) (Lease, error) {
	if err := cmp.Or(l.check(), core.CheckRun(ctx, db)); err != nil {
		return l, err
	}
	l.ID = tenantID(db, l.ID)
	return l, nil
}

// free matches the lock document when nobody holds it.
func (l Lease) free(now time.Time) bson.D {
	return bson.D{{Key: "_id", Value: Eq(l.ID)}, {Key: "$or", Value: bson.A{
		bson.D{{Key: "holder", Value: bson.D{{Key: "$exists", Value: false}}}},
		bson.D{{Key: "until", Value: bson.D{{Key: "$lte", Value: now}}}},
	}}}
}

// release gives the lease back. What was begun and is done is forgotten.
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
