package checks

import (
	"time"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/relate"
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
	fitted   = relate.NewJoinCollection(fittings.Unchecked(), "product", products, "part", parts, relate.JoinCollectionSpec{By: "since"})
	tied     = relate.NewJoinCollection(anything, "ends.left", anything, "ends.right", anything, relate.JoinCollectionSpec{})
)

func init() {
	register(joinCollectionLinks()...)
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

func joinCollectionLinks() []Case {
	return []Case{
		{Method: "relate.JoinCollection.Link", Reason: "a link with its own fields",
			Make: func(s string) any { return fitted.Link(fit(1, s, s)) }},
		{Method: "relate.JoinCollection.Link", Reason: "a link of any form, which is copied",
			From: func(s string) ([]any, func() any) {
				link := bson.D{{Key: "_id", Value: s}, {Key: "ends", Value: bson.D{{Key: "left", Value: s}, {Key: "right", Value: s}}}, {Key: "tags", Value: bson.A{s}}}
				return []any{link}, func() any { return tied.Link(link) }
			}},
		{Method: "relate.JoinCollection.Link", Reason: "a link of one side only is refused",
			Make: func(s string) any { return fitted.Link(fit(1, s, "")) }},
		{Method: "relate.JoinCollection.Link", Reason: "several, in order",
			From: func(s string) ([]any, func() any) {
				links := roomy([]fitting{fit(1, s, s), fit(2, s, "bolt")})
				return []any{links}, func() any { return fitted.Link(links...) }
			}},
		{Method: "relate.JoinCollection.Link", Reason: "a pair given twice is refused",
			Make: func(s string) any { return fitted.Link(fit(1, s, s), fit(2, s, s)) }},
		{Method: "relate.JoinCollection.Link", Reason: "none does nothing",
			Make: func(string) any { return fitted.Link() }},
		{Method: "relate.JoinCollection.Ensure", Reason: "a link that is there stays as it is",
			Make: func(s string) any { return fitted.Ensure(fit(1, s, s)) }},
		{Method: "relate.JoinCollection.Ensure", Reason: "a link of any form, which is copied",
			From: func(s string) ([]any, func() any) {
				link := bson.D{{Key: "_id", Value: s}, {Key: "ends", Value: bson.D{{Key: "left", Value: s}, {Key: "right", Value: s}}}, {Key: "tags", Value: bson.A{s}}}
				return []any{link}, func() any { return tied.Ensure(link) }
			}},
		{Method: "relate.JoinCollection.Ensure", Reason: "several, in order",
			From: func(s string) ([]any, func() any) {
				links := roomy([]fitting{fit(1, s, s), fit(2, "bench", s)})
				return []any{links}, func() any { return fitted.Ensure(links...) }
			}},
	}
}

func joinCollectionChanges() []Case {
	return []Case{
		{Method: "relate.JoinCollection.Unlink", Reason: "one pair",
			Make: func(s string) any { return fitted.Unlink(s, s) }},
		{Method: "relate.JoinCollection.Unlink", Reason: "ids that are documents are compared, not read as conditions",
			From: func(s string) ([]any, func() any) {
				left, right := ends(s)
				return []any{left, right}, func() any { return tied.Unlink(left, right) }
			}},
		{Method: "relate.JoinCollection.Unlink", Reason: "an id that is a condition is refused",
			From: func(s string) ([]any, func() any) {
				id := bson.D{{Key: "$gt", Value: s}}
				return []any{id}, func() any { return tied.Unlink(s, id) }
			}},
		{Method: "relate.JoinCollection.Unlink", Reason: "an empty id is refused",
			Make: func(s string) any { return fitted.Unlink(s, "") }},
		{Method: "relate.JoinSide.Unlink", Reason: "all links of a left document",
			Make: func(s string) any { return fitted.Left().Unlink(s) }},
		{Method: "relate.JoinSide.Unlink", Reason: "an id that is a document",
			From: func(s string) ([]any, func() any) {
				left, _ := ends(s)
				return []any{left}, func() any { return tied.Left().Unlink(left) }
			}},
		{Method: "relate.JoinSide.Unlink", Reason: "all links of a right document",
			Make: func(s string) any { return fitted.Right().Unlink(s) }},
		{Method: "relate.JoinSide.Unlink", Reason: "an id that is a document, of the right side",
			From: func(s string) ([]any, func() any) {
				_, right := ends(s)
				return []any{right}, func() any { return tied.Right().Unlink(right) }
			}},
		{Method: "relate.JoinCollection.Update", Reason: "its own fields, by operators that repeat",
			From: func(s string) ([]any, func() any) {
				u := roomy(bson.D{{Key: "$set", Value: roomy(bson.D{{Key: "note", Value: s}, {Key: "tags", Value: bson.A{s}}})}})
				return []any{u}, func() any { return fitted.Update(s, s, u) }
			}},
		{Method: "relate.JoinCollection.Update", Reason: "a counter can't be repeated",
			Make: func(s string) any {
				return fitted.Update(s, "bolt", bson.D{{Key: "$inc", Value: bson.D{{Key: "n", Value: 1}}}})
			}},
		{Method: "relate.JoinCollection.Update", Reason: "an id of the pair is refused",
			Make: func(s string) any {
				return fitted.Update(s, "bolt", bson.D{{Key: "$set", Value: bson.D{{Key: "part", Value: s}}}})
			}},
	}
}

func joinCollectionReads() []Case {
	return []Case{
		{Method: "relate.JoinCollection.Pair", Reason: "the link of a pair",
			Make: func(s string) any { return fitted.Pair(s, s) }},
		{Method: "relate.JoinCollection.Pair", Reason: "ids that are documents are compared, not read as conditions",
			From: func(s string) ([]any, func() any) {
				left, right := ends(s)
				return []any{left, right}, func() any { return tied.Pair(left, right) }
			}},
		{Method: "relate.JoinCollection.Pair", Reason: "an empty id is refused",
			Make: func(s string) any { return fitted.Pair("", s) }},
		{Method: "relate.JoinSide.Links", Reason: "newest first",
			Make: func(s string) any { return fitted.Left().Links(s) }},
		{Method: "relate.JoinSide.Links", Reason: "in the order of _id",
			From: func(s string) ([]any, func() any) {
				left, _ := ends(s)
				return []any{left}, func() any { return tied.Left().Links(left) }
			}},
		{Method: "relate.JoinSide.Links", Reason: "newest first, of the right side",
			Make: func(s string) any { return fitted.Right().Links(s) }},
		{Method: "relate.JoinSide.Links", Reason: "in the order of _id, of the right side",
			From: func(s string) ([]any, func() any) {
				_, right := ends(s)
				return []any{right}, func() any { return tied.Right().Links(right) }
			}},
		{Method: "relate.JoinSide.Counts", Reason: "of some left documents",
			From: func(s string) ([]any, func() any) {
				ids := roomy([]string{s, "bench"})
				return []any{ids}, func() any { return fitted.Left().Counts(ids...) }
			}},
		{Method: "relate.JoinSide.Counts", Reason: "of none is refused",
			Make: func(string) any { return fitted.Left().Counts() }},
		{Method: "relate.JoinSide.Counts", Reason: "of some right documents, whose ids are documents",
			From: func(s string) ([]any, func() any) {
				_, right := ends(s)
				ids := roomy([]any{right, s})
				return []any{ids}, func() any { return tied.Right().Counts(ids...) }
			}},
		{Method: "relate.JoinCollection.Checks", Reason: "the left ends", Make: func(string) any { return fitted.Checks()[0] }},
		{Method: "relate.JoinCollection.Checks", Reason: "the right ends", Make: func(string) any { return fitted.Checks()[1] }},
		{Method: "relate.JoinCollection.Checks", Reason: "links whose right end is missing go",
			From: func(s string) ([]any, func() any) {
				check := tied.Checks()[1]
				found := findings(check, bson.M{"doc": s, "id": s}, bson.M{"doc": "b", "id": s})
				return []any{found}, func() any { return check.Mend(found) }
			}},
		{Method: "relate.JoinCollection.Indexes", Reason: "the pair, and each side by time",
			Make: func(string) any { return fitted.Indexes() }},
		{Method: "relate.JoinCollection.Indexes", Reason: "the pair, and each side by _id",
			Make: func(string) any { return tied.Indexes() }},
	}
}

func joinCollectionPages() []Case {
	return []Case{
		{Method: "relate.JoinSide.Others", Reason: "all, with the right documents",
			Make: func(s string) any { return fitted.Left().Others(s, nil, 0) }},
		{Method: "relate.JoinSide.Others", Reason: "the page after a link",
			From: func(s string) ([]any, func() any) {
				last := fit(9, s, s)
				return []any{&last}, func() any { return fitted.Left().Others(s, &last, 20) }
			}},
		{Method: "relate.JoinSide.Others", Reason: "the page after a link whose _id a user typed",
			From: func(s string) ([]any, func() any) {
				last := tie(s)
				return []any{last}, func() any { return tied.Left().Others(s, &last, 20) }
			}},
		{Method: "relate.JoinSide.Others", Reason: "the first page, with the left documents",
			Make: func(s string) any { return fitted.Right().Others(s, nil, 20) }},
		{Method: "relate.JoinSide.Others", Reason: "the page after a link, of the right side",
			From: func(s string) ([]any, func() any) {
				last := fit(9, s, s)
				return []any{&last}, func() any { return fitted.Right().Others(s, &last, 0) }
			}},
		{Method: "relate.JoinSide.Others", Reason: "an empty id is refused",
			Make: func(string) any { return fitted.Right().Others("", nil, 0) }},
	}
}
