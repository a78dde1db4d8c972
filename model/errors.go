package model

import (
	"errors"
	"fmt"
	"strings"

	"github.com/docmodel/docmodel/internal/core"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

var (
	// ErrNotFound means that [Find.One], [Aggregate.One] or [Modify.Run] found no
	// document. In a [*StepError], ErrNotFound means that no document has the write's
	// _id. ErrNotFound wraps [mongo.ErrNoDocuments].
	ErrNotFound = fmt.Errorf("docmodel: not found: %w", mongo.ErrNoDocuments)

	// ErrStale, in a [*StepError], means that a write matched no document. The document
	// has changed since the caller's read. If the filter has no _id, the document may
	// also be missing. Read and plan again, or use [Change]. [Plan.IfStale] undoes
	// earlier steps.
	ErrStale = errors.New("docmodel: stale write, read again: no document matches")

	// ErrGuard means that the document exists, but doesn't match the caller's condition.
	ErrGuard = errors.New("docmodel: the document exists, but the condition of the write doesn't hold")

	// ErrFull means that a limit is reached, such as an array's Max.
	ErrFull = errors.New("docmodel: no room")

	// ErrTaken means that a key, value or number is in use. The server's duplicate key
	// errors aren't ErrTaken: see [mongo.IsDuplicateKeyError].
	ErrTaken = errors.New("docmodel: taken already")

	// ErrTransactional means that the plan needs [Plan.RunTx] or
	// [PlanOptions.AllowPartial].
	ErrTransactional = errors.New("docmodel: the plan needs a transaction: use RunTx or a database of WithTransactions, or allow a partial result")

	// ErrNoTransactions means that the server is neither a replica set member nor a
	// mongos.
	ErrNoTransactions = errors.New("docmodel: the server has no transactions: it is neither a replica set member nor a mongos")
)

var (
	// ErrLeased is returned by [Lease.Settled] and a [Change] under a [Lease] if another
	// writer has the lease, and the caller can't wait longer.
	ErrLeased = errors.New("docmodel: another writer holds the lease")

	// ErrHistoryLost is returned by [Stream.Run] if the server dropped unread changes.
	// To continue, set StreamOptions.Rescan.
	ErrHistoryLost = errors.New("docmodel: the server no longer has the changes since the stored place: " +
		"run with Rescan, and check for deleted documents")

	// ErrNoChangeStreams is returned by [Stream.Run] if the server has no change streams
	// and Stream.Since is empty.
	ErrNoChangeStreams = errors.New("docmodel: the server has no change streams: name in Since the field to poll by")

	// ErrTakenOver is returned by [Stream.Run] if another run has taken over the stream.
	ErrTakenOver = errors.New("docmodel: another run of the stream has taken over")

	// ErrSourceGone is returned by [Stream.Run] if the watched collection was dropped or
	// renamed. The next run watches a new collection of the same name.
	ErrSourceGone = errors.New("docmodel: the watched collection was dropped or renamed")

	// ErrNotRepeatable is returned by [Stream.Run], in a [*StreamError], if a plan isn't
	// [Plan.Repeatable].
	ErrNotRepeatable = errors.New("docmodel: the plan isn't repeatable: running it twice may do more than running it once")
)

var (
	errUnacknowledged = errors.New("docmodel: a write that expects a match was sent unacknowledged, so its result isn't known: use an acknowledged write concern")
	errMergeInTx      = errors.New("docmodel: $merge and $out can't run in a transaction: run the step by itself, with Options.AllowPartial or marked Idempotent")
)

// MaxDocument is MongoDB's limit for a document: 16 MiB
// (https://www.mongodb.com/docs/manual/reference/limits/).
const MaxDocument = core.MaxDocument

// A ValueError reports a refused value: an argument, a setting or a stored value.
type ValueError struct {
	Collection string // the collection's name, or ""
	Field      string // dotted path of the field
	Value      any    // the refused value, perhaps truncated
	Reason     string
}

func (e *ValueError) Error() string {
	var b strings.Builder
	b.WriteString("docmodel: ")
	if e.Collection != "" {
		b.WriteString(e.Collection + ": ")
	}
	fmt.Fprintf(&b, "%s: %s", e.Field, e.Reason)
	if e.Value != nil {
		b.WriteString(": " + clip(shell(e.Value), 80))
	}
	return b.String()
}

// A ReferenceError reports that a document refers to a missing document. It wraps
// [ErrNotFound].
type ReferenceError struct {
	Collection, Path string // where the reference is stored
	To               string // the collection of the missing document
	Value            any    // its _id, or the filter of [Store.Referring]
}

func (e *ReferenceError) Error() string {
	return fmt.Sprintf("%v (%s.%s names %s, which isn't in %s)", ErrNotFound, e.Collection, e.Path,
		clip(shell(e.Value), 120), e.To)
}

// Unwrap returns ErrNotFound.
func (e *ReferenceError) Unwrap() error { return ErrNotFound }

// errNoCollection refuses a value that was built by hand without a collection.
func errNoCollection(what string) error {
	return &ValueError{Field: "Collection", Reason: what + " needs a collection"}
}

// A StepError reports which step of a plan failed. It wraps the reason, such as the
// driver's error, [ErrStale], [Reason].Err, or an error for bad input. For bad input,
// nothing was sent. [Result].Steps tells which steps the server applied. A rollback or
// [Plan].IfStale can have undone these steps.
type StepError struct {
	Step  int    // index in Plan.Steps
	Where string // the step's collection and filter; can be ""
	Err   error
}

func (e *StepError) Error() string {
	at := fmt.Sprintf("docmodel: step %d: ", e.Step+1)
	if e.Where != "" {
		at += e.Where + ": "
	}
	return at + strings.ReplaceAll(strings.TrimPrefix(e.Err.Error(), "docmodel: "), ": docmodel: ", ": ") // the name once
}

// Unwrap returns Err.
func (e *StepError) Unwrap() error { return e.Err }

// A ConflictError reports why [Merge] can't combine two writes, or why an operation can't
// run under a [Scope] or [ShardKey].
type ConflictError struct {
	Collection string
	Paths      [2]string // operator and path: "$set a", "$inc a.b"; may be empty
	Reason     string
}

func (e *ConflictError) Error() string {
	s := "docmodel: "
	if e.Collection != "" {
		s += e.Collection + ": "
	}
	if e.Paths[0] != "" {
		s += e.Paths[0] + " conflicts with " + e.Paths[1] + ": "
	}
	return s + e.Reason
}

// A DeclarationError is the panic value of a constructor for a wrong argument, such as a
// path that the documents don't have.
type DeclarationError struct {
	Problem string
	Place   string // the call, such as "NewShard of orders"
	Remedy  string
}

func (e *DeclarationError) Error() string {
	return "docmodel: " + e.Problem + "\n\tat " + e.Place + "\n\tremedy: " + e.Remedy
}

func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && s[n]&0xC0 == 0x80 {
		n--
	}
	return s[:n] + "…"
}

// notFound adds the collection and filter to ErrNotFound.
func notFound(err error, collection string, filter bson.D) error {
	if !errors.Is(err, mongo.ErrNoDocuments) {
		return err
	}
	if filter == nil {
		return fmt.Errorf("%w (%s)", ErrNotFound, collection)
	}
	return fmt.Errorf("%w (%s %s)", ErrNotFound, collection, clip(shell(filter), 120))
}

// errGone is the [ErrNotFound] of a write whose document doesn't exist. A [Change] reads
// again after errGone, because its plan may have been decided when the document existed.
var errGone error = goneError{}

type goneError struct{}

func (goneError) Error() string { return "docmodel: not found: no document has this _id" }

func (goneError) Unwrap() error { return ErrNotFound }

// outdated reports whether a plan ended because its decision is outdated. A new decision
// may succeed.
func outdated(err error) bool { return errors.Is(err, ErrStale) || errors.Is(err, errGone) }
