package main

import (
	"context"
	"fmt"
	"os"

	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/event"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// A backend is what answers: the embedded engine, or the server at uri.
type backend struct {
	name string
	note string // about the figures
	uri  string // "" is the engine
}

// backends returns the engine, and the server that MONGODB_URI names if it is set.
func backends(ctx context.Context) ([]backend, error) {
	all := []backend{{name: "the engine", note: "On the engine, time and allocations are client's and engine's together."}}
	uri := os.Getenv(mongotest.EnvURI)
	if uri == "" {
		return all, nil
	}
	b := backend{name: "the server", uri: uri}
	db, stop, err := b.open(nil)
	if err != nil {
		return nil, err
	}
	defer stop()
	var info struct {
		Version  string `bson:"version"`
		FerretDB struct {
			Version string `bson:"version"`
		} `bson:"ferretdb"`
	}
	if err := db.RunCommand(ctx, bson.D{{Key: "buildInfo", Value: 1}}).Decode(&info); err != nil {
		return nil, err
	}
	b.note = "The server answers as MongoDB " + info.Version
	if v := info.FerretDB.Version; v != "" {
		b.note += ", and is FerretDB " + v
	}
	b.note += ". Allocations are the client's."
	return append(all, b), nil
}

// open returns an empty database, which stop drops. A monitor may be nil.
func (b backend) open(m *event.CommandMonitor) (db *mongo.Database, stop func(), err error) {
	name := "bench_" + bson.NewObjectID().Hex()
	if b.uri == "" {
		var opts []mongotest.Option
		if m != nil {
			opts = append(opts, mongotest.Settings{Client: options.Client().SetMonitor(m)})
		}
		client, stop := mongotest.Start(opts...)
		return client.Database(name), stop, nil
	}
	o := options.Client().ApplyURI(b.uri)
	if m != nil {
		o.SetMonitor(m)
	}
	client, err := mongo.Connect(o)
	if err != nil {
		return nil, nil, err
	}
	db = client.Database(name)
	return db, func() {
		ctx := context.Background()
		if err := db.Drop(ctx); err != nil {
			fmt.Fprintln(os.Stderr, "bench:", err)
		}
		_ = client.Disconnect(ctx)
	}, nil
}
