package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/docmodel/docmodel/mongotest"
)

// restore inserts the files of a folder, one per collection. It reads mongoexport's files
// (a document in extended JSON per line) and mongodump's files (BSON).
func restore(ctx context.Context, db *mongo.Database, folder fs.FS) error {
	for suffix, next := range map[string]func(*bufio.Reader) (bson.Raw, error){".json": jsonLine, ".bson": bsonDocument} {
		names, err := fs.Glob(folder, "*"+suffix)
		if err != nil {
			return err
		}
		for _, name := range names {
			content, err := fs.ReadFile(folder, name)
			if err != nil {
				return err
			}
			var docs []bson.Raw
			for r := bufio.NewReader(bytes.NewReader(content)); ; {
				doc, err := next(r)
				if errors.Is(err, io.EOF) {
					break
				} else if err != nil {
					return fmt.Errorf("%s, document %d: %w", name, len(docs)+1, err)
				}
				docs = append(docs, doc)
			}
			if _, err := db.Collection(strings.TrimSuffix(name, suffix)).InsertMany(ctx, docs); err != nil {
				return err
			}
		}
	}
	return nil
}

func jsonLine(r *bufio.Reader) (doc bson.Raw, err error) {
	line, err := r.ReadBytes('\n')
	if len(line) == 0 {
		return nil, err
	}
	err = bson.UnmarshalExtJSON(line, false, &doc)
	return doc, err
}

func bsonDocument(r *bufio.Reader) (bson.Raw, error) { return bson.ReadDocument(r) }

func TestRestoreDump(t *testing.T) {
	var dump []byte
	for _, id := range []string{"bolt", "nut"} {
		doc, err := bson.Marshal(bson.D{{Key: "_id", Value: id}, {Key: "n", Value: int64(9)}})
		if err != nil {
			t.Fatal(err)
		}
		dump = append(dump, doc...)
	}
	client := mongotest.NewClient(t)
	if err := restore(t.Context(), client.Database("shop"), fstest.MapFS{"stock.bson": {Data: dump}}); err != nil {
		t.Fatal(err)
	}
	if n := left(t, client, "nut"); n != 9 {
		t.Errorf("%d nuts, want 9", n)
	}
}

// Data comes from text, from files of mongoexport and mongodump, or from inserts of the
// driver. Dump returns it as text that is the same each time.
func Example_seed() {
	client, stop := mongotest.Start()
	defer stop()
	ctx, db := context.Background(), client.Database("shop")
	if err := restore(ctx, db, os.DirFS("seed")); err != nil {
		log.Panic(err)
	}
	err := mongotest.Load(ctx, db, `{"stock": [{"_id": "washer", "n": {"$numberLong": "7"}}], "orders": []}`)
	if err != nil {
		log.Panic(err)
	}
	if err := take(ctx, client, "ann", "nut", 5); err != nil {
		log.Panic(err)
	}
	if err := db.Collection("orders").Drop(ctx); err != nil { // its _id differs each time
		log.Panic(err)
	}
	dump, err := mongotest.Dump(ctx, db)
	if err != nil {
		log.Panic(err)
	}
	fmt.Print(dump)
	// Output:
	// {
	// "stock": [
	//   {"_id":"bolt","n":{"$numberLong":"40"}},
	//   {"_id":"nut","n":{"$numberLong":"20"}},
	//   {"_id":"washer","n":{"$numberLong":"7"}}
	// ],
	// "users": [
	//   {"_id":"ann","name":"Ann","joined":{"$date":{"$numberLong":"1709283600000"}}},
	//   {"_id":"bob","name":"Bob","joined":{"$date":{"$numberLong":"1709375400000"}}}
	// ]
	// }
}
