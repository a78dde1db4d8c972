package denorm

import (
	"time"

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
// Copied fields are as old as the link, or the last [WideRow.RefreshLeft] or [WideRow.RefreshRight]; [WideRow.Checks] find
// old ones.
//
// Source: user_by_item and item_by_user with composite columns of time and id (seed 001).
type WideRow[L, LK, R, RK any] struct {
	left  *model.Collection[L, LK]
	right *model.Collection[R, RK]
	w     *wideRow
}

// NewWideRow declares a relation between the documents of two collections. It panics with a [*model.DeclarationError]
// when a rows' collection has no name, or that of another of the four; when a copied path doesn't exist, lies inside an
// array or overlaps another; when a type of _id is no kind of string or integer and not bson.ObjectID; and when Max or
// MaxBytes is out of range.
func NewWideRow[L, LK, R, RK any](
	left *model.Collection[L, LK], right *model.Collection[R, RK], spec WideRowSpec,
) *WideRow[L, LK, R, RK] {
	model.MustField(left, "_id")
	model.MustField(right, "_id")
	var l LK
	var r RK
	w := declareWideRow(spec, wideEnd{
		name: left.Name(), key: l, encode: left.Encode, checkName: func(name string) { left.Named(name) },
		field: func(path string) model.Field { return model.MustField(left, path) },
	}, wideEnd{
		name: right.Name(), key: r, encode: right.Encode, checkName: func(name string) { right.Named(name) },
		field: func(path string) model.Field { return model.MustField(right, path) },
	})
	return &WideRow[L, LK, R, RK]{left, right, w}
}

// LinkState is what an operation on a pair decides from: the columns that there are, and the documents of rows that it
// touches.
type LinkState struct {
	Held  [2][]HeldColumn // in the left row and in the right
	Place [2]RowPlace     // where a missing column belongs
}

// A HeldColumn is a column of a pair, where it was found.
type HeldColumn struct {
	Page   string    // the _id of the row's document
	Key    string    // the column's
	At     time.Time // the link's time
	Op     bson.ObjectID
	Parted bson.Raw // the document, if it is being split at or before the column; else nil
}

// A RowPlace is the document of a row that a column belongs into.
type RowPlace struct {
	Page  bson.Raw // what it says of itself; with its columns if it has to be split; nil if the row has none
	Whole bool     // it has its columns

	Before bson.Raw // the document before it, whole, if that is still marked as being split into this one; else nil
}

// Link returns the change that links two documents at a time, with the fields that each copies from the other. op is
// the operation's token, a fresh bson.NewObjectID(). A pair that is linked keeps its time; what is missing of it is
// completed. It reads and decides again after another writer, up to 100 times. It can be run again; after another
// operation has unlinked the pair, that links it anew.
//
// Cost: six commands, two documents: who holds the pair, by the index of [WideRow.Indexes], and both rows' documents by
// _id, then a write of each. A document that is full costs four commands more, and three documents.
func (x *WideRow[L, LK, R, RK]) Link(left *L, right *R, at time.Time, op bson.ObjectID) model.Change[LinkState] {
	l, errL := encodedDocument(x.left, left)
	r, errR := encodedDocument(x.right, right)
	return x.w.link(l, r, at, op, errL, errR)
}

// Unlink returns the change that takes both columns of a pair away. A pair that isn't linked is not an error. It can be run
// again.
//
// Cost: four commands, two documents.
func (x *WideRow[L, LK, R, RK]) Unlink(left LK, right RK) model.Change[LinkState] {
	return x.w.unlink(x.w.ids(left, right, x.left.CheckID("left", left), x.right.CheckID("right", right)))
}

// Linked returns the query of the document of the left row that holds the pair, with that column alone: Count or One
// tell whether it is linked, and since when.
//
// Cost: one command, served by the index of [WideRow.Indexes].
func (x *WideRow[L, LK, R, RK]) Linked(left LK, right RK) model.Find[RowPage[RK]] {
	p := x.w.ids(left, right, x.left.CheckID("left", left), x.right.CheckID("right", right))
	return model.Find[RowPage[RK]]{Query: x.w.holders(0, p)}
}

// A RowPage is a document of a row, with columns that link to ids of type K.
type RowPage[K any] struct {
	ID   string         `bson:"_id"`
	Low  string         `bson:"low"` // the columns are from this key
	High string         `bson:"hi"`  // up to this one, without it
	N    int            `bson:"n"`
	Cols []RowColumn[K] `bson:"cols"`
}

// LeftNewest returns the n newest columns of a left document's row, the newest first: of all of them, or of those
// before the key of a column, which is how the next page is asked for. "" means all; [ColumnsFrom] makes a key of a
// time.
//
// Cost: one command, served by _id, and one more for each further batch; it reads as many documents of the row as the
// page spans.
func (x *WideRow[L, LK, R, RK]) LeftNewest(left LK, before string, n int) model.Aggregate[RowColumn[RK]] {
	a := x.w.newest(0, left, x.left.CheckID("left", left), before, n)
	return model.Aggregate[RowColumn[RK]]{Aggregation: a}
}

// LeftOldest returns the n oldest columns of a left document's row, the oldest first: of all, or of those after a key.
//
// Cost: as LeftNewest, served by the index on row and hi of [WideRow.Indexes].
func (x *WideRow[L, LK, R, RK]) LeftOldest(left LK, after string, n int) model.Aggregate[RowColumn[RK]] {
	a := x.w.oldest(0, left, x.left.CheckID("left", left), after, n)
	return model.Aggregate[RowColumn[RK]]{Aggregation: a}
}

// RightNewest is [WideRow.LeftNewest] of a right document's row.
//
// Cost: as LeftNewest.
func (x *WideRow[L, LK, R, RK]) RightNewest(right RK, before string, n int) model.Aggregate[RowColumn[LK]] {
	a := x.w.newest(1, right, x.right.CheckID("right", right), before, n)
	return model.Aggregate[RowColumn[LK]]{Aggregation: a}
}

// RightOldest is [WideRow.LeftOldest] of a right document's row.
//
// Cost: as LeftOldest.
func (x *WideRow[L, LK, R, RK]) RightOldest(right RK, after string, n int) model.Aggregate[RowColumn[LK]] {
	a := x.w.oldest(1, right, x.right.CheckID("right", right), after, n)
	return model.Aggregate[RowColumn[LK]]{Aggregation: a}
}

// A RowCount is how much a row holds.
type RowCount struct {
	Columns   int64 `bson:"columns"`
	Documents int   `bson:"documents"`
}

// LeftCount returns the pipeline that counts the columns of a left document's row, by the counts of its documents. A
// row without documents gives no result. While one is being split, its columns can count twice.
//
// Cost: one command, served by _id; it reads every document of the row.
func (x *WideRow[L, LK, R, RK]) LeftCount(left LK) model.Aggregate[RowCount] {
	return model.Aggregate[RowCount]{Aggregation: x.w.count(0, left, x.left.CheckID("left", left))}
}

// RightCount is [WideRow.LeftCount] of a right document's row.
//
// Cost: as LeftCount.
func (x *WideRow[L, LK, R, RK]) RightCount(right RK) model.Aggregate[RowCount] {
	return model.Aggregate[RowCount]{Aggregation: x.w.count(1, right, x.right.CheckID("right", right))}
}

// RefreshLeft returns the write that gives the columns that link to a left document its fields as they are now. Run it
// after the document changed; columns that are right are left alone. It can be run again.
//
// Cost: one command; as many documents of right rows as hold it, found by the index of [WideRow.Indexes]. Stopped half
// way, it leaves some columns old. A document that is split meanwhile can keep old fields: run it again.
func (x *WideRow[L, LK, R, RK]) RefreshLeft(left *L) model.Write {
	doc, err := encodedDocument(x.left, left)
	return x.w.refresh(0, doc, err)
}

// RefreshRight is [WideRow.RefreshLeft] for the columns that link to a right document.
//
// Cost: as RefreshLeft.
func (x *WideRow[L, LK, R, RK]) RefreshRight(right *R) model.Write {
	doc, err := encodedDocument(x.right, right)
	return x.w.refresh(1, doc, err)
}

// Indexes returns, for each of the rows' collections, the index that finds a pair, and the one that pages from the
// oldest on.
func (x *WideRow[L, LK, R, RK]) Indexes() []model.Index { return x.w.indexes() }

// Relations returns the relation, for diagrams.
func (x *WideRow[L, LK, R, RK]) Relations() []model.Relation {
	return []model.Relation{{
		From: x.w.sides[0].rows, FromPath: "cols.id", To: x.right.Name(), ToPath: "_id",
		FromEnd: model.Many, ToEnd: model.Many, Label: "wide rows",
	}}
}

// encodedDocument is a document as it is stored.
func encodedDocument[D, K any](c *model.Collection[D, K], doc *D) (bson.Raw, error) {
	if _, err := c.ID(doc); err != nil {
		return nil, err
	}
	v, err := c.Encode(*doc)
	if err != nil {
		return nil, &model.ValueError{Collection: c.Name(), Field: "document", Reason: err.Error()}
	}
	return rawDocument(v)
}
