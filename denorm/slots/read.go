package slots

import (
	"github.com/docmodel/docmodel/internal/mql"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// sumKeys is the pipeline that adds up the slots of each of some keys, in the order of keys. Without keys, it adds up
// the slots of all keys.
func (s *untypedSlots) sumKeys(keys []any) (mongo.Pipeline, error) {
	sums := mongo.Pipeline{s.groupByKey(), mql.SortID()}
	if len(keys) == 0 {
		return sums, nil
	}
	alternatives := make(bson.A, len(keys))
	for i, k := range keys {
		filter, err := s.matchKey(k)
		if err != nil {
			return nil, err
		}
		alternatives[i] = filter
	}
	if len(keys) == 1 {
		return mongo.Pipeline{mql.Match(alternatives[0].(bson.D)...), s.groupByKey()}, nil
	}
	return append(mongo.Pipeline{mql.Match(mql.E("$or", alternatives))}, sums...), nil
}

// groupByKey adds up slots by their keys.
func (s *untypedSlots) groupByKey() bson.D {
	sums := []bson.E{mql.E("sum", mql.Op("$sum", "$sum"))}
	if s.spec.Stock {
		sums = append(sums, mql.E("free", mql.Op("$sum", "$free")))
	}
	live := mql.Cond(mql.Op("$gt", "$of", 0), 1, 0)
	return mql.Group("$key", append(sums, mql.E("slots", mql.Op("$sum", live)))...)
}
