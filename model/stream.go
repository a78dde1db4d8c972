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

// EventKind says what happened to a document.
type EventKind uint8

const (
	Inserted EventKind = iota
	Updated            // some fields were changed
	Replaced           // by another document with its _id
	Deleted            //
	Scanned            // nothing that is known: the document was found by going through the collection
)

func (k EventKind) String() string {
	return nameOf(k, "inserted", "updated", "replaced", "deleted", "scanned")
}

// An Event is one change of a document, as a [Stream] plans for it.
type Event struct {
	Kind EventKind
	ID   bson.RawValue // of the document

	// Document is the whole document. Of an update it is the one that was stored when the event was read, which may be
	// newer. Nil for Deleted, and for Updated in a Bare stream.
	Document bson.Raw

	Updated   bson.Raw // of an update: the fields that were set, by dotted path
	Removed   []string // of an update: the fields that were removed
	Truncated bson.Raw // of an update: an array of {field, newSize}

	Token string    // the same each time that the event is delivered, and greater than those before; "" for Scanned
	Time  time.Time // of the change; zero for Scanned
}

// A Stream runs a plan for every change of a collection, in the order in which each document changed, as MongoDB's change
// streams (https://www.mongodb.com/docs/manual/changeStreams/) tell of them. Where it has come to is stored, after the
// plans were run: a stream that was killed is run again and goes on from there. So each event comes at least once, the last
// ones again after a kill, in order; plans that may not be run again are refused.
//
// On a server without change streams the collection is polled by a field that grows with each write: see Since.
type Stream struct {
	Name       string // its place is stored under it
	Collection string // what is watched
	Places     string // the collection in which the place is stored; write it with the write concern majority, MongoDB's default

	// Plan computes what to write for an event, purely. Its plans must be repeatable (see [Plan.Repeatable]). An error stops
	// the stream.
	Plan func(Event) (Plan, error)

	// Work takes the place of Plan where a plan needs more than its event: it may read from
	// the database. It must not write. Each attempt asks it again.
	Work func(ctx context.Context, db DB, e Event) (Plan, error)

	Bare bool // don't look up the documents of updates, which costs the server a read for each

	// Mark is a field of the watched documents in which plans that update them leave the event that they are for, so that the
	// stream passes over its own updates. It must belong to this stream alone. "" refuses such plans. Inserts, upserts,
	// replacements and deletes can't be told from those of others, and are refused in the watched collection. An update by a
	// pipeline that changes so much that the server records the whole document comes once as a replacement.
	Mark string

	// Since is the path of a field that each write of a document sets to more than all before: a time, a version. "" can't
	// poll. Deletes are not seen by polling, and neither are documents without the field.
	Since string

	// Overlap is how far a poll goes back before the last one's end, where Since is a date or an ObjectID: for writers whose
	// clocks differ, or whose writes take time. What lies there is planned for each time.
	Overlap time.Duration

	// Err is bad input: Run returns it, and nothing is read.
	Err error
}

// StreamOptions say how to run a stream. The zero value goes through the collection once, then follows its changes.
type StreamOptions struct {
	Workers   int           // plans that run at a time, of different documents; 0 means 4
	Queue     int           // events that are read ahead, documents that are scanned at a time; 0 means 1000
	SaveEvery int           // events after which the place is stored at the latest; 0 means 100
	Wait      time.Duration // how long the server is asked to wait for an event; 0 means 1 s
	Attempts  int           // how often is tried what others or the network disturb; 0 means 8
	Grace     time.Duration // how long plans in hand may take once the context has ended; 0 means 10 s

	// PlanTime is how long one attempt at a plan may take; 0 means 10 s. A run whose
	// predecessor has begun plans and hasn't said that they ended, because it lives or has
	// died, waits until it says so, or for the predecessor's PlanTime and a quarter more.
	PlanTime time.Duration

	// FromNow begins a new stream with the changes from now on. By default it first plans for every document that there is,
	// as Scanned.
	FromNow bool

	// Rescan goes through all documents again when the server has forgotten the changes since the stored place. By default
	// that is ErrHistoryLost. What was deleted meanwhile is not seen.
	Rescan bool

	Poll     bool          // poll by Since, where there are change streams too
	Interval time.Duration // between polls; 0 means 1 s

	// Once returns when the stream has caught up, instead of waiting for more: all changes
	// that were acknowledged before the run began are applied, and the server had no further
	// event for Wait. The server shows a change once a majority of the replica set has it;
	// the run waits for that, in a sharded cluster without writes up to ten seconds. Servers
	// whose resume tokens don't tell their time, such as Amazon's DocumentDB, leave the
	// second condition alone.
	Once bool

	// Progress is told whenever the place was stored, and when there is nothing to do. An error from it stops the stream,
	// which returns it.
	Progress func(StreamProgress) error
}

