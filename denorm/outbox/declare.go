// Inside package outbox: events
// wait in the documents that they are about, until a relay delivers them. The public type
// encodes bodies and _ids, and decodes each Event for the caller's function. Stores call
// makeReactions.
//
// # Stored form
//
// An order with one waiting and one parked event, in the field out:
//
//	orders {_id: 7, …, out: {
//	  events: [{id: ObjectId(…), at: ISODate(…), body: {…}, attempts: 1, after: ISODate(…), error: "…"}],
//	  parked: [{id: ObjectId(…), at: ISODate(…), body: {…}, attempts: 10, error: "…"}],
//	  hash: NumberLong(1093…),  // hashID of the _id, from 0 to 2^31-1
//	  fence: NumberLong(12),    // the greatest fence of a runner that wrote the outbox
//	}}
//
// A relay divides the hashes into parts. Its runners divide the parts by documents in a
// collection of leases (lease.go). For the relay "mail" with 16 parts:
//
//	docmodel.relays {_id: "mail/16/3", owner: ObjectId(runner), until: ISODate(…), fence: 12}
//	docmodel.relays {_id: "mail/runner/65f0…", until: ISODate(…)}
//	docmodel.relays {_id: "mail/fence", fence: 12}
//
// # Protocol of an event
//
//  1. publishEvent (or appendEvent, in a store) adds the event by the write of the document.
//     The token as id makes a repeat do nothing.
//  2. A runner takes the lease of a part (takePart), with a fence that is greater than all
//     fences before. holdLease extends it after each third of its duration.
//  3. findDue reads documents of the part with a due event, by the partial index of hash.
//  4. deliverDocument calls the caller's function for each event in order, up to the first that
//     fails. It begins no event after the deadline, which is before the lease ends.
//  5. storeOutcome removes the delivered events, and counts the failure of the failed event or
//     parks it. The update requires that the document has no greater fence, and stores its own.
//  6. giveBack ends the lease. In runLoop, this happens only if another runner should have it.
//
// # What a crash leaves
//
// The event is in the same write as the change, so none is lost. A crash between states 4
// and 5 delivers the events again: each is delivered at least once. A crashed runner's
// leases end after RelaySpec.For, and another runner takes its parts. A runner that is
// only slow can deliver late, but state 5 fails for it as soon as the new runner has
// written (errLost). The consumer can refuse such deliveries by their fence.

package outbox

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"reflect"
	"slices"
	"time"

	"github.com/docmodel/docmodel/denorm/internal/stored"
	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// An untypedOutbox is the Outbox without its Go types.
type untypedOutbox struct {
	docs *core.Docs
	path string
	spec Spec

	events, parked, hash, fence string // paths in a document
}

// declareOutbox panics with a model.DeclarationError if documents can't have such an
// outbox. field is the type of an Outgoing of events of type event.
func declareOutbox(docs *core.Docs, path string, spec Spec, field, event reflect.Type) *untypedOutbox {
	o := &untypedOutbox{
		docs: docs, path: path, spec: spec,
		events: path + ".events", parked: path + ".parked", hash: path + ".hash", fence: path + ".fence",
	}
	o.spec.Max, o.spec.MaxBytes = cmp.Or(spec.Max, 100), cmp.Or(spec.MaxBytes, 64<<10)
	f, place := docs.MustField(path), core.Place(fmt.Sprintf("outbox.New of %s.%s", docs.Name(), path))
	switch {
	case f.Arrays > 0 || f.NullParent() != "" || f.StoresNull() || !f.Untyped && f.Type != field:
		place.Fail(fmt.Sprintf("the field %q isn't an outbox.Outgoing of the events' type", path),
			"declare it as outbox.Outgoing, tagged omitempty, not in an array")
	case core.Overlap(path, "_id"):
		place.Fail("the outbox is in the _id, which can't change", "name another field")
	case !stored.IsDocumentType(event):
		place.Fail(fmt.Sprintf("events are of type %s, which isn't stored as a document", event),
			"wrap each event in a struct")
	case o.spec.Max < 1 || o.spec.Max > 10_000:
		place.Fail(fmt.Sprintf("Max is %d", spec.Max),
			"give 1 to 10,000, the number of events that may wait in a document")
	case o.spec.MaxBytes < 1 || o.spec.MaxBytes > stored.MaxBytes:
		place.Fail(fmt.Sprintf("MaxBytes is %d", spec.MaxBytes), "give at most 15 MiB")
	}
	return o
}

