package mongotest_test

import (
	"context"
	"net"
	"runtime"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/docmodel/docmodel/mongotest"
)

func listen(t *testing.T, address string, opts ...mongotest.Option) string {
	t.Helper()
	uri, stop, err := mongotest.Listen(address, opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	return uri
}

func dial(t *testing.T, uri string) *mongo.Client {
	t.Helper()
	client, err := mongo.Connect(options.Client().ApplyURI(uri).SetServerSelectionTimeout(5 * time.Second))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Disconnect(context.Background()) })
	return client
}

func TestListen(t *testing.T) {
	ctx := context.Background()
	uri := listen(t, "localhost:0")
	port := strings.Trim(uri[strings.LastIndex(uri, ":")+1:], "/")
	for name, u := range map[string]string{
		"as it is":                  uri,
		"as a replica set":          uri + "?replicaSet=engine",
		"directly":                  uri + "?directConnection=true",
		"directly, with its set":    uri + "?directConnection=true&replicaSet=engine",
		"by name":                   "mongodb://localhost:" + port + "/",
		"by name, as a replica set": "mongodb://localhost:" + port + "/?replicaSet=engine",
		"with compression":          uri + "?compressors=zlib,snappy",
		"with a concern and a purpose": uri +
			"?w=majority&readConcernLevel=majority&readPreference=secondaryPreferred&appName=test",
	} {
		t.Run(name, func(t *testing.T) {
			client := dial(t, u)
			people := client.Database("x").Collection(name)
			session, err := client.StartSession()
			if err != nil {
				t.Fatal(err)
			}
			defer session.EndSession(ctx)
			_, err = session.WithTransaction(ctx, func(ctx context.Context) (any, error) {
				return people.InsertOne(ctx, bson.D{{Key: "_id", Value: 1}})
			})
			if err != nil {
				t.Fatal(err)
			}
			if n, err := people.CountDocuments(ctx, bson.D{}); err != nil || n != 1 {
				t.Errorf("%d documents, %v", n, err)
			}
		})
	}
	if err := dial(t, uri+"?replicaSet=other&serverSelectionTimeoutMS=50").Ping(ctx, nil); err == nil {
		t.Error("it answers as a replica set of another name")
	}
}

func TestListenOnIPv6(t *testing.T) {
	if l, err := net.Listen("tcp", "[::1]:0"); err != nil {
		t.Skip("no IPv6 here")
	} else {
		l.Close()
	}
	if err := dial(t, listen(t, "[::1]:0")).Ping(context.Background(), nil); err != nil {
		t.Error(err)
	}
}

func TestListenRefuses(t *testing.T) {
	taken := strings.TrimSuffix(strings.TrimPrefix(listen(t, "127.0.0.1:0"), "mongodb://"), "/")
	for name, c := range map[string]struct {
		address string
		option  mongotest.Option
		want    string
	}{
		"all addresses":   {address: ":0", want: "other machines"},
		"all of IPv4":     {address: "0.0.0.0:0", want: "other machines"},
		"all of IPv6":     {address: "[::]:0", want: "other machines"},
		"another machine": {address: "192.0.2.1:0", want: "other machines"},
		"no port":         {address: "127.0.0.1", want: "missing port"},
		"a port in use":   {address: taken, want: "in use"},
		"a client's monitor": {
			address: "127.0.0.1:0",
			option:  mongotest.NewMonitor(),
			want:    "Monitor",
		},
		"a client's options": {
			address: "127.0.0.1:0",
			option:  mongotest.Settings{Client: options.Client()},
			want:    "Settings.Client",
		},
	} {
		t.Run(name, func(t *testing.T) {
			var opts []mongotest.Option
			if c.option != nil {
				opts = append(opts, c.option)
			}
			_, stop, err := mongotest.Listen(c.address, opts...)
			if err == nil {
				stop()
			}
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one of %q", err, c.want)
			}
		})
	}
}

func TestListenWithFaults(t *testing.T) {
	f := mongotest.NewFaults()
	people := dial(t, listen(t, "127.0.0.1:0", f)).Database("x").Collection("people")
	f.On(mongotest.Named("insert"), 1, mongotest.CutAfter()) // the driver sends it again
	f.On(mongotest.Named("find"), 1, mongotest.Fail(13))
	if _, err := people.InsertOne(context.Background(), bson.D{}); err != nil {
		t.Error(err)
	}
	if n := f.Count(mongotest.Named("insert")); n != 2 {
		t.Errorf("%d inserts were sent", n)
	}
	if err := people.FindOne(context.Background(), bson.D{}).Err(); err == nil || !strings.Contains(err.Error(), "(13)") &&
		!strings.Contains(err.Error(), "Unauthorized") {
		t.Errorf("error %v", err)
	}
}

// A client that goes away ends its command, although the engine has nothing to read from it.
func TestListenInterrupts(t *testing.T) {
	uri := listen(t, "127.0.0.1:0")
	short, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	client := dial(t, uri)
	if _, err := client.Database("x").Collection("a").InsertOne(context.Background(), bson.D{}); err != nil {
		t.Fatal(err)
	}
	endless := bson.D{{Key: "$expr", Value: bson.D{{Key: "$reduce", Value: bson.D{
		{Key: "input", Value: bson.D{{Key: "$range", Value: bson.A{0, 1 << 30}}}}, {Key: "initialValue", Value: 0},
		{Key: "in", Value: "$$this"},
	}}}}}
	if err := client.Database("x").Collection("a").FindOne(short, endless).Err(); err == nil {
		t.Fatal("it ended")
	}
}

func TestListenLeavesNothing(t *testing.T) {
	before := runtime.NumGoroutine()
	uri, stop, err := mongotest.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	client, err := mongo.Connect(options.Client().ApplyURI(uri))
	if err != nil {
		t.Fatal(err)
	}
	if err := client.Ping(context.Background(), nil); err != nil {
		t.Fatal(err)
	}
	idle, err := net.Dial("tcp", strings.Trim(strings.TrimPrefix(uri, "mongodb:"), "/"))
	if err != nil {
		t.Fatal(err)
	}
	defer idle.Close()
	stop()
	stop()
	if _, err := idle.Read(make([]byte, 1)); err == nil {
		t.Error("a connection is open after stop")
	}
	if c, err := net.Dial("tcp", strings.Trim(strings.TrimPrefix(uri, "mongodb:"), "/")); err == nil {
		c.Close()
		t.Error("the port is open after stop")
	}
	_ = client.Disconnect(context.Background())
	for deadline := time.Now().Add(5 * time.Second); runtime.NumGoroutine() > before; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			buf := make([]byte, 1<<16)
			t.Fatalf("%d goroutines, %d before\n%s", runtime.NumGoroutine(), before, buf[:runtime.Stack(buf, true)])
		}
	}
}
