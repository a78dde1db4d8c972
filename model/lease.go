package model

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// ErrLeased is returned by a [Change] under a [Lease] that another writer held for as long as the change could wait, and by
// [Lease.Settled].
var ErrLeased = errors.New("docmodel: another writer holds the lease")

// A Lease lets one writer at a time change a structure of several documents, such as a tree, and lets the next one finish what a
// dead one left. It is a lock document, which every change really modifies; a lock that is only read would not stop two
// transactions from writing beside each other. Set it as [Change.Lease].
//
// The lock document holds who has the lease, until when, and a fence: a number that grows with each change. A change of more than
// one document stores its plan in the lock document before it begins: the intent. When its process dies, the lease expires, and the
// next writer runs the stored plan to its end before it reads anything. So such plans must be rerunnable, and their writes to
// documents that exist already carry the fence ([Fence]): then a writer that was only slow, and lost its lease, finds its writes
// done and changes nothing more.
//
// A fence that goes back would be taken for one of before: write the lock documents with the write concern majority, which is
// MongoDB's default, and don't delete them while documents hold their numbers.
//
// Cost: two commands for each attempt of a change, and one more if it stores an intent; two more for the first change of all. Where
// another holds the lease, one for each time that it is asked for, some forty a second, and one more the first time. What a dead
// writer left costs its own commands, and one.
//
// Source: "How to do distributed locking" (Kleppmann, 2016), for fences; intent logging as in write-ahead logs.
type Lease struct {
	Collection string        // of the lock documents
	ID         any           // the _id of the lock document: the name of what is locked
	For        time.Duration // after which a writer that didn't finish counts as dead; 0 means 30 s
	Wait       time.Duration // how long to wait for another's lease; 0 means twice For
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
func (l Lease) hold(ctx context.Context, db *mongo.Database, tx, mends bool) (
	run func(Plan) (Result, error), release func(error) error, _ context.Context, _ error,
) {
	if err := l.check(); err != nil {
		return nil, nil, ctx, err
	}
	if tx || inTransaction(ctx) {
		return nil, nil, ctx, &ValueError{Collection: l.Collection, Field: "Lease", Value: l.ID, Reason: "can't be taken in a transaction, which others don't see before it ends"}
	}
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
	until  time.Time
}

func (l Lease) check() error {
	if l.Collection == "" || emptyID(l.ID) {
		return &ValueError{Collection: l.Collection, Field: "Lease", Value: l.ID, Reason: "needs a Collection and an ID"}
	}
	return nil
}

func (l Lease) withDefaults() Lease {
	if l.For <= 0 {
		l.For = 30 * time.Second
	}
	if l.Wait <= 0 {
		l.Wait = 2 * l.For
	}
	return l
}

// acquire takes the lease, as soon as nobody has it, and finishes what its last holder left.
func (l Lease) acquire(ctx context.Context, db *mongo.Database, mends bool) (*held, error) {
	l = l.withDefaults()
	h := &held{lease: l, mends: mends, locks: db.Collection(l.Collection), holder: bson.NewObjectID()}
	giveUp := time.Now().Add(l.Wait)
	for n := 1; ; n++ {
		found, err := h.take(ctx)
		if err == nil {
			h.fence, h.until = found.Fence, found.Until
			if err := h.finish(ctx, db, found.Intent); err != nil {
				return nil, errors.Join(err, h.release(ctx, false))
			}
			return h, nil
		}
		if !errors.Is(err, mongo.ErrNoDocuments) {
			return nil, err
		}
		if n == 1 {
			if err := h.create(ctx); err != nil {
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
func (h *held) create(ctx context.Context) error {
	_, err := h.locks.UpdateOne(ctx, bson.D{{Key: "_id", Value: Eq(h.lease.ID)}},
		bson.D{{Key: "$setOnInsert", Value: bson.D{{Key: "fence", Value: int64(0)}}}}, options.UpdateOne().SetUpsert(true))
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
	err := h.locks.FindOneAndUpdate(ctx, h.lease.free(now), update,
		options.FindOneAndUpdate().SetReturnDocument(options.After)).Decode(&found)
	return found, err
}

// finish runs what a dead writer began.
func (h *held) finish(ctx context.Context, db *mongo.Database, i *intent) error {
	if i == nil {
		return nil
	}
	plan, err := decodePlan(i.Plan)
	if err == nil {
		_, err = plan.Run(ctx, db)
	}
	if err != nil && !h.mends && !errors.Is(err, ErrStale) { // a guard that doesn't hold: it was done, or never can be
		return fmt.Errorf("docmodel: what another writer began (%s, fence %d) can't be finished: %w", i.What, i.Fence, err)
	}
	_, err = h.locks.UpdateOne(ctx, h.mine(), bson.D{{Key: "$unset", Value: bson.D{{Key: "intent", Value: ""}}}})
	return err
}

// mine matches the lock document while this writer holds it.
func (h *held) mine() bson.D {
	return bson.D{{Key: "_id", Value: Eq(h.lease.ID)}, {Key: "holder", Value: h.holder}}
}

// run runs a plan, stores it first if a cut of it would leave something to be finished, and gives the lease back.
func (h *held) run(ctx context.Context, db *mongo.Database, p Plan) (r Result, err error) {
	r, whole := newResult(p), true
	defer func() { err = errors.Join(err, h.release(ctx, whole)) }()
	switch guarantee := p.Guarantee(); {
	case p.Err() != nil:
		return r, p.Err()
	case guarantee == Transactional:
		return r, ErrTransactional
	case time.Now().After(h.until): // another may be at work
		return r, fmt.Errorf("%w: the lease of %s ran out before the plan began", ErrStale, shell(h.lease.ID))
	case guarantee == Atomic, h.mends:
		return p.Run(ctx, db)
	}
	begin, err := h.begin(p)
	if err != nil {
		return r, err
	}
	if _, err := begin.Run(ctx, db); err != nil {
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
		return Write{}, &ValueError{Collection: h.lease.Collection, Field: "intent", Value: len(encoded), Reason: "the plan is larger than a document; change less at once"}
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
	return errors.Is(err, ErrStale) || writesOne(p.Steps[0])
}

// Forget drops what a dead writer began, whether it can be finished or not: for what can't, so that the next writer doesn't try. The
// structure must then be checked and repaired. It does nothing while another holds the lease.
//
// Cost: one command.
func (l Lease) Forget(ctx context.Context, db *mongo.Database) error {
	if err := cmp.Or(l.check(), CheckRun(ctx, db)); err != nil {
		return err
	}
	_, err := db.Collection(l.Collection).UpdateOne(ctx, l.free(time.Now()), bson.D{{Key: "$unset", Value: bson.D{{Key: "intent", Value: ""}}}})
	return err
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
	fields := bson.D{{Key: "holder", Value: ""}, {Key: "until", Value: ""}}
	if done {
		fields = append(fields, bson.E{Key: "intent", Value: ""})
	}
	_, err := h.locks.UpdateOne(context.WithoutCancel(ctx), h.mine(), bson.D{{Key: "$unset", Value: fields}})
	return err
}
