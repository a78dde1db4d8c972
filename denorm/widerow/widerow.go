// Package widerow stores a many-to-many relation that is read from both ends by time: see [WideRow].
package widerow

import (
	"reflect"
	"time"

	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Spec contains the options of a [WideRow]. LeftRows and RightRows are required.
// Copied fields can't lie inside arrays.
type Spec struct {
	LeftRows  string // collection of the left documents' rows (lists of links)
	RightRows string // collection of the right documents' rows

	// LeftCopies are paths in left documents. Right rows copy the values.
	LeftCopies []string
	// RightCopies are paths that left rows copy from right documents.
	RightCopies []string

	Max int // maximum links in a [Page], 2 to 100,000; 0 means 500

	// MaxBytes is the maximum size of a [Page], 4 KiB to 15 MiB; 0 means 1 MiB. A
	// [Column] over MaxBytes/2 gives a [*model.ValueError].
	MaxBytes int
}

// A Column is one link in a [WideRow]. K is the type of the linked document's _id.
type Column[K any] struct {
	Key string        `bson:"k"` // "time|id"; columns are sorted by Key
	At  time.Time     `bson:"at"`
	ID  K             `bson:"id"`
	Op  bson.ObjectID `bson:"op"`  // token of the operation that added the link
	Doc bson.Raw      `bson:"doc"` // copied fields, nested as in the document, or nil
}

// WideRow is a many-to-many relation between left and right documents, such as likes
// between users and items. Both sides read their links in the order of time.
//
// A document's row is the list of the document's links. A column ([Column]) is one
// link, with copied fields of the linked document. A page ([Page]) stores a row's
// columns for one span of time. In a page, the field row is the document's _id:
//
//	{_id: "row#low", row, low, hi, n, rev, cols: [{k: "time|id", at, id, op, doc}]}
//
// # Consistency
//
// Each link has one column in the left row and one column in the right row. A crash, or
// concurrent operations on one link, can leave missing or repeated columns. The link's
// next operation, or the repair, corrects the columns. While a full page is split,
// readers can see columns twice.
//
// # In a store
//
// A [model.Store] of the left or the right documents updates their copied fields in the
// columns. It doesn't delete a linked document: run [WideRow.Unlink] first. After other
// writes of the documents, run the repairs of [WideRow].Checks.
//
// Source: a text on data as an ordered map of maps.
//
// # Indexes and checks
//
// Indexes returns two indexes for each collection of rows.
//
// Checks returns checks for four problems. A running operation can look like a problem.
//
//   - Links with missing or repeated columns, or with different times in the two rows.
//     The repair keeps the left row's earliest column. If the left row has no column,
//     the repair removes the link.
//   - Columns with outdated fields. The repair updates the fields.
//   - Columns that link to a missing document. Use [WideRow.Unlink].
//   - Pages over Spec.Max columns. The next new column splits the page.
//
// Cost: the first check reads all rows. The others read the left or the right rows.
type WideRow[L, LK, R, RK any] struct {
	model.Parts

	Left  Side[LK, RK] // reads the links of a document of type L
	Right Side[RK, LK] // reads the links of a document of type R

	w *untypedRows
}

// New declares a relation between two collections, which can be the same. Each _id
// must be a string, integer or ObjectID. LeftRows and RightRows must be two other
// collections. An invalid type or spec panics with a [*model.DeclarationError].
func New[L, LK, R, RK any](
	left *model.Collection[L, LK], right *model.Collection[R, RK], spec Spec,
) *WideRow[L, LK, R, RK] {
	w := declareRows([2]sideIndex{
		{Rows: spec.LeftRows, Docs: left.Docs(), Copies: spec.LeftCopies},
		{Rows: spec.RightRows, Docs: right.Docs(), Copies: spec.RightCopies},
	}, [2]reflect.Type{reflect.TypeFor[LK](), reflect.TypeFor[RK]()}, spec.Max, spec.MaxBytes)
	parts := model.NewParts(w.listIndexes, w.listRelations, w.listChecks, w.listFootprints).
		WithDocs(left.Docs(), right.Docs()).
		WithKeys(
			model.KeyedDocs{Collection: spec.LeftRows, From: []*core.Docs{left.Docs(), right.Docs()}},
			model.KeyedDocs{Collection: spec.RightRows, From: []*core.Docs{left.Docs(), right.Docs()}}).
		WithReactions(w.makeReactions)
	return &WideRow[L, LK, R, RK]{Parts: parts, w: w, Left: Side[LK, RK]{w, 0}, Right: Side[RK, LK]{w, 1}}
}

// Link returns the change that links two stored documents, with the time t, and copies their
// fields. Pass a new bson.NewObjectID() as token. An existing link keeps its time. A retry is safe.
// But a retry after [WideRow.Unlink] links the documents again. A missing document gives a
// [*model.ReferenceError].
//
// In a transaction, the change increments the field _m.hold of both documents: see
// [model.Store]. Without transactions, it reads the documents again at the end, and updates
// the columns of a document that has changed.
//
// Cost: eight commands, two documents. If a [Page] is full, four more commands write
// three more documents. If the documents are linked: two commands.
func (x *WideRow[L, LK, R, RK]) Link(left LK, right RK, t time.Time, token bson.ObjectID) model.Change {
	return x.w.linkPair(left, right, t, token)
}

// Unlink returns the change that removes a link from both documents' rows. If the
// documents aren't linked, it does nothing.
//
// Cost: four commands, two documents.
func (x *WideRow[L, LK, R, RK]) Unlink(left LK, right RK) model.Change {
	return x.w.unlinkPair(left, right)
}

// Linked returns the query that finds whether left is linked to right. The result is a
// [Page] that contains only the link's column. If the two aren't linked, Count gives 0
// and One gives model.ErrNotFound.
//
// Cost: one command, served by [WideRow].Indexes.
func (x *WideRow[L, LK, R, RK]) Linked(left LK, right RK) *model.Find[Page[RK]] {
	return &model.Find[Page[RK]]{Query: x.w.findLinked(left, right)}
}

// A Page is one of the documents that store a row of a [WideRow]. Each column is a
// link to a document. A linked document's _id has type K.
type Page[K any] struct {
	ID   string      `bson:"_id"`
	Low  string      `bson:"low"` // the columns' keys are at least Low
	High string      `bson:"hi"`  // the columns' keys are below High
	N    int         `bson:"n"`
	Cols []Column[K] `bson:"cols"`
}

// A Side is one side of a [WideRow]. Its documents have an _id of type K.
// Each document has a row of links. O is the type of the linked documents' _ids.
type Side[K, O any] struct {
	w    *untypedRows
	side int
}

// Newest returns the pipeline of a document's n newest links ([Column]), newest first.
// If n is 0, the pipeline returns all links. As pageToken, pass "" for the first page.
// For the next page, pass the last link's Key. For links older than the time t, pass
// [ColumnsFrom](t).
//
// Cost: one command per batch, served by _id.
func (s Side[K, O]) Newest(id K, pageToken string, n int64) *model.Aggregate[Column[O]] {
	return &model.Aggregate[Column[O]]{Aggregation: s.w.findNewest(s.side, id, pageToken, n)}
}

// Oldest returns the pipeline of a document's n oldest links ([Column]), oldest first.
// The parameters are those of [Side.Newest]. With the pageToken [ColumnsFrom](t),
// links begin at the time t.
//
// Cost: one command per batch, served by [WideRow].Indexes.
func (s Side[K, O]) Oldest(id K, pageToken string, n int64) *model.Aggregate[Column[O]] {
	return &model.Aggregate[Column[O]]{Aggregation: s.w.findOldest(s.side, id, pageToken, n)}
}

// ColumnsFrom returns a value for the parameter pageToken. With this value,
// [Side.Oldest] begins at the time t, and [Side.Newest] begins before t.
func ColumnsFrom(t time.Time) string { return keyFrom(t) }

// A Count is the size of a row of a [WideRow].
type Count struct {
	Columns   int64 `bson:"columns"`
	Documents int   `bson:"documents"`
}

// Count returns the pipeline that counts a document's links: the columns of its row. If
// the document never had links, Aggregate.One returns model.ErrNotFound. While a
// [Page] is split, links can count twice.
//
// Cost: one command, served by _id. It reads every Page of the row.
func (s Side[K, O]) Count(id K) *model.Aggregate[Count] {
	return &model.Aggregate[Count]{Aggregation: s.w.countColumns(s.side, id)}
}
