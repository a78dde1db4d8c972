package checks

import (
	"strings"

	"github.com/docmodel/docmodel/denorm"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Documents of any fields, under ids that are strings: users like items.
var (
	likers = model.NewCollection[bson.D, string]("users")
	likes  = denorm.NewWideRow(likers, likers.Named("items"), denorm.WideRowSpec{
		LeftRows: "itemByUser", RightRows: "userByItem", LeftCopies: []string{"name"}, RightCopies: []string{"title"}, Max: 2,
		MaxBytes: 15 << 20,
	})
)

func init() {
	register(wideRowWrites()...)
	register(wideRowReads()...)
}

func liker(s string) *bson.D {
	d := roomy(bson.D{{Key: "_id", Value: s}, {Key: "name", Value: s}, {Key: "title", Value: s}})
	return &d
}

// rowText is s as the beginning of a row's documents and the end of a column's key: without the "#" that ends a row.
func rowText(s string) string { return strings.NewReplacer("%", "%25", "#", "%23").Replace(s) }

// wideKey is the key of the column that links to s.
func wideKey(minute int, s string) string { return denorm.ColumnsFrom(noon(minute)) + "|" + rowText(s) }

// widePage is a document of the row s, with two columns, and more fields.
func widePage(s string, more ...bson.E) bson.Raw {
	column := func(minute int) bson.D {
		return bson.D{{Key: "k", Value: wideKey(minute, s)}, {Key: "at", Value: noon(minute)}, {Key: "id", Value: s}, {Key: "op", Value: oid(9)}}
	}
	return bson.Raw(rawOf(append(bson.D{
		{Key: "_id", Value: rowText(s) + "#"}, {Key: "row", Value: s}, {Key: "low", Value: ""}, {Key: "hi", Value: "~"}, {Key: "n", Value: 2},
		{Key: "rev", Value: int64(2)}, {Key: "cols", Value: bson.A{column(1), column(3)}},
	}, more...)).Value)
}

func wideRowWrites() []Case {
	link := func(reason string, minute int, state func(s string) denorm.LinkState) Case {
		return Case{Method: "denorm.WideRow.Link", Reason: reason, State: func(s string) any { return state(s) },
			From: func(s string) ([]any, func() any) {
				left, right := liker(s), liker(s)
				return []any{left, right}, func() any { return likes.Link(left, right, noon(minute), oid(1)) }
			}}
	}
	renew := func(side string, check model.Check) Case {
		return Case{Method: "denorm.WideRow.Checks", Reason: "mend copies of " + side + " documents, old and missing", From: func(s string) ([]any, func() any) {
			found := findings(check,
				bson.M{"id": s, "found": bson.M{"name": "old"}, "want": bson.M{"name": s}}, bson.M{"id": s, "want": bson.M{"name": s}})
			return []any{found}, func() any { return check.Mend(found) }
		}}
	}
	empty := func(string) denorm.LinkState { return denorm.LinkState{} }
	full := func(s string) denorm.LinkState {
		var st denorm.LinkState
		st.Place[0] = denorm.RowPlace{Page: widePage(s), Whole: true}
		return st
	}
	parted := func(s string) bson.Raw {
		return widePage(s, bson.E{Key: "split", Value: bson.D{{Key: "at", Value: wideKey(3, s)}, {Key: "page", Value: rowText(s) + "#" + wideKey(3, s)}}})
	}
	held := func(s string, minute int) denorm.HeldColumn {
		return denorm.HeldColumn{Page: rowText(s) + "#", Key: wideKey(minute, s), At: noon(minute), Op: oid(9)}
	}
	one := func(s string) (st denorm.LinkState) {
		st.Held[0] = []denorm.HeldColumn{held(s, 1)}
		return st
	}
	return []Case{
		link("the first of both rows", 2, empty),
		link("a full document: half of it moves", 2, full),
		link("a full document: what comes last begins the next", 9, full),
		link("a split that was left is finished first", 2, func(s string) denorm.LinkState {
			var st denorm.LinkState
			st.Place[1] = denorm.RowPlace{Page: parted(s), Whole: true}
			return st
		}),
		link("half a link is completed, with its time", 2, one),
		link("a document that doesn't count its columns", 2, func(s string) denorm.LinkState {
			st := full(s)
			st.Place[0].Page = bson.Raw(rawOf(bson.D{{Key: "_id", Value: rowText(s) + "#"}, {Key: "n", Value: 7}, {Key: "rev", Value: int64(3)}}).Value)
			return st
		}),
		{Method: "denorm.WideRow.Link", Reason: "without a token is refused",
			State: func(string) any { return denorm.LinkState{} },
			Make:  func(s string) any { return likes.Link(liker(s), liker(s), noon(0), bson.NilObjectID) }},
		{Method: "denorm.WideRow.Unlink", Reason: "both columns", State: func(s string) any {
			st := one(s)
			st.Held[1] = st.Held[0]
			return st
		}, Make: func(s string) any { return likes.Unlink(s, s) }},
		{Method: "denorm.WideRow.Unlink", Reason: "a column that is being moved", State: func(s string) any {
			st := one(s)
			st.Held[0][0] = held(s, 3)
			st.Held[0][0].Parted = parted(s)
			return st
		}, Make: func(s string) any { return likes.Unlink(s, s) }},
		renew("left", likes.Checks()[1]), renew("right", likes.Checks()[2]),
		{Method: "denorm.WideRow.RefreshLeft", Reason: "in the right rows", From: func(s string) ([]any, func() any) {
			d := liker(s)
			return []any{d}, func() any { return likes.RefreshLeft(d) }
		}},
		{Method: "denorm.WideRow.RefreshRight", Reason: "in the left rows", From: func(s string) ([]any, func() any) {
			d := liker(s)
			return []any{d}, func() any { return likes.RefreshRight(d) }
		}},
	}
}

func wideRowReads() []Case {
	return []Case{
		{Method: "denorm.WideRow.Linked", Reason: "the pair's column", Make: func(s string) any { return likes.Linked(s, s) }},
		{Method: "denorm.WideRow.LeftNewest", Reason: "the first page", Make: func(s string) any { return likes.LeftNewest(s, "", 10) }},
		{Method: "denorm.WideRow.LeftNewest", Reason: "the next page", Make: func(s string) any { return likes.LeftNewest(s, s, 10) }},
		{Method: "denorm.WideRow.LeftNewest", Reason: "no columns is refused", Make: func(s string) any { return likes.LeftNewest(s, "", 0) }},
		{Method: "denorm.WideRow.LeftOldest", Reason: "from a time", Make: func(s string) any { return likes.LeftOldest(s, wideKey(3, s), 10) }},
		{Method: "denorm.WideRow.RightNewest", Reason: "the first page", Make: func(s string) any { return likes.RightNewest(s, "", 10) }},
		{Method: "denorm.WideRow.RightOldest", Reason: "the first page", Make: func(s string) any { return likes.RightOldest(s, "", 10) }},
		{Method: "denorm.WideRow.LeftCount", Reason: "by the documents' counts", Make: func(s string) any { return likes.LeftCount(s) }},
		{Method: "denorm.WideRow.RightCount", Reason: "by the documents' counts", Make: func(s string) any { return likes.RightCount(s) }},
		{Method: "denorm.WideRow.Checks", Reason: "half links and repeated ones", Make: func(string) any { return likes.Checks()[0] }},
		{Method: "denorm.WideRow.Checks", Reason: "what the right rows carry", Make: func(string) any { return likes.Checks()[1] }},
		{Method: "denorm.WideRow.Checks", Reason: "what the left rows carry", Make: func(string) any { return likes.Checks()[2] }},
		{Method: "denorm.WideRow.Checks", Reason: "left documents that are missing", Make: func(string) any { return likes.Checks()[3] }},
		{Method: "denorm.WideRow.Checks", Reason: "right documents that are missing", Make: func(string) any { return likes.Checks()[4] }},
		{Method: "denorm.WideRow.Checks", Reason: "left rows with more than two columns", Make: func(string) any { return likes.Checks()[5] }},
		{Method: "denorm.WideRow.Checks", Reason: "right rows with more than two columns", Make: func(string) any { return likes.Checks()[6] }},
		{Method: "denorm.WideRow.Indexes", Reason: "of both rows", Make: func(string) any { return likes.Indexes() }},
	}
}
