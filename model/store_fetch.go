package model

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/runctx"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// mostFound is the number of documents that a reaction's query may find. More documents
// are the work of a job.
const mostFound = 1000

// fetch reads documents, in the order of the list. A missing document gives no result. It
// reads the documents of a collection by one command.
func (s *store) fetch(ctx context.Context, db DB, list []Fetch) (out [][]bson.Raw, err error) {
	out = make([][]bson.Raw, len(list))
	done := map[string]bool{}
	for i, f := range list {
		switch {
		case f.Query != nil:
			out[i], err = fetchQuery(ctx, db, f)
		case !done[f.Collection]:
			done[f.Collection] = true
			err = s.fetchByID(ctx, db, f.Collection, list, out)
		}
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// fetchQuery reads the documents of a query, and refuses too many.
func fetchQuery(ctx context.Context, db DB, f Fetch) ([]bson.Raw, error) {
	q := *f.Query
	unlimited := q.Limit == 0
	if unlimited {
		q.Limit = mostFound + 1
	}
	docs, err := (&Find[bson.Raw]{Query: q}).All(runctx.Deciding(ctx), db)
	if err == nil && unlimited && len(docs) > mostFound {
		return nil, &ValueError{
			Collection: q.Collection, Field: "documents",
			Reason: fmt.Sprintf("to write together are more than %d: run %s", mostFound, pick(f.Job == "", "a job", f.Job)),
		}
	}
	return docs, err
}

// fetchByID reads the documents of a collection with the union of their fields.
func (s *store) fetchByID(ctx context.Context, db DB, collection string, list []Fetch, out [][]bson.Raw) error {
	var ids bson.A
	fields := bson.D{{Key: "_id", Value: 1}}
	for _, f := range list {
		if f.Query != nil || f.Collection != collection {
			continue
		}
		if !slices.ContainsFunc(ids, func(id any) bool { return sameValue(id, f.ID) }) {
			ids = append(ids, f.ID)
		}
		for _, path := range f.Paths {
			fields = withProjected(fields, path)
		}
	}
	docs, err := (&Find[bson.Raw]{Query: Query{
		Collection: collection, Filter: bson.D{{Key: "_id", Value: bson.D{{Key: "$in", Value: ids}}}}, Projection: fields,
		Index: IDIndex, Keyed: s.keyed[collection],
	}}).All(runctx.Deciding(ctx), db)
	for i, f := range list {
		if f.Query == nil && f.Collection == collection {
			if at := slices.IndexFunc(docs, func(d bson.Raw) bool { return sameValue(d.Lookup("_id"), f.ID) }); at >= 0 {
				out[i] = docs[at : at+1]
			}
		}
	}
	return err
}

// withProjected adds a path to a projection. The longer of two overlapping paths goes.
func withProjected(fields bson.D, path string) bson.D {
	if path == Whole || len(fields) == 0 {
		return nil
	}
	for _, e := range fields {
		if path == e.Key || strings.HasPrefix(path, e.Key+".") {
			return fields
		}
	}
	fields = slices.DeleteFunc(fields, func(e bson.E) bool { return core.Overlap(e.Key, path) })
	return append(fields, bson.E{Key: path, Value: 1})
}