// listFootprints returns the paths that are used.
func (o *untypedOutbox) listFootprints() []model.Footprint {
	name := o.docs.Name()
	return slices.Concat(model.Owns.In(name, o.path), o.listCreated())
}

// listCreated returns the footprint of a Publish that creates missing documents.
func (o *untypedOutbox) listCreated() []model.Footprint {
	if o.spec.Create {
		return model.Writes.In(o.docs.Name(), model.Whole)
	}
	return nil
}

// matchWaiting is the condition that events wait in a document. It is also the filter of
// the partial index, so that queries with it can use the index.
func (o *untypedOutbox) matchWaiting() bson.E { return mql.E(o.events+".id", mql.Exists(true)) }

// listIndexes returns the partial indexes of the documents with waiting events, and with
// parked events.
func (o *untypedOutbox) listIndexes() []model.Index {
	name := o.docs.Name()
	due := commands.MakeIndex(name, "the documents with waiting events, by the hash of their _id", mql.E(o.hash, 1))
	due.Partial = bson.D{o.matchWaiting()}
	due.Name += "_waiting"
	parked := commands.MakeIndex(name, "the documents with parked events", mql.E(o.parked+".id", 1))
	parked.Partial = bson.D{mql.E(o.parked+".id", mql.Exists(true))}
	return []model.Index{due, parked}
}

// An untypedEvent is an event as it waits. After is the time of the next attempt.
type untypedEvent struct {
	ID       bson.ObjectID `bson:"id"`
	At       time.Time     `bson:"at"`
	Body     bson.RawValue `bson:"body"`
	Attempts int           `bson:"attempts,omitempty"`
	After    time.Time     `bson:"after,omitempty"`
	Error    string        `bson:"error,omitempty"`
}

// encodeEvent checks and encodes an event.
func (o *untypedOutbox) encodeEvent(body any, at time.Time, op bson.ObjectID) (bson.D, error) {
	switch year := at.UTC().Year(); {
	case op.IsZero():
		return nil, o.docs.Refuse(o.events+".id", nil, commands.NoToken)
	case at.IsZero() || year < 0 || year > 9999:
		return nil, o.docs.Refuse(o.events+".at", at, "the event needs a non-zero time in the years 0 to 9999")
	}
	raw, err := o.docs.AsStored().Part(o.events+".body", body)
	if err != nil {
		return nil, err
	}
	if n := len(raw.Value); n > o.spec.MaxBytes {
		return nil,
			o.docs.Refuse(o.events+".body", nil,
				fmt.Sprintf("has %d bytes, but outbox.Spec.MaxBytes is %d", n, o.spec.MaxBytes))
	}
	return bson.D{mql.E("id", op), mql.E("at", bson.NewDateTimeFromTime(at)), mql.E("body", raw)}, nil
}

// hashID divides documents among the runners of a relay. It is from 0 to 2^31-1, and must
// never change, because it is stored.
func hashID(id bson.RawValue) int64 {
	h := fnv.New32a()
	_, _ = h.Write([]byte{byte(id.Type)})
	_, _ = h.Write(id.Value)
	n := h.Sum32()
	n ^= n >> 15 // what follows are the last steps of MurmurHash3: neighbours come far apart
	n *= 0x85ebca6b
	n ^= n >> 13
	n *= 0xc2b2ae35
	n ^= n >> 16
	return int64(n >> 1)
}
