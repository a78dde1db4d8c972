// Inside package widerow: a many-to-many
// relation, stored as rows of columns for both sides. The public type encodes _ids, makes typed
// queries of findNewest, findOldest, findLinked and countColumns, and passes the other
// methods to model.Parts. Stores call makeReactions, audits call listChecks.
//
// # Stored form
//
// User "ann" (left) likes item 7 (right) since 2024-05-01. Each side has a row. A row is
// a sequence of pages (documents), and each page has the columns of a span of keys:
//
//	user_likes {_id: "ann#", row: "ann", low: "", hi: "~", n: 1, rev: 1, cols: [
//	  {k: "2024-05-01T00:00:00.000Z|…7", at: ISODate(…), id: 7, op: ObjectId(…), doc: {title: "…"}},
//	]}
//	item_likes {_id: "…7#", row: 7, low: "", hi: "~", n: 1, rev: 1, cols: [
//	  {k: "2024-05-01T00:00:00.000Z|ann", at: ISODate(…), id: "ann", op: …, doc: {name: "…"}},
//	]}
//
// A key is the time and the other document's _id as a text that sorts as the _id does
// (package keytext). A page's _id is the row's text, "#" and its lowest key. low <= k <
// hi for all its columns, n is their number, and rev counts the page's changes. The left
// row is the truth.
//
// # Protocol of a link
//
//  1. readState reads the pair's columns in both rows, and the pages where missing columns
//     belong. A link reads the two documents for the copied fields.
//  2. planOperation: the left row before the right. In each row the missing column is added
//     before wrong ones are removed.
//  3. A page without room is split first:
//     a. markSplit sets split: {at, page} if rev is as it was read. From then on the columns
//     with keys from split.at don't change.
//     b. splitPage inserts the next page with these columns, if it isn't there yet.
//     c. It pulls them from the first page, and removes the mark.
//  4. Outside transactions, correctColumns reads the documents again and updates columns
//     with old copied fields. In a transaction, holdDocuments makes changes of the documents
//     conflict instead.
//
// # What a crash leaves
//
// After step 2 a pair can have a column in one row only, or two columns. The next
// operation on the pair, or the repair of checkLinks, makes it whole as the left row
// says. A split page keeps its mark: each client that meets it finishes the split
// (finishSplit). Readers leave out the columns that the next page has already
// (hideMovedColumns), but counts include both.

package widerow

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/docmodel/docmodel/denorm/internal/keytext"
	"github.com/docmodel/docmodel/denorm/internal/stored"
	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// An untypedRows is the WideRow without its Go types. Side 0 is the left one.
type untypedRows struct {
	sides [2]sideIndex
	// Greatest number of columns in a page.
	max int
	// Greatest number of bytes in a page.
	maxBytes int
}

// A sideIndex is one end of the relation: its documents, and their rows. The columns of its
// rows link to documents of the other side.
type sideIndex struct {
	Rows   string // the collection of the rows
	Docs   *core.Docs
	Copies []string // the fields that columns of the other side's rows copy
}

// declareRows panics with a model.DeclarationError if rows can't store the relation. ids
// are the types of the sides' _ids, most and maxBytes the limits of the spec; 0 means the
// default.
func declareRows(sides [2]sideIndex, ids [2]reflect.Type, most, maxBytes int) *untypedRows {
	w := &untypedRows{sides, cmp.Or(most, 500), cmp.Or(maxBytes, 1<<20)}
	for i := range w.sides {
		w.sides[i].Copies = slices.Clone(sides[i].Copies)
	}
	left, right := sides[0].Docs, sides[1].Docs
	place := core.Place(fmt.Sprintf("widerow.New of %s and %s", left.Name(), right.Name()))
	taken := []string{left.Name(), right.Name()}
	for i, s := range sides {
		s.Docs.MustField("_id")
		s.Docs.WithName(s.Rows) // panics for a name that is none
		if slices.Contains(taken, s.Rows) {
			place.Fail(fmt.Sprintf("%q is already used for other documents or rows", s.Rows),
				"give the rows of each side a collection of their own")
		}
		taken = append(taken, s.Rows)
		if !keytext.IsKeyType(ids[i]) {
			place.Fail(fmt.Sprintf("the _id of %s is of type %s, which can't be part of a column's key", s.Docs.Name(),
				ids[i]),
				"use a string type, an integer type or bson.ObjectID")
		}
		stored.CheckCopies(place, s.Docs, s.Copies)
	}
	switch {
	case most < 0 || most == 1 || w.max > 100_000:
		place.Fail(fmt.Sprintf("Max is %d", most), "give 2 to 100,000, the number of columns in a document")
	case maxBytes < 0 || w.maxBytes > stored.MaxBytes || maxBytes > 0 && w.maxBytes < 4096:
		place.Fail(fmt.Sprintf("MaxBytes is %d", maxBytes),
			"give 4 KiB to 15 MiB, which leaves room in MongoDB's 16 MiB")
	}
	return w
}

