package denorm

import (
	"context"
	"reflect"
	"time"

	"github.com/docmodel/docmodel/denorm/internal/outbox"
	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// OutboxSpec limits the number and size of the events in an [Outbox]. The zero value is
// valid.
type OutboxSpec struct {
	Max      int // maximum waiting events of a document, up to 10,000; 0 means 100
	MaxBytes int // maximum BSON size of an event, up to 15 MiB; 0 means 64 KiB

	// Create lets [Outbox.Publish] create a missing document from its _id and events.
	Create bool
}

// Outgoing is the field of a document for the waiting events of an [Outbox]. Tag the
// field omitempty.
type Outgoing[E any] struct {
	Events []OutgoingEvent[E] `bson:"events,omitempty"` // in the order in which they were published
	Parked []OutgoingEvent[E] `bson:"parked,omitempty"` // failed RelaySpec.Attempts times; see [Outbox.Retry]
	Hash   int64              `bson:"hash,omitempty"`   // hash of the _id; divides documents among runners
	Fence  int64              `bson:"fence,omitempty"`  // greatest Delivery.Fence of a runner so far
}

// An OutgoingEvent is an event that waits for delivery, or that is parked: set aside
// after RelaySpec.Attempts failures.
type OutgoingEvent[E any] struct {
	ID       bson.ObjectID `bson:"id"` // the token that it was published with
	At       time.Time     `bson:"at"`
	Body     E             `bson:"body"`
	Attempts int           `bson:"attempts,omitempty"` // how often it failed
	After    time.Time     `bson:"after,omitempty"`    // when it is tried again
	Error    string        `bson:"error,omitempty"`    // why it failed last, cut after 500 bytes
}

// A Delivery is an event as the function given to [Outbox.Relay] receives it.
type Delivery[K, E any] struct {
	OutgoingEvent[E]

	Key K // the _id of the event's document; events of one key are in order

	// Fence grows when another runner (a process that runs the [Relay]) takes over. To
	// refuse events of a replaced runner, a receiver remembers each Key's greatest Fence,
	// and refuses a lower Fence.
	Fence int64
}

// OutboxDepth counts the events of all documents of an [Outbox].
type OutboxDepth struct {
	Documents int64     `bson:"documents"` // documents with waiting or parked events
	Waiting   int64     `bson:"waiting"`   // events to deliver, without the parked events
	Failing   int64     `bson:"failing"`   // waiting events that failed at least once
	Parked    int64     `bson:"parked"`    // events set aside after RelaySpec.Attempts failures
	Oldest    time.Time `bson:"oldest"`    // time of the oldest waiting event; zero if no event waits
}

// Outbox stores an event together with a change. After a crash, both are stored or
// neither. A [Relay] delivers the event.
//
// There are two ways to store an event:
//   - In the changed document. Combine the change and [Outbox.Publish] by [model.Merge].
//     In a new document, store [Outbox.Outgoing].
//   - In a separate collection (OutboxSpec.Create), for a deletion or a change of many
//     documents. Run Publish and the change in one transaction ([model.MergePlans]).
//
// # Consistency
//
// Each event is delivered at least once. An [Inbox] recognizes repeats by
// OutgoingEvent.ID. Events of one document are delivered in order. A failing event delays
// the next events. After RelaySpec.Attempts failures, the failing event is set aside
// (parked).
//
// Deleting or replacing a whole document removes its events. Under a [model.Scope], a
// [Relay] doesn't deliver the events of soft-deleted documents.
//
// Source: https://microservices.io/patterns/data/transactional-outbox.html.
//
// Indexes returns two partial indexes: one for waiting events, one for parked events.
type Outbox[D, K, E any] struct {
	model.Parts

	docs *model.Collection[D, K]
	o    *outbox.Outbox
}

// NewOutbox declares that events of type E wait in the [Outgoing] field at path. It
// panics with a [*model.DeclarationError] if path isn't such a field or lies inside an
// array, if E isn't stored as a document, or if a field of spec is invalid.
func NewOutbox[E, D, K any](docs *model.Collection[D, K], path string, spec OutboxSpec) *Outbox[D, K, E] {
	o := outbox.Declare(docs.Docs(), path, outbox.Spec{
		Max: spec.Max, MaxBytes: spec.MaxBytes, Create: spec.Create, Type: reflect.TypeFor[Outgoing[E]](), Event: reflect.TypeFor[E](),
	})
	return &Outbox[D, K, E]{model.NewParts(o.Indexes, nil, nil, o.Footprints), docs, o}
}

// Publish returns the write that adds an event of time t to a document. The token is a
// fresh bson.NewObjectID(), or the token of the operation that the event reports. A retry
// does nothing while the event waits, but publishes a delivered event again.
//
// The write gives
//   - model.ErrNotFound if the document is missing and OutboxSpec.Create is false
//   - model.ErrFull if OutboxSpec.Max events wait
//   - [ErrToken] if a different event of the document has the token
//
// Cost: one command, one document, by _id.
func (x *Outbox[D, K, E]) Publish(id K, event E, t time.Time, token bson.ObjectID) model.Write {
	return x.o.Publish(id, event, t, token)
}

// Outgoing returns the [Outgoing] field, with a first event, for a new document with this
// _id. For the other parameters, see [Outbox.Publish].
func (x *Outbox[D, K, E]) Outgoing(id K, event E, t time.Time, token bson.ObjectID) (out Outgoing[E], err error) {
	raw, err := x.o.Outgoing(id, event, t, token)
	if err == nil {
		err = x.docs.Docs().AsStored().Decode(raw, &out)
	}
	return out, err
}

// Depth returns the query that counts waiting events and parked events (set aside after
// failures). Without events, the query has no result.
//
// Cost: one command, served by the partial indexes; it reads each document with events.
func (x *Outbox[D, K, E]) Depth() *model.Aggregate[OutboxDepth] {
	return model.AggregateAs[OutboxDepth](x.docs, x.o.Depth())
}

// Parked returns the query of the documents with parked events, which failed
// RelaySpec.Attempts times.
//
// Cost: one command, served by a partial index.
func (x *Outbox[D, K, E]) Parked() *model.Find[D] {
	return commands.Served(x.docs.Find(x.o.Parked()), x.o.Indexes()[1].Name, nil)
}

// Retry returns the write that moves a document's parked events ([Outbox.Parked]) behind
// its waiting events, with Attempts 0.
//
// Cost: one command, one document, by _id.
func (x *Outbox[D, K, E]) Retry(id K) model.Write { return x.o.Retry(id) }

// Drop returns the write that deletes a document's parked event ([Outbox.Parked]) with
// this token. Without such an event it does nothing.
//
// Cost: as [Outbox.Retry].
func (x *Outbox[D, K, E]) Drop(id K, token bson.ObjectID) model.Write { return x.o.Drop(id, token) }

// RelaySpec says how a [Relay] works. All runners need the same RelaySpec.
type RelaySpec struct {
	Attempts int           // failures after which an event is parked (set aside); 0 means 10
	Pause    time.Duration // before an event is tried again, doubled each time; 0 means 1 s
	MaxPause time.Duration // the longest such pause; 0 means 1 minute

	Parts  int           // into how many parts runners divide documents; 0 means 16
	For    time.Duration // how long a dead runner keeps its parts; 0 means 10 s
	Poll   time.Duration // how long a runner waits when no event is due; 0 means 1 s
	Leases string        // the collection of the runners' leases; "" means docmodel.relays

	// Once ends a run when no event is due. Failed events wait for another run.
	Once bool
}

// A Relay delivers the events of an [Outbox]. Each process that runs it is a runner.
type Relay struct{ r outbox.Relay }

// Relay returns the [Relay] that calls the function deliver for each event. Several
// goroutines call deliver. After an error of deliver, the event is tried again later.
// When the runner (a process) loses its lease on the document, deliver's context ends.
// Runners with the same name divide the documents.
func (x *Outbox[D, K, E]) Relay(name string, spec RelaySpec, deliver func(context.Context, Delivery[K, E]) error) Relay {
	r := outbox.Relay{Outbox: x.o, Name: name, Spec: outbox.RelaySpec(spec)}
	if deliver == nil {
		return Relay{r}
	}
	docs := x.docs.Docs().AsStored()
	r.Hand = func(ctx context.Context, id bson.RawValue, e outbox.Event, fence int64) error {
		d := Delivery[K, E]{Fence: fence, OutgoingEvent: OutgoingEvent[E]{ID: e.ID, At: e.At, Attempts: e.Attempts, After: e.After, Error: e.Error}}
		if err := id.Unmarshal(&d.Key); err != nil {
			return err
		}
		if err := docs.Decode(e.Body.Document(), &d.Body); err != nil {
			return err
		}
		return deliver(ctx, d)
	}
	return Relay{r}
}

// Run delivers events until the context ends. It then returns the context's error. After
// a database error, Run tries again. With RelaySpec.Once, Run returns the database
// error, or nil when the parts that it can lease have no due events.
//
// The runners' clocks must differ by much less than RelaySpec.For. If a slow runner loses
// its lease, two runners can deliver the same event, with different Delivery.Fence.
//
// Cost: one read per 100 documents with events, and one write per document with
// delivered events. A part (RelaySpec.Parts) without events costs one read per
// RelaySpec.Poll. For its leases, each runner sends about three commands, plus one per
// part that it has, every RelaySpec.For/3.
func (r Relay) Run(ctx context.Context, db model.DB) error { return r.r.Run(ctx, db) }
