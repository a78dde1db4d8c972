package model

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/docmodel/docmodel/internal/bsondoc"
	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/mql"
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
	if list, err = s.leaveUnread(ctx, list, state); err != nil {
		return nil, err
	}
	done := map[fetchGroup]bool{}
	var unread []Fetch
	var at []int
	for i, f := range list {
		n := state.index(f.Collection, f.ID)
		doc, err := s.served(ctx, f, state)
		switch {
		case err != nil:
			return nil, err
		case f.Collection == "" && f.Query == nil: // left unread
		case (f.Query != nil || f.By != "") && isWritten(state.referred, f.collection()):
			return nil, s.readFirst(ctx, ErrStale)
		case f.Query != nil || f.By != "":
			unread, at = append(unread, f), append(at, i)
		case n >= 0:
			if doc := state.docs[n].after; doc != nil {
				out[i] = []bson.Raw{doc}
			}
		case f.isFoundOutByHold(state.tx):
		case doc != nil:
			out[i] = []bson.Raw{doc}
		default:
			unread, at = append(unread, f), append(at, i)
		}
	}
	found := make([][]bson.Raw, len(unread))
	for i, f := range unread {
		f = state.sampled(f)
		switch {
		case f.Query != nil:
			found[i], err = fetchQuery(ctx, db, f)
		case !done[f.group()]:
			done[f.group()] = true
			err = s.fetchGroup(ctx, db, f, unread, found, state)
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
	q.Limit = max(q.Limit, 0) // negative for all documents
	docs, err := (&Find[bson.Raw]{Query: q}).All(runctx.Deciding(ctx), db)
	if err == nil && unlimited && len(docs) > mostFound {
		return nil, f.tooMany()
	}
	return docs, err
}

// tooMany returns the error of a fetch that finds more documents than an action may write.
func (f Fetch) tooMany() error {
	return &tooManyError{ValueError{
		Collection: f.collection(), Field: "documents",
		Reason: fmt.Sprintf("to write together are more than %d: run %s", mostFound, pick(f.Job == "", "a job", f.Job)),
	}}
}

// isFoundOutByHold reports whether a transaction needn't read the document, because the write that
// holds it tells if it is missing.
func (f Fetch) isFoundOutByHold(tx bool) bool {
	return tx && f.Hold && f.Missing != nil && len(f.Paths) == 0
}

// A fetchGroup is what the fetches of one query have in common.
type fetchGroup struct {
	collection, by string
	limit          int64
	deleted        bool
}

func (f Fetch) group() fetchGroup { return fetchGroup{f.Collection, f.By, f.Limit, f.Deleted} }

// fetchGroup reads the documents of a fetch, and of the others of its group, with the union
// of their fields.
func (s *store) fetchGroup(
	ctx context.Context, db DB, first Fetch, list []Fetch, out [][]bson.Raw, state *storeState,
) error {
	path, index := cmp.Or(first.By, "_id"), pick(first.By == "", IDIndex, "")
	var ids bson.A
	fields := bson.D{{Key: path, Value: 1}}
	for _, f := range list {
		f = state.sampled(f)
		if f.Query != nil || f.group() != first.group() {
			continue
		}
		if !slices.ContainsFunc(ids, func(id any) bool { return bsondoc.SameValue(id, f.ID) }) {
			ids = append(ids, f.ID)
		}
		for _, path := range f.Paths {
			fields = withProjected(fields, path)
		}
	}
	deletions := !state.tx && first.By == "" && state.most == 0 // a document that an action deletes is missing
	if deletions && fields != nil {
		fields = withProjected(fields, s.fieldOf(first.Collection).Deletes())
	}
	q := Query{
		Collection: first.Collection,
		Filter:     bson.D{{Key: path, Value: bson.D{{Key: "$in", Value: ids}}}}, Projection: fields, Index: index,
		Keyed: s.keyed[first.Collection], Limit: first.Limit, Deleted: first.Deleted,
	}
	var docs []bson.Raw
	var err error
	isUnrouted := func(id any) bool {
		return !isRouted(ctx, db, first.Collection, bson.D{{Key: "_id", Value: mql.Eq(id)}})
	}
	if first.By == "" && state.tx && s.holdsAll(ctx, first, list) && !slices.ContainsFunc(ids, isUnrouted) {
		docs, err = s.fetchHeld(ctx, db, first, ids, fields, state)
	} else if first.By == "" {
		docs, err = (&Find[bson.Raw]{Query: q}).All(runctx.Deciding(ctx), db)
	} else {
		docs, err = fetchQuery(ctx, db, Fetch{Query: &q, Job: first.Job})
	}
	for i, f := range list {
		if f = state.sampled(f); f.Query == nil && f.group() == first.group() {
			for _, d := range docs {
				if deletions && s.fieldOf(first.Collection).IsDeleting(d) {
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

// collection returns the name of the collection that the fetch reads.
func (f Fetch) collection() string {
	if f.Query != nil {
		return f.Query.Collection
	}
	return f.Collection
}
