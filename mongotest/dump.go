package mongotest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/docmodel/docmodel/internal/testserver"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Dump returns the contents of a database as a canonical Extended JSON object. Each
// collection is a field with an array, one document per line. Collections are sorted by
// name, and documents are sorted by _id. Dump omits indexes, validators, views and system
// collections.
func Dump(ctx context.Context, db *mongo.Database) (string, error) {
	names, err := db.ListCollectionNames(ctx, bson.D{{Key: "type", Value: "collection"}})
	if err != nil {
		return "", fmt.Errorf("mongotest: dump: %w", err)
	}
	slices.Sort(names)
	var b strings.Builder
	b.WriteString("{")
	first := true
	for _, name := range names {
		if strings.HasPrefix(name, "system.") {
			continue
		}
		docs, err := dumpCollection(ctx, db.Collection(name))
		if err != nil {
			return "", fmt.Errorf("mongotest: dump %s: %w", name, err)
		}
		if !first {
			b.WriteString(",")
		}
		first = false
		key, err := json.Marshal(name)
		if err != nil {
			return "", fmt.Errorf("mongotest: dump %s: %w", name, err)
		}
		fmt.Fprintf(&b, "\n%s: [", key)
		for i, d := range docs {
			if i > 0 {
				b.WriteString(",")
			}
			b.WriteString("\n  ")
			b.Write(d)
		}
		if len(docs) > 0 {
			b.WriteString("\n")
		}
		b.WriteString("]")
	}
	if !first {
		b.WriteString("\n")
	}
	b.WriteString("}\n")
	return b.String(), nil
}

// dumpCollection returns the documents as JSON, in the order of _id.
func dumpCollection(ctx context.Context, coll *mongo.Collection) ([][]byte, error) {
	docs, err := testserver.ReadAll(ctx, coll)
	if err != nil {
		return nil, err
	}
	out := make([][]byte, len(docs))
	for i, raw := range docs {
		text, err := bson.MarshalExtJSON(raw, true, false)
		if err != nil {
			return nil, err
		}
		out[i] = bytes.TrimSpace(text)
	}
	return out, nil
}

// Load inserts the output of [Dump], or a text in the same form, into a database. Load
// also creates collections without documents. Existing documents stay. A duplicate _id is
// an error. If the text is invalid, Load returns an error and inserts nothing.
func Load(ctx context.Context, db *mongo.Database, dump string) error {
	var collections bson.D
	if err := bson.UnmarshalExtJSON([]byte(dump), true, &collections); err != nil {
		return fmt.Errorf("mongotest: load: %w", err)
	}
	for _, c := range collections {
		docs, ok := c.Value.(bson.A)
		if !ok {
			return fmt.Errorf("mongotest: load %s: want an array of documents, got %T", c.Key, c.Value)
		}
		for i, d := range docs {
			if _, ok := d.(bson.D); !ok {
				return fmt.Errorf("mongotest: load %s: want a document at %d, got %T", c.Key, i, d)
			}
		}
	}
	for _, c := range collections {
		var err error
		if docs := c.Value.(bson.A); len(docs) > 0 {
			_, err = db.Collection(c.Key).InsertMany(ctx, []any(docs))
		} else {
			err = db.CreateCollection(ctx, c.Key)
		}
		if err != nil {
			return fmt.Errorf("mongotest: load %s: %w", c.Key, err)
		}
	}
	return nil
}
