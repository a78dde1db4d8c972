package model

import (
	"context"
	"errors"
	"reflect"
	"runtime"
	"strings"
	"sync/atomic"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo"
)

// An observation is a running operation that is observed. All methods accept a nil
// receiver, for an operation without an observer.
type observation struct {
	ctx       context.Context
	observers []Observer
	told      Operation
	parent    *observation // the outer operation
	settled   bool         // it ended without a panic

	// The totals include nested operations, which may run in other goroutines.
	commands, written, documents, modifies atomic.Int64
	takenBack                              atomic.Bool
}

type observationKey struct{}

// lastObservation is the last ID in use.
var lastObservation atomic.Uint64

// begin begins an operation if the database has observers. It returns the context to run
// it with.
func begin(ctx context.Context, db DB, kind, name, collection string, attempt int) (context.Context, *observation) {
	list := observersOf(db)
	if len(list) == 0 || ctx == nil {
		return ctx, nil
	}
	op := &observation{observers: list, parent: observationOf(ctx)}
	op.told = Operation{
		ID: lastObservation.Add(1), Kind: kind, Name: name, Collection: collection, Attempt: attempt, Began: time.Now(),
	}
	if op.parent != nil {
		op.told.Parent = op.parent.told.ID
	} else {
		op.told.Caller = caller()
	}
	for _, o := range list {
		if o.Start == nil {
			continue
		}
		if next := o.Start(ctx, op.told); next != nil {
			ctx = next
		}
	}
	op.ctx = context.WithValue(ctx, observationKey{}, op)
	return op.ctx, op
}

// observationOf returns the innermost operation of a context.
func observationOf(ctx context.Context) *observation {
	if ctx == nil {
		return nil
	}
	op, _ := ctx.Value(observationKey{}).(*observation)
	return op
}

// outsideObservation returns a context for the library's internal writes, which no
// operation counts.
func outsideObservation(ctx context.Context) context.Context {
	if observationOf(ctx) == nil {
		return ctx
	}
	return context.WithValue(ctx, observationKey{}, (*observation)(nil))
}

// end calls the observers' End functions.
func (op *observation) end() {
	if op == nil {
		return
	}
	e := &op.told
	e.Took = time.Since(e.Began)
	e.Actual = Cost{Commands: int(op.commands.Load()), Written: int(op.written.Load()), Returned: int(op.documents.Load())}
	e.Modified, e.TakenBack = op.modifies.Load(), op.takenBack.Load()
	if !op.settled {
		e.Failure = "panic"
	}
	for i := len(op.observers) - 1; i >= 0; i-- {
		if end := op.observers[i].End; end != nil {
			end(op.ctx, *e)
		}
	}
}

// settle records how the operation ended.
func (op *observation) settle(err error) {
	if op == nil {
		return
	}
	op.settled = true
	op.told.Stale = outdated(err)
	op.told.Failure = failureOf(err)
	var server mongo.ServerError
	if errors.As(err, &server) {
		if codes := server.ErrorCodes(); len(codes) > 0 {
			op.told.Code = codes[0]
		}
	}
	// else it is more than a name
	if name := DuplicateIndex(err); len(name) <= 128 && !strings.ContainsAny(name, `{}"':`) {
		op.told.Index = name
	}
}

// ran records how a plan ended.
func (op *observation) ran(r Result, err error) {
	if op == nil {
		return
	}
	op.settle(err)
	op.told.Already = err == nil && r.Already()
}

// tried counts an attempt.
func (op *observation) tried() {
	if op != nil {
		op.told.Attempt++
	}
}

// counting returns a transaction's function that also counts its calls.
func (op *observation) counting(f func(context.Context) error) func(context.Context) error {
	if op == nil || f == nil {
		return f
	}
	return func(ctx context.Context) error {
		op.tried()
		return f(ctx)
	}
}

// priced records the declared cost.
func (op *observation) priced(c Cost) {
	if op != nil {
		op.told.Declared = c
	}
}

// reads records the declared cost of a read.
func (op *observation) reads(index string) { op.priced(readCost(index)) }

// sent counts commands.
func (op *observation) sent(n int) {
	for ; op != nil; op = op.parent {
		op.commands.Add(int64(n))
	}
}

