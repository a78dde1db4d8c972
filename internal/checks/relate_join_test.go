package checks

import (
	"github.com/docmodel/docmodel/relate/join"
	"go.mongodb.org/mongo-driver/v2/bson"
)

var (
	joined    = join.New(products.Unchecked(), "parts", parts, join.Spec{})
	joinedFew = join.New(products, "parts", parts, join.Spec{
		Filter: bson.D{{Key: "cost", Value: bson.D{{Key: "$gt", Value: 1.5}}}},
		Sort:   bson.D{{Key: "name", Value: 1}, {Key: "_id", Value: 1}},
		Limit:  2, Fields: true, ChunkIDs: 2,
	})
	joinedOne  = join.New(logmsgs, "host", hosts, join.Spec{})
	joinedRows = join.New(portfolios, "holdings.stockId", stocks, join.Spec{})
	strict     = join.New(products, "parts", parts, join.Spec{Strict: true})
)

func init() {
	register(joinQueries()...)
	register(joinPipelines()...)
}

func joinQueries() []Case {
	return []Case{
		{
			Method: "join.Join.Queries",
			Reason: "each id once, in the order of its first use",
			From: func(s string) ([]any, func() any) {
				list := roomy([]product{{ID: "p", Parts: roomy([]string{s, "bolt", s})}, {ID: "q", Parts: roomy([]string{"bolt"})}})
				return []any{list}, func() any { return joined.Queries(list)[0] }
			},
		},
		{
			Method: "join.Join.Queries",
			Reason: "the second chunk of two ids, some children, some fields",
			Make: func(s string) any {
				return joinedFew.Queries([]product{{ID: "p", Parts: []string{"a", "b", s}}})[1]
			},
		},
		{Method: "join.Join.Queries", Reason: "a single id each", Make: func(s string) any {
			return joinedOne.Queries([]logmsg{{ID: oid(1), Host: s}, {ID: oid(2)}})[0]
		}},
		{Method: "join.Join.Queries", Reason: "ids within elements", Make: func(s string) any {
			return joinedRows.Queries([]portfolio{{ID: "p", Holdings: []holding{{StockID: s}, {StockID: "b"}}}})[0]
		}},
		{Method: "join.Join.Queries", Reason: "an empty id is looked for as any other", Make: func(s string) any {
			return joined.Queries([]product{{ID: "p", Parts: []string{s, ""}}})[0]
		}},
	}
}

func joinPipelines() []Case {
	return []Case{
		{Method: "join.Join.Pipeline", Reason: "a list of ids, in stored order", From: func(s string) ([]any, func() any) {
			f := roomy(bson.D{{Key: "name", Value: s}, {Key: "tags", Value: bson.A{s}}})
			return []any{f}, func() any { return joined.Pipeline(f) }
		}},
		{
			Method: "join.Join.Pipeline",
			Reason: "some children, some fields, sorted and cut",
			Make:   func(string) any { return joinedFew.Pipeline(nil) },
		},
		{
			Method: "join.Join.Pipeline", Reason: "a single id",
			Make: func(s string) any { return joinedOne.Pipeline(bson.D{{Key: "text", Value: s}}) },
		},
		{
			Method: "join.Join.Pipeline", Reason: "ids within elements",
			Make: func(s string) any { return joinedRows.Pipeline(bson.D{{Key: "_id", Value: s}}) },
		},
		{
			Method: "join.Join.Pipeline", Reason: "a strict one is refused",
			Make: func(s string) any { return strict.Pipeline(bson.D{{Key: "name", Value: s}}) },
		},
	}
}
