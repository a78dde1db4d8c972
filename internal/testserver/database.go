package testserver

import (
	"bytes"
	"context"
	"errors"
	"slices"

	"github.com/docmodel/docmodel/internal/bsonval"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// ReadAll returns the documents of a collection, in the order of _id.
func ReadAll(ctx context.Context, coll *mongo.Collection) ([]bson.Raw, error) {
	cursor, err := coll.Find(ctx, bson.D{})
	if err != nil {
		return nil, err
	}
	var docs []bson.Raw
	if err := cursor.All(ctx, &docs); err != nil {
		return nil, err
	}
	type line struct {
		id  any
		raw bson.Raw
	}
	lines := make([]line, len(docs))
	for i, raw := range docs {
		d, err := bsonval.Decode(raw)
		if err != nil {
			return nil, err
		}
		lines[i].raw = bytes.Clone(raw)
		lines[i].id, _ = bsonval.Get(d, "_id")
	}
	slices.SortStableFunc(lines, func(a, b line) int { return bsonval.Compare(a.id, b.id) })
	for i, l := range lines {
		docs[i] = l.raw
	}
	return docs, nil
}

// CheckReplicated returns an error if the server is neither a member of a replica set nor a
// mongos.
func CheckReplicated(ctx context.Context, db *mongo.Database) error {
	var hello struct {
		SetName string `bson:"setName"`
		Msg     string `bson:"msg"`
	}
	admin := db.Client().Database("admin")
	if err := admin.RunCommand(ctx, bson.D{{Key: "hello", Value: 1}}).Decode(&hello); err != nil {
		return err
	}
	if hello.SetName == "" && hello.Msg != "isdbgrid" {
		return errors.New("hello shows neither setName nor msg isdbgrid")
	}
	return nil
}
