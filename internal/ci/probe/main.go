// Command probe asks a MongoDB server the few things that a shell script can't.
//
//	probe ping URI                  exit 0 if the server answers a ping
//	probe wait URI SECONDS          the same, trying again until the seconds have passed
//	probe initiate URI SET HOST     make the server a replica set of one
//	probe version URI               print what it is
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "probe:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) < 2 {
		return errors.New("usage: probe ping|wait|initiate|version URI …")
	}
	verb, uri, rest := args[0], args[1], args[2:]
	client, err := mongo.Connect(options.Client().ApplyURI(uri).SetServerSelectionTimeout(3 * time.Second))
	if err != nil {
		return err
	}
	ctx := context.Background()
	defer func() { _ = client.Disconnect(ctx) }()
	admin := client.Database("admin")
	switch {
	case verb == "ping" && len(rest) == 0:
		return ping(ctx, admin)
	case verb == "wait" && len(rest) == 1:
		seconds, err := strconv.Atoi(rest[0])
		if err != nil {
			return err
		}
		return until(time.Duration(seconds)*time.Second, func() error { return ping(ctx, admin) })
	case verb == "initiate" && len(rest) == 2:
		return initiate(ctx, admin, rest[0], rest[1])
	case verb == "version" && len(rest) == 0:
		return version(ctx, admin)
	}
	return fmt.Errorf("unknown verb %q with %d arguments", verb, len(rest))
}

func ping(ctx context.Context, admin *mongo.Database) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	return admin.RunCommand(ctx, bson.D{{Key: "ping", Value: 1}}).Err()
}

// until calls f until it succeeds or the time has passed, and returns its last error.
func until(limit time.Duration, f func() error) error {
	for began := time.Now(); ; time.Sleep(100 * time.Millisecond) {
		err := f()
		if err == nil || time.Since(began) > limit {
			return err
		}
	}
}

// initiate succeeds too when the set is already initiated.
func initiate(ctx context.Context, admin *mongo.Database, set, host string) error {
	config := bson.D{
		{Key: "_id", Value: set},
		{Key: "members", Value: bson.A{bson.D{{Key: "_id", Value: 0}, {Key: "host", Value: host}}}},
	}
	return until(60*time.Second, func() error {
		err := admin.RunCommand(ctx, bson.D{{Key: "replSetInitiate", Value: config}}).Err()
		var command mongo.CommandError
		if errors.As(err, &command) && command.Name == "AlreadyInitialized" {
			return nil
		}
		return err
	})
}

// version prints a line such as "FerretDB 2.7.0 (answers as MongoDB 7.0.77), standalone".
func version(ctx context.Context, admin *mongo.Database) error {
	var build struct {
		Version  string
		FerretDB struct{ Version string } `bson:"ferretdb"`
	}
	if err := admin.RunCommand(ctx, bson.D{{Key: "buildInfo", Value: 1}}).Decode(&build); err != nil {
		return err
	}
	var hello struct{ SetName, Msg string }
	if err := admin.RunCommand(ctx, bson.D{{Key: "hello", Value: 1}}).Decode(&hello); err != nil {
		return err
	}
	name := "MongoDB " + build.Version
	if build.FerretDB.Version != "" {
		name = fmt.Sprintf("FerretDB %s (answers as MongoDB %s)", build.FerretDB.Version, build.Version)
	}
	switch {
	case hello.SetName != "":
		fmt.Printf("%s, replica set\n", name)
	case hello.Msg == "isdbgrid":
		fmt.Printf("%s, sharded\n", name)
	default:
		fmt.Printf("%s, standalone\n", name)
	}
	return nil
}
