// Package verify lets tests of this module run operations as modeltest.Verify does, and judge by themselves what they
// leave. modeltest.Verify is for a program's model: it fails a test if the audit finds something. internal/compose
// tests two techniques that know nothing of each other, which may leave something for the audit, and writes the results
// into PAIRS.md.
//
// # How a test runs two operations
//
//  1. [New] prepares a [Case]: a model, what is stored, how its program runs changes. The result is a [Way].
//  2. [Way.Alone] runs one operation. [Way.Meet] runs two, one after the other and at the same time: one of them
//     before, within or after each write of the other. [Way.Live] does it with a whole life of a document.
//  3. Each run begins with the stored documents anew, and ends with an [Outcome]: the operations' errors, what the
//     checks find, and what the audit's job leaves of that.
//  4. The test says which outcomes are right. An operation may fail, or wait and succeed. What it left must be what one
//     of the orders in turn leaves, apart from findings that the audit's job repairs.
//
// # Words
//
//   - A cut ends an operation in the middle, as a crash does.
//   - A finding is a document that breaks a rule of a check (model.Finding).
//   - The other tenant has equal documents in the same collections, if the case has a scope.
//
// Package modeltest implements Way and sets New, because internal/compose can't call its unexported code.
package verify

import (
	"context"
	"testing"

	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A Case says how a program uses a model, and what is stored before its operations.
type Case struct {
	Name  string
	Model *model.Model
	Scope *model.Scope // nil for none
	Tx    bool         // with model.WithTransactions

	// Seed stores documents, by the driver alone. The audit's job derives from them what the techniques keep, before
	// there are indexes.
	Seed func(ctx context.Context, db *mongo.Database) error

	Ignore map[string]string // as in modeltest.VerifyCase
}

// An Operation is one of modeltest.Verify.
type Operation struct {
	Name string
	Run  func(ctx context.Context, db model.DB) error
}

// An Outcome is what operations have returned and left.
type Outcome struct {
	Errs   [2]error
	Found  []string // what the checks find
	Left   []string // what they find after the audit's job
	Theirs string   // how the other tenant's documents have changed
	Again  string   // of two that are joined: what is wrong if they run again, after a whole run or a cut
	Order  string   // of the commands of an operation and a life
	// of two that met: how the documents differ from those after one operation and then the other; see modeltest.Verify
	Odd string
}

// A Meeting is what came of two operations.
type Meeting struct {
	Alone    [2]Outcome
	InTurn   [2]Outcome // A and then B, B and then A
	Together []Outcome  // at the same time
}

// A Lifetime is what came of an operation and a life. Errs of its outcomes are the operation's error, and those of the
// life.
type Lifetime struct {
	InTurn  []Outcome // the operation before, between and after the operations of the life
	Without Outcome   // the life alone
	// at the same time; Odd says how the documents differ from those after each order in turn, if no part of the life
	// failed
	Together []Outcome
}

// A Way is a case that is ready: each operation meets what its Seed stored.
type Way interface {
	Alone(t *testing.T, o Operation) Outcome

	// Meet runs two operations alone, one after the other, and at the same time: one of them at once, before, within or
	// after the writes of the other. In a subtest "server" of mongotest.Each, the server runs one of these orders, and
	// the engine the rest.
	Meet(t *testing.T, a, b Operation) Meeting

	// Live runs an operation, and a whole life of the documents that it writes, which other clients run by several
	// operations: one after the other, and at the same time: the life at once, before, within or after the commands of
	// the operation, and the reverse.
	Live(t *testing.T, o Operation, life []Operation) Lifetime

	// RunJoined runs both, which joins two operations in one transaction. Odd of the outcome says how the documents
	// differ from those after A and then B, and B and then A; after an error, from those before. If each order in turn
	// returns an error, both may do what neither order can. Again is set if both, run three times or after a cut, don't
	// have the effect of one run. Operations that alone don't have this effect are run again only if the cut left
	// nothing.
	RunJoined(t *testing.T, a, b, both Operation) Outcome
}

// New prepares a case, on the engine.
var New func(t *testing.T, c Case) Way
