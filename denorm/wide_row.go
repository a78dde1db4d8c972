package denorm

import (
	"reflect"
	"time"

	"github.com/docmodel/docmodel/denorm/internal/widerow"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// WideRowSpec says where both directions of a [WideRow] are kept, and what their columns carry. Both names are required.
type WideRowSpec struct {
	LeftRows  string // the collection of the left documents' rows, whose columns are right documents
	RightRows string // the collection of the right documents' rows, whose columns are left documents

	LeftCopies  []string // paths of left documents that the columns of right rows carry; they can be arrays, not lie within one
	RightCopies []string // paths of right documents that the columns of left rows carry

	Max int // how many columns a document of a row holds at most; 0 means 500

	// MaxBytes is how large such a document gets at most, in bytes, by columns that are added; copied fields that grow
	// can take it past that. From 4 KiB to 15 MiB; 0 means 1 MiB. A column takes half of it at most.
	MaxBytes int
}

// A RowColumn is a column of a row: a link to a document with an id of type K.
type RowColumn[K any] struct {
	Key string        `bson:"k"` // "time|id", by which the columns of a row are ordered
	At  time.Time     `bson:"at"`
	ID  K             `bson:"id"`
	Op  bson.ObjectID `bson:"op"`  // the operation that linked
	Doc bson.Raw      `bson:"doc"` // the copied fields, nested as in the document; nil if none are declared
}

// WideRow is a many-to-many relation that is read from both ends in the order of time: which items a user likes, newest
// first, and which users like an item. Each end has a row, whose columns are keyed by time and id and carry copied
// fields, so that a page of names is one read. A row is kept in documents of at most Max columns each, every one of
// which holds the columns of a stretch of time; one that is full is split. Make it with [NewWideRow].
//
// A document of a row is {_id: "row#low", row, low, hi, n, rev, cols: [{k: "time|id", at, id, op, doc}]}: the columns
// with low ≤ k < hi, in order. A column goes where its time belongs, however late it comes; columns that come in order
// of time fill one document after the other. Times are kept in milliseconds, from the year 0 to 9999.
//
// # Consistency
//
// A link is two columns in two documents, and its left column decides: it comes first, and goes first. An operation
// that is cut, or meets another on the same pair, can leave half a link; [WideRow.Checks] find it, and mending
// completes or removes it, as the left row says. Two links of one pair at once, at different times, can leave two
// columns, of which the next operation on the pair, or mending, keeps the earlier. Within a row nothing is lost, whoever
// writes: each write asks that the document is the one for its time and has room, and a split is marked before it
// begins, so that whoever meets it finishes it. A reader who meets a split can see columns twice.
//
// Copied fields are as old as the link, or the last [RowSide.Refresh]; [WideRow.Checks] find old ones.
//
// Source: user_by_item and item_by_user with composite columns of time and id (seed 001).
//
// Indexes returns, for each of the rows' collections, the index that finds a pair, and the one that pages from the
// oldest on.
//
// Checks returns the checks of the relation. The first finds the pairs that don't have just one column in each row, both with
// the same time. Mending links a pair as the left row says, with the earliest time there, or unlinks it if the left row has no
// column of it. A pair stays as it is if one of its columns was written within Age. This check takes no filter.
//
// The next find, for each side with copied fields, the columns that carry other fields than their document. Mending renews
// them; it leaves columns alone that carry something else by now. A document that is split meanwhile can keep old fields:
// check again.
//
// The others can't mend. They find columns whose document is missing, which [WideRow.Unlink] takes away, and documents of rows
// with more than Max columns, which the next column splits. An operation, a refresh or a split under way can show.
//
// Cost: see [model.Check]. The check of pairs reads every document of both rows' collections, and mends each pair as
// [WideRow.Link] writes it. The check of copied fields reads each linked document by _id, once for each form that columns
// carry; mending finds the columns by the index of [WideRow.Indexes].
type WideRow[L, LK, R, RK any] struct {
	model.Parts

	w *widerow.Rows
}

// NewWideRow declares a relation between the documents of two collections. It panics with a [*model.DeclarationError]
// when a rows' collection has no name, or that of another of the four; when a copied path doesn't exist, lies inside an
// array or overlaps another; when a type of _id is no kind of string or integer and not bson.ObjectID; and when Max or
// MaxBytes is out of range.
func NewWideRow[L, LK, R, RK any](
	left *model.Collection[L, LK], right *model.Collection[R, RK], spec WideRowSpec,
) *WideRow[L, LK, R, RK] {
	w := widerow.Declare([2]widerow.Side{
		{Rows: spec.LeftRows, Docs: left.Docs(), Copies: spec.LeftCopies}, {Rows: spec.RightRows, Docs: right.Docs(), Copies: spec.RightCopies},
	}, [2]reflect.Type{reflect.TypeFor[LK](), reflect.TypeFor[RK]()}, spec.Max, spec.MaxBytes)
	return &WideRow[L, LK, R, RK]{model.NewParts(w.Indexes, w.Relations, w.Checks, w.Footprints), w}
}

// Link returns the change that links two documents at a time, with the fields that each copies from the other. op is
// the operation's token, a fresh bson.NewObjectID(). A pair that is linked keeps its time; what is missing of it is
// completed. It reads and decides again after another writer, up to 100 times. It can be run again; after another
// operation has unlinked the pair, that links it anew.
//
// Cost: six commands, two documents: who holds the pair, by the index of [WideRow.Indexes], and both rows' documents by
// _id, then a write of each. A document that is full costs four commands more, and three documents.
func (x *WideRow[L, LK, R, RK]) Link(left *L, right *R, at time.Time, op bson.ObjectID) model.Change[any] {
	return x.w.Link(left, right, at, op)
}

// Unlink returns the change that takes both columns of a pair away. A pair that isn't linked is not an error. It can be run
// again.
//
// Cost: four commands, two documents.
func (x *WideRow[L, LK, R, RK]) Unlink(left LK, right RK) model.Change[any] {
	return x.w.Unlink(left, right)
}

// Linked returns the query of the document of the left row that holds the pair, with that column alone: Count or One
// tell whether it is linked, and since when.
//
// Cost: one command, served by the index of [WideRow.Indexes].
func (x *WideRow[L, LK, R, RK]) Linked(left LK, right RK) *model.Find[RowPage[RK]] {
	return &model.Find[RowPage[RK]]{Query: x.w.Linked(left, right)}
}

// A RowPage is a document of a row, with columns that link to ids of type K.
type RowPage[K any] struct {
	ID   string         `bson:"_id"`
	Low  string         `bson:"low"` // the columns are from this key
	High string         `bson:"hi"`  // up to this one, without it
	N    int            `bson:"n"`
	Cols []RowColumn[K] `bson:"cols"`
}

// Left returns the side of the left documents, whose rows' columns link to right documents.
func (x *WideRow[L, LK, R, RK]) Left() RowSide[L, LK, RK] { return RowSide[L, LK, RK]{x.w, 0} }

// Right returns the side of the right documents, whose rows' columns link to left documents.
func (x *WideRow[L, LK, R, RK]) Right() RowSide[R, RK, LK] {
	return RowSide[R, RK, LK]{x.w, 1}
}

// A RowSide is one side of a [WideRow]: documents of type D with an _id of type K, each of which has a row. The columns of a
// row link to documents of the other side, whose _id is of type O. [WideRow.Left] and [WideRow.Right] return it.
type RowSide[D, K, O any] struct {
	w    *widerow.Rows
	side int
}

// Newest returns the n newest columns of a document's row, the newest first. after is the key of the last column that was
// read: the page goes on with older columns. "" begins with the newest; [ColumnsFrom] makes a key of a time. n 0 means all.
//
// Cost: one command, served by _id, and one more for each further batch; it reads as many documents of the row as the
// page spans.
func (s RowSide[D, K, O]) Newest(id K, after string, n int64) *model.Aggregate[RowColumn[O]] {
	return &model.Aggregate[RowColumn[O]]{Aggregation: s.w.Newest(s.side, id, after, n)}
}

// Oldest returns the n oldest columns of a document's row, the oldest first. after and n are as for [RowSide.Newest]: the
// page goes on with later columns.
//
// Cost: as Newest, served by the index on row and hi of [WideRow.Indexes].
func (s RowSide[D, K, O]) Oldest(id K, after string, n int64) *model.Aggregate[RowColumn[O]] {
	return &model.Aggregate[RowColumn[O]]{Aggregation: s.w.Oldest(s.side, id, after, n)}
}

// ColumnsFrom returns the key of a time in the rows of a [WideRow]: before it come the columns of earlier times, after it
// those of this time and later.
func ColumnsFrom(t time.Time) string { return widerow.From(t) }

// A RowCount is how much a row holds.
type RowCount struct {
	Columns   int64 `bson:"columns"`
	Documents int   `bson:"documents"`
}

// Count returns the pipeline that counts the columns of a document's row, by the counts of the row's documents. A row
// without documents gives no result. While one is being split, its columns can count twice.
//
// Cost: one command, served by _id; it reads every document of the row.
func (s RowSide[D, K, O]) Count(id K) *model.Aggregate[RowCount] {
	return &model.Aggregate[RowCount]{Aggregation: s.w.Count(s.side, id)}
}

// Refresh returns the write that gives the columns that link to a document its fields as they are now. Run it after the
// document changed; columns that are right are left alone. It can be run again.
//
// Cost: one command; as many documents of the other side's rows as hold it, found by the index of [WideRow.Indexes]. Stopped
// half way, it leaves some columns old. A document that is split meanwhile can keep old fields: run it again.
func (s RowSide[D, K, O]) Refresh(doc *D) model.Write {
	return s.w.Refresh(s.side, doc)
}
