package engine

import (
	"slices"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/store"
)

// insertOne stores a document after the checks that only inserts need.
func insertOne(w *store.Writer, ns store.Namespace, doc bson.D) error {
	doc, err := withID(w.Now, doc)
	if err != nil {
		return err
	}
	_, err = w.Insert(ns, stamped(w, doc))
	return err
}

// stamped is a document with the server's time in place of the empty timestamps at its top, but of its _id.
func stamped(w *store.Writer, doc bson.D) bson.D {
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

// withID returns the document with an _id, as its first field, and refuses
// what no stored document may have.
func withID(now func() time.Time, doc bson.D) (bson.D, error) {
	at := bsonval.Index(doc, "_id")
	switch {
	case at < 0:
		return append(bson.D{{Key: "_id", Value: bson.NewObjectIDFromTimestamp(now())}}, doc...), nil
	case at > 0:
		moved := append(make(bson.D, 0, len(doc)), doc[at])
		doc = append(append(moved, doc[:at]...), doc[at+1:]...)
	}
	return doc, checkID(doc[0].Value)
}

// checkID refuses values that can't be an _id.
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
