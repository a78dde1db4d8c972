package engine

// This file completes documents before they are stored, as MongoDB does: an _id, its place, and the server's time.
// insert, bulkWrite, $out, $merge and upserts call it.
//
//	{n: 1}                     →   {_id: ObjectId("…"), n: 1}
//	{n: 1, _id: 7}             →   {_id: 7, n: 1}
//	{at: Timestamp(0, 0)}      →   {_id: ObjectId("…"), at: Timestamp(1709212455, 1)}

import (
	"slices"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/store"
)

// insertDocument completes and stores a document of insert, bulkWrite or $merge.
func insertDocument(w *store.Writer, ns store.Namespace, doc bson.D) error {
	doc, err := ensureID(w.Now, doc)
	if err != nil {
		return err
	}
	_, err = w.Insert(ns, setTimestamps(w, doc))
	return err
}

// setTimestamps returns a document with the server's time in place of empty timestamps, Timestamp(0, 0), of its
// top-level fields, except _id. Each gets another time. The argument isn't changed.
func setTimestamps(w *store.Writer, doc bson.D) bson.D {
	var out bson.D
	for i, e := range doc {
		if e.Value != any(bson.Timestamp{}) || e.Key == "_id" {
			continue
		}
		if out == nil {
			out = slices.Clone(doc)
		}
		out[i].Value = w.Time()
	}
	if out == nil {
		return doc
	}
	return out
}

// ensureID returns the document with an _id as its first field. It refuses an _id that can't be stored.
func ensureID(now func() time.Time, doc bson.D) (bson.D, error) {
	at := bsonval.Index(doc, "_id")
	switch {
	case at < 0:
		return append(bson.D{{Key: "_id", Value: bson.NewObjectIDFromTimestamp(now())}}, doc...), nil
	case at > 0: // a copy, because the argument may be a stored document that $out copies
		moved := append(make(bson.D, 0, len(doc)), doc[at])
		doc = append(append(moved, doc[:at]...), doc[at+1:]...)
	}
	return doc, checkID(doc[0].Value)
}

// checkID refuses values that can't be an _id: arrays, regular expressions, undefined, and documents with operators.
func checkID(id any) error {
	switch v := id.(type) {
	case bson.A, bson.Regex, bson.Undefined:
		return mongoerr.New(mongoerr.InvalidIDField, "The '_id' value cannot be of type %s", bsonval.TypeName(id))
	case bson.D:
		for _, e := range v {
			if strings.HasPrefix(e.Key, "$") {
				return mongoerr.New(mongoerr.DollarPrefixedFieldName,
					"_id fields may not contain '$'-prefixed fields: %s is not valid for storage.", e.Key)
			}
		}
	}
	return nil
}