// StreamMode says where events come from.
type StreamMode uint8

const (
	Following StreamMode = iota // a change stream
	Scanning                    // all documents
	Polling                     // documents by the field Since
)

func (m StreamMode) String() string { return nameOf(m, "following", "scanning", "polling") }

// StreamProgress is how far a stream has come.
type StreamProgress struct {
	Mode    StreamMode
	Applied int64         // events whose plans were run, in this run
	Backlog int           // events read whose plans have not been run
	Lag     time.Duration // the age of the oldest event that is not done; 0 when nothing waits, and of what is scanned
	Place   string        // what is stored: the token, or the value of Since
}

// A StreamError says for which event a stream stopped. The stored place is before it.
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

// Command is the aggregate command that opens the change stream of a new stream, less what the driver adds.
func (s Stream) Command() bson.D {
	return bson.D{
		{Key: "aggregate", Value: s.Collection},
		{Key: "pipeline", Value: append(mongo.Pipeline{s.open()}, s.stages()...)},
		{Key: "cursor", Value: bson.D{}},
	}
}

// String is the stream as a mongosh command.
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

// stages leave out the stream's own updates.
func (s Stream) stages() mongo.Pipeline {
	if s.Mark == "" {
		return nil
	}
	return mongo.Pipeline{{{Key: "$match", Value: bson.D{
		{Key: "updateDescription.updatedFields." + s.Mark, Value: bson.D{{Key: "$exists", Value: false}}},
	}}}}
}

// PlanFor is the plan that running sends for an event: that of s.Plan, checked, and marked where it updates the watched
// collection. It returns the plan's bad input, [ErrNotRepeatable], or a [*ValueError] for writes that the stream could not
// tell from those of others.
func (s Stream) PlanFor(e Event) (Plan, error) {
	mark := e.Token
	if mark == "" {
		mark = scanMark(e.Document)
	}
	return s.planFor(e, mark)
}

// scanMark differs from that of an earlier scan if the document does, so that the update shows in the change stream.
func scanMark(doc bson.Raw) string {
	h := fnv.New64a()
	_, _ = h.Write(doc)
	return fmt.Sprintf("scanned %016x", h.Sum64())
}

func (s Stream) planFor(e Event, mark string) (Plan, error) {
	if s.Plan == nil {
		return Plan{}, &ValueError{Collection: s.Collection, Field: "Plan", Reason: "the stream has no stored place"}
	}
	plan, err := s.Plan(e)
	return s.checked(plan, err, mark)
}

// checked is a plan with its mark, or why it is refused.
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

// Run runs the stream until its context ends, which lets the plans in hand be run, stores the place and returns nil. It
// returns a [*StreamError] when a plan can't be computed or run; ErrStale, a document that is gone, and what comes of the network is tried again
// first, with growing, jittered pauses. So is reading and storing the place.
//
// Run the stream once at a time. A second run takes over: the first one stops with [ErrTakenOver] when it next stores its
// place, or is to begin a plan more than a quarter of PlanTime after it last asked
// whether it is the latest. The second run begins when the first has ended its plans in
// hand, or their time has passed: see PlanTime. So the plan of a change doesn't reach the
// server after the plan of a newer change of the same document, with two exceptions. The
// network can deliver a command after its sender gave it up, and a machine that was
// suspended, with its clock, can go on and send one. Against these, let the plan carry an
// order of its own: store the event's Token beside what it writes, and write only where
// no greater Token is stored.
//
// Cost: the commands of each event's plan; one to store the place, for up to SaveEvery
// events; one for each quarter of PlanTime in which plans begin; two for the run, and one
// more with Once.
//
// Under a [Scope] whose Filter holds for the watched collection it is refused with a
// [*ConflictError]: the server tells of all documents, and of a deleted one only its _id.
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
			return &ConflictError{Collection: s.Collection, Reason: "a stream can't run under a scope's filter: it receives the changes of all documents, " +
				"and a deletion has no fields of the document. Run it on the database itself, and put each plan under the scope of the event's document (Scope.Plan)"}
		}
	}
	s.Name = tenantName(db, s.Name)
	return newStreamRun(s, marking(db), o).run(withRoutes(runctx.Deciding(ctx), db))
}
