package outbox_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/docmodel/docmodel/denorm/outbox"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// A parcel tells other services when its state changes.
type (
	parcel struct {
		ID     string                       `bson:"_id"`
		State  string                       `bson:"state"`
		Outbox outbox.Outgoing[parcelEvent] `bson:"outbox,omitempty"`
	}
	parcelEvent struct {
		State string `bson:"state"`
	}
)

var (
	parcels = model.NewCollection[parcel, string]("parcels")
	tells   = outbox.New[parcelEvent](parcels, "outbox", outbox.Spec{})
)

// A parcel's state and the event of its change are one write. A relay hands the event on.
func ExampleOutbox() {
	client, stop := mongotest.Start()
	defer stop()
	ctx, db := context.Background(), client.Database("post")
	noon := time.Date(2014, 3, 28, 12, 0, 0, 0, time.UTC)

	first, err := tells.Outgoing("p1", parcelEvent{"sent"}, noon, bson.NewObjectID())
	if err != nil {
		fmt.Println(err)
	}
	if _, err := parcels.Insert(parcel{ID: "p1", State: "sent", Outbox: first}).Run(ctx, db); err != nil {
		fmt.Println(err)
	}
	for _, state := range []string{"lost", "found"} {
		change := model.Merge(
			parcels.Update("p1", bson.D{{Key: "$set", Value: bson.D{{Key: "state", Value: state}}}}),
			tells.Publish("p1", parcelEvent{state}, noon, bson.NewObjectID()),
		)
		if _, err := change.Run(ctx, db); err != nil {
			fmt.Println(err)
		}
		fmt.Println(state, change.Cost())
	}
	depth, _ := tells.Depth().One(ctx, db)
	fmt.Println(depth.Waiting, "wait since", depth.Oldest)

	// Nobody can read the event "lost". It is parked, and the next event follows.
	relay := tells.Relay("mail", outbox.RelaySpec{Attempts: 1, Once: true},
		func(_ context.Context, d outbox.Delivery[string, parcelEvent]) error {
			if d.Body.State == "lost" {
				return errors.New("no such template")
			}
			fmt.Println("handed on:", d.Key, d.Body.State)
			return nil
		})
	fmt.Println(relay.Run(ctx, db))
	parked, _ := tells.Parked().All(ctx, db)
	fmt.Println("parked:", parked[0].Outbox.Parked[0].Body, parked[0].Outbox.Parked[0].Error)
	// Output:
	// lost 1 command, 1 document written, by _id_
	// found 1 command, 1 document written, by _id_
	// 3 wait since 2014-03-28 12:00:00 +0000 UTC
	// handed on: p1 sent
	// handed on: p1 found
	// <nil>
	// parked: {lost} no such template
}
