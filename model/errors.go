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
	// ErrNotFound is what every read of one document returns when none matches: [Find.One], [Aggregate.One],
	// [Modify.Run]. A write of one document returns it, inside a [*StepError], when no document has the _id. A document that a [Scope]
	// hides isn't there. It wraps [mongo.ErrNoDocuments], so code written for the driver keeps working.
	ErrNotFound = fmt.Errorf("docmodel: not found: %w", mongo.ErrNoDocuments)

	// ErrStale says that a write found no document as it expects it: it changed since it was read. Only a write that doesn't ask for
	// an _id can't tell whether its document is there. [Plan.Run] and
	// [Plan.RunTx] return it inside a [*StepError]; no later step was sent, but for [Plan.IfStale]. Read again and plan again, or
	// use [Change], which does both.
	ErrStale = errors.New("docmodel: stale write, read again: no document matches")

	// ErrFull is wrapped by each error that says that a bound is reached.
	ErrFull = errors.New("docmodel: no room")

	// ErrTaken is wrapped by each error that says that something else is there already, under the same key, value or number. The
	// server's own error for a duplicate key doesn't wrap it: [mongo.IsDuplicateKeyError] tells that one.
	ErrTaken = errors.New("docmodel: taken already")

	// ErrTransactional is returned by [Plan.Run] for a plan whose steps only make sense together.
	// Use [Plan.RunTx], or set [PlanOptions.AllowPartial].
	ErrTransactional = errors.New("docmodel: the plan needs a transaction: use RunTx, or allow a partial result")

	// ErrNoTransactions is returned by [Plan.RunTx], [InTx] and a [Change] with Tx for a server without transactions: one that is
	// neither a member of a replica set nor a mongos. Nothing was sent but the hello that asks.
	ErrNoTransactions = errors.New("docmodel: the server has no transactions: it is neither a replica set member nor a mongos")
)

var (
	// ErrLeased is returned by a [Change] under a [Lease] that another writer held for as long as the change could wait, and by
	// [Lease.Settled].
	ErrLeased = errors.New("docmodel: another writer holds the lease")

	// ErrHistoryLost is returned by [Stream.Run] when the server no longer has the changes since the stored place.
	ErrHistoryLost = errors.New("docmodel: the server no longer has the changes since the stored place: " +
		"run with Rescan, and check for deleted documents")

	// ErrNoChangeStreams is returned by [Stream.Run] on a server without change streams for a stream that can't poll.
	ErrNoChangeStreams = errors.New("docmodel: the server has no change streams: name in Since the field to poll by")

	// ErrTakenOver is returned by [Stream.Run] when the stream was run a second time meanwhile: the later run goes on.
	ErrTakenOver = errors.New("docmodel: another run of the stream has taken over")

	// ErrSourceGone is returned by [Stream.Run] when the watched collection was dropped or renamed. The place is stored: the
	// next run goes on with the collection that then has its name.
	ErrSourceGone = errors.New("docmodel: the watched collection was dropped or renamed")

	// ErrNotRepeatable is returned by [Stream.Run], in a [*StreamError], for a plan that may not be run twice.
	ErrNotRepeatable = errors.New("docmodel: the plan isn't repeatable: running it twice may do more than running it once")
)

var (
	errUnacknowledged = errors.New("docmodel: a write that expects a match was sent unacknowledged, so its result isn't known: use an acknowledged write concern")
	errMergeInTx      = errors.New("docmodel: $merge and $out can't run in a transaction: run the step by itself, with Options.AllowPartial or marked Once")
)

// MaxDocument is the largest BSON document that MongoDB stores: 16 MiB
// (https://www.mongodb.com/docs/manual/reference/limits/).
const MaxDocument = core.MaxDocument

// A ValueError says which value of which field was refused, and why. It is found before anything is written.
type ValueError struct {
	Collection string // "" where the value belongs to none
	Field      string // dotted path
	Value      any    // what was refused; large values are cut
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

// errNoCollection refuses a value that was made by hand, without a collection.
func errNoCollection(what string) error {
	return &ValueError{Field: "Collection", Reason: what + " needs a collection"}
}

// A StepError says which step of a plan failed. Steps before it were applied, unless a transaction took them back; steps
// after it were not sent.
// It wraps the driver's error, [ErrStale], [ErrNotFound], or the step's own bad input.
type StepError struct {
	Step  int    // index in Plan.Steps
	Where string // of a write that was sent: the collection, and what its filter says of _id, or the whole filter, cut
	Err   error
}

func (e *StepError) Error() string {
	at := fmt.Sprintf("docmodel: step %d: ", e.Step+1)
	if e.Where != "" {
		at += e.Where + ": "
	}
	return at + strings.ReplaceAll(strings.TrimPrefix(e.Err.Error(), "docmodel: "), ": docmodel: ", ": ") // the name once
}

// placeOf is the place of a step for an error.
func placeOf(s Step) string {
	switch s := s.(type) {
	case Write:
		filter, _ := s.filter().(bson.D)
		if i := indexOfID(filter); i >= 0 {
			filter = filter[i : i+1]
		}
		if len(filter) > 0 {
			return s.Collection + " " + clip(shell(filter), 120)
		}
		return s.Collection
	case MergeInto:
		return s.Collection
	}
	return ""
}

// Unwrap returns the cause.
func (e *StepError) Unwrap() error { return e.Err }

// A ConflictError says why two writes can't be one: the paths that both update, or what else differs.
// [Merge] puts it in Write.Err, and [Scope.On] refuses by it.
type ConflictError struct {
	Collection string
	Paths      [2]string // as operator and path: "$set a", "$inc a.b"; empty where the conflict is not one of paths
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

// A DeclarationError is what constructors panic with: a technique was declared over a path or a type that its
// documents don't have. It is a programmer's mistake, found when the program starts.
type DeclarationError struct {
	Problem string // what is wrong
	Place   string // where: the type, the collection, the path
	Remedy  string // what to do
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

// notFound gives ErrNotFound its place.
func notFound(err error, collection string, filter bson.D) error {
	if !errors.Is(err, mongo.ErrNoDocuments) {
		return err
	}
	if filter == nil {
		return fmt.Errorf("%w (%s)", ErrNotFound, collection)
	}
	return fmt.Errorf("%w (%s %s)", ErrNotFound, collection, clip(shell(filter), 120))
}
