package relate

import (
	"slices"
	"strings"

	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// of completes the query of the links of a document at one end.
//
//go:noinline
func (j *joinCollection) of(q *model.Query, path string, id any, index string, err error) {
	q.Filter, q.Sort = bson.D{{Key: path, Value: model.Eq(id)}}, slices.Clone(j.order)
	served(q, index, err)
}

// place is what an encoded link holds at the fields of the order.
func (j *joinCollection) place(link any, err error) ([]any, error) {
	var raw bson.Raw
	if err == nil {
		raw, err = bson.Marshal(bson.D{{Key: "v", Value: link}})
	}
	if err != nil {
		return nil, j.refused("After", err.Error())
	}
	values := make([]any, len(j.order))
	for i, e := range j.order {
		v, err := raw.LookupErr(append([]string{"v"}, strings.Split(e.Key, ".")...)...)
		if err != nil || v.Type == bson.TypeNull {
			return nil, j.refused("After", "the link holds nothing at "+e.Key+", by which links are in order")
		}
		values[i] = v
	}
	return values, nil
}

// joined is the pipeline of a query of links, each with the document at one of its ends.
func (j *joinCollection) joined(q *model.Query, path, from string) mongo.Pipeline {
	stages := matching(q.Filter, bson.D{{Key: "$sort", Value: q.Sort}})
	if q.Limit > 0 {
		stages = append(stages, bson.D{{Key: "$limit", Value: q.Limit}})
	}
	return append(stages,
		nested("link"),
		bson.D{{Key: "$lookup", Value: bson.D{
			{Key: "from", Value: from}, {Key: "localField", Value: "link." + path}, {Key: "foreignField", Value: "_id"}, {Key: "as", Value: "doc"},
		}}},
		bson.D{{Key: "$set", Value: bson.D{{Key: "doc", Value: bson.D{{Key: "$arrayElemAt", Value: bson.A{"$doc", 0}}}}}}},
	)
}

// linkedBy says of the pipeline of a query what the query says.
func linkedBy(a *model.Aggregation, q *model.Query) {
	a.Index = q.Index
	if q.Err != nil {
		a.Err = q.Err
	}
}

// counts is the pipeline of how many links each of some documents at one end has.
//
//go:noinline
func (j *joinCollection) counts(path string, ids bson.A) mongo.Pipeline {
	return matching(
		bson.D{{Key: path, Value: bson.D{{Key: "$in", Value: ids}}}},
		bson.D{{Key: "$group", Value: bson.D{{Key: "_id", Value: "$" + path}, {Key: "n", Value: bson.D{{Key: "$sum", Value: 1}}}}}},
		bson.D{{Key: "$sort", Value: bson.D{{Key: "_id", Value: 1}}}},
	)
}
