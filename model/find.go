package model

import (
	"reflect"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// A Find is a query that returns documents as values of type D. Only methods with a DB,
// such as All, send the query. Where, Sorted, Limited, After and [Project] return changed
// copies. Set the [Query]'s fields before other goroutines use the Find.
type Find[D any] struct{ Query }

// Find returns a query of the collection. A nil filter matches all documents. If user
// input can be a document or regular expression, put the input under $eq.
//
// If D lacks a path of the filter, or a value's type doesn't fit, each run returns a
// [*ValueError]. [Collection.Unchecked] turns this check off.
//
// Cost of a run: one command per batch.
func (c *Collection[D, K]) Find(filter bson.D) *Find[D] {
	f := new(Find[D])
	declOf(c).query(&f.Query, filter)
	return f
}

// ByID returns the query of the document with the _id. Cost: one command, by the _id
// index.
func (c *Collection[D, K]) ByID(id K) *Find[D] {
	f := new(Find[D])
	declOf(c).queryByID(&f.Query, id)
	return f
}

// Where returns the query with f's filter and this filter, joined by $and. A nil filter
// adds nothing.
func (f *Find[D]) Where(filter bson.D) *Find[D] {
	next := new(Find[D])
	where(&next.Query, &f.Query, filter)
	return next
}

// Sorted returns the query with a new sort: fields with 1 or -1, or nil for no sort.
//
// Cost: if no index has this order, the server first sorts all matches, even with a
// limit. Before MongoDB 6.0, a sort of more than 100 MB needs [ReadOptions].AllowDiskUse.
func (f *Find[D]) Sorted(sort bson.D) *Find[D] {
	next := new(Find[D])
	sorted(&next.Query, &f.Query, sort)
	return next
}

// Limited returns the query with at most n documents, or with all documents if n is 0.
// For a negative n, each run returns a [*ValueError].
//
// Cost: the server stops after n documents, unless it must sort without an index.
func (f *Find[D]) Limited(n int64) *Find[D] {
	next := new(Find[D])
	limited(&next.Query, &f.Query, n)
	return next
}

// After returns the query of the documents that sort after the given values. For the
// first page, call After(), which appends _id to a sort without _id, in the direction of
// the sort's last field. For each next page, pass the last document's sort values and
// _id: time and _id for {time: -1}, which After makes {time: -1, _id: -1}.
//
// Later pages omit documents whose sort field is missing, null, NaN or of another type. A
// null or NaN value gives a [*ValueError].
//
// Cost: one command per page. Earlier pages aren't read if an index has the filter's
// equality fields, the sort fields and _id, in this order.
func (f *Find[D]) After(values ...any) *Find[D] {
	next := new(Find[D])
	nextPage(&next.Query, &f.Query, values)
	return next
}

// Project returns the query that reads only the fields of R and decodes the documents as
// R. If R isn't a struct, or has fields that D doesn't store, each run returns a
// [*ValueError]. To decode some fields as D, set [Query.Projection] instead.
func Project[R, D any](f *Find[D]) *Find[R] {
	if f == nil {
		f = new(Find[D])
	}
	next := new(Find[R])
	project(&next.Query, &f.Query, reflect.TypeFor[R]())
	return next
}
