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

// OutboxSpec says which events an [Outbox] takes. The zero value is valid.
type OutboxSpec struct {
	Max      int // how many events one document may have waiting; 0 means 100, at most 10,000
	MaxBytes int // the BSON size of one event at most; 0 means 64 KiB, at most 15 MiB

	// Create lets [Outbox.Publish] create a missing document, with only its _id and
	// events: for an outbox in a collection of its own.
	Create bool
}

// Outgoing is the field of a document in which its events wait. Tag it omitempty.
type Outgoing[E any] struct {
	Events []OutgoingEvent[E] `bson:"events,omitempty"` // in the order in which they were published
	Parked []OutgoingEvent[E] `bson:"parked,omitempty"` // failed RelaySpec.Attempts times
	Hash   int64              `bson:"hash,omitempty"`   // of the _id; divides documents among runners
	Fence  int64              `bson:"fence,omitempty"`  // of the runner that wrote last
}

// An OutgoingEvent is a waiting event.
type OutgoingEvent[E any] struct {
	ID       bson.ObjectID `bson:"id"` // the token that it was published with
	At       time.Time     `bson:"at"`
	Body     E             `bson:"body"`
	Attempts int           `bson:"attempts,omitempty"` // how often it failed
	After    time.Time     `bson:"after,omitempty"`    // when it is tried again
	Error    string        `bson:"error,omitempty"`    // why it failed last, in at most 500 bytes
}

// A Delivery is an event as a relay delivers it.
type Delivery[K, E any] struct {
	OutgoingEvent[E]

	Key K // the _id of the event's document; events of one key are in order

	// Fence grows when another runner takes over: a receiver can refuse a lower Fence
	// than a key's greatest.
	Fence int64
}

// OutboxDepth says how many events wait in all documents.
type OutboxDepth struct {
	Documents int64     `bson:"documents"`
	Waiting   int64     `bson:"waiting"`
	Failing   int64     `bson:"failing"` // waiting events that failed at least once
	Parked    int64     `bson:"parked"`
	Oldest    time.Time `bson:"oldest"` // when the oldest waiting event was published; zero without one
}

// Outbox stores an event together with the change that it reports, and a [Relay] delivers
// it. No event is lost or sent without its change, and no transaction across the database
// and the message broker is needed. There are two ways to store an event:
//   - In the changed document, by one write: [model.Merge] the change and
//     [Outbox.Publish], or store [Outbox.Outgoing] in a new document.
//   - In a collection of its own (OutboxSpec.Create), for changes of many documents and
//     for deletions: run Publish and the change in one transaction ([model.MergePlans],
//     [model.InTx]).
//
// Each event is delivered at least once, with the same token (OutgoingEvent.ID): see
// [Inbox]. Events of one document are delivered in order. A failing event delays the next
// events until it succeeds or is parked.
//
// A retry of Publish does nothing while the event waits, but publishes the event again
// after the delivery. To exclude this, merge Publish with a write that remembers its
// token longer, such as embed.Versioned.Guarded with Tokens.
//
// A deleted document takes its events along. A [model.Scope] with Delete hides events
// from relays. Other writers must not replace whole documents: name the path in
// embed.VersionedSpec.Uncounted.
//
// Source: the Transactional Outbox pattern,
// https://microservices.io/patterns/data/transactional-outbox.html.
//
// Indexes returns two partial indexes, of documents with waiting and with parked events.
type Outbox[D, K, E any] struct {
	model.Parts

	docs *model.Collection[D, K]
	o    *outbox.Outbox
}

// NewOutbox declares that events of type E wait in the [Outgoing] field at path. It
// panics with a [*model.DeclarationError] if there is no such field outside arrays,
// tagged omitempty, or E isn't stored as a document.
func NewOutbox[E, D, K any](docs *model.Collection[D, K], path string, spec OutboxSpec) *Outbox[D, K, E] {
	o := outbox.Declare(docs.Docs(), path, outbox.Spec{
		Max: spec.Max, MaxBytes: spec.MaxBytes, Create: spec.Create, Type: reflect.TypeFor[Outgoing[E]](), Event: reflect.TypeFor[E](),
	})
	return &Outbox[D, K, E]{model.NewParts(o.Indexes, nil, nil, o.Footprints), docs, o}
}

