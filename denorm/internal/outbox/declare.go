// Package outbox is the core of denorm.Outbox: events that wait in the documents whose change they tell.
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

// An Outbox is a denorm.Outbox without its types.
type Outbox struct {
	docs *core.Docs
	path string
	spec Spec

	events, parked, hash, fence string // paths in a document
}

// A Spec is a denorm.OutboxSpec.
type Spec struct {
	Max      int
	MaxBytes int
	Create   bool

	Type, Event reflect.Type // of the field, and of the events
}

// Declare declares that documents have an outbox. It panics with a *model.DeclarationError when they can't.
func Declare(docs *core.Docs, path string, spec Spec) *Outbox {
	o := &Outbox{
		docs: docs, path: path, spec: spec,
		events: path + ".events", parked: path + ".parked", hash: path + ".hash", fence: path + ".fence",
	}
	o.spec.Max, o.spec.MaxBytes = cmp.Or(spec.Max, 100), cmp.Or(spec.MaxBytes, 64<<10)
	f, place := docs.MustField(path), core.Place(fmt.Sprintf("NewOutbox of %s.%s", docs.Name(), path))
	switch {
	case f.Arrays > 0 || f.NullParent() != "" || f.StoresNull() || !f.Open && f.Type != spec.Type:
		place.Fail(fmt.Sprintf("the field %q isn't a denorm.Outgoing of the events' type", path), "declare it as denorm.Outgoing, tagged omitempty, not in an array")
	case core.Overlap(path, "_id"):
		place.Fail("the outbox is in the _id, which can't change", "name another field")
	case !stored.IsDocumentType(spec.Event):
		place.Fail(fmt.Sprintf("events are of type %s, which isn't stored as a document", spec.Event), "wrap each event in a struct")
	case o.spec.Max < 1 || o.spec.Max > 10_000:
		place.Fail(fmt.Sprintf("Max is %d", spec.Max), "give 1 to 10,000, the number of events that may wait in a document")
	case o.spec.MaxBytes < 1 || o.spec.MaxBytes > stored.MaxBytes:
		place.Fail(fmt.Sprintf("MaxBytes is %d", spec.MaxBytes), "give at most 15 MiB")
	}
	return o
}

// Footprints are the paths that are used.
func (o *Outbox) Footprints() []model.Footprint {
	name := o.docs.Name()
	return slices.Concat(model.Owns.In(name, o.path), o.created())
}

func (o *Outbox) created() []model.Footprint {
	if o.spec.Create {
		return model.Writes.In(o.docs.Name(), model.Whole)
	}
	return nil
}

// waiting is the condition that events wait in a document.
func (o *Outbox) waiting() bson.E { return mql.E(o.events+".id", mql.Exists(true)) }

// Indexes find documents in which events wait, or are parked.
func (o *Outbox) Indexes() []model.Index {
	name := o.docs.Name()
	due := commands.Index(name, "the documents with waiting events, by the hash of their _id", mql.E(o.hash, 1))
	due.Partial = bson.D{o.waiting()}
	due.Name += "_waiting"
	parked := commands.Index(name, "the documents with parked events", mql.E(o.parked+".id", 1))
	parked.Partial = bson.D{mql.E(o.parked+".id", mql.Exists(true))}
	return []model.Index{due, parked}
}

// An Event is an event as it waits.
type Event struct {
	ID       bson.ObjectID `bson:"id"`
	At       time.Time     `bson:"at"`
	Body     bson.RawValue `bson:"body"`
	Attempts int           `bson:"attempts,omitempty"`
	After    time.Time     `bson:"after,omitempty"`
	Error    string        `bson:"error,omitempty"`
}

// event checks and encodes an event.
func (o *Outbox) event(body any, at time.Time, op bson.ObjectID) (bson.D, error) {
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
		return nil, o.docs.Refuse(o.events+".body", nil, fmt.Sprintf("has %d bytes, but OutboxSpec.MaxBytes is %d", n, o.spec.MaxBytes))
	}
	return bson.D{mql.E("id", op), mql.E("at", bson.NewDateTimeFromTime(at)), mql.E("body", raw)}, nil
}

// hashOf divides documents among the runners of a relay. It is from 0 to 2^31-1, and never changes.
func hashOf(id bson.RawValue) int64 {
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
