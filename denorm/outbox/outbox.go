// Package outbox stores events with a change, and delivers them at least once: see [Outbox] and [Relay].
package outbox

import (
	"context"
	"reflect"
	"time"

	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Spec contains the options of an [Outbox]. The zero value is valid.
type Spec struct {
	Max      int // maximum number of a document's waiting events, up to 10,000; 0 means 100
	MaxBytes int // maximum BSON size of an event, up to 15 MiB; 0 means 64 KiB

	// Create lets [Outbox.Publish] create a missing document from its _id and events.
	Create bool
}

// Outgoing is the type of the field that stores a document's [Outbox] events. Tag the
// field omitempty.
type Outgoing[E any] struct {
	Events []Event[E] `bson:"events,omitempty"` // waiting events, in the order of publishing
	Parked []Event[E] `bson:"parked,omitempty"` // events set aside after failures: see [Outbox.Retry]
	Hash   int64      `bson:"hash,omitempty"`   // hash of the _id; it assigns the document to a runner
	Fence  int64      `bson:"fence,omitempty"`  // the document's greatest [Delivery].Fence so far
}

// An Event is an event that waits for delivery, or that is parked: set aside
// after RelaySpec.Attempts failures.
type Event[E any] struct {
	ID       bson.ObjectID `bson:"id"` // the token given to [Outbox.Publish]
	At       time.Time     `bson:"at"`
	Body     E             `bson:"body"`
	Attempts int           `bson:"attempts,omitempty"` // number of failed deliveries
	After    time.Time     `bson:"after,omitempty"`    // time of the next attempt
	Error    string        `bson:"error,omitempty"`    // error of the last failure, cut after 500 bytes
}

// A Delivery is the event that [Outbox.Relay] passes to the function deliver.
type Delivery[K, E any] struct {
	Event[E]

	Key K // the _id of the event's document

	// Fence grows when another process takes over the document. To refuse late events of
	// the old process, store the greatest Fence of each Key, and refuse events with a
	// lower Fence.
	Fence int64
}

// Depth counts the events of all documents of an [Outbox].
type Depth struct {
	Documents int64     `bson:"documents"` // documents with events
	Waiting   int64     `bson:"waiting"`   // events that wait for delivery
	Failing   int64     `bson:"failing"`   // waiting events that failed at least once
	Parked    int64     `bson:"parked"`    // events set aside after RelaySpec.Attempts failures
	Oldest    time.Time `bson:"oldest"`    // time of the oldest waiting event, or zero
}

// Outbox stores an event together with a change, atomically. A [Relay] delivers the
// event.
//
// Usually, the changed document stores the event. Combine the change and [Outbox.Publish]
// by [model.Merge]. In a new document, store the result of [Outbox.Outgoing].
//
// For a deletion, or a change of many documents, use an Outbox in a separate collection.
// Set Spec.Create. Run Publish and the change in one transaction. Without
// transactions, run Publish first. While the change isn't stored, the function deliver
// returns an error, and the event waits. If the change never comes, the event is parked.
// Documents that Publish creates stay after the delivery. Delete such a
// document when no event waits in it.
//
// # Consistency
//
// Each event is delivered at least once. An inbox.Inbox recognizes repeats.
//
// A document's events are delivered in order. After RelaySpec.Attempts failures, an event
// is parked (set aside).
//
// The events are lost if the document is deleted, or replaced without its [Outgoing]. A
// [model.Store] keeps events in a replacement, and refuses to delete a document with
// events: model.ErrStale. [Outbox.PublishChanges] publishes an event in each write of the
// store.
//
// Under a [model.Scope], the events of hidden documents wait.
//
// Source: https://microservices.io/patterns/data/transactional-outbox.html.
//
// # Indexes
//
// Indexes returns two partial indexes, for waiting and for parked events.
type Outbox[D, K, E any] struct {
	model.Parts

	docs *model.Collection[D, K]
	o    *untypedOutbox
}

// New declares that events of type E wait in the field at path. New panics
// with a [*model.DeclarationError] if
//   - the field isn't an [Outgoing], can be null, or is in an array or the _id
//   - E isn't stored as a document
//   - a field of spec is invalid
func New[E, D, K any](docs *model.Collection[D, K], path string, spec Spec) *Outbox[D, K, E] {
	o := declareOutbox(docs.Docs(), path, spec, reflect.TypeFor[Outgoing[E]](), reflect.TypeFor[E]())
	return newOutbox[E](docs, o, nil)
}

func newOutbox[E, D, K any](
	docs *model.Collection[D, K], o *untypedOutbox, makeEvent eventMaker,
) *Outbox[D, K, E] {
	return &Outbox[D, K, E]{model.NewParts(o.listIndexes, nil, nil, o.listFootprints).WithDocs(docs.Docs()).
		WithReactions(func() []model.Reaction { return o.makeReactions(makeEvent) }), docs, o}
}

// PublishChanges returns the outbox for a model in which each write of a [model.Store]
// publishes its event. Pass it to [model.New] instead of the receiver. before is nil for
// an insert, after for a deletion. If publish is false, there is no event. The event's ID
// is the action's token, or follows it, and its time is the token's. The function event
// must be pure.
//
// A deletion's event, which the document can't keep, gives a [*model.ValueError].
func (x *Outbox[D, K, E]) PublishChanges(event func(before, after *D) (body E, publish bool)) *Outbox[D, K, E] {
	if event == nil {
		core.Place("Outbox.PublishChanges of "+x.docs.Name()).
			Fail("event is nil", "give a function that makes the events")
	}
	decode := func(raw bson.Raw) (*D, error) {
		if raw == nil {
			return nil, nil
		}
		doc := new(D)
		return doc, x.docs.Docs().Decode(raw, doc)
	}
	makeEvent := func(before, after bson.Raw) (any, bool, error) {
		was, err := decode(before)
		if err != nil {
			return nil, false, err
		}
		now, err := decode(after)
		if err != nil {
			return nil, false, err
		}
		body, publish := event(was, now)
		return body, publish, nil
	}
	return newOutbox[E](x.docs, x.o, makeEvent)
}

// Publish returns the write that adds an event of time t to a document, also if nothing
// else changes in it. As token, pass a new bson.NewObjectID(). Before the delivery, a
// retry with this token does nothing. After the delivery, a retry publishes the event
// again. A retry can have another t: the stored time stays.
//
// Errors:
//   - model.ErrNotFound: the document is missing (see Spec.Create)
//   - model.ErrFull: Spec.Max events wait
//   - denorm.ErrToken: another event in the document has the token
//
// Cost: one command, one document, by _id. A retry or error costs up to five more reads.
func (x *Outbox[D, K, E]) Publish(id K, event E, t time.Time, token bson.ObjectID) model.Write {
	return x.o.publishEvent(id, event, t, token)
}

// Outgoing returns an [Outgoing] value with one event, for a new document. Pass the new
// document's _id as id. For event, t and token, see [Outbox.Publish].
func (x *Outbox[D, K, E]) Outgoing(id K, event E, t time.Time, token bson.ObjectID) (out Outgoing[E], err error) {
	raw, err := x.o.makeOutgoing(id, event, t, token)
	if err == nil {
		err = x.docs.Docs().AsStored().Decode(raw, &out)
	}
	return out, err
}

// Depth returns the query that counts waiting events and parked events (set aside after
// failures). Without events, the query has no result.
//
// Cost: one command, served by the partial indexes; it reads each document with events.
func (x *Outbox[D, K, E]) Depth() *model.Aggregate[Depth] {
	return model.AggregateAs[Depth](x.docs, x.o.countEvents())
}

// Parked returns the query of the documents with parked events. An event is parked after
// RelaySpec.Attempts failures.
//
// Cost: one command for each batch, served by a partial index.
func (x *Outbox[D, K, E]) Parked() *model.Find[D] {
	return commands.ServeFind(x.docs.Find(x.o.matchParked()), x.o.listIndexes()[1].Name, nil)
}

// Retry returns the write that moves a document's parked events ([Outbox.Parked]) behind
// its waiting events. For each moved event, [Event].Attempts becomes 0.
//
// Cost: one command, one document, by _id.
func (x *Outbox[D, K, E]) Retry(id K) model.Write { return x.o.retryParked(id) }

// Drop returns the write that deletes a document's parked event ([Outbox.Parked]) with
// this token. Without such an event it does nothing.
//
// Cost: as [Outbox.Retry].
func (x *Outbox[D, K, E]) Drop(id K, token bson.ObjectID) model.Write {
	return x.o.dropParked(id, token)
}

// RelaySpec configures a [Relay]. All runners (processes that run the Relay) need the
// same RelaySpec.
type RelaySpec struct {
	Attempts int           // failures before an event is set aside; 0 means 10
	Pause    time.Duration // pause after the first failure, doubled each time; 0 means 1 s
	MaxPause time.Duration // longest pause after a failure; 0 means 1 minute

	Parts  int           // number of document groups that runners share; 0 means 16
	For    time.Duration // time until others take a dead runner's documents; 0 means 10 s
	Poll   time.Duration // pause when no event is due; 0 means 1 s
	Leases string        // collection of the runners' leases; "" means docmodel.relays

	// Once ends [Relay.Run] when no event is due.
	Once bool
}

// A Relay delivers the events of an [Outbox]. Each process that runs it is a runner.
type Relay struct{ r untypedRelay }

// Relay returns the [Relay] that calls deliver for each event, in several goroutines. If
// deliver returns an error, the event is tried again later. Processes that run Relays
// with the same name divide the documents by leases. A process extends its leases while
// deliver runs, so deliver can last longer than RelaySpec.For. If the process loses the
// lease, deliver's context ends. A delivery that fails after that isn't counted in
// Event.Attempts.
func (x *Outbox[D, K, E]) Relay(
	name string, spec RelaySpec, deliver func(context.Context, Delivery[K, E]) error,
) Relay {
	r := untypedRelay{Outbox: x.o, Name: name, Spec: spec}
	if deliver == nil {
		return Relay{r}
	}
	docs := x.docs.Docs().AsStored()
	r.Hand = func(ctx context.Context, id bson.RawValue, e untypedEvent, fence int64) error {
		d := Delivery[K, E]{
			Fence: fence,
			Event: Event[E]{ID: e.ID, At: e.At, Attempts: e.Attempts, After: e.After, Error: e.Error},
		}
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

// Run delivers events until the context ends, and returns the context's error. After a
// database error, Run tries again. An invalid Relay gives a [*model.ValueError].
//
// If a [model.Scope] sets a time, don't let Run run for long. Call it with RelaySpec.Once
// in a loop, each time with a new Scope.
//
// With RelaySpec.Once, Run returns nil when no event is due, and a database error ends
// Run. Document groups (RelaySpec.Parts) that another runner has are skipped.
//
// The runners' clocks must differ by much less than RelaySpec.For. If a runner is slow,
// another can deliver the same event, with a greater Delivery.Fence.
//
// Cost: one read per 100 documents with events, and one write per document with delivered
// or failed events. A group without events costs one read every RelaySpec.Poll. The
// leases of n groups cost about 3 + n commands every RelaySpec.For/3. With
// RelaySpec.Once, a run costs one read if no event is due. Each group with due events
// costs seven more commands.
func (r Relay) Run(ctx context.Context, db model.DB) error { return r.r.run(ctx, db) }
