package model

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/runctx"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// mostFound is the number of documents that a reaction's query may find. More documents
// are the work of a job.
const mostFound = 1000

// fetch reads documents, in the order of the list. A missing document gives no result. It
// reads the documents of a collection by one command. A document that the action writes is
// as the action leaves it, if it's fetched by its _id.
func (s *store) fetch(ctx context.Context, db DB, list []Fetch, state *storeState) (out [][]bson.Raw, err error) {
	out = make([][]bson.Raw, len(list))
	done := map[fetchGroup]bool{}
	var unread []Fetch
	var at []int
	for i, f := range list {
		if n := state.index(f.Collection, f.ID); f.Query != nil || f.By != "" || n < 0 {
			unread, at = append(unread, f), append(at, i)
		} else if doc := state.docs[n].after; doc != nil {
			out[i] = []bson.Raw{doc}
		}
	}
	found := make([][]bson.Raw, len(unread))
	for i, f := range unread {
		switch {
		case f.Query != nil:
			found[i], err = fetchQuery(ctx, db, f)
		case !done[f.group()]:
			done[f.group()] = true
			err = s.fetchGroup(ctx, db, f, unread, found, state.tx)
		}
		if err != nil {
			return nil, err
		}
	}
	for i := range unread {
		out[at[i]] = found[i]
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

// A fetchGroup is what the fetches of one query have in common.
type fetchGroup struct {
	collection, by string
	limit          int64
}

func (f Fetch) group() fetchGroup { return fetchGroup{f.Collection, f.By, f.Limit} }

// fetchGroup reads the documents of a fetch, and of the others of its group, with the union
// of their fields.
func (s *store) fetchGroup(ctx context.Context, db DB, first Fetch, list []Fetch, out [][]bson.Raw, tx bool) error {
	path, index := cmp.Or(first.By, "_id"), pick(first.By == "", IDIndex, "")
	var ids bson.A
	fields := bson.D{{Key: path, Value: 1}}
	for _, f := range list {
		if f.Query != nil || f.group() != first.group() {
			continue
		}
		if !slices.ContainsFunc(ids, func(id any) bool { return sameValue(id, f.ID) }) {
			ids = append(ids, f.ID)
		}
		for _, path := range f.Paths {
			fields = withProjected(fields, path)
		}
	}
	deletions := !tx && first.By == "" // a document that an action deletes is missing
	if deletions && fields != nil {
		fields = withProjected(fields, unfinishedField+".gone")
	}
	q := Query{
		Collection: first.Collection, Filter: bson.D{{Key: path, Value: bson.D{{Key: "$in", Value: ids}}}}, Projection: fields,
		Index: index, Keyed: s.keyed[first.Collection], Limit: first.Limit,
	}
	var docs []bson.Raw
	var err error
	if first.By == "" {
		docs, err = (&Find[bson.Raw]{Query: q}).All(runctx.Deciding(ctx), db)
	} else {
		docs, err = fetchQuery(ctx, db, Fetch{Query: &q, Job: first.Job})
	}
	for i, f := range list {
		if f.Query == nil && f.group() == first.group() {
			for _, d := range docs {
				if deletions && d.Lookup(storeField, "op", "gone").Type != 0 {
					continue
				}
				if holdsValue(bson.RawValue{Type: bson.TypeEmbeddedDocument, Value: d}, strings.Split(path, "."), f.ID) {
					out[i] = append(out[i], d)
				}
			}
		}
	}
	return err
}

// holdsValue reports whether a value holds v at a path, or in arrays on the path or at its
// end.
func holdsValue(at bson.RawValue, path []string, v bson.RawValue) bool {
	if len(path) == 0 && bsonval.EqualRaw(at, v) {
		return true
	}
	if at.Type == bson.TypeArray {
		return slices.ContainsFunc(core.Elements(at), func(e bson.RawValue) bool { return holdsValue(e, path, v) })
	}
	doc, ok := at.DocumentOK()
	return ok && len(path) > 0 && holdsValue(doc.Lookup(path[0]), path[1:], v)
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
