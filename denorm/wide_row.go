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

	// LeftCopies are paths in left documents that columns of right rows copy. Copied
	// paths can't lie inside arrays.
	LeftCopies []string
	// RightCopies are paths in right documents that columns of left rows copy.
	RightCopies []string

	Max int // maximum columns of a [RowPage], 2 to 100,000; 0 means 500

	// MaxBytes is the maximum size of a [RowPage], 4 KiB to 15 MiB; 0 means 1 MiB. A
	// write gives a [*model.ValueError] if a column is over MaxBytes/2, or the column's
	// copies are over MaxBytes/4. [RowSide.Refresh] can exceed MaxBytes.
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

// WideRow is a many-to-many relation that is read from both ends in order of time, such
// as likes of users and items. Each left and right document has a row: the list of its
// links. A column ([RowColumn]) is an entry of a row, with copied fields of the linked
// document.
//
// A row consists of documents for consecutive time spans ([RowPage]). Full documents are
// split. The field row is the left or right document's _id:
//
//	{_id: "row#low", row, low, hi, n, rev, cols: [{k: "time|id", at, id, op, doc}]}
//
// # Consistency
//
// Each link has a column in the left document's row, and one in the right document's row.
// A crash, or concurrent operations on a pair, can leave a missing or repeated column.
// The pair's next operation, or the repair, corrects the columns. While a document is
// split, readers can see columns twice. [RowSide.Refresh] updates copied fields.
//
// Source: a text on data as an ordered map of maps.
//
// Indexes returns two indexes for each collection of rows. One finds a pair, the other
// pages from the oldest column.
//
// Checks returns these checks, which can report operations in progress:
//
//   - Pairs with a missing or repeated column, or with different times. The repair keeps
//     the pair's earliest left column, and makes the right row agree. A pair without a
//     left column is unlinked. A pair with a column younger than [model.Check].Age stays.
//   - Columns with old copied fields. The repair updates them.
//   - Columns that link to a missing document. Use [WideRow.Unlink].
//   - Documents with more than WideRowSpec.Max columns. The next column splits them.
//
// Cost: the first check reads all rows. Each other check reads the rows of one side.
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

// Link returns the change that links two documents, with the time t and fields copied
// from left and right. token identifies the operation: a new bson.NewObjectID(). A pair
// that is linked already keeps its time. A retry is safe. But a retry after an Unlink
// links the pair again.
//
// Cost: four commands, two documents. If a row's document is full, four more commands
// write three more documents.
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

// Linked returns the query that finds whether left is linked to right. The query returns
// the [RowPage] that stores the link in the left document's row, with only the link's
// column. Without a link, Count gives 0 and One gives model.ErrNotFound.
//
// Cost: one command, served by [WideRow.Indexes].
func (x *WideRow[L, LK, R, RK]) Linked(left LK, right RK) *model.Find[RowPage[RK]] {
	return &model.Find[RowPage[RK]]{Query: x.w.Linked(left, right)}
}

// A RowPage is one of the documents that store a row of a [WideRow]. Each of its columns
// links to a document with an _id of type K.
type RowPage[K any] struct {
	ID   string         `bson:"_id"`
	Low  string         `bson:"low"` // the document has columns with keys from Low
	High string         `bson:"hi"`  // to below High
	N    int            `bson:"n"`
	Cols []RowColumn[K] `bson:"cols"`
}

// Left returns the [RowSide] that reads the left documents' rows.
func (x *WideRow[L, LK, R, RK]) Left() RowSide[L, LK, RK] { return RowSide[L, LK, RK]{x.w, 0} }

// Right returns the [RowSide] that reads the rows of the documents of type R.
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
// first. An n of 0 means all. pageToken is "" for the first page. For the next page, pass
// the last column's Key. To read only columns older than the time t, pass
// [ColumnsFrom](t).
//
// Cost: one command per batch, served by _id.
func (s RowSide[D, K, O]) Newest(id K, pageToken string, n int64) *model.Aggregate[RowColumn[O]] {
	return &model.Aggregate[RowColumn[O]]{Aggregation: s.w.Newest(s.side, id, pageToken, n)}
}

// Oldest returns the pipeline of the n oldest columns (links) of a document's row, oldest
// first. For the parameters, see [RowSide.Newest], but here [ColumnsFrom](t) reads
// columns from the time t.
//
// Cost: one command per batch, served by [WideRow.Indexes].
func (s RowSide[D, K, O]) Oldest(id K, pageToken string, n int64) *model.Aggregate[RowColumn[O]] {
	return &model.Aggregate[RowColumn[O]]{Aggregation: s.w.Oldest(s.side, id, pageToken, n)}
}

// ColumnsFrom returns a value for the parameter pageToken. With this value,
// [RowSide.Oldest] begins at the time t, and [RowSide.Newest] begins before t.
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
// ([RowColumn]) that link to doc. If the write was interrupted, or ran during the split
// of a [RowPage], run it again.
//
// Cost: one command, served by [WideRow.Indexes]. It writes each RowPage with an old
// copy.
func (s RowSide[D, K, O]) Refresh(doc *D) model.Write {
	return s.w.Refresh(s.side, doc)
}
