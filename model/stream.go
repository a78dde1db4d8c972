package model

import (
	"context"
	"fmt"
	"hash/fnv"
	"time"

	"github.com/docmodel/docmodel/internal/core"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/docmodel/docmodel/internal/runctx"
)

// EventKind is what happened to a document.
type EventKind string

const (
	Inserted EventKind = "inserted"
	Updated  EventKind = "updated"  // some fields changed
	Replaced EventKind = "replaced" // replaced by another document with the same _id
	Deleted  EventKind = "deleted"
	Scanned  EventKind = "scanned" // found by a scan or poll
)

// An Event is a change of a document.
type Event struct {
	Kind EventKind
	ID   bson.RawValue // the document's _id as it is stored: see [Write].Keyed

	// Document is the whole document. After an update, Document can be newer than the
	// update. Document is nil for [Deleted], and with [Stream.Bare] for [Updated].
	Document bson.Raw

	Updated   bson.Raw // the updated fields, by dotted path
	Removed   []string // the removed fields
	Truncated bson.Raw // the shortened arrays, as {field, newSize}

	// Token stays the same if the event comes again. Later events have greater Tokens.
	// Scans and polls leave Token and Time empty.
	Token string
	Time  time.Time // time of the change
}

// A Stream runs a [Plan] for every change in a collection. The plans for one document run
// in the order of the changes. A Stream reads MongoDB's change stream
// (https://www.mongodb.com/docs/manual/changeStreams/), or polls the collection.
//
// A Stream stores its position. The next run continues there. After a crash, the last
// events come again.
type Stream struct {
	Name       string // the stream's _id in Places
	Collection string // the watched collection
	Places     string // collection for stream positions; DB must use write concern majority

	// Plan computes an event's plan, without reads or writes. The plan must be
	// [Plan.Repeatable]. An error stops the stream.
	Plan func(Event) (Plan, error)

	// Work replaces Plan if plans depend on reads. Work must not write.
	Work func(ctx context.Context, db DB, e Event) (Plan, error)

	Bare bool // updates have no Event.Document, to save a read

	// Mark names a field that only the stream writes. If Mark is set, plans can update
	// watched documents. These updates give no events. Plans can't insert, upsert, replace
	// or delete watched documents. If a plan updates them by a pipeline, Run sends the plan
	// in a transaction, except when it polls. Such a plan can't contain a [MergeInto].
	Mark string

	// Polling needs Since, the path of a field that every write increases, such as a
	// time. Polling misses deletes, and documents without the field.
	Since string

	// To find late writes, each poll begins at the last poll's newest time minus Overlap.
	// With Overlap, Since must name a date or an ObjectID.
	Overlap time.Duration

	// Err reports bad input. [Stream.Run] returns Err.
	Err error
}

// StreamOptions configure a run of a [Stream]. A zero number or duration means the
// default.
type StreamOptions struct {
	Workers   int           // plans that run at the same time, default 4
	Queue     int           // events (in a scan: documents) read ahead, default 1000
	SaveEvery int           // change events after which Run stores its place, default 100
	Wait      time.Duration // longest time that a read waits for an event, default 1 s
	Attempts  int           // maximum attempts of a plan or command, default 8
	Grace     time.Duration // how long plans can run after the context ends, default 10 s

	// PlanTime limits each attempt of a plan, default 10 s. A new run first waits for the
	// plans of a crashed or replaced run, at most 1.25 times the old PlanTime.
	PlanTime time.Duration

	// FromNow skips the existing documents. By default, a new stream starts with a
	// [Scanned] event for each existing document.
	FromNow bool

	// Instead of returning [ErrHistoryLost], Run scans all documents. The scan misses
	// deletes.
	Rescan bool

	Poll     bool          // poll by Stream.Since even if the server has change streams
	Interval time.Duration // pause between polls, default 1 s

	// Once ends Run when all changes from before the run are applied. A polling Run ends
	// after one poll. On Amazon's DocumentDB, Run ends if no event comes within Wait.
	Once bool

	// Run calls Progress after it stores its place, and when no event comes. An error
	// from Progress stops Run.
	Progress func(StreamProgress) error
}

// StreamMode is the source of a stream's events.
type StreamMode string

const (
	Following StreamMode = "following" // a change stream
	Scanning  StreamMode = "scanning"  // one scan of all documents
	Polling   StreamMode = "polling"   // repeated queries for new Stream.Since values
)

// StreamProgress reports how far a stream has come.
type StreamProgress struct {
	Mode    StreamMode
	Applied int64         // events applied in this run
	Backlog int           // events read but not applied
	Lag     time.Duration // age of the oldest unapplied event; 0 if none, or unknown
	Place   string        // the resume token, or the value at [Stream].Since if Mode is Polling
}

// A StreamError names the event at which a stream stopped.
type StreamError struct {
	Stream string
	Event  Event
	Err    error
}

func (e *StreamError) Error() string {
	s := fmt.Sprintf("docmodel: stream %s: %s %s", e.Stream, e.Event.Kind, clip(shell(e.Event.ID), 80))
	if e.Event.Token != "" {
		s += " (" + e.Event.Token + ")"
	}
	return s + ": " + e.Err.Error()
}

// Unwrap returns the cause.
func (e *StreamError) Unwrap() error { return e.Err }

