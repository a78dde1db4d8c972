package denorm

import (
	"fmt"

	"github.com/docmodel/docmodel/internal/mql"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A CopySpread is how copies lie: what a change of a source costs, and what a read without copies would.
type CopySpread struct {
	Documents int64 `bson:"documents"` // that hold copies
	Sources   int64 `bson:"sources"`   // of which there are copies
	Pairs     int64 `bson:"pairs"`     // of a document and a source of which it holds copies
	Most      int64 `bson:"most"`      // documents that hold copies of one source
}

// CopyPrices are what a model's operations cost, in any one unit. Zero means the default, which is in reads of a document: 20
// for a command, 1 for a document read, 8 for a document found and changed among many. Measure your own: they differ with the
// network, the size of the documents and the indexes on them.
type CopyPrices struct {
	Command float64 // a round trip
	Read    float64 // of one document
	Write   float64 // of one document
}

// BreakEven returns the ratio of reads to writes from which on copies pay: reads of documents, each of which would else fetch
// its sources, to changes of copied fields. Both are of the whole collection, in the same time. Above it copies are the cheaper
// model; below, references. It is 0 when there is nothing to compute it from.
//
// A read without copies costs one command more, and as many documents as it refers to; a change with copies costs one command
// more, and as many documents as hold a copy.
func (s CopySpread) BreakEven(prices CopyPrices) float64 {
	if s.Documents <= 0 || s.Sources <= 0 {
		return 0
	}
	set := func(p *float64, otherwise float64) {
		if *p == 0 {
			*p = otherwise
		}
	}
	set(&prices.Command, 20)
	set(&prices.Read, 1)
	set(&prices.Write, 8)
	pairs := float64(s.Pairs)
	change := prices.Command + prices.Write*pairs/float64(s.Sources)
	read := prices.Command + prices.Read*pairs/float64(s.Documents)
	return change / read
}

// String is the spread for a reader: "300 documents hold copies of 20 sources, 30.0 of each, at most 41".
func (s CopySpread) String() string {
	each := 0.0
	if s.Sources > 0 {
		each = float64(s.Pairs) / float64(s.Sources)
	}
	return fmt.Sprintf("%d documents hold copies of %d sources, %.1f of each, at most %d", s.Documents, s.Sources, each, s.Most)
}

// spread is the pipeline that counts.
func (c *copying) spread() mongo.Pipeline {
	sum := func(v any) bson.D { return bson.D{{Key: "$sum", Value: v}} }
	source := "$c." + c.key
	pairs := c.copies()
	if c.key == "" {
		source = "$src._id"
		pairs = c.pairs()
	}
	first := func(path string) bson.D { return mql.Op("$arrayElemAt", path, 0) }
	return append(pairs,
		bson.D{{Key: "$group", Value: bson.D{{Key: "_id", Value: bson.D{{Key: "doc", Value: "$doc"}, {Key: "src", Value: source}}}}}},
		bson.D{{Key: "$facet", Value: bson.D{
			{Key: "documents", Value: mongo.Pipeline{
				{{Key: "$group", Value: bson.D{{Key: "_id", Value: "$_id.doc"}}}},
				{{Key: "$group", Value: bson.D{{Key: "_id", Value: nil}, {Key: "n", Value: sum(int64(1))}}}},
			}},
			{Key: "sources", Value: mongo.Pipeline{
				{{Key: "$group", Value: bson.D{{Key: "_id", Value: "$_id.src"}, {Key: "n", Value: sum(int64(1))}}}},
				{{Key: "$group", Value: bson.D{
					{Key: "_id", Value: nil}, {Key: "sources", Value: sum(int64(1))}, {Key: "pairs", Value: sum("$n")},
					{Key: "most", Value: bson.D{{Key: "$max", Value: "$n"}}},
				}}},
			}},
		}}},
		bson.D{{Key: "$unwind", Value: "$sources"}},
		bson.D{{Key: "$project", Value: bson.D{
			{Key: "documents", Value: first("$documents.n")}, {Key: "sources", Value: "$sources.sources"},
			{Key: "pairs", Value: "$sources.pairs"}, {Key: "most", Value: "$sources.most"},
		}}},
	)
}
