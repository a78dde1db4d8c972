package modeltest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/docmodel/docmodel/model"
)

// A VerifyCase gives [Verify] the documents and operations of a program.
type VerifyCase struct {
	// Seed stores the initial documents. Then the job of [model.Model.Audit] computes
	// derived values. Nil stores nothing.
	Seed func(ctx context.Context, db model.DB) error

	// Operations are the operations that write.
	Operations []VerifyOperation

	// Reads are the operations that write nothing.
	Reads []VerifyOperation

	// Scopes repeats everything under each of these scopes. For a scope with a Tenant,
	// Verify also stores equal documents of another tenant, which must stay unchanged.
	Scopes []model.Scope

	// Ignore maps paths that aren't compared ("collection.path" or "collection.*") to the
	// reason. Use it for values that depend on the order of operations: recent tokens,
	// times of changes.
	Ignore map[string]string

	// Except maps a subtest's name to the reason why the subtest can fail. Its failures
	// are only logged. If it never fails, Verify fails. Names are "view cut" or, for one
	// scope only, "rate and leave, scope 1".
	Except map[string]string

	// Max limits the orders in which two concurrent operations run; 0 means 200. Verify
	// runs all orders of their commands. If these are more than Max, Verify runs all
	// orders of their writes. If those are also more than Max, one whole operation runs
	// between two commands of the other operation.
	Max int

	// Sample limits the subtests "NAME cut" and "NAME and NAME" of [Verify] on a real
	// server. At most Sample of these subtests run, and each tests at most Sample faults
	// or orders of commands. 0 means 3, a negative number means all. The limit applies
	// separately with transactions, without transactions, and under each of Scopes.
	Sample int
}

// A VerifyOperation is a function of a program that uses the model's techniques.
type VerifyOperation struct {
	Name string

	// Run executes the operation. On the same documents it must always send the same
	// commands, one at a time, so use fixed ids, tokens and times. Verify may call it
	// concurrently.
	Run func(ctx context.Context, db model.DB) error

	// Refused are errors that Run may return, compared by errors.Is. If Run runs
	// concurrently with another operation, Run may also return model.ErrNotFound,
	// ErrStale, ErrTaken, ErrFull, ErrLeased and duplicate key errors.
	Refused []error
}

// Verify tests a program's model and operations. An operation that uses a collection
// outside m gets an error ([model.Model.On]). The subtests of each operation NAME are:
//
//   - "NAME alone": the operation succeeds, or returns an error that is listed in
//     VerifyOperation.Refused. Then [model.Model.Audit] finds nothing. A read writes
//     nothing.
//   - "NAME indexes": an index serves each command ([WantIndexed]; only on the engine).
//   - "NAME cut": the operation fails or dies at each write ([FaultMatrix]). After a
//     second run, the documents are as after a run without a fault.
//   - "NAME and NAME": two operations run concurrently ([Interleave]). The documents are
//     as if one had run after the other. If one returned an error, the documents can also
//     be as if it hadn't run.
//
// After a cut or a concurrent run, the audit's job must repair all findings. Everything
// runs with and without [model.WithTransactions], and under each of VerifyCase.Scopes.
//
// If an operation takes numbers from a counter, use FaultMatrix and Interleave instead.
// Verify doesn't check what a reader sees between two writes.
func Verify(t *testing.T, m *model.Model, c VerifyCase) {
	t.Helper()
	c.check(m)
	if c.Max == 0 {
		c.Max = 200
	}
	if c.Sample == 0 {
		c.Sample = 3
	}
	eachBackend(t, func(t *testing.T, b *backend) {
		v := &verification{model: m, VerifyCase: c, backend: b, whole: true, met: map[string]bool{}}
		v.ways(t, "plain", nil)
		for i := range c.Scopes {
			v.ways(t, fmt.Sprint("scope ", i+1), &c.Scopes[i])
		}
		v.finish(t)
	})
}

func (c VerifyCase) check(m *model.Model) {
	if m == nil || len(c.Operations)+len(c.Reads) == 0 {
		panic("modeltest: Verify: it needs a model, and operations or reads")
	}
	seen := map[string]bool{}
	for _, o := range slices.Concat(c.Operations, c.Reads) {
		if o.Name == "" || o.Run == nil || seen[o.Name] {
			panic("modeltest: Verify: each operation needs a Run, and a Name of its own: " + o.Name)
		}
		seen[o.Name] = true
	}
}

// refused reports whether an error is one of Refused.
func (o VerifyOperation) refused(err error) bool {
	return slices.ContainsFunc(o.Refused, func(known error) bool { return errors.Is(err, known) })
}

// typed reports whether an error says that another operation was first.
func typed(err error) bool {
	for _, known := range []error{model.ErrNotFound, model.ErrStale, model.ErrFull, model.ErrTaken, model.ErrLeased} {
		if errors.Is(err, known) {
			return true
		}
	}
	return mongo.IsDuplicateKeyError(err)
}

// A verification is a run of Verify on a backend.
type verification struct {
	VerifyCase
	model   *model.Model
	backend *backend
	whole   bool            // -run excluded no subtest
	met     map[string]bool // the exceptions with findings
	done    tally
	out     []string // what was skipped
}

// ways runs everything, without transactions and with them.
func (v *verification) ways(t *testing.T, name string, scope *model.Scope) {
	for _, tx := range []bool{false, true} {
		w := &way{verification: v, name: name, scope: scope, tx: tx}
		if tx {
			w.name = name + " with transactions"
		}
		v.run(t, w.name, func(t *testing.T) {
			if tx {
				db := v.backend.mustConnect(t).Database("admin")
				if replicated(t.Context(), db) != nil {
					v.leave("%s: the server has no transactions", w.name)
				}
				NeedTransactions(t, db)
			}
			if w.prepare(t) {
				w.parts(t)
			}
		})
	}
}

// run runs a subtest, and notes if -run excluded it.
func (v *verification) run(t *testing.T, name string, f func(t *testing.T)) {
	ran := false
	t.Run(name, func(t *testing.T) {
		ran = true
		f(t)
	})
	v.whole = v.whole && ran
}
