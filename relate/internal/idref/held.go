// Package idref has the ids that documents store of other documents: their encoding, the
// references that they make, and ids that were read. All techniques of package relate use
// it.
//
// # Stored form
//
// A reference is a path that stores the _id of a document in another collection. A Ref
// knows three forms:
//
//	{_id: 1, author: "a"}                    // Path author
//	{_id: 1, authors: ["a", "b"]}            // Path authors, List authors
//	{_id: 1, lines: [{author: "a"}, …]}      // Path lines.author, List lines, Key author
//
// A missing value and null are no reference. Neither is the empty id of the Go type,
// unless it is a valid id ([ListNoReferences]).
//
// # Rules
//
//  1. An id of the caller's is encoded by the collection to which it refers (Held), so that it
//     has the stored type. Errors name the path at which it is stored.
//  2. Two ids are the same if a server takes them for the same: int32 1 and int64 1 (Key).
//  3. A value that was read is checked with CanBeID before it goes into a filter.
//  4. A command has at most [MaxIDs] ids and [MaxIDBytes] bytes of ids.
//
// The package sends nothing. A crash between commands is the affair of the technique.
package idref

import (
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/relate/internal/stmt"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A Held encodes the ids that documents store at a path.
type Held struct {
	// The documents that have the ids, under the name of the collection that stores the
	// ids, which errors name.
	Docs *core.Docs
	Path string
}

// NewHeld returns the ids of documents of docs that holders store at a path.
func NewHeld(holders *core.Docs, path string, docs *core.Docs) Held {
	return Held{docs.WithName(holders.Name()), path}
}

// Encode encodes an id.
func (h Held) Encode(id any) (any, error) { return h.Docs.EncodeID(h.Path, id) }

// EncodePair encodes two ids.
func (h Held) EncodePair(a, b any) (x, y any, err error) {
	if x, err = h.Encode(a); err == nil {
		y, err = h.Encode(b)
	}
	return x, y, err
}

// EncodeList encodes ids.
func (h Held) EncodeList(ids []any) (bson.A, error) {
	out := make(bson.A, len(ids))
	for i, id := range ids {
		var err error
		if out[i], err = h.Encode(id); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// EncodeSome is EncodeList for at least one id.
func (h Held) EncodeSome(ids []any) (bson.A, error) {
	if len(ids) == 0 {
		return nil, h.Docs.Refuse(h.Path, nil, "no id was given: give at least one")
	}
	return h.EncodeList(ids)
}

// CountHolders is the pipeline that counts, for each of some ids, the documents that
// store it.
func (h Held) CountHolders(ids []any) (mongo.Pipeline, error) {
	held, err := h.EncodeSome(ids)
	return stmt.BeginWithMatch(bson.D{{Key: h.Path, Value: stmt.OneOf(held)}},
		mql.Group("$"+h.Path, mql.E("n", mql.Op("$sum", 1))),
		bson.D{{Key: "$sort", Value: stmt.SortAscending("")}},
	), err
}

// ListNoReferences returns the values that mean no reference: null, and the empty id as
// it is stored, unless it is a valid id.
func ListNoReferences(docs *core.Docs, empty any) bson.A {
	none := bson.A{nil}
	if v, err := docs.Encode(empty); err == nil && docs.CheckID("_id", empty) != nil && model.Shell(v) != "null" {
		none = append(none, v)
	}
	return none
}

// RequireSingle panics if the field is in an array.
func RequireSingle(place core.Place, f core.Field) {
	if f.Arrays > 0 {
		place.Fail(
			"path \""+f.Path+"\" crosses an array",
			"name a single value that isn't in an array, or declare a list of ids with childrefs.New",
		)
	}
}
