package denorm

import (
	"reflect"

	"github.com/docmodel/docmodel/denorm/internal/inbox"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// InboxSpec says what an [Inbox] keeps. The zero value is valid.
type InboxSpec struct {
	// Keep is how many tokens a document keeps: more than the events of one document that
	// can come between an event and its last repetition. 0 means 100, at most 10,000. A
	// token takes some 40 bytes.
	Keep int
}

// A Receipt is a token that a document has handled, with a digest of its event.
type Receipt struct {
	Token bson.ObjectID `bson:"t"`
	Sum   int64         `bson:"sum"`
}

// Inbox has a document handle each event once, however often it is delivered: the effect
// and the event's token are stored by one write. Make it with [NewInbox].
//
// It is the receiver of what an [Outbox] hands on at least once. What happens outside of
// the document (a mail, a call of another service) isn't made once by it. An effect on
// several documents is made once in a transaction that begins with [Inbox.Once].
//
// A token is recognized while it is among the last InboxSpec.Keep of its document. An event
// that is repeated after so many others is handled again.
//
// Source: the Idempotent Consumer pattern,
// https://microservices.io/patterns/communication-style/idempotent-consumer.html.
type Inbox[D, K any] struct {
	model.Parts

	docs *model.Collection[D, K]
	in   *inbox.Inbox
}

// NewInbox declares that documents keep the tokens of events that they have handled, in an
// array of [Receipt] at a path. It panics with a [*model.DeclarationError] when there is no
// such array, it lies in another array, or its nil slice is stored as null.
func NewInbox[D, K any](docs *model.Collection[D, K], path string, spec InboxSpec) *Inbox[D, K] {
	in := inbox.Declare(docs.Docs(), path, spec.Keep, reflect.TypeFor[Receipt]())
	return &Inbox[D, K]{model.NewParts(nil, nil, nil, in.Footprints), docs, in}
}

// Handle returns the write that applies update operators to a document and keeps the
// event's token. event is what the token stands for, any value that BSON stores.
//
// Run again, it counts as applied before. The same token with another event gives
// [ErrToken], and nothing is written. No such document is model.ErrNotFound: see
// [Inbox.Insert].
//
// Cost: one command, one document, by _id; up to three reads more when nothing matched.
func (x *Inbox[D, K]) Handle(id K, update bson.D, event any, op bson.ObjectID) model.Write {
	return x.in.Handle(id, update, event, op)
}

// Once returns the write that keeps an event's token and does nothing else. Put it before
// the writes of the event's effect in a plan, and run that by model.Plan.RunTx: if the
// token was kept before, the plan ends with [ErrHandled], and the transaction is taken
// back. Other errors are those of [Inbox.Handle].
//
// Cost: as Handle.
func (x *Inbox[D, K]) Once(id K, event any, op bson.ObjectID) model.Write {
	return x.in.Once(id, event, op)
}

// Insert returns the write that stores a new document, which is the event's effect, and
// keeps its token. Run again, it counts as applied before. Another document under the _id
// gives a model.ErrTaken, and the same token with another event [ErrToken].
//
// Cost: one command, one document.
func (x *Inbox[D, K]) Insert(doc D, event any, op bson.ObjectID) model.Write {
	return x.in.Insert(&doc, event, op)
}
