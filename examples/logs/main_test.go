package main

import (
	"context"
	"testing"

	"github.com/docmodel/docmodel/examples/internal/connect"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

func Example() {
	main()
	// Output:
	// db.messages.createIndex({'host.id': 1, at: -1, _id: -1})
	// db.messages.createIndex({'host.id': 1, _id: -1})
	// db.messages.createIndex({at: 1})
	// db.messagesArchive.createIndex({at: 1}, {name: 'at_1', expireAfterSeconds: 31536000})
	//
	// a message:
	// db.messages.insertOne({_id: ObjectId('650000000000000000000000'), at: ISODate('2026-05-01T12:00:00.000Z'), text: 'message 0', host: {id: 'goofy', ip: '10.0.0.1'}})
	// 1 command, 1 document written, by _id_ - atomic
	//
	// the host shows it:
	// db.hosts.updateOne({_id: 'goofy', 'latest.id': {$nin: [ObjectId('650000000000000000000000')]}}, {$push: {latest: {$each: [{id: ObjectId('650000000000000000000000'), at: ISODate('2026-05-01T12:00:00.000Z'), text: 'message 0'}], $sort: {at: 1}, $slice: -1000}}})
	//
	// - message 118
	// - message 119
	// 50 messages, down to message 70
	// 50 messages, down to message 20
	// 20 messages, down to message 0
	// 61 messages are archived
}

// The cost of each action and its index, among some thousand messages, without and with
// transactions.
func TestCosts(t *testing.T) {
	monitor := mongotest.NewMonitor()
	connect.EachWay(t, func(t *testing.T, db model.DB, tx bool) {
		l := seed(t, db)
		want := func(action string, plain, inTx sent, run func() error) {
			t.Helper()
			want := plain
			if tx {
				want = inTx
			}
			cost, err := modeltest.Measure(monitor, run)
			if err != nil || cost.Commands != want.commands || cost.Written != want.written {
				t.Errorf("%s: %v, %v; want %+v", action, cost, err, want)
			}
		}
		ctx := t.Context()
		newest := message("goofy", 5000)
		want("write a message", sent{4, 2}, sent{4, 3}, func() error { return l.Write(ctx, newest) })
		want("show a host", sent{1, 0}, sent{1, 0}, func() error { _, err := l.Show(ctx, "goofy", 20); return err })
		want("a page", sent{1, 0}, sent{1, 0}, func() error { _, err := l.Page(ctx, "goofy", &newest); return err })
		modeltest.WantIndexed(t, db, page("goofy", &newest), "host.id_1_at_-1__id_-1")
		want("another address", sent{4, 1003}, sent{3, 1002}, func() error { return l.Renumber(ctx, "goofy", "10.0.0.2") })
		if _, err := l.Page(ctx, "goofy", nil); err != nil {
			t.Error(err)
		}
		all, err := messages.Find(bson.D{{Key: "host.ip", Value: "10.0.0.2"}}).All(ctx, db)
		if err != nil || len(all) != 1001 {
			t.Errorf("%d messages show the new address, %v", len(all), err)
		}
	}, monitor)
}

// sent is how many commands were sent, and how many documents they wrote.
type sent struct{ commands, written int }

// seed stores two hosts with a thousand messages each.
func seed(t *testing.T, db model.DB) Logs {
	l := Logs{db}
	if err := l.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	var all []Message
	for n := range 1000 {
		for i, host := range []string{"goofy", "pluto"} {
			m := message(host, n)
			m.ID[1], m.Host.IP = byte(i), "10.0.0.1"
			all = append(all, m)
		}
	}
	if _, err := hosts.InsertMany([]Host{{ID: "goofy", IP: "10.0.0.1"}, {ID: "pluto", IP: "10.0.0.1"}}).Run(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	if _, err := messages.InsertMany(all).Run(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	return l
}

// After a crash the host may lack a message. Written again, the message is stored once.
func TestWriteCut(t *testing.T) {
	modeltest.FaultMatrix(t, modeltest.FaultCase{
		Seed: func(ctx context.Context, db *mongo.Database) error {
			_, _, err := hostStore.Insert(Host{ID: "goofy", IP: "10.0.0.1"}).Run(ctx, db)
			return err
		},
		Run: func(ctx context.Context, db *mongo.Database) error { return Logs{db}.Write(ctx, message("goofy", 7)) },
		Check: func(t testing.TB, db *mongo.Database) {
			all, err := messages.Find(nil).All(t.Context(), db)
			host, errHost := hosts.ByID("goofy").One(t.Context(), db)
			if err != nil || errHost != nil || len(all) != 1 || all[0].Host.IP != "10.0.0.1" || len(host.Latest) != 1 {
				t.Errorf("%d messages, %d shown, %v, %v", len(all), len(host.Latest), err, errHost)
			}
		},
	})
}