// Command returns the aggregate command that opens a new change stream.
func (s Stream) Command() bson.D {
	return bson.D{
		{Key: "aggregate", Value: s.Collection},
		{Key: "pipeline", Value: append(mongo.Pipeline{s.open()}, s.stages()...)},
		{Key: "cursor", Value: bson.D{}},
	}
}

// String returns the stream in mongosh syntax.
func (s Stream) String() string {
	if s.Err != nil {
		return "// refused: " + s.Err.Error()
	}
	return shellCall(s.Collection, "aggregate", append(mongo.Pipeline{s.open()}, s.stages()...))
}

func (s Stream) open() bson.D {
	o := bson.D{}
	if !s.Bare {
		o = bson.D{{Key: "fullDocument", Value: "updateLookup"}}
	}
	return bson.D{{Key: "$changeStream", Value: o}}
}

// stages exclude the stream's own updates. They can't exclude those that MongoDB reports
// as replacements: see [streamOwn].
func (s Stream) stages() mongo.Pipeline {
	if s.Mark == "" {
		return nil
	}
	return mongo.Pipeline{{{Key: "$match", Value: bson.D{
		{Key: "updateDescription.updatedFields." + s.Mark, Value: bson.D{{Key: "$exists", Value: false}}},
	}}}}
}

// PlanFor returns the plan that Run sends for an event. PlanFor calls s.Plan, and adds
// the field that s.Mark names to updates of the watched collection. In a transaction, Run
// also adds the session to this field. Errors:
//
//   - the error of s.Plan, or [Plan.Err]
//   - [ErrNotRepeatable]
//   - a [*ValueError] if s.Plan is nil, or if the plan contains a forbidden write to the
//     watched collection (see [Stream].Mark)
func (s Stream) PlanFor(e Event) (Plan, error) {
	mark := e.Token
	if mark == "" {
		mark = scanMark(e.Document)
	}
	plan, err := s.planFor(e)
	if err != nil {
		return Plan{}, err
	}
	return s.marked(plan, mark)
}

// scanMark returns a mark that differs from the mark of an earlier scan if the document
// differs. So the update appears in the change stream.
func scanMark(doc bson.Raw) string {
	h := fnv.New64a()
	_, _ = h.Write(doc)
	return fmt.Sprintf("scanned %016x", h.Sum64())
}

// planFor returns the checked plan for an event, without its mark.
func (s Stream) planFor(e Event) (Plan, error) {
	if s.Plan == nil {
		return Plan{}, &ValueError{
			Collection: s.Collection, Field: "Plan",
			Reason: "is nil: a stream with Work makes its plans only while it runs",
		}
	}
	plan, err := s.Plan(e)
	return s.checked(plan, err)
}

// checked returns the plan, or the error that refuses it.
func (s Stream) checked(plan Plan, err error) (Plan, error) {
	if err == nil {
		err = plan.Err()
	}
	if err == nil && !plan.Repeatable() {
		err = ErrNotRepeatable
	}
	if err == nil {
		_, err = s.ownUpdates(plan)
	}
	if err != nil {
		return Plan{}, err
	}
	return plan, nil
}

// Run runs the stream until the context ends. Running plans have StreamOptions.Grace to
// finish. Run stores the stream's place and returns nil.
//
// If a plan fails and no retry helps, Run returns a [*StreamError].
//
// # One run at a time
//
// If a second run of the stream starts, the first run returns [ErrTakenOver]. The second
// run waits for the first run's plans: see StreamOptions.PlanTime.
//
// A very late command can break the order of a document's plans. To be safe, let plans
// store [Event].Token in the written documents, and never overwrite a greater Token.
//
// Cost: two commands, the reads of changes, and the plans' commands. Each stored place
// costs one command. At most once per o.PlanTime/4, a command looks for a second run. A
// plan in a transaction (see Stream.Mark) costs [Plan.CostTx] and the commit. The first
// such plan costs one more command.
func (s Stream) Run(ctx context.Context, db DB, o StreamOptions) error {
	bad := func(field, reason string) error {
		return &ValueError{Collection: s.Collection, Field: field, Reason: reason}
	}
	switch err := core.CheckRun(ctx, db); {
	case s.Err != nil:
		return s.Err
	case err != nil:
		return err
	case (s.Plan == nil) == (s.Work == nil) || s.Collection == "" || s.Places == "" || s.Name == "":
		return bad("Stream", "needs a Name, a Collection, Places and a Plan or Work")
	case s.Places == s.Collection:
		return bad("Places", "is the watched collection: name another collection")
	case o.Poll && s.Since == "":
		return bad("Poll", "needs the field Since")
	case mongo.SessionFromContext(ctx) != nil:
		return bad("Run", "must not be in a session: several plans run at the same time")
	}
	for _, scope := range scopesOf(db) {
		if scope.holds(s.Collection) && len(scope.filter) > 0 {
			return &ConflictError{
				Collection: s.Collection,
				Reason: "a stream can't run under a scope's filter: it receives the changes of all documents, " +
					"and a deletion has no fields of the document. Run it on the database itself, and put each plan under the scope of the event's document (Scope.Plan)",
			}
		}
	}
	s.Name = tenantName(db, s.Name)
	return newStreamRun(s, withoutTx(db), o).run(withRouter(runctx.Deciding(ctx), db))
}