// Publish returns the write that adds an event to a document. op is the event's token: a
// fresh bson.NewObjectID(), or the token of the reported operation.
//
// The write gives model.ErrNotFound if the document is missing, without
// OutboxSpec.Create; a model.ErrFull if OutboxSpec.Max events wait; and [ErrToken] if
// another event there has the token. An event over OutboxSpec.MaxBytes is refused.
//
// Cost: one command, one document, by _id; nothing if merged with another write.
func (x *Outbox[D, K, E]) Publish(id K, event E, at time.Time, op bson.ObjectID) model.Write {
	return x.o.Publish(id, event, at, op)
}

// Outgoing returns the field of a new document with its first event.
func (x *Outbox[D, K, E]) Outgoing(id K, event E, at time.Time, op bson.ObjectID) (out Outgoing[E], err error) {
	raw, err := x.o.Outgoing(id, event, at, op)
	if err == nil {
		err = x.docs.Docs().AsStored().Decode(raw, &out)
	}
	return out, err
}

// Depth returns the query of how many events wait. It has no result if no event waits or
// is parked.
//
// Cost: one command, served by the partial indexes; it reads each document with events.
func (x *Outbox[D, K, E]) Depth() *model.Aggregate[OutboxDepth] {
	return model.AggregateAs[OutboxDepth](x.docs, x.o.Depth())
}

// Parked returns the query of the documents with parked events.
//
// Cost: one command, served by a partial index.
func (x *Outbox[D, K, E]) Parked() *model.Find[D] {
	return commands.Served(x.docs.Find(x.o.Parked()), x.o.Indexes()[1].Name, nil)
}

// Retry returns the write that lets a document's parked events wait again, after its
// waiting events, with no attempts counted.
//
// Cost: one command, one document, by _id.
func (x *Outbox[D, K, E]) Retry(id K) model.Write { return x.o.Retry(id) }

// Drop returns the write that deletes a parked event by its token.
//
// Cost: as [Outbox.Retry].
func (x *Outbox[D, K, E]) Drop(id K, op bson.ObjectID) model.Write { return x.o.Drop(id, op) }

// RelaySpec says how a [Relay] works. All runners of a relay need the same RelaySpec.
type RelaySpec struct {
	Attempts int           // how often an event fails before it is parked; 0 means 10
	Pause    time.Duration // before an event is tried again, doubled each time; 0 means 1 s
	MaxPause time.Duration // the longest such pause; 0 means 1 minute

	Parts  int           // number of parts of the documents, divided among runners; 0 means 16
	For    time.Duration // how long a dead runner keeps its parts; 0 means 10 s
	Poll   time.Duration // how long a runner waits when nothing is due; 0 means 1 s
	Leases string        // the collection of the runners' leases; "" means docmodel.relays

	// Once ends a run when nothing is due. Failed events wait for another run.
	Once bool
}

// A Relay delivers the events of an [Outbox]. Each process that runs it is a runner.
type Relay struct{ r outbox.Relay }

// Relay returns the relay that passes each event to hand. Runners of one name divide the
// documents.
//
// One goroutine per part calls hand, with one event of a document at a time, in order.
// After RelaySpec.Attempts errors the event is parked, and the document's next event
// follows. The context ends with the runner's lease.
func (x *Outbox[D, K, E]) Relay(name string, spec RelaySpec, hand func(context.Context, Delivery[K, E]) error) Relay {
	r := outbox.Relay{Outbox: x.o, Name: name, Spec: outbox.RelaySpec(spec)}
	if hand == nil {
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
		return hand(ctx, d)
	}
	return Relay{r}
}

// Run delivers events until the context ends, and returns the context's error. With
// RelaySpec.Once it returns nil when nothing is due. Run retries after a database error,
// except with Once.
//
// Runners divide the documents by leases on parts. A new runner gets its share within a
// third of RelaySpec.For. Other runners take over a dead runner's parts after For. The
// runners' clocks must differ by much less than For. If a slow runner is taken for dead,
// an event can be delivered twice at the same time, with different fences.
//
// Cost: one read per 100 documents with events, and per Poll of a part without events;
// one write per document with delivered events, and per failure; each third of For, about
// three commands and one per part for leases.
func (r Relay) Run(ctx context.Context, db model.DB) error { return r.r.Run(ctx, db) }
