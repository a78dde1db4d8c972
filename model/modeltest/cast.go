package modeltest

import (
	"context"
	"fmt"
	"time"

	"github.com/docmodel/docmodel/internal/testserver"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// A cast is the clients of two operations that run at the same time. It can be used
// repeatedly.
type cast [2]*seat

// A seat is the client of one operation, and the operation that uses it now.
type seat struct {
	client   *mongo.Client
	txn      transactions
	director *director
	actor    *actor
}

// newCast connects two clients.
func (b *backend) newCast() (k *cast, disconnect func(), err error) {
	k = &cast{{}, {}}
	var ends []func()
	disconnect = func() {
		for _, end := range ends {
			end()
		}
	}
	for i, s := range k {
		ordered := func(c mongotest.Command) bool { return s.director != nil && s.director.match(c) }
		hold := func(x testserver.Exchange) error { return s.director.hold(s.actor, x) }
		held := mongotest.NewFaults().From(ordered, 1, hold)
		watch := options.Client().SetMonitor(s.txn.monitor(&k[1-i].txn))
		client, end, err := b.server.Connect(watch, held)
		if err != nil {
			disconnect()
			return nil, nil, err
		}
		s.client, ends = client, append(ends, end)
	}
	return k, disconnect, nil
}

// play runs both operations by the schedule. After the schedule's end, A goes first.
func (k *cast) play(
	ctx context.Context, c *InterleaveCase, db string, s schedule, patience time.Duration,
) (*director, error) {
	d := &director{match: c.Match, patience: patience, events: make(chan stageEvent, 16)}
	for i, name := range []string{"A", "B"} {
		seat := k[i]
		seat.txn.begin()
		d.actors[i] = &actor{name: name, txn: &seat.txn}
		seat.director, seat.actor = d, d.actors[i]
	}
	for i, op := range []func(context.Context, *mongo.Database) error{c.A, c.B} {
		actor, client := d.actors[i], k[i].client
		go func() {
			err := fmt.Errorf("%s ended its goroutine", actor.name)
			defer func() { d.events <- stageEvent{actor: actor, done: true, err: err} }()
			err = op(ctx, client.Database(db))
		}()
	}
	return d, d.direct(s)
}
