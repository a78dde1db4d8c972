package checks

import (
	"time"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/relate/joincollection"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// A fitting ties a product to a part that it is made of.
type fitting struct {
	ID      bson.ObjectID `bson:"_id"`
	Product string        `bson:"product"`
	Part    string        `bson:"part"`
	Note    string        `bson:"note,omitempty"`
	Since   time.Time     `bson:"since"`
}

var (
	fittings = model.NewCollection[fitting, bson.ObjectID]("fittings")
	fitted   = joincollection.New(fittings.Unchecked(), "product", products, "part", parts,
		joincollection.Spec{By: "since"})
	tied = joincollection.New(anything, "ends.left", anything, "ends.right", anything, joincollection.Spec{})
)

func init() {
	register(joinCollectionChanges()...)
	register(joinCollectionReads()...)
	register(joinCollectionPages()...)
}

// fit is a link of a product to a part.
func fit(n byte, product, part string) fitting {
	return fitting{ID: oid(n), Product: product, Part: part, Note: part, Since: noon(int(n))}
}

// tie is a link of documents of any form, whose ids are documents too.
func tie(s string) bson.D {
	return roomy(bson.D{{Key: "_id", Value: s}, {Key: "ends", Value: roomy(bson.D{
		{Key: "left", Value: bson.D{{Key: "site", Value: s}}}, {Key: "right", Value: bson.D{{Key: "site", Value: s}}},
	})}, {Key: "tags", Value: bson.A{s}}})
}

// ends are two ids that are documents.
func ends(s string) (left, right bson.D) {
	return bson.D{{Key: "site", Value: s}}, bson.D{{Key: "site", Value: s + "2"}, {Key: "tags", Value: bson.A{s}}}
}

func joinCollectionChanges() []Case {
	return []Case{
		{Method: "joincollection.Side.Unlink", Reason: "all links of a left document",
			Make: func(s string) any { return fitted.Left.Unlink(s) }},
		{Method: "joincollection.Side.Unlink", Reason: "an id that is a document",
			From: func(s string) ([]any, func() any) {
				left, _ := ends(s)
				return []any{left}, func() any { return tied.Left.Unlink(left) }
			}},
		{Method: "joincollection.Side.Unlink", Reason: "all links of a right document",
			Make: func(s string) any { return fitted.Right.Unlink(s) }},
		{Method: "joincollection.Side.Unlink", Reason: "an id that is a document, of the right side",
			From: func(s string) ([]any, func() any) {
				_, right := ends(s)
				return []any{right}, func() any { return tied.Right.Unlink(right) }
			}},
	}
}

func joinCollectionReads() []Case {
	return []Case{
		{Method: "joincollection.JoinCollection.Pair", Reason: "the link of a pair",
			Make: func(s string) any { return fitted.Pair(s, s) }},
		{Method: "joincollection.JoinCollection.Pair", Reason: "ids that are documents are compared, not read as conditions",
			From: func(s string) ([]any, func() any) {
				left, right := ends(s)
				return []any{left, right}, func() any { return tied.Pair(left, right) }
			}},
		{Method: "joincollection.JoinCollection.Pair", Reason: "an id that is a condition is refused",
			From: func(s string) ([]any, func() any) {
				id := bson.D{{Key: "$gt", Value: s}}
				return []any{id}, func() any { return tied.Pair(s, id) }
			}},
		{Method: "joincollection.JoinCollection.Pair", Reason: "an empty id is refused",
			Make: func(s string) any { return fitted.Pair("", s) }},
		{Method: "joincollection.Side.Links", Reason: "newest first",
			Make: func(s string) any { return fitted.Left.Links(s) }},
		{Method: "joincollection.Side.Links", Reason: "in the order of _id",
			From: func(s string) ([]any, func() any) {
				left, _ := ends(s)
				return []any{left}, func() any { return tied.Left.Links(left) }
			}},
		{Method: "joincollection.Side.Links", Reason: "newest first, of the right side",
			Make: func(s string) any { return fitted.Right.Links(s) }},
		{Method: "joincollection.Side.Links", Reason: "in the order of _id, of the right side",
			From: func(s string) ([]any, func() any) {
				_, right := ends(s)
				return []any{right}, func() any { return tied.Right.Links(right) }
			}},
		{Method: "joincollection.Side.Counts", Reason: "of some left documents",
			From: func(s string) ([]any, func() any) {
				ids := roomy([]string{s, "bench"})
				return []any{ids}, func() any { return fitted.Left.Counts(ids...) }
			}},
		{Method: "joincollection.Side.Counts", Reason: "of none is refused",
			Make: func(string) any { return fitted.Left.Counts() }},
		{Method: "joincollection.Side.Counts", Reason: "of some right documents, whose ids are documents",
			From: func(s string) ([]any, func() any) {
				_, right := ends(s)
				ids := roomy([]any{right, s})
				return []any{ids}, func() any { return tied.Right.Counts(ids...) }
			}},
		{
			Method: "joincollection.JoinCollection.Checks", Reason: "the left ends",
			Make: func(string) any { return fitted.Checks()[0] },
		},
		{
			Method: "joincollection.JoinCollection.Checks", Reason: "the right ends",
			Make: func(string) any { return fitted.Checks()[1] },
		},
		{Method: "joincollection.JoinCollection.Checks", Reason: "links whose right end is missing go",
			From: func(s string) ([]any, func() any) {
				check := tied.Checks()[1]
				found := findings(check, bson.M{"doc": s, "id": s}, bson.M{"doc": "b", "id": s})
				return []any{found}, func() any { return check.Mend(found) }
			}},
		{Method: "joincollection.JoinCollection.Indexes", Reason: "the pair, and each side by time",
			Make: func(string) any { return fitted.Indexes() }},
		{Method: "joincollection.JoinCollection.Indexes", Reason: "the pair, and each side by _id",
			Make: func(string) any { return tied.Indexes() }},
	}
}

func joinCollectionPages() []Case {
	return []Case{
		{Method: "joincollection.Side.Others", Reason: "all, with the right documents",
			Make: func(s string) any { return fitted.Left.Others(s, nil, 0) }},
		{Method: "joincollection.Side.Others", Reason: "the page after a link",
			From: func(s string) ([]any, func() any) {
				last := fit(9, s, s)
				return []any{&last}, func() any { return fitted.Left.Others(s, &last, 20) }
			}},
		{Method: "joincollection.Side.Others", Reason: "the page after a link whose _id a user typed",
			From: func(s string) ([]any, func() any) {
				last := tie(s)
				return []any{last}, func() any { return tied.Left.Others(s, &last, 20) }
			}},
		{Method: "joincollection.Side.Others", Reason: "the first page, with the left documents",
			Make: func(s string) any { return fitted.Right.Others(s, nil, 20) }},
		{Method: "joincollection.Side.Others", Reason: "the page after a link, of the right side",
			From: func(s string) ([]any, func() any) {
				last := fit(9, s, s)
				return []any{&last}, func() any { return fitted.Right.Others(s, &last, 0) }
			}},
		{Method: "joincollection.Side.Others", Reason: "an empty id is refused",
			Make: func(string) any { return fitted.Right.Others("", nil, 0) }},
	}
}
