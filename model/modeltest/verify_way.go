package modeltest

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/event"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/docmodel/docmodel/internal/tenancy"
	"github.com/docmodel/docmodel/internal/testserver"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
)

// A way is how a program uses the library, and the documents before an operation. [Verify] runs each
// operation in several ways: with and without transactions, and with each of the case's scopes.
// verify_two.go makes a way for package internal/verify, whose tests judge the outcomes by themselves. A
// stage (verify_stage.go) is a way with a database that is restored to the image before each run.
type way struct {
	*verification
	name  string
	scope *model.Scope // nil for none
	tx    bool

	// raw is used instead of Seed, by internal/verify only: it stores documents by the driver alone, before there
	// are indexes. The audit's job adds the rest.
	raw func(ctx context.Context, db *mongo.Database) error

	t       *testing.T           // of the way
	server  *mongo.Database      // on a server
	image   image                // nil until it is known
	base    testserver.Server    // an in-memory copy with the image
	encoded map[*bson.E]bson.Raw // the encoded documents of engines

	before stored
	theirs stored           // the other tenant's documents
	locks  map[lockID]bool  // the lock documents of leases
	alone  map[string]*solo // by operation
	known  map[[sha256.Size]byte]settled

	besides string // what is stored in addition, for errors
}

// on returns the database for operations.
func (w *way) on(ctx context.Context, db *mongo.Database) (model.DB, error) {
	out := w.under(db)
	if !w.tx {
		return out, nil
	}
	return model.WithTransactions(ctx, out)
}

// under returns the database without transactions.
func (w *way) under(db *mongo.Database) model.DB {
	out := w.model.On(db)
	if w.scope != nil {
		out = w.scope.On(out)
	}
	return out
}

// run returns the function that executes an operation in this way.
func (w *way) run(o VerifyOperation) func(context.Context, *mongo.Database) error {
	return func(ctx context.Context, db *mongo.Database) error {
		on, err := w.on(ctx, db)
		if err != nil {
			return err
		}
		return o.Run(ctx, on)
	}
}

// prepare stores the initial documents, and remembers them.
func (w *way) prepare(t *testing.T) bool {
	w.t, w.known, w.encoded = t, map[[sha256.Size]byte]settled{}, map[*bson.E]bson.Raw{}
	w.alone, w.locks = map[string]*solo{}, map[lockID]bool{}
	var mended []string
	w.fresh(t, func(ctx context.Context, s *stage) {
		var err error
		if mended, err = w.seed(ctx, s); err == nil {
			w.image, err = takeImage(ctx, s.db)
		}
		if err != nil {
			s.t.Fatalf("%s: %v", w.name, err)
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
	w.fresh(t, func(ctx context.Context, s *stage) {
		now, err := s.now()
		if err == nil {
			w.before, w.theirs, err = w.documents(now)
		}
		if err == nil && s.b.plain == nil && !tenancy.On {
			w.base, err = s.b.server.Copy()
		}
		if err != nil {
			s.t.Fatal(err)
		}
	})
	return !t.Failed()
}

// seed stores the case's documents, and returns what the audit repaired.
func (w *way) seed(ctx context.Context, s *stage) (mended []string, err error) {
	on := w.under(s.db)
	var left []string
	if w.raw != nil {
		if err := w.raw(ctx, s.db); err != nil {
			return nil, fmt.Errorf("seed: %w", err)
		}
		if mended, left, err = w.settle(ctx, on); err != nil {
			return nil, err
		}
		if len(left) > 0 {
			return nil, fmt.Errorf("after the audit's job the checks find:%s", lines(left))
		}
		return mended, w.model.Indexes().Ensure(ctx, on)
	}
	if err := w.model.Indexes().Ensure(ctx, on); err != nil {
		return nil, err
	}
	if w.Seed != nil {
		if err := w.Seed(ctx, on); err != nil {
			return nil, fmt.Errorf("in Seed: %w", err)
		}
	}
	mended, left, err = w.settle(ctx, on)
	if err == nil && len(left) > 0 {
		return nil, fmt.Errorf("after Seed, and the audit's job, the checks find:%s", lines(left))
	}
	if err != nil {
		return nil, fmt.Errorf("after Seed: %w", err)
	}
	return mended, nil
}

// stand adds the other tenant's documents.
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

// hides reports whether the scope marks a document as deleted, so that a program doesn't
// see it.
func (w *way) hides(collection string, doc bson.Raw) bool {
	if w.scope == nil || !w.holds(collection) {
		return false
	}
	return slices.ContainsFunc(w.scope.Delete, func(e bson.E) bool {
		v := doc.Lookup(e.Key)
		return !v.IsZero() && v.Type != bson.TypeNull
	})
}

// documents returns our documents, without ignored fields, and the other tenant's.
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
		_, ignored := w.Ignore[collection+".*"]
		return !lock && !ignored && !w.hides(collection, doc) && !strings.HasPrefix(collection, "docmodel.") &&
			!isTheirs(collection, doc)
	}, w.isIgnored)
	return ours, theirs, err
}

