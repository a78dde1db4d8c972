package denorm

import (
	"reflect"
	"time"

	"github.com/docmodel/docmodel/denorm/internal/widerow"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// WideRowSpec names the collections of a [WideRow]'s rows and the fields that columns
// copy. LeftRows and RightRows are required.
type WideRowSpec struct {
	LeftRows  string // collection of the left documents' rows
	RightRows string // collection of the right documents' rows

	// LeftCopies are paths of left documents, copied into the columns of right rows. They
	// can't lie inside arrays.
	LeftCopies []string
	// RightCopies are paths of right documents, copied into the columns of left rows.
	RightCopies []string

	Max int // maximum columns per document of a row, 2 to 100,000; 0 means 500

	// MaxBytes is the maximum size of a row's document, 4 KiB to 15 MiB; 0 means 1 MiB. A
	// column over half of MaxBytes, or copied fields over a quarter, give a
	// [*model.ValueError]. [RowSide.Refresh] can exceed MaxBytes.
	MaxBytes int
}

// A RowColumn is a link of a [WideRow] to a document with an _id of type K.
type RowColumn[K any] struct {
	Key string        `bson:"k"` // "time|id", the order of columns
	At  time.Time     `bson:"at"`
	ID  K             `bson:"id"`
	Op  bson.ObjectID `bson:"op"`  // token of the operation that linked
	Doc bson.Raw      `bson:"doc"` // copied fields, nested as in the document, or nil
}

// WideRow is a many-to-many relation that is read from both ends in order of time: which
// items a user likes. Each left and right document has a row, the list of its links. A
// column is one link: time, id and copied fields of the linked document.
//
// A row consists of documents for consecutive time spans, of up to Max columns each. Full
// documents are split:
//
//	{_id: "row#low", row, low, hi, n, rev, cols: [{k: "time|id", at, id, op, doc}]}
//
// The field row is the left or right document's _id, n the number of columns, and rev the
// number of writes. [RowColumn] explains cols. Columns are in order, with low ≤ k < hi.
// Times have milliseconds, in the years 0 to 9999.
//
// # Consistency
//
// A link is two columns in two documents. The left column is authoritative: it is written
// first and removed first. A crash, or two concurrent operations on a pair, can leave one
// column of a link, which [WideRow.Checks] finds. Two concurrent Links of a pair with
// different times can leave two columns of the pair in one row. The next operation on the
// pair, or the repair, keeps the earlier column.
//
// Concurrent writes of a row lose nothing. The next operation finishes an interrupted
// split. While a document is split, readers can see columns twice.
//
// Copied fields are as old as the link or the last [RowSide.Refresh].
//
// Source: a text on data as an ordered map of maps.
//
// Indexes returns two indexes for each collection of rows: to find a pair, and to page
// from the oldest column.
//
// Checks returns these checks, which can report operations in progress:
//
//   - Pairs of documents with a column in one row only, with two columns in a row, or
//     with columns of different times. If the left row has a column, the repair links the
//     pair with the earliest time in the left row. Otherwise it unlinks the pair. It
//     skips pairs with a column younger than the check's Age. This check can't have a
//     filter ([model.Check.In]).
//   - Columns with old copied fields. The repair updates them, unless they have changed
//     since. After a concurrent split, check again.
//   - Columns that link to a missing document. No write repairs them: use
//     [WideRow.Unlink].
//   - Row documents with more than Max columns. No write repairs them: the next column
//     splits them.
//
// Cost: the first check reads all rows.
type WideRow[L, LK, R, RK any] struct {
	model.Parts

	w *widerow.Rows
}

// NewWideRow declares a relation between two collections, which can be the same. It
// panics with a [*model.DeclarationError] if LeftRows or RightRows names one of them, if
// LeftRows equals RightRows, if an _id isn't a string, integer or ObjectID, or if a field
// of spec is invalid.
func NewWideRow[L, LK, R, RK any](
	left *model.Collection[L, LK], right *model.Collection[R, RK], spec WideRowSpec,
) *WideRow[L, LK, R, RK] {
	w := widerow.Declare([2]widerow.Side{
		{Rows: spec.LeftRows, Docs: left.Docs(), Copies: spec.LeftCopies}, {Rows: spec.RightRows, Docs: right.Docs(), Copies: spec.RightCopies},
	}, [2]reflect.Type{reflect.TypeFor[LK](), reflect.TypeFor[RK]()}, spec.Max, spec.MaxBytes)
	return &WideRow[L, LK, R, RK]{model.NewParts(w.Indexes, w.Relations, w.Checks, w.Footprints), w}
}

// Link returns the change that links two documents, with the time t. It copies fields
// from the values left and right. token identifies the operation: a new
// bson.NewObjectID(). A pair that is already linked keeps its time; only a missing half
// of the link is written. After a concurrent write it reads again, up to 100 times. A
// retry after an Unlink links the pair again.
//
// Cost: four commands, which write two documents, by [WideRow.Indexes] and _id. If a
// row's document is full, four more commands write three documents more. In a
// transaction, the rows are read by four commands.
func (x *WideRow[L, LK, R, RK]) Link(left *L, right *R, t time.Time, token bson.ObjectID) model.Change[any] {
	return x.w.Link(left, right, t, token)
}

// Unlink returns the change that removes both columns of a pair. If the pair isn't
// linked, it does nothing.
//
// Cost: four commands, two documents.
func (x *WideRow[L, LK, R, RK]) Unlink(left LK, right RK) model.Change[any] {
	return x.w.Unlink(left, right)
}

// Linked returns the query that finds whether left is linked to right. It returns the
// [RowPage] of the left document that stores the link, with only this column. Without a
// link, Count gives 0 and One gives model.ErrNotFound.
//
// Cost: one command, served by [WideRow.Indexes].
func (x *WideRow[L, LK, R, RK]) Linked(left LK, right RK) *model.Find[RowPage[RK]] {
	return &model.Find[RowPage[RK]]{Query: x.w.Linked(left, right)}
}

// A RowPage is one of the documents that store a row of a [WideRow]: links to documents
// with an _id of type K.
type RowPage[K any] struct {
	ID   string         `bson:"_id"`
	Low  string         `bson:"low"` // the document has columns with keys from Low
	High string         `bson:"hi"`  // to below High
	N    int            `bson:"n"`
	Cols []RowColumn[K] `bson:"cols"`
}

// Left returns the [RowSide] that reads the left documents' rows.
func (x *WideRow[L, LK, R, RK]) Left() RowSide[L, LK, RK] { return RowSide[L, LK, RK]{x.w, 0} }

// Right returns the [RowSide] that reads the right documents' rows.
func (x *WideRow[L, LK, R, RK]) Right() RowSide[R, RK, LK] {
	return RowSide[R, RK, LK]{x.w, 1}
}

// A RowSide is one side of a [WideRow]: documents D with an _id of type K, each with a
// row of links to documents with an _id of type O.
type RowSide[D, K, O any] struct {
	w    *widerow.Rows
	side int
}

// Newest returns the pipeline of the n newest columns (links) of a document's row, newest
// first. An n of 0 means all. pageToken is "" for the first page, or the Key of
// the last column of the previous page, or [ColumnsFrom](t) to read only columns older
// than the time t.
//
// Cost: one command per batch, served by _id.
func (s RowSide[D, K, O]) Newest(id K, pageToken string, n int64) *model.Aggregate[RowColumn[O]] {
	return &model.Aggregate[RowColumn[O]]{Aggregation: s.w.Newest(s.side, id, pageToken, n)}
}

// Oldest returns the pipeline of the n oldest columns (links) of a document's row, oldest
// first. For the parameters, see [RowSide.Newest], but here [ColumnsFrom](t) reads
// columns from the time t.
//
// Cost: as [RowSide.Newest], but served by the index on row and hi.
func (s RowSide[D, K, O]) Oldest(id K, pageToken string, n int64) *model.Aggregate[RowColumn[O]] {
	return &model.Aggregate[RowColumn[O]]{Aggregation: s.w.Oldest(s.side, id, pageToken, n)}
}

// ColumnsFrom returns the second argument for [RowSide.Oldest] to begin at t, or for
// [RowSide.Newest] to begin before t.
func ColumnsFrom(t time.Time) string { return widerow.From(t) }

// A RowCount is the size of a row of a [WideRow].
type RowCount struct {
	Columns   int64 `bson:"columns"`
	Documents int   `bson:"documents"`
}

// Count returns the pipeline that counts the columns (links) of a document's row. For an
// empty row, Aggregate.One can return model.ErrNotFound. While a [RowPage] of the row is
// split, columns can count twice.
//
// Cost: one command, served by _id; it reads every document of the row.
func (s RowSide[D, K, O]) Count(id K) *model.Aggregate[RowCount] {
	return &model.Aggregate[RowCount]{Aggregation: s.w.Count(s.side, id)}
}

// Refresh returns the write that copies fields of the changed document doc to all columns
// that link to this document.
//
// Cost: one command, served by [WideRow.Indexes]; it writes each document of the other
// side's rows that has an old copy of these fields. If interrupted, or while a document
// is split, some columns stay old: run it again.
func (s RowSide[D, K, O]) Refresh(doc *D) model.Write {
	return s.w.Refresh(s.side, doc)
}