// highest is above every column's key, because a key begins with a year of four digits:
// linkPair refuses other years.
const highest = "~"

// keyTime is the layout of the time at the beginning of a column's key. The text sorts as
// the time does.
const keyTime = "2006-01-02T15:04:05.000Z"

// keyFrom returns a key between the columns before a time and the columns at this time or
// later.
func keyFrom(t time.Time) string { return t.UTC().Format(keyTime) }

// A pair is the _ids of a left and a right document, and both as texts.
type pair struct {
	ids   [2]bson.RawValue
	texts [2]string
	err   error
}

// encodePair encodes and checks the ids of a pair. Errors stay in the pair until an
// operation runs.
func (w *untypedRows) encodePair(left, right any) pair {
	l, errL := w.sides[0].Docs.RawID("left", left)
	r, errR := w.sides[1].Docs.RawID("right", right)
	if err := cmp.Or(errL, errR); err != nil {
		return pair{err: err}
	}
	return w.makePair(l, r)
}

// makePair makes a pair of _ids that are encoded already.
func (w *untypedRows) makePair(left, right bson.RawValue) (p pair) {
	p.ids = [2]bson.RawValue{left, right}
	for i, id := range p.ids {
		if p.texts[i], p.err = w.encodeText(i, id); p.err != nil {
			return p
		}
	}
	return p
}

// encodeText returns an _id as a text: the beginning of a page's _id, and the end of a
// column's key.
func (w *untypedRows) encodeText(side int, id bson.RawValue) (string, error) {
	switch id.Type {
	case bson.TypeString:
		if s := id.StringValue(); s != "" {
			return keytext.EscapeString(s), nil
		}
	case bson.TypeInt32:
		return keytext.SortableInt(int64(id.Int32())), nil
	case bson.TypeInt64:
		return keytext.SortableInt(id.Int64()), nil
	case bson.TypeObjectID:
		return id.ObjectID().Hex(), nil
	}
	return "", w.sides[side].Docs.Refuse("_id", id, "must be a string that isn't empty, an integer or an ObjectID")
}

// columnKey is the key of the pair's column in a side's row.
func (p pair) columnKey(side int, at time.Time) string {
	return keyFrom(at) + "|" + p.texts[1-side]
}

// listIndexes returns two indexes for each side's rows: for the column of a pair, and for
// pages from the oldest.
func (w *untypedRows) listIndexes() (out []model.Index) {
	for _, s := range w.sides {
		out = append(out,
			commands.MakeIndex(s.Rows, "the column of a pair, and the columns that copy a document",
				mql.E("cols.id", 1), mql.E("row", 1)),
			commands.MakeIndex(s.Rows, "pages, oldest first", mql.E("row", 1), mql.E("hi", 1)))
	}
	return out
}

func (w *untypedRows) namePairIndex(side int) string { return w.listIndexes()[2*side].Name }

// listRelations returns the relation for diagrams, from the left rows.
func (w *untypedRows) listRelations() []model.Relation {
	return []model.Relation{{
		From: w.sides[0].Rows, FromPath: "cols.id", To: w.sides[1].Docs.Name(), ToPath: "_id",
		FromEnd: model.Many, ToEnd: model.Many, Label: "wide rows",
	}}
}

// listFootprints are the paths that are used.
func (w *untypedRows) listFootprints() []model.Footprint {
	out := slices.Concat(model.Owns.In(w.sides[0].Rows, model.Whole), model.Owns.In(w.sides[1].Rows, model.Whole))
	for _, s := range w.sides {
		out = append(out, model.Reads.In(s.Docs.Name(), s.Copies...)...)
	}
	return out
}
