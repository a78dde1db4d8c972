package migrate

import (
	"context"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/relate/internal/idref"
	"github.com/docmodel/docmodel/relate/internal/stmt"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// batchReader reads what belongs to the documents of a batch, and collects what is wrong with them.
type batchReader struct {
	ctx        context.Context
	db         model.DB
	collection string
	found      []mismatch
}

func (b *batchReader) report(kind string, id bson.RawValue, ids ...bson.RawValue) {
	b.found = append(b.found, mismatch{Kind: kind, Collection: b.collection, ID: id, IDs: ids})
}

// reportSome reports ids, if there are any.
func (b *batchReader) reportSome(kind string, id bson.RawValue, ids []bson.RawValue) {
	if len(ids) > 0 {
		b.report(kind, id, ids...)
	}
}

func (b *batchReader) refuse(id bson.RawValue, reason string, ids ...bson.RawValue) {
	b.found = append(b.found, mismatch{Kind: mismatchRefused, Collection: b.collection, ID: id, IDs: ids, Reason: reason})
}

// read returns the documents that have one of some values at a path, in chunks that fit a command.
func (b *batchReader) read(collection, path string, values []bson.RawValue, projection, sort bson.D) ([]bson.Raw, error) {
	var out []bson.Raw
	for _, chunk := range idref.Chunked(uniqueValues(values), idref.MaxIDs) {
		f := &model.Find[bson.Raw]{Query: model.Query{
			Collection: collection, Projection: projection, Sort: sort, Filter: bson.D{{Key: path, Value: stmt.In(chunk)}},
		}}
		docs, err := f.All(b.ctx, b.db)
		if err != nil {
			return nil, err
		}
		out = append(out, docs...)
	}
	return out, nil
}

// reported are the documents with a mismatch of a kind.
func (b *batchReader) reported(kind string) map[string]bool {
	out := map[string]bool{}
	for _, m := range b.found {
		if m.Kind == kind {
			out[bsonval.Key(m.ID)] = true
		}
	}
	return out
}

// by is read, by the key of the value that each document has at the path.
func (b *batchReader) by(collection, path string, values []bson.RawValue, projection, sort bson.D) (map[string][]bson.Raw, error) {
	docs, err := b.read(collection, path, values, projection, sort)
	out := map[string][]bson.Raw{}
	for _, d := range docs {
		k := bsonval.Key(valueAt(d, path))
		out[k] = append(out[k], d)
	}
	return out, err
}

// byID is read by _id, as a map.
func (b *batchReader) byID(collection string, ids []bson.RawValue, projection bson.D) (map[string]bson.Raw, error) {
	docs, err := b.read(collection, "_id", ids, projection, nil)
	out := make(map[string]bson.Raw, len(docs))
	for _, d := range docs {
		out[bsonval.Key(d.Lookup("_id"))] = d
	}
	return out, err
}
