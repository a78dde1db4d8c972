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
type EventKind uint8

const (
	Inserted EventKind = iota
	Updated            // some fields changed
	Replaced           // by another document with the same _id
	Deleted            //
	Scanned            // unknown: a scan of the collection found the document
)

func (k EventKind) String() string {
	return nameOf(k, "inserted", "updated", "replaced", "deleted", "scanned")
}

// An Event is one change of a document in a [Stream].
type Event struct {
	Kind EventKind
	ID   bson.RawValue // the document's _id

	// Document is the whole document. For an update it is the version at the time when
	// the event was read, which may be newer than the event. It is nil for Deleted, and
	// for Updated in a Bare stream.
	Document bson.Raw

	Updated   bson.Raw // of an update: the fields that were set, by dotted path
	Removed   []string // of an update: the fields that were removed
	Truncated bson.Raw // of an update: an array of {field, newSize}

	Token string    // equal for each delivery of the event and greater than earlier tokens, or "" for Scanned
	Time  time.Time // of the change, or zero for Scanned
}

// A Stream runs a plan for every change of a collection. It reads MongoDB's change stream
// (https://www.mongodb.com/docs/manual/changeStreams/). Changes of one document are
// planned in their order.
//
// The stream stores its place after the plans ran. After a crash, the next run continues
// at the stored place and delivers the last events again. So each event is delivered at
// least once, and plans must be repeatable.
//
// On a server without change streams, the stream polls the collection: see Since.
type Stream struct {
	Name       string // names the stream's stored place
	Collection string // the watched collection
	// Places is the collection that stores the place. Write it with write concern
	// majority, MongoDB's default.
	Places string

	// Plan computes the writes for an event, without side effects. The plan must be
	// repeatable: see [Plan.Repeatable]. An error stops the stream.
	Plan func(Event) (Plan, error)

	// Work replaces Plan if a plan needs to read the database. Work must not write. Each
	// attempt calls it again.
	Work func(ctx context.Context, db DB, e Event) (Plan, error)

	Bare bool // don't read the documents of updates, which saves the server one read each

	// Mark is a field that the stream's plans set in watched documents, so that the
	// stream skips its own updates. No other code may write it. With "", plans that write
	// to the watched collection are refused. Inserts, upserts, replacements and deletes
	// there are always refused, because the stream can't recognize them. A large update
	// by a pipeline can be delivered once as a replacement.
	Mark string

	// Since is the path of a field that every write increases, for example a time or a
	// version. Polling needs it. Polling doesn't see deletes, or documents without the
	// field.
	Since string

	// Overlap is how far each poll goes back before the end of the last poll, for clock
	// differences and slow writes. Since must be a date or an ObjectID. Documents in the
	// overlap are planned again.
	Overlap time.Duration

	// Err is bad input. Run returns it and reads nothing.
	Err error
}

// StreamOptions configure a run. The zero value scans the collection once, and then
// follows its changes.
type StreamOptions struct {
	Workers   int           // plans that run at once, for different documents, or 0 for 4
	Queue     int           // events read ahead, and documents per scan batch, or 0 for 1000
	SaveEvery int           // the place is stored at least every n events, or 0 for 100
	Wait      time.Duration // how long the server waits for an event, or 0 for 1 s
	Attempts  int           // attempts after conflicts and network errors, or 0 for 8
	Grace     time.Duration // time for running plans after the context ended, or 0 for 10 s

	// PlanTime limits one attempt at a plan. 0 means 10 s. If the previous run didn't
	// report that its plans ended, a new run waits for that, or for the previous run's
	// PlanTime plus a quarter.
	PlanTime time.Duration

	// FromNow starts a new stream at the current time. Without it, the stream first plans
	// for every existing document, as Scanned.
	FromNow bool

	// Rescan scans all documents again if the server no longer has the changes since the
	// stored place. It misses deletes in between. Without Rescan, Run returns
	// ErrHistoryLost.
	Rescan bool

	Poll     bool          // poll by Since even if there are change streams
	Interval time.Duration // between polls, or 0 for 1 s

	// Once returns when the stream has caught up: all changes acknowledged before the run
	// began are applied, and the server had no further event for Wait. The server shows a
	// change when a majority of the replica set has it. In a sharded cluster without
	// writes, the run waits for this up to ten seconds. If resume tokens contain no time,
	// as in Amazon's DocumentDB, only the second condition applies.
	Once bool

	// Progress is called when the place was stored, and when the stream is idle. Its
	// error stops the stream, and Run returns it.
	Progress func(StreamProgress) error
}

// StreamMode is the source of a stream's events.
type StreamMode uint8

const (
	Following StreamMode = iota // a change stream
	Scanning                    // all documents
	Polling                     // documents by the field Since
)

