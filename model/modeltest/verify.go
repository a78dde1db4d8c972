package modeltest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/testserver"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
)

// A VerifyCase gives [Verify] the documents and operations of a program.
type VerifyCase struct {
	// Seed stores the initial documents, or is nil. Write by stores. If Seed writes by the
	// driver, it needn't store derived values: Verify adds them ([model.Model.Audit]).
	Seed func(ctx context.Context, db model.DB) error

	// Operations write, and Reads write nothing. If both are empty, Verify runs the actions
	// of the model's stores: see [Verify].
	Operations []VerifyOperation
	Reads      []VerifyOperation

	// Docs are documents for the actions of stores, six for each collection that is named.
	// The first three are stored, unless Seed is given. Actions insert and use the others.
	// For other collections, Verify makes documents from the Go types.
	Docs map[string][]any

	// Scopes are scopes under which all subtests run again. If a scope has a Tenant,
	// another tenant's documents must stay unchanged.
	Scopes []model.Scope

	// Ignore maps a path ("collection.field" or "collection.*") to the reason why Verify
	// skips the path. Give paths whose values depend on the order of operations.
	Ignore map[string]string

	// Except maps a subtest's name ("view cut") to the reason why the subtest can fail, or
	// a store's action ("users delete") to the reason why the program doesn't run it.
	// If the subtest always passes on the in-memory server, Verify fails. To name only
	// one run of the subtest, add the run: "view cut, scope 1 with transactions".
	Except map[string]string

	// Max limits the orders in which Verify mixes two operations' commands; 0 means 200, or
	// 4 for the actions of stores. If more are possible, Verify runs only some: see InterleaveCase.Nested.
	Max int

	// Sample is a maximum for [Verify] on a real server; 0 means 3, negative means all.
	// It limits how many subtests with faults or concurrent operations run. In each such
	// subtest, it limits the faults, or the orders of commands.
	Sample int
}

// A VerifyOperation is an operation of the tested program.
type VerifyOperation struct {
	Name string

	// Run executes the operation. On the same documents, Run must always send the same
	// commands, one at a time. Use fixed ids, tokens and times. Verify can call Run
	// concurrently.
	Run func(ctx context.Context, db model.DB) error

	// Refused are the errors that [Verify] accepts from Run, compared by errors.Is. From
	// concurrent runs, Verify also accepts model.ErrNotFound, ErrStale, ErrTaken,
	// ErrFull, ErrLeased and duplicate key errors.
	Refused []error

	ofStore bool // an action of a store: it can be refused for its samples
}

// Verify tests a program's model and operations. An operation can use only collections of
// the model. Each operation NAME has these subtests:
//
//   - "NAME alone". The operation must succeed, or return an error of
//     VerifyOperation.Refused. [model.Model.Audit] must find nothing. A read must write
//     nothing.
//   - "NAME indexes". An index must serve each command.
//   - "NAME cut". Each write in turn has a fault, as in [FaultMatrix]. A second run must
//     give the same documents as a run without a fault.
//   - "NAME and NAME". Two operations run concurrently ([Interleave]). The result must be
//     as if one operation ran after the other.
//
// After a fault or a concurrent run, [model.Audit.Job] must repair all findings. So
// damage that a second run leaves, and the audit repairs, doesn't fail a test. The log of
// go test -v lists it. To forbid it, use FaultMatrix with a Check.
//
// Subtests run with and without [model.WithTransactions], and under each of
// VerifyCase.Scopes. If your program needs transactions, call WithTransactions in Seed
// and in each Run.
//
// Without Operations and Reads, Verify runs the actions of all stores that NewStore has made
// of the model: insert, insert many, ensure, set, edit, replace, delete, and refer, which
// changes the references. An action whose documents a store refuses by a [*model.ValueError]
// is left out. The log of go test -v lists it.
//
// The field _m, or another that [model.CollectionOptions] name, is never compared: stores
// keep their tokens in it.
//
// If an operation takes numbers from a counter, use FaultMatrix and Interleave instead.
// Verify doesn't check what a reader sees between two writes.
func Verify(t *testing.T, m *model.Model, c VerifyCase) {
	t.Helper()
	c.check(m)
	if len(c.Operations)+len(c.Reads) == 0 {
		c = c.withStores(m)
	}
	if c.Max == 0 {
		c.Max = 200
	}
	if c.Sample == 0 {
		c.Sample = 3
	}
	eachBackend(t, func(t *testing.T, b *backend) {
		v := &verification{
			model: m, VerifyCase: c, backend: b, whole: true, met: map[string]bool{}, storeFields: storeFieldsOf(m),
		}
		v.ways(t, "plain", nil)
		for i := range c.Scopes {
			v.ways(t, fmt.Sprint("scope ", i+1), &c.Scopes[i])
		}
		v.finish(t)
	})
}

// storeFieldsOf returns the fields in which the stores of a model keep their own data.
func storeFieldsOf(m *model.Model) []string {
	fields := []string{string(core.DefaultStoreField)} // of collections without a store
	for _, s := range m.Stores() {
		fields = append(fields, string(s.Collection().Docs().StoreField()))
	}
	return fields
}

func (c VerifyCase) check(m *model.Model) {
	if m == nil || len(c.Operations)+len(c.Reads)+len(m.Stores()) == 0 {
		panic("modeltest: Verify: it needs a model with stores, or operations or reads")
	}
	for name, docs := range c.Docs {
		if len(docs) != sampleCount {
			panic(fmt.Sprintf("modeltest: Verify: it needs %d Docs of %s", sampleCount, name))
		}
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
	return o.ofStore && isInvalid(err) ||
		slices.ContainsFunc(o.Refused, func(known error) bool { return errors.Is(err, known) })
}

func isInvalid(err error) bool {
	var invalid *model.ValueError
	return errors.As(err, &invalid)
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

	storeFields []string // in which stores keep their own data, of any collection
	done        tally
	out         []string // what was skipped
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
				if testserver.CheckReplicated(t.Context(), db) != nil {
					v.leave("%s: the server has no transactions", w.name)
				}
				mongotest.Need(t, db, mongotest.Transactions)
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
