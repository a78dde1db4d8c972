package checks

import (
	"context"

	"github.com/docmodel/docmodel/denorm"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

type (
	shipment struct {
		ID      string                      `bson:"_id"`
		State   string                      `bson:"state"`
		Box     denorm.Outgoing[stateEvent] `bson:"box,omitempty"`
		Handled []denorm.Receipt            `bson:"handled,omitempty"`
	}
	stateEvent struct {
		State string `bson:"state"`
	}
)

var (
	shipments   = model.NewCollection[shipment, string]("shipments")
	shipmentBox = denorm.NewOutbox[stateEvent](shipments, "box", denorm.OutboxSpec{Max: 3, MaxBytes: 4 << 20})
	keyedBox    = denorm.NewOutbox[stateEvent](shipments, "box", denorm.OutboxSpec{Create: true, MaxBytes: 4 << 20})
	shipmentIn  = denorm.NewInbox(shipments, "handled", denorm.InboxSpec{Keep: 3})
	shipRelay   = shipmentBox.Relay("mail", denorm.RelaySpec{Once: true},
		func(context.Context, denorm.Delivery[string, stateEvent]) error { return nil })
)

func init() {
	register(outboxCases()...)
	register(inboxCases()...)
}

func outboxCases() []Case {
	one := func(method, reason string, call func(s string) any) Case {
		return Case{Method: "denorm.Outbox." + method, Reason: reason, Make: call}
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
		return Case{Method: "denorm.Inbox." + method, Reason: reason, Make: call}
	}
	event := func(s string) any { return &stateEvent{s} }
	return []Case{
		{Method: "denorm.Inbox.Handle", Reason: "the effect and the token", From: func(s string) ([]any, func() any) {
			u, v := roomy(bson.D{{Key: "$set", Value: roomy(bson.D{{Key: "state", Value: s}})}}), event(s)
			return []any{u, v}, func() any { return shipmentIn.Handle(s, u, v, oid(1)) }
		}},
		{Method: "denorm.Inbox.Handle", Reason: "without an effect is refused", From: func(s string) ([]any, func() any) {
			v := event(s)
			return []any{v}, func() any { return shipmentIn.Handle(s, nil, v, oid(1)) }
		}},
		{Method: "denorm.Inbox.Once", Reason: "the token alone", From: func(s string) ([]any, func() any) {
			v := event(s)
			return []any{v}, func() any { return shipmentIn.Once(s, v, oid(1)) }
		}},
		{Method: "denorm.Inbox.Insert", Reason: "a document and the token", From: func(s string) ([]any, func() any) {
			v := event(s)
			return []any{v}, func() any { return shipmentIn.Insert(shipment{ID: s, State: s}, v, oid(1)) }
		}},
		one("Indexes", "documents are found by _id", func(string) any { return shipmentIn.Indexes() }),
	}
}
