package checks

import (
	"context"

	"github.com/docmodel/docmodel/denorm/inbox"
	"github.com/docmodel/docmodel/denorm/outbox"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

type (
	shipment struct {
		ID      string                      `bson:"_id"`
		State   string                      `bson:"state"`
		Box     outbox.Outgoing[stateEvent] `bson:"box,omitempty"`
		Handled []inbox.Receipt             `bson:"handled,omitempty"`
	}
	stateEvent struct {
		State string `bson:"state"`
	}
)

var (
	shipments   = model.NewCollection[shipment, string]("shipments")
	shipmentBox = outbox.New[stateEvent](shipments, "box", outbox.Spec{Max: 3, MaxBytes: 4 << 20})
	keyedBox    = outbox.New[stateEvent](shipments, "box", outbox.Spec{Create: true, MaxBytes: 4 << 20})
	shipmentIn  = inbox.New(shipments, "handled", inbox.Spec{Keep: 3})
	shipRelay   = shipmentBox.Relay("mail", outbox.RelaySpec{Once: true},
		func(context.Context, outbox.Delivery[string, stateEvent]) error { return nil })
)

func init() {
	register(outboxCases()...)
	register(inboxCases()...)
}

func outboxCases() []Case {
	one := func(method, reason string, call func(s string) any) Case {
		return Case{Method: "outbox.Outbox." + method, Reason: reason, Make: call}
	}
	return []Case{
		one("Publish", "an event", func(s string) any { return shipmentBox.Publish(s, stateEvent{s}, noon(0), oid(1)) }),
		one("Publish", "to a key that may not be there", func(s string) any {
			return keyedBox.Publish(s, stateEvent{s}, noon(0), oid(1))
		}),
		one("Publish", "without a token is refused", func(s string) any {
			return keyedBox.Publish(s, stateEvent{s}, noon(0), bson.NilObjectID)
		}),
		one("Depth", "of all", func(string) any { return shipmentBox.Depth() }),
		one("Parked", "all", func(string) any { return shipmentBox.Parked() }),
		one("Retry", "of a shipment", func(s string) any { return shipmentBox.Retry(s) }),
		one("Drop", "one event", func(s string) any { return shipmentBox.Drop(s, oid(1)) }),
		one("Indexes", "what waits, and what is parked", func(string) any { return shipmentBox.Indexes() }),
	}
}

func inboxCases() []Case {
	one := func(method, reason string, call func(s string) any) Case {
		return Case{Method: "inbox.Inbox." + method, Reason: reason, Make: call}
	}
	event := func(s string) any { return &stateEvent{s} }
	return []Case{
		{Method: "inbox.Inbox.Handle", Reason: "the effect and the token", From: func(s string) ([]any, func() any) {
			u, v := roomy(bson.D{{Key: "$set", Value: roomy(bson.D{{Key: "state", Value: s}})}}), event(s)
			return []any{u, v}, func() any { return shipmentIn.Handle(s, u, v, oid(1)) }
		}},
		{Method: "inbox.Inbox.Handle", Reason: "without an effect is refused", From: func(s string) ([]any, func() any) {
			v := event(s)
			return []any{v}, func() any { return shipmentIn.Handle(s, nil, v, oid(1)) }
		}},
		{Method: "inbox.Inbox.Once", Reason: "the token alone", From: func(s string) ([]any, func() any) {
			v := event(s)
			return []any{v}, func() any { return shipmentIn.Once(s, v, oid(1)) }
		}},
		{Method: "inbox.Inbox.Insert", Reason: "a document and the token", From: func(s string) ([]any, func() any) {
			v := event(s)
			return []any{v}, func() any { return shipmentIn.Insert(shipment{ID: s, State: s}, v, oid(1)) }
		}},
		one("Indexes", "documents are found by _id", func(string) any { return shipmentIn.Indexes() }),
	}
}