func (m StreamMode) String() string { return nameOf(m, "following", "scanning", "polling") }

// StreamProgress is the progress of a stream.
type StreamProgress struct {
	Mode    StreamMode
	Applied int64         // events whose plans this run has run
	Backlog int           // events that were read and not yet applied
	Lag     time.Duration // the age of the oldest event not applied, or 0 if none or scanned
	Place   string        // the stored token or value of Since
}

// A StreamError names the event at which a stream stopped. The stored place is before the
// event.
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

// Command returns the aggregate command that opens a new change stream, without the
// fields that the driver adds.
func (s Stream) Command() bson.D {
	return bson.D{
		{Key: "aggregate", Value: s.Collection},
		{Key: "pipeline", Value: append(mongo.Pipeline{s.open()}, s.stages()...)},
		{Key: "cursor", Value: bson.D{}},
	}
}

// String returns the stream as a mongosh command.
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

// stages exclude the stream's own updates.
func (s Stream) stages() mongo.Pipeline {
	if s.Mark == "" {
		return nil
	}
	return mongo.Pipeline{{{Key: "$match", Value: bson.D{
		{Key: "updateDescription.updatedFields." + s.Mark, Value: bson.D{{Key: "$exists", Value: false}}},
	}}}}
}

// PlanFor returns the plan that Run sends for an event: the checked result of s.Plan,
// with the Mark in updates of the watched collection. It returns the plan's bad input,
// [ErrNotRepeatable], or a [*ValueError] for writes that the stream couldn't recognize as
// its own.
func (s Stream) PlanFor(e Event) (Plan, error) {
	mark := e.Token
	if mark == "" {
		mark = scanMark(e.Document)
	}
	return s.planFor(e, mark)
}

// scanMark returns a mark that differs from the mark of an earlier scan if the document
// differs. So the update appears in the change stream.
func scanMark(doc bson.Raw) string {
	h := fnv.New64a()
	_, _ = h.Write(doc)
	return fmt.Sprintf("scanned %016x", h.Sum64())
}

func (s Stream) planFor(e Event, mark string) (Plan, error) {
	if s.Plan == nil {
		return Plan{}, &ValueError{Collection: s.Collection, Field: "Plan", Reason: "the stream has none"}
	}
	plan, err := s.Plan(e)
	return s.checked(plan, err, mark)
}

// checked returns a plan with its mark, or the error that refuses it.
func (s Stream) checked(plan Plan, err error, mark string) (Plan, error) {
	if err == nil {
		err = plan.Err()
	}
	if err == nil && !plan.Repeatable() {
		err = ErrNotRepeatable
	}
	if err != nil {
		return Plan{}, err
	}
	return s.marked(plan, mark)
}

// Run runs the stream until the context ends. Then it finishes the running plans, stores
// the place and returns nil. It returns a [*StreamError] if a plan can't be computed or
// run. After ErrStale, a missing document or a network error it tries up to Attempts
// times, with growing random pauses.
//
// # One run at a time
//
// A second run takes over. The first run stops with [ErrTakenOver] when it next stores
// its place, or when it begins a plan and last asked more than a quarter of PlanTime ago.
// The second run begins when the first run's plans have ended, or their time has passed:
// see PlanTime.
//
// So the plan of an old change doesn't reach the server after the plan of a newer change
// of the same document. There are two exceptions: the network delivers a command after
// its sender gave up, or a suspended machine continues. To exclude them, store the
// event's Token with the data, and write only if no greater Token is stored.
//
// Under a [Scope] with a filter on the watched collection, Run returns a
// [*ConflictError]. The server reports the changes of all documents, and only the _id of
// a deleted document.
//
// Cost: the commands of each plan. One command to store the place, for up to SaveEvery
// events. One command per quarter of PlanTime with plans. Two commands for the run, and a
// third with Once.
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
		return bad("Places", "must be another collection than the one that is watched")
	case o.Poll && s.Since == "":
		return bad("Poll", "needs the field Since")
	case mongo.SessionFromContext(ctx) != nil:
		return bad("Run", "takes no session: several plans run at a time")
	}
	for _, scope := range scopesOf(db) {
		if scope.holds(s.Collection) && len(scope.filter) > 0 {
			return &ConflictError{Collection: s.Collection, Reason: "a stream can't be run under a scope's filter: it hears of every document's changes, " +
				"and a deletion doesn't say whose the document was; run it on the database itself, and put what Plan returns under the scope of the event's document (Scope.Plan)"}
		}
	}
	s.Name = tenantName(db, s.Name)
	return newStreamRun(s, marking(db), o).run(withRoutes(runctx.Deciding(ctx), db))
}