// returned counts documents that the server returned.
func (op *observation) returned(n int) {
	for ; op != nil; op = op.parent {
		op.documents.Add(int64(n))
	}
}

// wrote counts what a command wrote.
func (op *observation) wrote(b BatchResult) {
	for ; op != nil; op = op.parent {
		op.written.Add(b.Inserted + b.Matched + b.Deleted + b.Upserted)
		op.modifies.Add(b.Inserted + b.Modified + b.Deleted + b.Upserted)
	}
}

// modified counts the write of a findAndModify, and the document that it returned. An
// upsert that returned no document has inserted one.
func (op *observation) modified(m *FindAndModify, err error) {
	if err == nil {
		op.returned(1)
	}
	if err == nil || m.Upsert && errors.Is(err, mongo.ErrNoDocuments) {
		op.wrote(BatchResult{Upserted: 1})
	}
}

// tookBack records that the operation's writes were taken back.
func (op *observation) tookBack() {
	for ; op != nil; op = op.parent {
		op.takenBack.Store(true)
	}
}

// A txObservation is an operation that runs a transaction, with its counts from before
// the transaction.
type txObservation struct {
	op             *observation
	sent, modified int64
}

func (op *observation) beginTx() txObservation {
	if op == nil {
		return txObservation{}
	}
	return txObservation{op, op.commands.Load(), op.modifies.Load()}
}

// ended counts the command that commits or aborts the transaction. The driver sends it
// only if the transaction sent a command.
func (t txObservation) ended(aborted bool) {
	if t.op == nil {
		return
	}
	if aborted && t.op.modifies.Load() > t.modified {
		t.op.tookBack()
	}
	if t.op.commands.Load() > t.sent {
		t.op.sent(1)
	}
}

// answered counts the unread documents of a cursor's batch.
func (op *observation) answered(cur *mongo.Cursor) {
	if op != nil {
		op.returned(cur.RemainingBatchLength())
	}
}

// next calls the cursor's Next and counts the command for a further batch.
func (op *observation) next(ctx context.Context, cur *mongo.Cursor) bool {
	if op == nil || cur.RemainingBatchLength() > 0 || cur.ID() == 0 {
		return cur.Next(ctx)
	}
	op.sent(1)
	there := cur.Next(ctx)
	if there {
		op.returned(cur.RemainingBatchLength() + 1)
	}
	return there
}

// closed counts the command that closes an open cursor.
func (op *observation) closed(cur *mongo.Cursor) {
	if op != nil && cur.ID() != 0 {
		op.sent(1)
	}
}

// modulePath is the prefix of the names of this module's functions.
const modulePath = "github.com/docmodel/docmodel/"

// caller returns the function outside of this module that runs on this goroutine, or "".
func caller() string {
	var pcs [64]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(3, pcs[:])])
	for {
		f, more := frames.Next()
		if f.Function != "" && !isOurs(f.Function) {
			if strings.HasPrefix(f.Function, "runtime.") {
				return ""
			}
			return f.Function
		}
		if !more {
			return ""
		}
	}
}

// isOurs reports whether a function belongs to this module or drives its sequences.
// Functions of examples and tests don't count.
func isOurs(function string) bool {
	rest, ok := strings.CutPrefix(function, modulePath)
	if !ok {
		for _, std := range []string{"iter.", "slices.", "maps."} { // they drive sequences
			if strings.HasPrefix(function, std) {
				return true
			}
		}
		return false
	}
	folders, name := "", rest
	if i := strings.LastIndexByte(cutTypes(rest), '/'); i >= 0 {
		folders, name = rest[:i], rest[i+1:]
	}
	pkg, _, _ := strings.Cut(name, ".")
	return !strings.HasSuffix(pkg, "_test") && !strings.HasPrefix(folders+"/", "examples/")
}

// cutTypes returns a function's name without its type arguments, which can contain
// slashes.
func cutTypes(function string) string {
	function, _, _ = strings.Cut(function, "[")
	return function
}

// functionName returns the name of a function, or "" for nil.
func functionName(f any) string {
	v := reflect.ValueOf(f)
	if v.Kind() != reflect.Func || v.IsNil() {
		return ""
	}
	if at := runtime.FuncForPC(v.Pointer()); at != nil {
		return at.Name()
	}
	return ""
}
