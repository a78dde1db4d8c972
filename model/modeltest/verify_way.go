package modeltest

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/event"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/docmodel/docmodel/model"
)

// A way is how a program uses the library, and what is stored before an operation.
type way struct {
	*verification
	name  string
	scope *model.Scope // nil for none
	tx    bool

	image  image
	before stored
	theirs stored           // the other tenant's documents
	locks  map[lockID]bool  // the lock documents of leases
	alone  map[string]*solo // by operation
	known  map[[sha256.Size]byte]settled

	besides string // what is stored besides, for errors
}

// on is the database as operations are handed it.
func (w *way) on(ctx context.Context, db *mongo.Database) (model.DB, error) {
	out := w.under(db)
	if !w.tx {
		return out, nil
	}
	return model.WithTransactions(ctx, out)
}

// under is the database without transactions.
func (w *way) under(db *mongo.Database) model.DB {
	out := w.model.On(db)
	if w.scope != nil {
		out = w.scope.On(out)
	}
	return out
}

// run is what an operation does in this way.
func (w *way) run(o VerifyOperation) func(context.Context, *mongo.Database) error {
	return func(ctx context.Context, db *mongo.Database) error {
		on, err := w.on(ctx, db)
		if err != nil {
			return err
		}
		return o.Run(ctx, on)
	}
}

// fresh runs f with a database that holds the image: on an engine of its own and a clock of its own, or on the server.
func (w *way) fresh(t *testing.T, f func(ctx context.Context, t *testing.T, b *backend, db *mongo.Database)) {
	t.Helper()
	with := func(t *testing.T, b *backend) {
		ctx, cancel := context.WithCancel(context.Background()) // a deadline would show in each command
		defer cancel()
		if b.plain != nil {
			ctx, cancel = context.WithTimeout(ctx, rowTimeout)
			defer cancel()
		}
		client, disconnect, err := b.connect(newConfig(nil))
		if err != nil {
			t.Fatal(err)
		}
		defer disconnect()
		db := client.Database(b.newName(t))
		if err := w.image.store(ctx, db); err != nil {
			t.Fatalf("%s: what was seeded%s can't be stored: %v", w.name, w.besides, err)
		}
		f(ctx, t, b, db)
	}
	if w.backend.plain != nil {
		with(t, w.backend)
		return
	}
	synctest.Test(t, func(t *testing.T) {
		b, stop := newEngine()
		cleanUp(t, stop)
		with(t, b)
	})
}

// prepare stores what the operations meet, and remembers it.
func (w *way) prepare(t *testing.T) bool {
	w.known = map[[sha256.Size]byte]settled{}
	w.alone, w.locks = map[string]*solo{}, map[lockID]bool{}
	var mended []string
	w.fresh(t, func(ctx context.Context, t *testing.T, _ *backend, db *mongo.Database) {
		on := w.under(db)
		if err := w.model.Indexes().Ensure(ctx, on); err != nil {
			t.Fatalf("%s: %v", w.name, err)
		}
		if w.Seed != nil {
			if err := w.Seed(ctx, on); err != nil {
				t.Fatalf("%s: Seed: %v", w.name, err)
			}
		}
		var left []string
		var err error
		if mended, left, err = w.settle(ctx, on); err != nil {
			t.Fatalf("%s: after Seed: %v", w.name, err)
		}
		if len(left) > 0 {
			t.Fatalf("%s: after Seed, and the audit's job, the checks find:%s", w.name, lines(left))
		}
		if w.image, err = takeImage(ctx, db); err != nil {
			t.Fatal(err)
		}
	})
	if t.Failed() {
		return false
	}
	w.done.ways++
	if len(mended) > 0 {
		w.done.mended = append(w.done.mended, fmt.Sprintf("Seed, %s: %d findings", w.name, len(mended)))
	}
	w.stand(t)
	w.fresh(t, func(ctx context.Context, t *testing.T, _ *backend, db *mongo.Database) {
		now, err := w.image.now(ctx, db)
		if err == nil {
			w.before, w.theirs, err = w.documents(now)
		}
		if err != nil {
			t.Fatal(err)
		}
	})
	return !t.Failed()
}

