// Package idref holds the ids that documents store of other documents: their encoding, the references that they make, and ids
// as they were read.
package idref

import (
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/relate/internal/stmt"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Held encodes the ids of documents that other documents hold at a path. Its errors name that path.
type Held struct {
	Docs *core.Docs // the documents that have the ids, under the name of the collection that holds the ids
	Path string
}

// NewHeld returns the ids of documents of docs that holders store at a path.
func NewHeld(holders *core.Docs, path string, docs *core.Docs) Held {
	return Held{docs.Named(holders.Name()), path}
}

// Encode encodes an id.
func (h Held) Encode(id any) (any, error) { return h.Docs.EncodeID(h.Path, id) }

// Pair encodes two ids.
func (h Held) Pair(a, b any) (x, y any, err error) {
	if x, err = h.Encode(a); err == nil {
		y, err = h.Encode(b)
	}
	return x, y, err
}

// List encodes ids.
func (h Held) List(ids []any) (bson.A, error) {
	out := make(bson.A, len(ids))
	for i, id := range ids {
		var err error
		if out[i], err = h.Encode(id); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Some is List, and refuses an empty list.
func (h Held) Some(ids []any) (bson.A, error) {
	if len(ids) == 0 {
		return nil, h.Docs.Refuse(h.Path, nil, "no id was given: give at least one")
	}
	return h.List(ids)
}

// Counts is the pipeline that counts, for each of some ids, the documents that hold it.
func (h Held) Counts(ids []any) (mongo.Pipeline, error) {
	held, err := h.Some(ids)
	return stmt.Matching(bson.D{{Key: h.Path, Value: stmt.In(held)}},
		mql.Group("$"+h.Path, mql.E("n", mql.Op("$sum", 1))),
		bson.D{{Key: "$sort", Value: stmt.Ascending("")}},
	), err
}

// NoReference are the values that stand for no reference: null, and the empty id as it is stored, unless it is an id.
func NoReference(docs *core.Docs, empty any) bson.A {
	none := bson.A{nil}
	if v, err := docs.Encode(empty); err == nil && docs.CheckID("_id", empty) != nil && model.Shell(v) != "null" {
		none = append(none, v)
	}
	return none
}

// Single panics unless the field is outside arrays.
func Single(place core.Place, f core.Field) {
	if f.Arrays > 0 {
		place.Fail("path \""+f.Path+"\" crosses an array", "name a single value that isn't in an array, or declare a list of ids with NewChildRefs")
	}
}
