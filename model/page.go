package model

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/docmodel/docmodel/internal/bsondoc"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/direction"
	"github.com/docmodel/docmodel/internal/keyed"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A Page is one page of a query, read by [Find.Page]. Next and Previous are URL-safe
// tokens of the neighboring pages, or "".
type Page[D any] struct {
	Docs           []D
	Next, Previous string
	HasMore        bool // whether there is a next page
}

// Page reads one page of the query. [Find.Limited] sets the page size. If the sort doesn't
// contain _id, documents with equal sort values are sorted by _id, in the direction of the
// sort's last field.
//
// For the first page, pass "" as token. For another page, pass Next or Previous of a
// neighboring [Page]. A token is valid only for the same query and [Scope]. An invalid
// token gives a [*ValueError].
//
// Users can read a token's sort values. A forged token can only change the page's start
// and direction.
//
// A page that reads a document with an array, a pattern or code as sort value gives a
// [*ValueError] that names the document and the field. If other programs store such
// values, leave them out, for example by the filter {field: {$not: {$type: "array"}}}.
// The sort values of a page's first and of its last document have at most 48,000 bytes.
//
// Cost: one command. With a token, some pages cost two, such as the last page. Create an
// index on the filter's equality fields, the sort fields and _id.
//
// Source: https://www.mongodb.com/docs/manual/reference/bson-type-comparison-order/.
func (f *Find[D]) Page(ctx context.Context, db DB, token string) (Page[D], error) {
	var p Page[D]
	next, previous, err := runPage(ctx, db, &f.Query, token, &p.Docs)
	p.Next, p.Previous, p.HasMore = next, previous, next != ""
	return p, err
}

// runPage reads a page into the slice at docs.
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
	keys := own.keys // a token has the _id as it is stored
	own.keys = nil
	p, err := pageOf(&own, token, keys)
	if err != nil {
		return "", "", err
	}
	own.Sort = p.sort()
	out := reflect.ValueOf(docs).Elem()
	var first, last []bson.RawValue
	more := false
	for _, after := range p.after() {
		part := own
		part.Filter, part.Limit = bsondoc.JoinFilters(own.Filter, after), size+1-int64(out.Len())
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
			cur.Current = core.WithoutTenant(cur.Current, keys)
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
	if next, previous, err = p.beside(first, last, more); err != nil {
		out.SetZero()
	}
	return next, previous, err
}

// A paging is the position of a page in a query.
type paging struct {
	collection string
	docs       *core.Docs // checks the sort values, or nil
	keys       bson.D     // the tenant's fields in an _id, or nil
	by         bson.D     // the sort, with _id
	query      []byte     // a digest that identifies the query
	backwards  bool
	// The sort fields of the document that the page begins after. Nil for the first page.
	from      []bson.RawValue
	inclusive bool // the page begins with this document
}

func pageOf(q *Query, token string, keys bson.D) (p paging, err error) {
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
		case direction.Parse(s.Value) == 0:
			return refused("Sort", s.Value, "must be 1 or -1: pages need such an order")
		case bsondoc.HasKey(q.Sort[:i], s.Key):
			return refused("Sort", s.Key, "is given twice: give each field once")
		}
		if why := refuseSortType(q.known(), s.Key); why != "" {
			return refused("Sort", s.Key, why)
		}
	}
	if q.Projection, err = projectSort(q); err != nil {
		return p, err
	}
	p = paging{
		collection: q.Collection,
		docs:       q.known(),
		keys:       keys,
		by:         q.Sort,
	}
	if p.query, err = queryDigest(q); err == nil && token != "" {
		err = p.read(token)
	}
	return p, err
}

// projectSort returns the query's projection, with the sort fields included.
func projectSort(q *Query) (bson.D, error) {
	if len(q.Projection) == 0 {
		return nil, nil
	}
	out := slices.Clone(q.Projection)
	including := slices.ContainsFunc(out, func(e bson.E) bool {
		return (e.Key != "_id" || len(out) == 1) && !bsondoc.IsZero(e.Value)
	})
	for _, s := range q.Sort {
		i := slices.IndexFunc(out, func(e bson.E) bool { return core.Overlap(e.Key, s.Key) })
		switch {
		case i >= 0 && s.Key == "_id" && out[i].Key == "_id" && bsondoc.IsZero(out[i].Value):
			out = slices.Delete(out, i, i+1)
		case i >= 0 && (bsondoc.IsZero(out[i].Value) || len(out[i].Key) > len(s.Key)):
			return nil, &ValueError{Collection: q.Collection, Field: "Projection", Value: out[i].Key,
				Reason: fmt.Sprintf("must include %q, by which the pages are sorted", s.Key)}
		case i < 0 && including && s.Key != "_id":
			out = append(out, bson.E{Key: s.Key, Value: 1})
		}
	}
	return out, nil
}

// sort returns the query's sort, or its reverse for a page that is read backwards.
func (p paging) sort() bson.D {
	if !p.backwards {
		return p.by
	}
	out := slices.Clone(p.by)
	for i := range out {
		out[i].Value = -direction.Parse(out[i].Value)
	}
	return out
}

// refuse returns the reason why a page can't begin after a document with this value.
func (p paging) refuse(path string, v bson.RawValue) string {
	if path == "_id" && len(p.keys) > 0 {
		id, ok := core.SplitKeyID(v, p.keys)
		if !ok {
			return "isn't an _id of the tenant"
		}
		v = id
	}
	if rest, ok := strings.CutPrefix(path, keyed.Below); ok && len(p.keys) > 0 {
		path = "_id." + rest
	}
	return refuseSortValue(p.docs, path, v)
}

// valuesOf returns the sort fields of a document.
func (p paging) valuesOf(doc bson.Raw) ([]bson.RawValue, error) {
	out := make([]bson.RawValue, len(p.by))
	for i, s := range p.by {
		v, inArray := core.ValueAt(doc, s.Key)
		if v.Type == 0 || v.Type == bson.TypeUndefined {
			v = bson.RawValue{Type: bson.TypeNull}
		}
		why := severalValues
		if !inArray {
			why = p.refuse(s.Key, v)
		}
		if why != "" {
			return nil, &ValueError{
				Collection: p.collection, Field: s.Key, Value: doc.Lookup("_id"), Reason: why + ", in the document with this _id",
			}
		}
		out[i] = bson.RawValue{Type: v.Type, Value: slices.Clone(v.Value)}
	}
	return out, nil
}

// beside returns the tokens of the next and the previous page. first and last are the
// ends of this page in reading order, and more reports whether further documents follow.
// An empty page has a token back to the page that led to it.
func (p paging) beside(first, last []bson.RawValue, more bool) (next, previous string, err error) {
	empty := first == nil
	if empty {
		first = p.from
	}
	var behind, ahead string
	if p.from != nil {
		behind, err = p.token(first, !p.backwards, empty)
	}
	if more && err == nil {
		ahead, err = p.token(last, p.backwards, false)
	}
	if err != nil {
		return "", "", err
	}
	if p.backwards {
		return behind, ahead, nil
	}
	return ahead, behind, nil
}
