package checks

import (
	"maps"
	"strings"

	"github.com/docmodel/docmodel/denorm/widerow"
	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Documents of any fields, under ids that are strings: users like items.
var (
	likers = model.NewCollection[bson.D, string]("users")
	likes  = widerow.New(likers, likers.Named("items"), widerow.Spec{
		LeftRows: "itemByUser", RightRows: "userByItem", LeftCopies: []string{"name"}, RightCopies: []string{"title"}, Max: 2,
		MaxBytes: 15 << 20,
	})
)

func init() {
	register(wideRowWrites()...)
	register(wideRowReads()...)
}

func liker(s string) bson.D {
	return bson.D{{Key: "_id", Value: s}, {Key: "name", Value: s}, {Key: "title", Value: s}}
}

// rowText is s as the beginning of a row's documents and the end of a column's key: without the "#" that ends a row.
func rowText(s string) string { return strings.NewReplacer("%", "%25", "#", "%23").Replace(s) }

// wideKey is the key of the column that links to s.
func wideKey(minute int, s string) string {
	return widerow.ColumnsFrom(noon(minute)) + "|" + rowText(s)
}

// wideColumn is a column that links to a document, with a key that s ends.
func wideColumn(minute int, id, s string) bson.D {
	return bson.D{
		{Key: "k", Value: wideKey(minute, s)}, {Key: "at", Value: noon(minute)}, {Key: "id", Value: id},
		{Key: "op", Value: oid(9)},
	}
}

// widePage is a document of the row s, with two columns that don't link to s.
func widePage(s string) bson.Raw {
	return rowOf(s, bson.A{wideColumn(1, s+"1", s), wideColumn(3, s+"3", s)})
}

// partedPage is a document of the row s that is being split before its last column, which links to a document.
func partedPage(s, last string) bson.Raw {
	return rowOf(s, bson.A{wideColumn(1, s+"1", s), wideColumn(3, last, s)},
		bson.E{
			Key:   "split",
			Value: bson.D{{Key: "at", Value: wideKey(3, s)}, {Key: "page", Value: rowText(s) + "#" + wideKey(3, s)}},
		})
}

// rowOf is a document of the row s, with columns and more fields.
func rowOf(s string, columns bson.A, more ...bson.E) bson.Raw {
	return rawDoc(append(bson.D{
		{Key: "_id", Value: rowText(s) + "#"}, {Key: "row", Value: s}, {Key: "low", Value: ""}, {Key: "hi", Value: "~"},
		{Key: "n", Value: len(columns)}, {Key: "rev", Value: int64(2)}, {Key: "cols", Value: columns},
	}, more...))
}

func wideRowWrites() []Case {
	link := func(reason string, minute int, docs func(s string) testkit.Docs) Case {
		of := func(s string) model.Change { return likes.Link(s, s, noon(minute), oid(1)) }
		stored := func(s string) testkit.Docs {
			all := testkit.Docs{"users": {liker(s)}, "items": {liker(s)}}
			maps.Copy(all, docs(s))
			return all
		}
		return Case{
			Method: "widerow.WideRow.Link", Reason: reason, State: asRead(of, stored), Make: func(s string) any { return of(s) },
		}
	}
	renew := func(side string, check model.Check) Case {
		return Case{
			Method: "widerow.WideRow.Checks",
			Reason: "mend copies of " + side + " documents, old and missing",
			From: func(s string) ([]any, func() any) {
				found := findings(check,
					bson.M{"id": s, "found": bson.M{"name": "old"}, "want": bson.M{"name": s}},
					bson.M{"id": s, "want": bson.M{"name": s}})
				return []any{found}, func() any { return check.Mend(found) }
			},
		}
	}
	unlink := func(reason string, docs func(s string) testkit.Docs) Case {
		of := func(s string) model.Change { return likes.Unlink(s, s) }
		return Case{
			Method: "widerow.WideRow.Unlink", Reason: reason, State: asRead(of, docs), Make: func(s string) any { return of(s) },
		}
	}
	left := func(page bson.Raw) testkit.Docs { return testkit.Docs{"itemByUser": {page}} }
	full := func(s string) testkit.Docs { return left(widePage(s)) }
	return []Case{
		link("the first of both rows", 2, func(string) testkit.Docs { return nil }),
		link("a full document: half of it moves", 2, full),
		link("a full document: what comes last begins the next", 9, full),
		link("a split that was left is finished first", 2, func(s string) testkit.Docs {
			return testkit.Docs{"userByItem": {partedPage(s, s+"3")}}
		}),
		link("half a link is completed, with its time", 2, func(s string) testkit.Docs {
			return left(rowOf(s, bson.A{wideColumn(1, s, s)}))
		}),
		link("a document that doesn't count its columns", 2, func(s string) testkit.Docs {
			return left(rawDoc(bson.D{
				{Key: "_id", Value: rowText(s) + "#"}, {Key: "hi", Value: "~"}, {Key: "n", Value: 7}, {Key: "rev", Value: int64(3)},
			}))
		}),
		{Method: "widerow.WideRow.Link", Reason: "without a token is refused",
			State: func(string) any { return struct{}{} },
			Make:  func(s string) any { return likes.Link(s, s, noon(0), bson.NilObjectID) }},
		unlink("both columns", func(s string) testkit.Docs {
			row := rowOf(s, bson.A{wideColumn(1, s, s)})
			return testkit.Docs{"itemByUser": {row}, "userByItem": {row}}
		}),
		unlink("a column that is being moved", func(s string) testkit.Docs { return left(partedPage(s, s)) }),
		renew("left", likes.Checks()[1]), renew("right", likes.Checks()[2]),
	}
}

func wideRowReads() []Case {
	return []Case{
		{
			Method: "widerow.WideRow.Linked", Reason: "the pair's column",
			Make: func(s string) any { return likes.Linked(s, s) },
		},
		{
			Method: "widerow.Side.Newest", Reason: "the first page",
			Make: func(s string) any { return likes.Left.Newest(s, "", 10) },
		},
		{
			Method: "widerow.Side.Newest", Reason: "the next page",
			Make: func(s string) any { return likes.Left.Newest(s, s, 10) },
		},
		{
			Method: "widerow.Side.Newest", Reason: "a negative number is refused",
			Make: func(s string) any { return likes.Left.Newest(s, "", -1) },
		},
		{
			Method: "widerow.Side.Oldest", Reason: "from a time",
			Make: func(s string) any { return likes.Left.Oldest(s, wideKey(3, s), 10) },
		},
		{
			Method: "widerow.Side.Newest", Reason: "the first page of a right row",
			Make: func(s string) any { return likes.Right.Newest(s, "", 10) },
		},
		{
			Method: "widerow.Side.Oldest", Reason: "all of a right row",
			Make: func(s string) any { return likes.Right.Oldest(s, "", 0) },
		},
		{
			Method: "widerow.Side.Count", Reason: "by the documents' counts",
			Make: func(s string) any { return likes.Left.Count(s) },
		},
		{
			Method: "widerow.Side.Count", Reason: "of a right row",
			Make: func(s string) any { return likes.Right.Count(s) },
		},
		{
			Method: "widerow.WideRow.Checks", Reason: "half links and repeated ones",
			Make: func(string) any { return likes.Checks()[0] },
		},
		{
			Method: "widerow.WideRow.Checks", Reason: "what the right rows carry",
			Make: func(string) any { return likes.Checks()[1] },
		},
		{
			Method: "widerow.WideRow.Checks", Reason: "what the left rows carry",
			Make: func(string) any { return likes.Checks()[2] },
		},
		{
			Method: "widerow.WideRow.Checks", Reason: "left documents that are missing",
			Make: func(string) any { return likes.Checks()[3] },
		},
		{
			Method: "widerow.WideRow.Checks", Reason: "right documents that are missing",
			Make: func(string) any { return likes.Checks()[4] },
		},
		{
			Method: "widerow.WideRow.Checks", Reason: "left rows with more than two columns",
			Make: func(string) any { return likes.Checks()[5] },
		},
		{
			Method: "widerow.WideRow.Checks", Reason: "right rows with more than two columns",
			Make: func(string) any { return likes.Checks()[6] },
		},
		{Method: "widerow.WideRow.Indexes", Reason: "of both rows", Make: func(string) any { return likes.Indexes() }},
	}
}
