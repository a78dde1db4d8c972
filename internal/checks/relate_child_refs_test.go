package checks

import (
	"github.com/docmodel/docmodel/relate/childrefs"
	"go.mongodb.org/mongo-driver/v2/bson"
)

var (
	uses  = childrefs.New(products.Unchecked(), "parts", parts)
	owns  = childrefs.New(portfolios, "holdings.stockId", stocks)
	keyed = childrefs.New(anything, "refs", anything)
)

func init() {
	register(childRefsWrites()...)
	register(childRefsReads()...)
}

func childRefsWrites() []Case {
	return []Case{
		{Method: "childrefs.ChildRefs.Add", Reason: "one id needs no $each",
			Make: func(s string) any { return uses.Add("bench", s) }},
		{Method: "childrefs.ChildRefs.Add", Reason: "several ids, in order",
			From: func(s string) ([]any, func() any) {
				ids := roomy([]string{s, "bolt"})
				return []any{ids}, func() any { return uses.Add(s, ids...) }
			}},
		{Method: "childrefs.ChildRefs.Add", Reason: "an id in a list of documents",
			Make: func(s string) any { return owns.Add("p1", s) }},
		{Method: "childrefs.ChildRefs.Add", Reason: "an id that is a document is no operator",
			From: func(s string) ([]any, func() any) {
				id := bson.D{{Key: "site", Value: s}, {Key: "tags", Value: bson.A{s}}}
				return []any{id}, func() any { return keyed.Add(s, id) }
			}},
		{Method: "childrefs.ChildRefs.Add", Reason: "no id is refused",
			Make: func(s string) any { return uses.Add(s) }},
		{Method: "childrefs.ChildRefs.Add", Reason: "an empty id is refused",
			Make: func(s string) any { return uses.Add(s, "") }},
		{Method: "childrefs.ChildRefs.AddElement", Reason: "an element with its own fields",
			Make: func(s string) any { return owns.AddElement("p1", holding{StockID: s, Number: 7, Note: s}) }},
		{Method: "childrefs.ChildRefs.AddElement", Reason: "by pointer",
			From: func(s string) ([]any, func() any) {
				h := &holding{StockID: s, Number: 7}
				return []any{h}, func() any { return owns.AddElement(s, h) }
			}},
		{Method: "childrefs.ChildRefs.AddElement", Reason: "an element without an id is refused",
			Make: func(s string) any { return owns.AddElement(s, holding{Note: s}) }},
		{Method: "childrefs.ChildRefs.InsertAt", Reason: "at the front",
			Make: func(s string) any { return uses.InsertAt("bench", 0, s) }},
		{Method: "childrefs.ChildRefs.InsertAt", Reason: "before the last of a list of documents",
			Make: func(s string) any { return owns.InsertAt(s, -1, s) }},
		{Method: "childrefs.ChildRefs.Remove", Reason: "every occurrence of each id",
			From: func(s string) ([]any, func() any) {
				ids := roomy([]string{s, "bolt"})
				return []any{ids}, func() any { return uses.Remove(s, ids...) }
			}},
		{Method: "childrefs.ChildRefs.Remove", Reason: "the elements that hold an id",
			Make: func(s string) any { return owns.Remove("p1", s) }},
		{Method: "childrefs.ChildRefs.RemoveEverywhere", Reason: "out of every list",
			Make: func(s string) any { return uses.RemoveEverywhere(s) }},
		{Method: "childrefs.ChildRefs.RemoveEverywhere", Reason: "out of every list of documents",
			Make: func(s string) any { return owns.RemoveEverywhere(s) }},
		{Method: "childrefs.ChildRefs.Reorder", Reason: "another order, if the list is still as it was",
			From: func(s string) ([]any, func() any) {
				was, becomes := roomy([]string{s, "bolt"}), roomy([]string{"bolt", s})
				return []any{was, becomes}, func() any { return uses.Reorder(s, was, becomes) }
			}},
		{Method: "childrefs.ChildRefs.Reorder", Reason: "an empty list may be missing",
			Make: func(s string) any { return uses.Reorder("bench", nil, []string{s}) }},
		{Method: "childrefs.ChildRefs.Reorder", Reason: "documents are not reordered by their ids",
			Make: func(s string) any { return owns.Reorder("p1", []string{s}, nil) }},
	}
}

func childRefsReads() []Case {
	return []Case{
		{Method: "childrefs.ChildRefs.Children", Reason: "of a document in hand",
			From: func(s string) ([]any, func() any) {
				p := &product{ID: s, Parts: roomy([]string{s, "bolt"})}
				return []any{p}, func() any { return uses.Children(p) }
			}},
		{Method: "childrefs.ChildRefs.Children", Reason: "of a document without any: nothing matches",
			Make: func(s string) any { return uses.Children(&product{ID: s}) }},
		{Method: "childrefs.ChildRefs.Children", Reason: "from elements",
			Make: func(s string) any {
				return owns.Children(&portfolio{Holdings: []holding{{StockID: s}, {StockID: "b"}}})
			}},
		{Method: "childrefs.ChildRefs.Children", Reason: "of no document is refused",
			Make: func(s string) any { return uses.Children(nil) }},
		{Method: "childrefs.ChildRefs.ChildrenOf", Reason: "in stored order, in one command",
			Make: func(s string) any { return uses.ChildrenOf(s) }},
		{Method: "childrefs.ChildRefs.ChildrenOf", Reason: "from elements",
			Make: func(s string) any { return owns.ChildrenOf(s) }},
		{Method: "childrefs.ChildRefs.ChildrenOf", Reason: "an empty id is refused",
			Make: func(string) any { return uses.ChildrenOf("") }},
		{Method: "childrefs.ChildRefs.ParentsOf", Reason: "by the index on the list",
			Make: func(s string) any { return uses.ParentsOf(s) }},
		{Method: "childrefs.ChildRefs.ParentsOf", Reason: "an id that is a document is compared, not read as a condition",
			From: func(s string) ([]any, func() any) {
				id := bson.D{{Key: "site", Value: s}}
				return []any{id}, func() any { return keyed.ParentsOf(id) }
			}},
		{Method: "childrefs.ChildRefs.Indexes", Reason: "on the ids",
			Make: func(string) any { return uses.Indexes() }},
		{Method: "childrefs.ChildRefs.Indexes", Reason: "on the ids within elements",
			Make: func(string) any { return owns.Indexes() }},
	}
}
