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

// OutboxSpec says what an [Outbox] holds. The zero value is valid.
type OutboxSpec struct {
	Max      int // how many events wait in one document at most; 0 means 100, at most 10,000
	MaxBytes int // the BSON size of one event at most; 0 means 64 KiB, at most 15 MiB

	// Create has [Outbox.Publish] create a document that doesn't exist, with its _id and
	// its events alone: for an outbox in a collection of its own, whose documents are the
	// keys that events are ordered by. Publish belongs into the transaction of the change
	// that the event tells then.
	Create bool
}

// Outgoing is the field of a document in which its events wait. Tag it omitempty.
type Outgoing[E any] struct {
	Events []OutgoingEvent[E] `bson:"events,omitempty"` // in the order in which they were published
	Parked []OutgoingEvent[E] `bson:"parked,omitempty"` // failed RelaySpec.Attempts times
	Hash   int64              `bson:"hash,omitempty"`   // of the _id: it divides documents among runners
	Fence  int64              `bson:"fence,omitempty"`  // of the runner that wrote last
}

// An OutgoingEvent is an event that waits.
type OutgoingEvent[E any] struct {
	ID       bson.ObjectID `bson:"id"` // the token that it was published with
	At       time.Time     `bson:"at"`
	Body     E             `bson:"body"`
	Attempts int           `bson:"attempts,omitempty"` // how often it failed
	After    time.Time     `bson:"after,omitempty"`    // when it is tried again
	Error    string        `bson:"error,omitempty"`    // why it failed last, in at most 500 bytes
}

// A Delivery is an event as a relay hands it on.
type Delivery[K, E any] struct {
	OutgoingEvent[E]

	Key K // the _id of the document that the event waits in: events of one key are in order

	// Fence grows when another runner takes over. A receiver that remembers the greatest
	// fence of a key can refuse what a runner hands on that was taken for dead.
	Fence int64
}

// OutboxDepth is how much waits in all documents.
type OutboxDepth struct {
	Documents int64     `bson:"documents"`
	Waiting   int64     `bson:"waiting"`
	Failing   int64     `bson:"failing"` // of the waiting events, those that failed once or more
	Parked    int64     `bson:"parked"`
	Oldest    time.Time `bson:"oldest"` // when the oldest waiting event was published; zero without one
}

// Outbox stores an event in the document whose change it tells, by the same write, and a
// [Relay] hands it on. So no event is lost, and none is sent of a change that didn't
// happen, without a transaction over the database and the message broker. Make it with
// [NewOutbox].
//
// There are two ways to store an event:
//
//   - In the document that changes: [model.Merge] makes one write of the change and of
//     [Outbox.Publish], and [Outbox.Outgoing] is the field of a new document. It needs no
//     transaction.
//   - In a collection of its own (OutboxSpec.Create), whose documents are keys: Publish and
//     the change are one transaction ([model.MergePlans], [model.InTx]). This is for
//     changes of many documents, and for documents that are deleted.
//
// An event is handed on at least once: a runner that dies between handing it on and taking
// it out leaves it to the next runner. Its token (OutgoingEvent.ID) is the same each time,
// so that a receiver can tell: see [Inbox]. Events of one document are handed on in the
// order in which they were published; an event that fails holds up those behind it until
// it succeeds or is parked. Events of different documents have no order.
//
// Publish that is run again with the same token does nothing while the event waits. After
// the event was handed on, it is published again. Merge it with a write that knows its
// token for longer, such as embed.Versioned.Guarded with Tokens: then the event is
// published once.
//
// A document that is deleted takes its events along. A scope that hides a document hides
// its events from a relay that runs under the scope: run relays on the database without
// [model.Scope].Delete.
//
// Other writers must not replace documents whole: name the path in
// embed.VersionedSpec.Uncounted, and the outbox is spared.
//
// Source: the Transactional Outbox pattern,
// https://microservices.io/patterns/data/transactional-outbox.html.
//
// Indexes returns two partial indexes, of documents in which events wait and of those in
// which events are parked. Both are all but empty.
type Outbox[D, K, E any] struct {
	model.Parts

	docs *model.Collection[D, K]
	o    *outbox.Outbox
}

