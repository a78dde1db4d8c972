// Package inbox applies events once that are delivered several times: see [Inbox].
package inbox

import (
	"reflect"

	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Spec says how many tokens an [Inbox] keeps. The zero value is valid.
type Spec struct {
	// Keep is how many tokens of handled events a document keeps. The maximum is 10,000.
	// 0 means 100. A repeat of an older event is handled again.
	Keep int
}

// A Receipt is the token of a handled event, with a digest of the event.
type Receipt struct {
	Token bson.ObjectID `bson:"t"`
	Sum   int64         `bson:"sum"`
}

// Inbox applies an event to a document once, even if an outbox.Outbox repeats the event. One
// write stores the event's effect and token. A document keeps only the newest tokens: see
// [Spec].
//
// If an event changes several documents, put [Inbox.Once] first in a transaction. Effects
// outside the database, such as a mail, can repeat.
//
// Source: the Idempotent Consumer pattern,
// https://microservices.io/patterns/communication-style/idempotent-consumer.html.
type Inbox[D, K any] struct {
	model.Parts

	docs *model.Collection[D, K]
	in   *untypedInbox
}

// New declares that documents keep event tokens in the array at path. It panics with
// a [*model.DeclarationError] if
//   - path isn't an array of [Receipt]
//   - the array is in another array or _id
//   - the array can be stored as null: tag it omitempty
//   - Spec.Keep is out of range
func New[D, K any](docs *model.Collection[D, K], path string, spec Spec) *Inbox[D, K] {
	in := declareInbox(docs.Docs(), path, spec.Keep, reflect.TypeFor[Receipt]())
	return &Inbox[D, K]{model.NewParts(nil, nil, nil, in.listFootprints).WithDocs(docs.Docs()).
		WithReactions(func() []model.Reaction { return nil }), docs, in}
}

// Handle returns the write that applies update operators to a document and stores the
// event's token. A retry with the same token and event changes nothing: see [Spec].
// A different event with the same token gives denorm.ErrToken. A missing document gives
// model.ErrNotFound.
//
// Cost: one command, one document, by _id. A retry or error costs up to three more reads.
func (x *Inbox[D, K]) Handle(id K, update bson.D, event any, token bson.ObjectID) model.Write {
	return x.in.handleEvent(id, update, event, token)
}

// Once returns the write that stores only an event's token, for an event that changes
// several documents. Put this write first in a plan for [model.Plan.RunTx]. If the event
// was handled already, the plan writes nothing and gives [ErrHandled]. Other errors: see
// [Inbox.Handle].
//
// Cost: as [Inbox.Handle].
func (x *Inbox[D, K]) Once(id K, event any, token bson.ObjectID) model.Write {
	return x.in.storeReceipt(id, event, token)
}

// Insert returns the write that stores the new document doc with the event's token. A
// [model.Store] stores no such token. A retry with the same token and event changes
// nothing, even if the document has changed since. Otherwise, a taken _id gives
// model.ErrTaken. If a different event stored this token there, the error is
// denorm.ErrToken. In the caller's transaction, a taken _id gives the driver's error.
//
// Cost: one command, one document. If the _id is taken, up to three more reads.
func (x *Inbox[D, K]) Insert(doc D, event any, token bson.ObjectID) model.Write {
	return x.in.insertDocument(&doc, event, token)
}