// isIgnored reports whether the case or the library leaves a path out of the comparison. The path begins with the
// collection's name.
func (w *way) isIgnored(path string) bool {
	_, ignored := w.Ignore[path]
	_, field, _ := strings.Cut(path, ".")
	return ignored || slices.Contains(w.storeFields, field)
}

// audit returns the findings of the checks.
func (w *way) audit(ctx context.Context, on model.DB) (found []string, _ error) {
	for f, err := range w.model.Audit().Each(ctx, on) {
		if err != nil {
			return nil, fmt.Errorf("audit: %w", err)
		}
		found = append(found, f.Technique+": "+f.String())
	}
	return found, nil
}

// settle runs the audit's job on the findings. It returns the findings before and after.
func (w *way) settle(ctx context.Context, on model.DB) (found, left []string, err error) {
	if found, err = w.audit(ctx, on); err != nil || len(found) == 0 {
		return nil, nil, err
	}
	audit := w.model.Audit()
	for i := range audit.Checks {
		audit.Checks[i].Age = 0 // no operation is running
	}
	for range 2 { // a repair may violate the rule of an earlier check
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

// A settled database is the result of operations, after the audit.
type settled struct {
	found  []string // the findings
	left   []string // the findings after the audit's job
	docs   stored   // ours, repaired
	theirs stored
}

// An outcome is what operations returned and left.
type outcome struct {
	errs [2]error
	settled
}

// outcome runs the audit on the database, and returns the result.
func (s *stage) outcome(errs ...error) (o outcome, err error) {
	now, err := s.now()
	if err != nil {
		return o, err
	}
	copy(o.errs[:], errs)
	o.settled, err = s.settled(now, func() {})
	return o, err
}

// settled returns the audit's result for a state of the database, which open restores. It
// caches results, because many orders end alike.
func (s *stage) settled(now image, open func()) (o settled, err error) {
	key := now.hash()
	if known, ok := s.known[key]; ok {
		return known, nil
	}
	open()
	if o.found, o.left, err = s.settle(context.Background(), s.under(s.db)); err != nil {
		return o, err
	}
	if len(o.found) > 0 {
		if now, err = s.now(); err != nil {
			return o, err
		}
	}
	if o.docs, o.theirs, err = s.documents(now); err == nil {
		s.known[key] = o
	}
	return o, err
}

// record returns the options of a client that keeps its whole commands.
func record(into *[]mongotest.Command) *options.ClientOptions {
	return options.Client().SetMonitor(&event.CommandMonitor{
		Started: func(_ context.Context, e *event.CommandStartedEvent) {
			c := newCommand(e.DatabaseName, slices.Clone(e.Command))
			if !testserver.IsDriversOwn(c.Name, c.Body) && c.Name != "hello" {
				*into = append(*into, c)
			}
		},
	})
}

// lines joins a list with line breaks.
func lines(list []string) string { return "\n\t" + strings.Join(list, "\n\t") }
