package migrate

import (
	"context"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/relate/internal/idref"
	"github.com/docmodel/docmodel/relate/internal/stmt"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// A batchReader reads what belongs to the documents of a batch, and collects mismatches.
type batchReader struct {
	ctx        context.Context
	db         model.DB
	collection string
	found      []mismatch
}

// report notes a mismatch of a document of the batch.
func (b *batchReader) report(kind string, id bson.RawValue, ids ...bson.RawValue) {
	b.found = append(b.found, mismatch{Kind: kind, Collection: b.collection, ID: id, IDs: ids})
}

// reportSome notes a mismatch if there are ids.
func (b *batchReader) reportSome(kind string, id bson.RawValue, ids []bson.RawValue) {
	if len(ids) > 0 {
		b.report(kind, id, ids...)
	}
}

// refuse notes that a document can't be migrated, with the reason.
func (b *batchReader) refuse(id bson.RawValue, reason string, ids ...bson.RawValue) {
	b.found = append(
		b.found, mismatch{Kind: mismatchRefused, Collection: b.collection, ID: id, IDs: ids, Reason: reason},
	)
}

// readBy reads the documents with one of some values at a path, in chunks that fit a
// command.
func (b *batchReader) readBy(
	collection, path string, values []bson.RawValue, projection, sort bson.D,
) ([]bson.Raw, error) {
	var out []bson.Raw
	for _, chunk := range idref.CutChunks(removeDuplicates(values), idref.MaxIDs) {
		f := &model.Find[bson.Raw]{Query: model.Query{
			Collection: collection, Projection: projection, Sort: sort,
			Filter: bson.D{{Key: path, Value: stmt.OneOf(chunk)}},
		}}
		// The reads of a job go to the primary: what they find decides its writes.
		docs, err := f.All(b.ctx, b.db)
		if err != nil {
			return nil, err
		}
		out = append(out, docs...)
	}
	return out, nil
}

// listReported returns the documents with a mismatch of a kind.
func (b *batchReader) listReported(kind string) map[string]bool {
	out := map[string]bool{}
	for _, m := range b.found {
		if m.Kind == kind {
			out[bsonval.Key(m.ID)] = true
		}
	}
	return out
}

// readGrouped is readBy, grouped by the value at the path.
func (b *batchReader) readGrouped(
	collection, path string, values []bson.RawValue, projection, sort bson.D,
) (map[string][]bson.Raw, error) {
	docs, err := b.readBy(collection, path, values, projection, sort)
	out := map[string][]bson.Raw{}
	for _, d := range docs {
		k := bsonval.Key(readValue(d, path))
		out[k] = append(out[k], d)
	}
	return out, err
}

// readByID is readBy for _id, as a map.
func (b *batchReader) readByID(collection string, ids []bson.RawValue, projection bson.D) (map[string]bson.Raw, error) {
	docs, err := b.readBy(collection, "_id", ids, projection, nil)
	// Keys compare as a server does, so that an int32 reference finds an int64 _id.
	out := make(map[string]bson.Raw, len(docs))
	for _, d := range docs {
		out[bsonval.Key(d.Lookup("_id"))] = d
	}
	return out, err
}
