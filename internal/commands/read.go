package commands

import (
	"cmp"
	"context"

	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// ServeQuery says which index serves a query, or why the query can't be sent.
func ServeQuery(q *model.Query, index string, err error) { q.Index, q.Err = index, cmp.Or(err, q.Err) }

// ServeFind is [ServeQuery] for a Find. It returns the Find.
func ServeFind[D any](f *model.Find[D], index string, err error) *model.Find[D] {
	ServeQuery(&f.Query, index, err)
	return f
}

// ServeAggregate is [ServeQuery] for a pipeline. It returns the Aggregate.
func ServeAggregate[R any](a *model.Aggregate[R], index string, err error) *model.Aggregate[R] {
	a.Index, a.Err = index, cmp.Or(err, a.Err)
	return a
}

// SizeReply returns the batch size with which the first reply has all of at most n
// documents: the given size if it isn't 0, 0 (the server's 101), or n+1.
func SizeReply(given int32, n int) int32 {
	if given != 0 || n <= 100 {
		return given
	}
	return int32(n + 1)
}

// ReadOne reads fields of a document, or the whole document, by _id.
func ReadOne(ctx context.Context, db model.DB, collection string, id, fields bson.D) (bson.Raw, error) {
	return (&model.Find[bson.Raw]{
		Query: model.Query{Collection: collection, Filter: id, Projection: fields, Index: model.IDIndex},
	}).One(ctx, db)
}

// ProjectFields returns the projection of paths. It ignores "". The _id is always read.
func ProjectFields(paths ...string) bson.D {
	var d bson.D
	for _, p := range paths {
		if p != "" && p != "_id" {
			d = append(d, bson.E{Key: p, Value: 1})
		}
	}
	if len(d) == 0 {
		return bson.D{{Key: "_id", Value: 1}}
	}
	return d
}

// MakeIndex returns an index with its purpose.
func MakeIndex(collection, why string, keys ...bson.E) model.Index {
	x := model.NewIndex(collection, bson.D(keys))
	x.Why = why
	return x
}

// MakeLookupIndex is [MakeIndex] for queries that compare the first key for equality, and
// sort by the others.
func MakeLookupIndex(collection, why string, keys ...bson.E) model.Index {
	x := MakeIndex(collection, why, keys...)
	x.Equal = 1
	return x
}

// PrefixPaths returns a filter whose paths are below a prefix.
func PrefixPaths(prefix string, d bson.D) bson.D {
	out := make(bson.D, len(d))
	for i, e := range d {
		out[i] = bson.E{Key: prefix + e.Key, Value: e.Value}
	}
	return out
}
