// Package connect opens a database for the examples: on an embedded engine, or on the
// server of MONGODB_URI.
package connect

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"
	"time"

	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// A Program is an example's work on a database. Its output is the same on any server.
type Program func(ctx context.Context, out io.Writer, db *mongo.Database) error

// Main runs a program on the server of MONGODB_URI, or without it on an engine. An error
// ends the process. A monitor sees the program's commands.
func Main(name string, program Program, monitor ...*mongotest.Monitor) {
	if err := Run(context.Background(), os.Getenv(mongotest.EnvURI), name, os.Stdout, program, monitor...); err != nil {
		log.Fatal(err)
	}
}

// Run runs a program on the server of a URI, or for "" on an engine. The program gets a
// new database, which is dropped at the end.
func Run(ctx context.Context, uri, name string, out io.Writer, program Program, monitor ...*mongotest.Monitor) error {
	client, stop, err := Open(ctx, uri, monitor...)
	if err != nil {
		return err
	}
	defer stop()
	db := client.Database(name + "_" + bson.NewObjectID().Hex())
	defer func() { _ = db.Drop(context.WithoutCancel(ctx)) }()
	return program(ctx, out, db)
}

// Open opens a client of the server of a URI, or for "" of an engine. Your own program
// only needs mongo.Connect.
func Open(ctx context.Context, uri string, monitor ...*mongotest.Monitor) (client *mongo.Client, stop func(), err error) {
	if uri == "" {
		var opts []mongotest.Option
		for _, m := range monitor {
			opts = append(opts, m)
		}
		client, stop = mongotest.Start(opts...)
		return client, stop, nil
	}
	o := options.Client().ApplyURI(uri).SetServerSelectionTimeout(10 * time.Second)
	for _, m := range monitor {
		o.SetMonitor(m.CommandMonitor())
	}
	client, err = mongo.Connect(o)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", mongotest.EnvURI, err)
	}
	stop = func() { _ = client.Disconnect(context.WithoutCancel(ctx)) }
	if err := client.Ping(ctx, nil); err != nil {
		stop()
		return nil, nil, fmt.Errorf("the server that %s names doesn't answer: %w", mongotest.EnvURI, err)
	}
	return client, stop, nil
}
