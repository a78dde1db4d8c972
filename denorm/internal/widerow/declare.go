// Package widerow is the core of denorm.WideRow: a many-to-many relation in rows of columns, kept for both ends.
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

// Rows is a denorm.WideRow without its types. Side 0 is the left one.
type Rows struct {
	sides    [2]Side
	max      int
	maxBytes int
}

// A Side is one end: its documents, and their rows, whose columns are documents of the other end.
type Side struct {
	Rows   string // the collection of the rows
	Docs   *core.Docs
	Copies []string // the fields that columns of the other side's rows copy
}

// Declare declares a relation of two sides, whose documents have _ids of these types. most and maxBytes are the spec's Max and
// MaxBytes. It panics with a *model.DeclarationError for what can't be kept.
func Declare(sides [2]Side, ids [2]reflect.Type, most, maxBytes int) *Rows {
	w := &Rows{sides, cmp.Or(most, 500), cmp.Or(maxBytes, 1<<20)}
	for i := range w.sides {
		w.sides[i].Copies = slices.Clone(sides[i].Copies)
	}
	left, right := sides[0].Docs, sides[1].Docs
	place := core.Place(fmt.Sprintf("NewWideRow of %s and %s", left.Name(), right.Name()))
	taken := []string{left.Name(), right.Name()}
	for i, s := range sides {
		s.Docs.MustField("_id")
		s.Docs.Named(s.Rows) // panics for a name that is none
		if slices.Contains(taken, s.Rows) {
			place.Fail(fmt.Sprintf("%q is already used for other documents or rows", s.Rows), "give the rows of each side a collection of their own")
		}
		taken = append(taken, s.Rows)
		if !keytext.IsKeyType(ids[i]) {
			place.Fail(fmt.Sprintf("the _id of %s is of type %s, which can't be part of a column's key", s.Docs.Name(), ids[i]),
				"use a string type, an integer type or bson.ObjectID")
		}
		stored.CheckCopies(place, s.Docs, s.Copies)
	}
	switch {
	case most < 0 || most == 1 || w.max > 100_000:
		place.Fail(fmt.Sprintf("Max is %d", most), "give 2 to 100,000, the number of columns in a document")
	case maxBytes < 0 || w.maxBytes > stored.MaxBytes || maxBytes > 0 && w.maxBytes < 4096:
		place.Fail(fmt.Sprintf("MaxBytes is %d", maxBytes), "give 4 KiB to 15 MiB, which leaves room in MongoDB's 16 MiB")
	}
	return w
}

// highest is above every column's key, which begins with a year.
const highest = "~"

// keyTime is how a time begins a column's key: its text sorts as it does.
const keyTime = "2006-01-02T15:04:05.000Z"

// From is the key of a time: before it come the columns of earlier times, after it those of this time and later.
func From(t time.Time) string { return t.UTC().Format(keyTime) }

// A pair is a left and a right document's id, and both as texts.
type pair struct {
	ids   [2]bson.RawValue
	texts [2]string
	err   error
}

// ids encodes the ids of a pair.
func (w *Rows) ids(left, right any) pair {
	l, errL := w.sides[0].Docs.RawID("left", left)
	r, errR := w.sides[1].Docs.RawID("right", right)
	if err := cmp.Or(errL, errR); err != nil {
		return pair{err: err}
	}
	return w.pair(l, r)
}

func (w *Rows) pair(left, right bson.RawValue) (p pair) {
	p.ids = [2]bson.RawValue{left, right}
	for i, id := range p.ids {
		if p.texts[i], p.err = w.text(i, id); p.err != nil {
			return p
		}
	}
	return p
}

// text is an id as the beginning of a document's _id, and as the end of a column's key.
func (w *Rows) text(side int, id bson.RawValue) (string, error) {
	switch id.Type {
	case bson.TypeString:
		if s := id.StringValue(); s != "" {
			return keytext.String(s), nil
		}
	case bson.TypeInt32:
		return keytext.Int(int64(id.Int32())), nil
	case bson.TypeInt64:
		return keytext.Int(id.Int64()), nil
	case bson.TypeObjectID:
		return id.ObjectID().Hex(), nil
	}
	return "", w.sides[side].Docs.Refuse("_id", id, "must be a string that isn't empty, an integer or an ObjectID")
}

// columnKey is the key of the pair's column in a side's row.
func (p pair) columnKey(side int, at time.Time) string {
	return From(at) + "|" + p.texts[1-side]
}

// Indexes are those of both sides' rows.
func (w *Rows) Indexes() (out []model.Index) {
	for _, s := range w.sides {
		out = append(out, commands.Index(s.Rows, "the column of a pair, and the columns that copy a document", mql.E("cols.id", 1), mql.E("row", 1)),
			commands.Index(s.Rows, "pages, oldest first", mql.E("row", 1), mql.E("hi", 1)))
	}
	return out
}

func (w *Rows) pairIndex(side int) string { return w.Indexes()[2*side].Name }

// Relations are what a diagram shows.
func (w *Rows) Relations() []model.Relation {
	return []model.Relation{{
		From: w.sides[0].Rows, FromPath: "cols.id", To: w.sides[1].Docs.Name(), ToPath: "_id",
		FromEnd: model.Many, ToEnd: model.Many, Label: "wide rows",
	}}
}

// Footprints are the paths that are used.
func (w *Rows) Footprints() []model.Footprint {
	out := slices.Concat(model.Owns.In(w.sides[0].Rows, model.Whole), model.Owns.In(w.sides[1].Rows, model.Whole))
	for _, s := range w.sides {
		out = append(out, model.Reads.In(s.Docs.Name(), s.Copies...)...)
	}
	return out
}