// NewOutbox declares that events of type E wait in documents, at the path of an
// [Outgoing] field. It panics with a [*model.DeclarationError] when there is no such field,
// it lies in an array or isn't tagged omitempty, or E isn't stored as a document.
func NewOutbox[E, D, K any](docs *model.Collection[D, K], path string, spec OutboxSpec) *Outbox[D, K, E] {
	o := outbox.Declare(docs.Docs(), path, outbox.Spec{
		Max: spec.Max, MaxBytes: spec.MaxBytes, Create: spec.Create, Type: reflect.TypeFor[Outgoing[E]](), Event: reflect.TypeFor[E](),
	})
	return &Outbox[D, K, E]{model.NewParts(o.Indexes, nil, nil, o.Footprints), docs, o}
}

// Publish returns the write that adds an event to a document. op is the event's token, a
// fresh bson.NewObjectID(), or the token of the operation that the event tells. No such
// document is model.ErrNotFound, unless the spec says Create. A document in which
// OutboxSpec.Max events wait gives a model.ErrFull. A token that another event has there
// gives [ErrToken]. An event over OutboxSpec.MaxBytes is refused.
//
// Cost: one command, one document, by _id; none when it is merged with another write of
// the document.
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

// Depth returns the query of how much waits: one result, and none if nothing waits or is
// parked. The lag is the time since Oldest.
//
// Cost: one command, served by the partial indexes; it reads each document in which
// something waits.
func (x *Outbox[D, K, E]) Depth() *model.Aggregate[OutboxDepth] {
	return model.AggregateAs[OutboxDepth](x.docs, x.o.Depth())
}

// Parked returns the query of the documents in which events are parked.
//
// Cost: one command, served by a partial index.
func (x *Outbox[D, K, E]) Parked() *model.Find[D] {
	return commands.Served(x.docs.Find(x.o.Parked()), x.o.Indexes()[1].Name, nil)
}

// Retry returns the write that lets the parked events of a document wait again, behind
// those that wait, as if they had never failed. A document without parked events is left
// as it is.
//
// Cost: one command, one document, by _id.
func (x *Outbox[D, K, E]) Retry(id K) model.Write { return x.o.Retry(id) }

// Drop returns the write that deletes a parked event, by its token. An event that isn't
// parked is left as it is.
//
// Cost: as [Outbox.Retry].
func (x *Outbox[D, K, E]) Drop(id K, op bson.ObjectID) model.Write { return x.o.Drop(id, op) }

// RelaySpec says how a [Relay] works. Every runner of a relay must be given the same.
type RelaySpec struct {
	Attempts int           // how often an event fails before it is parked; 0 means 10
	Pause    time.Duration // before an event is tried again, doubled each time; 0 means 1 s
	MaxPause time.Duration // the longest such pause; 0 means 1 minute

	Parts  int           // into how many parts the documents are divided among runners; 0 means 16
	For    time.Duration // how long a dead runner keeps its parts; 0 means 10 s
	Poll   time.Duration // how long a runner waits when nothing is due; 0 means 1 s
	Leases string        // the collection of the runners' leases; "" means docmodel.relays

	// Once ends a run when nothing is due. Events that failed wait for another run.
	Once bool
}

// A Relay hands on the events of an [Outbox]. Run it in as many processes as there should
// be runners.
type Relay struct{ r outbox.Relay }

// Relay returns the relay that hands each event to a function. Runners of the same name
// divide the documents among them.
//
// hand is called with one event of a document at a time, in the order of the document's
// events, and by one goroutine for each part that the runner has. An error counts as an
// attempt; after RelaySpec.Attempts the event is parked, and the next event of the
// document's follows. The context ends with the runner's lease.
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

// Run hands events on until the context ends, and returns the context's error; with
// RelaySpec.Once it returns nil when nothing is due. Other errors of the database are
// tried again, but for a run with Once.
//
// Runners divide the documents by leases on parts. A runner that joins gets its share
// within a third of RelaySpec.For, and the parts of a runner that dies are taken over For
// after its last sign of life. The runners' clocks must agree to a part of For. What a
// runner was handing on when it was taken for dead can be handed on twice at the same
// time, with different fences. Its writes are refused from then on.
//
// Cost: a read for each hundred documents with events, and for each part and Poll without;
// one write for each document whose events were handed on, and one for each failure; for
// the leases, some three commands and one for each part, for each third of For.
func (r Relay) Run(ctx context.Context, db model.DB) error { return r.r.Run(ctx, db) }
