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

// A VerifyCase says how a program uses its model: what is stored, and which operations run then.
type VerifyCase struct {
	// Seed stores the documents that the operations meet. The model's indexes exist by then. Seed may leave what the techniques derive
	// from the documents, such as a count, to the audit's job, which runs next. Nil stores nothing.
	Seed func(ctx context.Context, db model.DB) error

	// Operations write. Each begins with what Seed stored, by itself or together with one other.
	Operations []VerifyOperation

	// Reads write nothing.
	Reads []VerifyOperation

	// Scopes are further ways: everything runs again under each scope. Under a scope with a Tenant, another tenant's documents are
	// stored too. They are equal but for the tenant and their _id.
	Scopes []model.Scope

	// Ignore maps paths that are not compared, as "collection.path", to the reason. Use it for values that depend on the order of
	// operations in any case: the tokens of the latest operations, the time of a change. "collection.*" is all of a collection.
	Ignore map[string]string

	// Except maps subtests that are known to fail to the reason: "view cut", or, in one way only, "rate and leave, scope 1". What they
	// find is logged. A name under which nothing is found fails the test.
	Except map[string]string

	// Max is how many orders of two operations may run. All orders of their commands run if there are no more than Max, or else all
	// orders of their writes if there are no more than Max. Otherwise one operation runs at once, at each moment of the other. 0
	// means 200.
	Max int

	// OnServer is how many of the subtests that cut or interleave a real server runs in each way, and how many cuts or orders in each
	// of them, evenly chosen. 0 means 3, and a negative number all.
	OnServer int
}

// A VerifyOperation is something that a program does through the techniques of a model.
type VerifyOperation struct {
	Name string

	// Run does it. On the same documents it must send the same commands, one after the other: fix its ids, tokens and times. Several
	// runs may be under way at the same time.
	Run func(ctx context.Context, db model.DB) error

	// Refused are errors that answer the caller, compared by errors.Is. Together with another operation, each may also return
	// model.ErrNotFound, ErrStale, ErrTaken, ErrFull or ErrLeased, or the server's error for a duplicate key.
	Refused []error
}

// Verify tests a program's own model as the techniques of this library are tested. Each subtest begins with a database that
// has the model's indexes and what Seed stored. Operations are handed a database on which only the model's collections are reached
// ([model.Model.On]). These are the subtests, where NAME is an operation's:
//
//   - "NAME alone": the operation succeeds, or returns an error of Refused. Then the checks of [model.Model.Audit] find nothing.
//     A read writes nothing. Under a scope, each command asks for the tenant.
//   - "NAME indexes": an index serves each command, as [WantIndexed] says. A server's plans for a few documents tell nothing, so only
//     the engine is asked.
//   - "NAME cut": the operation fails or dies at each of its writes, as in [FaultMatrix]. Run again, it succeeds, or returns an error
//     of Refused, and the documents are as after a run without a fault. If nobody runs it again, the audit's job mends all that the
//     checks find.
//   - "NAME and NAME": two operations, or one twice, run at the same time, as in [Interleave]. The documents are as after one
//     operation and then the other, or, if one returned an error, as after the other alone. The audit's job mends all that the
//     checks find.
//
// Everything runs on the plain database, and with [model.WithTransactions]; and both again under each scope. Under a tenant's scope
// the other tenant's documents stay the same, byte for byte. A document that the scope marks as deleted counts as not there.
//
// Verify leaves out two operations if neither writes to a collection that the other uses. It doesn't look at what a reader sees
// between two writes. It logs what it ran, what it left out, and what the audit had to mend.
//
//	modeltest.Verify(t, shop, modeltest.VerifyCase{Seed: fill, Operations: orders, Reads: pages, Scopes: []model.Scope{tenant}})
func Verify(t *testing.T, m *model.Model, c VerifyCase) {
	t.Helper()
	c.check(m)
	if c.Max == 0 {
		c.Max = 200
	}
	if c.OnServer == 0 {
		c.OnServer = 3
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

// refused reports whether an error is an answer.
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
	whole   bool            // no subtest was left out by -run
	met     map[string]bool // the exceptions that found something
	done    tally
	out     []string // what was left out
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

// run runs a subtest, and notes if it was left out by -run.
func (v *verification) run(t *testing.T, name string, f func(t *testing.T)) {
	ran := false
	t.Run(name, func(t *testing.T) {
		ran = true
		f(t)
	})
	v.whole = v.whole && ran
}
