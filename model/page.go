package model

import (
	"context"
	"fmt"
	"reflect"
	"slices"

	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/direction"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A Page is a part of what a query returns, as [Find.Page] reads it. Next and Previous are the tokens of the pages beside it: texts
// that fit into a URL. Each is "" where there is no such page.
type Page[D any] struct {
	Docs           []D
	Next, Previous string
}

// HasMore reports whether there is a next page.
func (p Page[D]) HasMore() bool { return p.Next != "" }

// Page runs the query for one page: the first for the token "", else the one that the token of another page stands for. [Find.Limited]
// says how many documents a page has. The sort is made total by _id, as in [Find.After].
//
// Pages follow the server's order whatever documents hold: a missing field sorts as null, and values of other types before or after
// all values of a type. So no document is left out and none comes twice, as long as none is written meanwhile. Page to the last one
// and back, and each has the documents that it had.
//
// A token holds the sort fields of one document, which whoever has the token can read. It belongs to its query: collection, filter,
// sort, projection, collation, and the filter of a [Scope]. With another query it is refused, and so is a text that is no token. It
// has no secret: a made-up token can begin elsewhere in the query, and reads nothing else.
//
// Errors: a [*ValueError] for a query without Limited or with Skip, for a sort by anything but 1 and -1 or by a field in an array,
// for a projection that leaves a sort field out, and for a token that isn't one of the query's.
//
// Cost: one command, and a second one where the values of one type in the first field of the sort end on the page; each asks for one
// document more than the page still needs. They are served as the pages of After are, by an index of the filter's equal fields,
// those of the sort, and _id. Nothing is skipped.
//
// Source: https://www.mongodb.com/docs/manual/reference/bson-type-comparison-order/.
func (f *Find[D]) Page(ctx context.Context, db DB, token string) (Page[D], error) {
	var p Page[D]
	next, previous, err := runPage(ctx, db, &f.Query, token, &p.Docs)
	p.Next, p.Previous = next, previous
	return p, err
}

// runPage reads a page into the slice that docs points at.
//
//go:noinline
func runPage(ctx context.Context, db DB, q *Query, token string, docs any) (next, previous string, err error) {
	ctx, op := begin(ctx, db, "page", "", q.Collection, 0)
	defer op.end()
	op.reads(q.Index)
	next, previous, err = readPage(ctx, db, q, token, docs)
	op.settle(err)
	return next, previous, err
}

func readPage(ctx context.Context, db DB, q *Query, token string, docs any) (next, previous string, err error) {
	own := *scopedQuery(db, q)
	size := own.Limit
	p, err := pageOf(&own, token)
	if err != nil {
		return "", "", err
	}
	own.Sort = p.sort()
	out := reflect.ValueOf(docs).Elem()
	var first, last []bson.RawValue
	more := false
	for _, after := range p.after() {
		part := own
		part.Filter, part.Limit = And(own.Filter, after), size+1-int64(out.Len())
		r := readQuery(ctx, bare(db), &part)
		err = r.run(ctx, func(cur *mongo.Cursor) (bool, error) {
			n := out.Len()
			if more = int64(n) == size; more {
				return false, nil
			}
			if last, err = p.valuesOf(cur.Current); err != nil {
				return false, err
			}
			if n == 0 {
				first = last
			}
			out.Grow(1)
			out.SetLen(n + 1)
			return true, r.decode(cur, out.Index(n).Addr().Interface())
		})
		if err != nil {
			out.SetZero()
			return "", "", err
		}
		if more {
			break
		}
	}
	if p.backwards {
		swap := reflect.Swapper(out.Interface())
		for i, j := 0, out.Len()-1; i < j; i, j = i+1, j-1 {
			swap(i, j)
		}
	}
	next, previous = p.beside(first, last, more)
	return next, previous, nil
}

// A paging is one page's place in a query.
type paging struct {
	collection string
	by         bson.D // the sort, made total
	query      []byte // what tells the query from others
	backwards  bool
	from       []bson.RawValue // the sort fields of the document that the page begins after; nil for the first page
	inclusive  bool            // the page begins with that document
}

func pageOf(q *Query, token string) (p paging, err error) {
	if err := checkQuery(q); err != nil {
		return p, err
	}
	refused := func(field string, v any, reason string) (paging, error) {
		return p, &ValueError{Collection: q.Collection, Field: field, Value: v, Reason: reason}
	}
	switch {
	case q.Limit == 0:
		return refused("limit", nil, "is missing: give the size of a page with Limited")
	case q.Skip != 0:
		return refused("skip", q.Skip, "must be 0: a page is found by its token")
	}
	if err := core.CheckDepth(q.Filter); err != nil {
		return p, err
	}
	totalOrder(q)
	for i, s := range q.Sort {
		switch {
		case direction.Of(s.Value) == 0:
			return refused("Sort", s.Value, "must be 1 or -1: pages need such an order")
		case hasKey(q.Sort[:i], s.Key):
			return refused("Sort", s.Key, "is given twice: give each field once")
		}
		if q.layout != nil && q.docs != nil {
			if f, err := q.docs.Lookup(s.Key); err == nil && f.Arrays > 0 {
				return refused("Sort", s.Key, "is in an array, so a document has several values to sort by")
			}
		}
	}
	if q.Projection, err = projectSort(q); err != nil {
		return p, err
	}
	p = paging{collection: q.Collection, by: q.Sort}
	if p.query, err = queryDigest(q); err == nil && token != "" {
		err = p.read(token)
	}
	return p, err
}

// projectSort is the query's projection, with the fields of the sort in it.
func projectSort(q *Query) (bson.D, error) {
	if len(q.Projection) == 0 {
		return nil, nil
	}
	out := slices.Clone(q.Projection)
	including := slices.ContainsFunc(out, func(e bson.E) bool { return e.Key != "_id" && !isZero(e.Value) })
	for _, s := range q.Sort {
		i := slices.IndexFunc(out, func(e bson.E) bool { return core.Overlap(e.Key, s.Key) })
		switch {
		case i >= 0 && s.Key == "_id" && out[i].Key == "_id" && isZero(out[i].Value):
			out = slices.Delete(out, i, i+1)
		case i >= 0 && (isZero(out[i].Value) || len(out[i].Key) > len(s.Key)):
			return nil, &ValueError{Collection: q.Collection, Field: "Projection", Value: out[i].Key,
				Reason: fmt.Sprintf("must include %q, by which the pages are sorted", s.Key)}
		case i < 0 && including && s.Key != "_id":
			out = append(out, bson.E{Key: s.Key, Value: 1})
		}
	}
	return out, nil
}

// isZero reports whether a projection's value leaves its field out.
func isZero(v any) bool {
	switch v := v.(type) {
	case bool:
		return !v
	case int:
		return v == 0
	case int32:
		return v == 0
	case int64:
		return v == 0
	case float64:
		return v == 0
	}
	return false
}

// sort is the order to read in: the query's, or its reverse.
func (p paging) sort() bson.D {
	if !p.backwards {
		return p.by
	}
	out := slices.Clone(p.by)
	for i := range out {
		out[i].Value = -direction.Of(out[i].Value)
	}
	return out
}

// valuesOf are the sort fields of a document.
func (p paging) valuesOf(doc bson.Raw) ([]bson.RawValue, error) {
	out := make([]bson.RawValue, len(p.by))
	for i, s := range p.by {
		v, inArray := core.ValueAt(doc, s.Key)
		switch {
		case inArray || v.Type == bson.TypeArray:
			return nil, &ValueError{Collection: p.collection, Field: s.Key, Value: doc.Lookup("_id"),
				Reason: "is an array in the document with this _id, so it has several values to sort by"}
		case v.Type == bson.TypeRegex:
			return nil, &ValueError{Collection: p.collection, Field: s.Key, Value: doc.Lookup("_id"),
				Reason: "is a regular expression in the document with this _id, which no query can compare"}
		case v.Type == 0 || v.Type == bson.TypeUndefined:
			v = bson.RawValue{Type: bson.TypeNull}
		}
		out[i] = bson.RawValue{Type: v.Type, Value: slices.Clone(v.Value)}
	}
	return out, nil
}

// beside are the tokens of the next and the previous page. first and last are the ends of this one, in the order it was read in; more
// says whether documents follow, in that order. A page that has become empty has the one beside it that its token came from.
func (p paging) beside(first, last []bson.RawValue, more bool) (next, previous string) {
	empty := first == nil
	if empty {
		first = p.from
	}
	var behind, ahead string
	if p.from != nil {
		behind = p.token(first, !p.backwards, empty)
	}
	if more {
		ahead = p.token(last, p.backwards, false)
	}
	if p.backwards {
		return behind, ahead
	}
	return ahead, behind
}
