package main

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/docmodel/docmodel/mongotest"
)

func stocked(t *testing.T, client *mongo.Client) {
	t.Helper()
	if err := mongotest.Load(t.Context(), client.Database("shop"), `{"stock": [{"_id": "bolt", "n": {"$numberLong": "9"}}]}`); err != nil {
		t.Fatal(err)
	}
}

// The test sees each command that the server got.
func TestCommands(t *testing.T) {
	m := mongotest.NewMonitor()
	client := mongotest.NewClient(t, m)
	stocked(t, client)
	m.Reset()
	if err := take(t.Context(), client, "ann", "bolt", 2); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, c := range m.Commands() {
		names = append(names, c.Name)
	}
	if want := []string{"update", "insert", "commitTransaction"}; !slices.Equal(names, want) {
		t.Errorf("sent %v, want %v", names, want)
	}
}

// Faults: the first attempt meets a write conflict, and the first commit's answer is
// lost. Nothing is taken twice.
func TestFaults(t *testing.T) {
	f := mongotest.NewFaults()
	client := mongotest.NewClient(t, f)
	stocked(t, client)
	f.On(mongotest.Named("update"), 1, mongotest.Fail(112, "TransientTransactionError"))
	f.On(mongotest.Named("commitTransaction"), 1, mongotest.CutAfter())
	if err := take(t.Context(), client, "ann", "bolt", 2); err != nil {
		t.Fatal(err)
	}
	if n := left(t, client, "bolt"); n != 7 {
		t.Errorf("%d bolts are left, want 7", n)
	}
}

// Faults for a program with its own client: they act between the port and the server.
func TestFaultsByURI(t *testing.T) {
	f := mongotest.NewFaults().From(mongotest.On("stock"), 1, mongotest.Fail(13))
	uri, stop, err := mongotest.Listen("127.0.0.1:0", f)
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	if err := run(t.Context(), uri); err == nil {
		t.Error("the program hides that it may not write")
	}
}

func left(t *testing.T, client *mongo.Client, part string) (n int64) {
	t.Helper()
	var d struct{ N int64 }
	if err := client.Database("shop").Collection("stock").FindOne(t.Context(), bson.D{{Key: "_id", Value: part}}).Decode(&d); err != nil {
		t.Fatal(err)
	}
	return d.N
}

// Time: in a bubble of testing/synctest the server uses the bubble's clock. An hour takes
// no time. Dates, $$NOW, the driver's ids and expiry follow it. A port doesn't work in a
// bubble, because the network is outside: see [TestClock].
func TestTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := mongotest.NewClient(t)
		ctx := context.WithoutCancel(t.Context())
		if err := signIn(ctx, client, "ann"); err != nil {
			t.Fatal(err)
		}
		for _, want := range []int64{1, 1, 0} {
			n, err := client.Database("shop").Collection("sessions").CountDocuments(ctx, bson.D{})
			if err != nil || n != want {
				t.Errorf("at %v: %d sessions, %v; want %d", time.Now(), n, err, want)
			}
			time.Sleep(31 * time.Minute)
		}
	})
}

// Time for programs that only know a connection string: the test moves the server's
// clock. The clock begins at real time, which the program uses.
func TestClock(t *testing.T) {
	clock := mongotest.NewClock(time.Now())
	uri, stop, err := mongotest.Listen("127.0.0.1:0", clock)
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	client, err := mongo.Connect(options.Client().ApplyURI(uri))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = client.Disconnect(context.Background()) }()
	if err := signIn(t.Context(), client, "ann"); err != nil {
		t.Fatal(err)
	}
	for _, want := range []int64{1, 1, 0} {
		n, err := client.Database("shop").Collection("sessions").CountDocuments(t.Context(), bson.D{})
		if err != nil || n != want {
			t.Errorf("at %v: %d sessions, %v; want %d", clock.Now(), n, err, want)
		}
		clock.Advance(31 * time.Minute)
	}
}

// Two processes see the same data by the same string. The string works with a
// deployment's options too.
func TestTwoClients(t *testing.T) {
	uri, stop, err := mongotest.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	connect := func(query string) *mongo.Client {
		client, err := mongo.Connect(options.Client().ApplyURI(uri + query))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = client.Disconnect(context.Background()) })
		return client
	}
	stocked(t, connect("?replicaSet=engine&w=majority"))
	if n := left(t, connect("?directConnection=true"), "bolt"); n != 9 {
		t.Errorf("the other client finds %d bolts", n)
	}
}
