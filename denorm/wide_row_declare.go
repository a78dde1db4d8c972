package denorm

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// wideRow is what of a [WideRow] doesn't depend on its types. Side 0 is the left one.
type wideRow struct {
	sides    [2]wideSide
	max      int
	maxBytes int
}

// A wideSide is one end: its documents, and their rows, whose columns are documents of the other end.
type wideSide struct {
	rows string      // the collection of the rows
	doc  *indexTable // the documents, and the fields that columns of the other side's rows copy of them
}

// A wideEnd is what a declaration needs of one collection.
type wideEnd struct {
	name      string
	checkName func(string)
	encode    func(any) (any, error)
	field     func(string) model.Field
	key       any
}

func declareWideRow(spec WideRowSpec, left, right wideEnd) *wideRow {
	w := &wideRow{max: cmp.Or(spec.Max, 500), maxBytes: cmp.Or(spec.MaxBytes, 1<<20)}
	bad := func(problem, remedy string) {
		place := fmt.Sprintf("NewWideRow of %s and %s", left.name, right.name)
		panic(&model.DeclarationError{Problem: problem, Place: place, Remedy: remedy})
	}
	taken := []string{left.name, right.name}
	for i, end := range []wideEnd{left, right} {
		rows, copies := []string{spec.LeftRows, spec.RightRows}[i], slices.Clone([][]string{spec.LeftCopies, spec.RightCopies}[i])
		end.checkName(rows)
		if slices.Contains(taken, rows) {
			bad(fmt.Sprintf("rows are kept in %q, which is another's", rows), "give each end's rows a collection of their own")
		}
		taken = append(taken, rows)
		if !isKeyType(reflect.TypeOf(end.key)) {
			bad(fmt.Sprintf("the _id of %s is a %T, which can't be written into a column's key", end.name, end.key),
				"use a kind of string or integer, or bson.ObjectID")
		}
		for j, p := range copies {
			f := end.field(p)
			if f.Array != "" && f.Array != p {
				bad(fmt.Sprintf("the copied path %q lies inside an array", p), "copy the array whole")
			}
			for _, other := range copies[:j] {
				if model.Overlap(p, other) {
					bad(fmt.Sprintf("the copied paths %q and %q overlap", other, p), "copy each field once")
				}
			}
		}
		w.sides[i] = wideSide{rows, &indexTable{stored: stored{docs: end.name, encode: end.encode}, copies: copies}}
	}
	switch {
	case spec.Max < 0 || spec.Max == 1 || w.max > 100_000:
		bad(fmt.Sprintf("Max is %d", spec.Max), "keep 2 to 100,000 columns in a document")
	case spec.MaxBytes < 0 || w.maxBytes > maxBucketBytes || spec.MaxBytes > 0 && w.maxBytes < 4096:
		bad(fmt.Sprintf("MaxBytes is %d", spec.MaxBytes), "give 4 KiB to 15 MiB, which leaves room in MongoDB's 16 MiB")
	}
	return w
}

// highest is above every column's key, which begins with a year.
const highest = "~"

// keyTime is how a time begins a column's key: its text sorts as it does.
const keyTime = "2006-01-02T15:04:05.000Z"

// ColumnsFrom returns the key of a time in the rows of a [WideRow]: before it come the columns of earlier times, after it
// those of this time and later.
func ColumnsFrom(t time.Time) string { return t.UTC().Format(keyTime) }

// A widePair is a left and a right document's id, and both as texts.
type widePair struct {
	ids   [2]bson.RawValue
	texts [2]string
	err   error
}

// ids encodes the ids of a pair.
func (w *wideRow) ids(left, right any, errs ...error) (p widePair) {
	var ids [2]bson.RawValue
	for i, id := range []any{left, right} {
		if ids[i], p.err = w.id(i, id, errs[i]); p.err != nil {
			return p
		}
	}
	return w.pair(ids[0], ids[1])
}

func (w *wideRow) pair(left, right bson.RawValue) (p widePair) {
	p.ids = [2]bson.RawValue{left, right}
	for i, id := range p.ids {
		if p.texts[i], p.err = w.text(i, id); p.err != nil {
			return p
		}
	}
	return p
}

func (w *wideRow) id(side int, id any, err error) (bson.RawValue, error) {
	if err != nil {
		return bson.RawValue{}, err
	}
	v, err := w.sides[side].doc.encode(id)
	if err != nil {
		return bson.RawValue{}, w.sides[side].doc.refused("_id", nil, err.Error())
	}
	return asRaw(v), nil
}

// text is an id as the beginning of a document's _id, and as the end of a column's key.
func (w *wideRow) text(side int, id bson.RawValue) (string, error) {
	switch id.Type {
	case bson.TypeString:
		if s := id.StringValue(); s != "" {
			return stringText(s), nil
		}
	case bson.TypeInt32:
		return intText(int64(id.Int32())), nil
	case bson.TypeInt64:
		return intText(id.Int64()), nil
	case bson.TypeObjectID:
		return id.ObjectID().Hex(), nil
	}
	return "", w.sides[side].doc.refused("_id", id, "is empty, or not stored as a string, an integer or an ObjectID")
}

// columnKey is the key of the pair's column in a side's row.
func (p widePair) columnKey(side int, at time.Time) string {
	return ColumnsFrom(at) + "|" + p.texts[1-side]
}

// indexes are those of both sides' rows.
func (w *wideRow) indexes() (out []model.Index) {
	for _, s := range w.sides {
		pair := model.NewIndex(s.rows, bson.D{{Key: "cols.id", Value: 1}, {Key: "row", Value: 1}})
		pair.Why = "the column of a pair, and the columns that copy a document"
		up := model.NewIndex(s.rows, bson.D{{Key: "row", Value: 1}, {Key: "hi", Value: 1}})
		up.Why = "pages from the oldest on"
		out = append(out, pair, up)
	}
	return out
}

func (w *wideRow) pairIndex(side int) string { return w.indexes()[2*side].Name }
