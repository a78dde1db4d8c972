package model

import (
	"context"
	"iter"
	"reflect"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// A Find is a query that returns documents as values of type D. It does nothing until All, Each, One or Count runs it.
// Where, Sorted, Limited, After and [Project] return changed copies and leave the Find as it is. Its fields may be set
// by hand until it is shared. The fields, and the methods that don't depend on D (Command, String, Cost, Count), are those of
// [Query].
type Find[D any] struct{ Query }

// Find returns a query of the collection. The filter may be nil, for all documents. It is copied. An operator in it is sent as it
// stands: put a user's value under [Eq] where it can be a document or a pattern.
//
// The filter is held against D. A path that D doesn't have, or a value of a type that the field never holds, gives a [*ValueError]
// with the nearest name. So do the filters and sorts of Where and Sorted, the filter and update of [Collection.Modify], the update of
// [Collection.Update], and the first $match of [Collection.Aggregate]. What lies below a map, an interface or a custom marshaler
// passes, and so do $expr, $text and geometry. [Collection.Unchecked] turns this off. It takes about 50 ns for each path.
//
// Cost of a run: one command, and one more for each further batch. Which index serves it isn't known here: Cost names none until
// Index is set. Consistency: a query reads no snapshot; what is written while its batches are read may be among them or not.
func (c *Collection[D, K]) Find(filter bson.D) *Find[D] {
	f := new(Find[D])
	declOf(c).query(&f.Query, filter)
	return f
}

// ByID returns the query of one document by its _id: one command, served by the _id index.
func (c *Collection[D, K]) ByID(id K) *Find[D] {
	f := new(Find[D])
	declOf(c).queryByID(&f.Query, id)
	return f
}

// Where returns the query with the filter ANDed to it. A condition on a field that the query already has a condition
// on narrows it; it never replaces it. The filter is copied; nil adds nothing.
//
// Cost: as before, by the index that served it; what that index doesn't hold is looked up in the documents.
func (f *Find[D]) Where(filter bson.D) *Find[D] {
	next := new(Find[D])
	where(&next.Query, &f.Query, filter)
	return next
}

// Sorted returns the query with another sort order, by fields and 1 or -1; nil is none. It is copied.
//
// Cost: nothing says any longer which index serves it, unless the order is the reverse of the one before. Where none has the fields in this order, the server reads all that matches
// and sorts it before the first document comes, under a limit too; beyond 100 MB that takes [ReadOptions].AllowDiskUse.
func (f *Find[D]) Sorted(sort bson.D) *Find[D] {
	next := new(Find[D])
	sorted(&next.Query, &f.Query, sort)
	return next
}

// Limited returns the query with at most n documents; 0 is all. A negative n is refused.
//
// Cost: as before, and less where the sort, if there is one, is an index's: the server stops after n documents.
func (f *Find[D]) Limited(n int64) *Find[D] {
	next := new(Find[D])
	limited(&next.Query, &f.Query, n)
	return next
}

// After returns the next page: the documents that sort after one whose sort fields hold the given values; without values,
// the first page. The sort is made total by _id, in the direction of its last field, so that equal keys are neither
// skipped nor repeated; a query without a sort is paged by _id. Give one value for each field of that sort: for a sort by
// {time: -1}, the time and the _id of the last document seen. Each page, the first too, must come from After, for it is
// After that makes the sort total.
//
// Comparisons are MongoDB's: a document whose sort field is missing, null, or of another BSON type than the value is on
// no page after the first. A null is refused, for the documents that have a value would be on none. Skip is for the first
// page, and not kept.
//
// Cost: one command for a page, whichever it is: nothing is skipped, where an index has the filter's equal fields, those of the sort
// and _id, in this order. Consistency: each page is read when it is asked for; a document whose sort fields change in between
// may come twice, or not.
func (f *Find[D]) After(values ...any) *Find[D] {
	next := new(Find[D])
	nextPage(&next.Query, &f.Query, values)
	return next
}

// Project returns the query decoding into R, with the projection that R's fields ask for, so that a half-read D can't be
// saved back as a whole one. A field of R that D doesn't store puts an error into the query that names it. R must be a
// struct; use the Projection field for anything else.
func Project[R, D any](f *Find[D]) *Find[R] {
	if f == nil {
		f = new(Find[D])
	}
	next := new(Find[R])
	project(&next.Query, &f.Query, reflect.TypeFor[R]())
	return next
}

// All runs the query and returns every document. None is not an error.
func (f *Find[D]) All(ctx context.Context, db DB) ([]D, error) {
	var docs []D
	err := readQuery(ctx, db, &f.Query).all(&docs)
	return docs, err
}

// Each runs the query and yields its documents batch by batch, in bounded memory. An error ends the sequence. Each range
// over it runs the query anew. The cursor is closed when the loop ends, early too.
func (f *Find[D]) Each(ctx context.Context, db DB) iter.Seq2[D, error] {
	return each[D](readQuery(ctx, db, &f.Query))
}

// One runs the query, whatever its limit, for one document: the first, or [ErrNotFound].
//
// Cost: one command.
func (f *Find[D]) One(ctx context.Context, db DB) (D, error) {
	var doc D
	err := readOne(ctx, db, &f.Query).one(&doc)
	return doc, err
}
