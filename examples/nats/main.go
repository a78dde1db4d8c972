// Nats publishes a database's events to NATS JetStream and handles them in another
// database: a placed order reserves stock. The event is stored with the order by one
// write. A relay publishes it at least once. JetStream drops most repetitions, and the
// receiver's inbox the rest. So the stock is reserved once, even after crashes.
//
//	go run .                          # starts a NATS server in the program
//	go run . nats://127.0.0.1:4222    # uses yours, which needs JetStream
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/docmodel/docmodel/denorm/inbox"
	"github.com/docmodel/docmodel/denorm/outbox"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"go.mongodb.org/mongo-driver/v2/bson"
)

type (
	// An Order tells the stock that it was placed.
	Order struct {
		ID     string                  `bson:"_id"`
		Lot    string                  `bson:"lot"`
		Qty    int64                   `bson:"qty"`
		Outbox outbox.Outgoing[Placed] `bson:"outbox,omitempty"`
	}

	// Placed is the event, sent as JSON.
	Placed struct {
		Order string `bson:"order" json:"order"`
		Lot   string `bson:"lot" json:"lot"`
		Qty   int64  `bson:"qty" json:"qty"`
	}

	// A Lot is stock that orders reserve.
	Lot struct {
		ID       string          `bson:"_id"`
		Reserved int64           `bson:"reserved"`
		Handled  []inbox.Receipt `bson:"handled,omitempty"`
	}
)

var (
	orders  = model.NewCollection[Order, string]("orders")
	placed  = outbox.New[Placed](orders, "outbox", outbox.Spec{}).PublishChanges(makePlaced)
	lots    = model.NewCollection[Lot, string]("lots")
	handled = inbox.New(lots, "handled", inbox.Spec{Keep: 1000})

	orderStore = model.NewStore(model.New("shop", placed), orders)
)

// makePlaced returns the event of a new order.
func makePlaced(before, after *Order) (event Placed, publish bool) {
	if before != nil || after == nil {
		return event, false
	}
	return Placed{after.ID, after.Lot, after.Qty}, true
}

// Place returns the change that stores an order with its event, by one write.
func Place(o Order) model.ChangeOf[model.Stored[Order]] { return orderStore.Insert(o) }

// Relay publishes orders' events. The event's token is the message's id. JetStream drops
// repetitions of an id for two minutes.
func Relay(js jetstream.JetStream, spec outbox.RelaySpec) outbox.Relay {
	return placed.Relay("orders", spec, func(ctx context.Context, d outbox.Delivery[string, Placed]) error {
		body, err := json.Marshal(d.Body)
		if err != nil {
			return err
		}
		msg := &nats.Msg{Subject: "orders." + d.Key, Data: body, Header: nats.Header{"Token": {d.ID.Hex()}}}
		_, err = js.PublishMsg(ctx, msg, jetstream.WithMsgID(d.ID.Hex()))
		return err
	})
}

// Handle reserves the stock of a message once. It gives up a message that it can't
// decode.
func Handle(ctx context.Context, db model.DB, msg jetstream.Msg) error {
	token, err := bson.ObjectIDFromHex(msg.Headers().Get("Token"))
	var event Placed
	if err = errors.Join(err, json.Unmarshal(msg.Data(), &event)); err != nil {
		return errors.Join(err, msg.Term())
	}
	reserve := bson.D{{Key: "$inc", Value: bson.D{{Key: "reserved", Value: event.Qty}}}}
	if _, err := handled.Handle(event.Lot, reserve, event, token).Run(ctx, db); err != nil {
		return errors.Join(err, msg.Nak()) // deliver it again
	}
	return msg.DoubleAck(ctx)
}

// run places orders, publishes their events, and handles each message twice.
func run(ctx context.Context, uri string) error {
	nc, err := nats.Connect(uri)
	if err != nil {
		return err
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		return err
	}
	stream, err := js.CreateOrUpdateStream(ctx, jetstream.StreamConfig{Name: "ORDERS", Subjects: []string{"orders.*"}})
	if err != nil {
		return err
	}
	defer func() { _ = js.DeleteStream(context.WithoutCancel(ctx), "ORDERS") }()

	client, stop := mongotest.Start() // in production a client of a MongoDB
	defer stop()
	shop, stock := client.Database("shop"), client.Database("stock")
	if _, err := lots.Insert(Lot{ID: "nuts"}).Run(ctx, stock); err != nil {
		return err
	}
	for n := range 5 {
		if _, _, err := Place(Order{ID: fmt.Sprint("o", n), Lot: "nuts", Qty: 10}).Run(ctx, shop); err != nil {
			return err
		}
	}
	waiting, err := placed.Depth().One(ctx, shop)
	if err != nil {
		return err
	}
	fmt.Println(waiting.Waiting, "events wait")
	if err := Relay(js, outbox.RelaySpec{Once: true}).Run(ctx, shop); err != nil {
		return err
	}
	info, err := stream.Info(ctx)
	if err != nil {
		return err
	}
	fmt.Println(info.State.Msgs, "messages are in JetStream")
	if err := receive(ctx, stream, stock, 5); err != nil {
		return err
	}
	lot, err := lots.ByID("nuts").One(ctx, stock)
	if err != nil {
		return err
	}
	fmt.Println(lot.Reserved, "are reserved, though each message was handled twice")
	return nil
}

func receive(ctx context.Context, stream jetstream.Stream, db model.DB, n int) error {
	consumer, err := stream.CreateOrUpdateConsumer(ctx, jetstream.ConsumerConfig{Durable: "stock", AckPolicy: jetstream.AckExplicitPolicy})
	if err != nil {
		return err
	}
	batch, err := consumer.Fetch(n, jetstream.FetchMaxWait(10*time.Second))
	if err != nil {
		return err
	}
	for msg := range batch.Messages() {
		for range 2 { // simulates a lost first acknowledgement
			if err := Handle(ctx, db, msg); err != nil && !errors.Is(err, jetstream.ErrMsgAlreadyAckd) {
				return err
			}
		}
	}
	return batch.Error()
}

// startNATS starts a NATS server with JetStream on a free port. Its data is in a
// temporary folder, which stop deletes.
func startNATS() (uri string, stop func(), err error) {
	dir, err := os.MkdirTemp("", "jetstream")
	if err != nil {
		return "", nil, err
	}
	clean := func() { _ = os.RemoveAll(dir) }
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, JetStream: true, StoreDir: dir, NoSigs: true})
	if err != nil {
		clean()
		return "", nil, err
	}
	stop = func() {
		s.Shutdown()
		s.WaitForShutdown()
		clean()
	}
	s.Start()
	if !s.ReadyForConnections(10 * time.Second) {
		stop()
		return "", nil, errors.New("the NATS server doesn't answer")
	}
	return s.ClientURL(), stop, nil
}

func demo(ctx context.Context, uris []string) error {
	if len(uris) > 0 {
		return run(ctx, uris[0])
	}
	uri, stop, err := startNATS()
	if err != nil {
		return err
	}
	defer stop()
	return run(ctx, uri)
}

func main() {
	if err := demo(context.Background(), os.Args[1:]); err != nil {
		log.Fatal(err)
	}
}
