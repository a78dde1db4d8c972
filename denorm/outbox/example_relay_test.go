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

// A lamp in a house tells other services when it is switched.
type (
	lamp struct {
		ID     string                    `bson:"_id"`
		Outbox outbox.Outgoing[switched] `bson:"outbox,omitempty"`
	}
	switched struct {
		On bool `bson:"on"`
	}
)

var (
	lamps     = model.NewCollection[lamp, string]("lamps")
	lampTells = outbox.New[switched](lamps, "outbox", outbox.Spec{})
)

// A relay hands on each event of an outbox at least once. The events of one document come
// in order.
func ExampleRelay() {
	client, stop := mongotest.Start()
	defer stop()
	ctx, db := context.Background(), client.Database("house")
	at := time.Date(2026, 3, 1, 18, 0, 0, 0, time.UTC)
	if _, err := lamps.InsertMany([]lamp{{ID: "hall"}, {ID: "door"}}).Run(ctx, db); err != nil {
		fmt.Println(err)
		return
	}
	for _, e := range []struct {
		lamp string
		on   bool
	}{{"hall", true}, {"door", true}, {"hall", false}} {
		if _, err := lampTells.Publish(e.lamp, switched{e.on}, at, bson.NewObjectID()).Run(ctx, db); err != nil {
			fmt.Println(err)
		}
	}

	// The receiver fails once. The lamp's second event waits until the first is handed
	// on. Other lamps don't wait.
	running, cancel := context.WithCancel(ctx)
	defer cancel()
	failed := false
	relay := lampTells.Relay("heating",
		outbox.RelaySpec{Pause: 50 * time.Millisecond, Poll: 10 * time.Millisecond, Parts: 1},
		func(_ context.Context, d outbox.Delivery[string, switched]) error {
			if d.Key == "hall" && !failed {
				failed = true
				fmt.Println(d.Key, "on:", d.Body.On, "- fails")
				return errors.New("the receiver can't be reached")
			}
			fmt.Println(d.Key, "on:", d.Body.On)
			if d.Key == "hall" && !d.Body.On {
				cancel() // a service would run on
			}
			return nil
		})
	err := relay.Run(running, db)
	fmt.Println(errors.Is(err, context.Canceled))
	// Output:
	// hall on: true - fails
	// door on: true
	// hall on: true
	// hall on: false
	// true
}