// stand puts the other tenant's documents beside.
func (w *way) stand(t *testing.T) {
	if !w.tenanted() {
		return
	}
	w.besides = ", with another tenant's equal documents beside,"
	n, without, err := w.image.addOthers(w.scope.Tenant)
	if err != nil {
		t.Fatal(err)
	}
	if n == 0 {
		w.leave("%s: no document is the tenant's, so that there are no equal ones of another tenant", w.name)
	}
	for _, c := range without {
		w.leave("%s: another tenant's documents in %s, for no other _id is known", w.name, c)
	}
}

func (w *way) tenanted() bool { return w.scope != nil && len(w.scope.Tenant) > 0 }

// documents are ours, less what is not compared, and the other tenant's.
func (w *way) documents(all image) (ours, theirs stored, err error) {
	isTheirs := func(string, bson.Raw) bool { return false }
	if w.tenanted() {
		other, err := otherTenant(w.scope.Tenant)
		if err != nil {
			return nil, nil, err
		}
		isTheirs = func(_ string, doc bson.Raw) bool { return isOf(doc, other) }
		theirs = all.raw(isTheirs)
	}
	ours, err = all.documents(func(collection string, doc bson.Raw) bool {
		lock := w.locks[lockID{collection, canonicalID(doc.Lookup("_id"))}]
		return !lock && !strings.HasPrefix(collection, "docmodel.") && !isTheirs(collection, doc)
	}, func(path string) bool { _, ignored := w.Ignore[path]; return ignored })
	return ours, theirs, err
}

// audit is what the checks find.
func (w *way) audit(ctx context.Context, on model.DB) (found []string, _ error) {
	for f, err := range w.model.Audit().Each(ctx, on) {
		if err != nil {
			return nil, fmt.Errorf("audit: %w", err)
		}
		found = append(found, f.Technique+": "+f.String())
	}
	return found, nil
}

// settle has the audit's job mend what the checks find. It returns that, and what they find afterwards.
func (w *way) settle(ctx context.Context, on model.DB) (found, left []string, err error) {
	if found, err = w.audit(ctx, on); err != nil || len(found) == 0 {
		return nil, nil, err
	}
	audit := w.model.Audit()
	for i := range audit.Checks {
		audit.Checks[i].Age = 0 // nothing is under way
	}
	for range 2 { // mending for one check may break the rule of an earlier one
		var some *model.LeftError
		if _, err := audit.Job().Run(ctx, on, model.JobOptions{}); err != nil && !errors.As(err, &some) {
			return found, nil, fmt.Errorf("the audit's job, which is to mend %s: %w", lines(found), err)
		}
		if left, err = w.audit(ctx, on); err != nil || len(left) == 0 {
			return found, left, err
		}
	}
	return found, left, nil
}

// A settled database is what operations have left, and what the audit made of it.
type settled struct {
	found  []string // what the checks find
	left   []string // what they find after the audit's job
	docs   stored   // ours, mended
	theirs stored
}

// An outcome is what operations have returned, and left.
type outcome struct {
	errs [2]error
	settled
}

// outcome settles a database, and looks at it.
func (w *way) outcome(ctx context.Context, db *mongo.Database, errs ...error) (o outcome, err error) {
	now, err := w.image.now(ctx, db)
	if err != nil {
		return o, err
	}
	copy(o.errs[:], errs)
	o.settled, err = w.settled(now, func() (*mongo.Database, error) { return db, nil })
	return o, err
}

// settled is what the audit makes of a database, which is opened unless equal documents were settled before: many orders end with the same.
func (w *way) settled(now image, open func() (*mongo.Database, error)) (s settled, err error) {
	key := now.hash()
	if known, ok := w.known[key]; ok {
		return known, nil
	}
	ctx := context.Background()
	db, err := open()
	if err != nil {
		return s, err
	}
	if s.found, s.left, err = w.settle(ctx, w.under(db)); err != nil {
		return s, err
	}
	if len(s.found) > 0 {
		if now, err = w.image.now(ctx, db); err != nil {
			return s, err
		}
	}
	if s.docs, s.theirs, err = w.documents(now); err == nil {
		w.known[key] = s
	}
	return s, err
}

// record is the option of a client whose commands are kept, whole.
func record(into *[]Command) Option {
	return WithClientOptions(options.Client().SetMonitor(&event.CommandMonitor{
		Started: func(_ context.Context, e *event.CommandStartedEvent) {
			if c := newCommand(e.DatabaseName, slices.Clone(e.Command)); !c.own() && c.Name != "hello" {
				*into = append(*into, c)
			}
		},
	}))
}

// lines are listed below each other.
func lines(list []string) string { return "\n\t" + strings.Join(list, "\n\t") }
