package slots

import (
	"github.com/docmodel/docmodel/internal/mql"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// sumKey is the pipeline that adds up the slots of a key.
func (s *untypedSlots) sumKey(k any) (mongo.Pipeline, error) {
	filter, err := s.matchKey(k)
	return mongo.Pipeline{mql.Match(filter...), s.groupByKey()}, err
}

// sumKeys is the pipeline that adds up the slots of each key.
func (s *untypedSlots) sumKeys() mongo.Pipeline {
	return mongo.Pipeline{s.groupByKey(), mql.SortID()}
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
