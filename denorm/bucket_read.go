package denorm

import (
	"fmt"
	"time"

	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// BucketTotals is what a key's buckets hold together.
type BucketTotals struct {
	Buckets int              `bson:"buckets"`
	N       int64            `bson:"n"`      // elements
	Bytes   int64            `bson:"bytes"`  // of elements, in BSON
	Totals  map[string]Total `bson:"totals"` // by the paths of BucketSpec.Totals, with "/" for a dot; 0 where no element has a value
}

func (b *bucketing) between(key any, from, to time.Time) (bson.D, error) {
	switch {
	case b.spec.Period == NoPeriod:
		return nil, b.refused("from", nil, "buckets have no Period to be found by")
	case !from.Before(to):
		return nil, b.refused("to", to, "is not after from")
	}
	first, err := b.period("from", from)
	if err != nil {
		return nil, err
	}
	last, err := b.period("to", to.Add(-time.Nanosecond))
	if err != nil {
		return nil, err
	}
	return b.ofPeriods(key, first, last)
}

func (b *bucketing) elements(key any) (mongo.Pipeline, error) {
	filter, err := b.ofKey(key)
	return mongo.Pipeline{
		{{Key: "$match", Value: filter}},
		{{Key: "$sort", Value: bson.D{{Key: "_id", Value: 1}}}},
		{{Key: "$unwind", Value: "$items"}},
		{{Key: "$replaceRoot", Value: bson.D{{Key: "newRoot", Value: "$items"}}}},
	}, err
}

func (b *bucketing) keyIndex() model.Index {
	if b.spec.Key == "" {
		return model.Index{}
	}
	x := model.NewIndex(b.name, bson.D{{Key: "key", Value: 1}, {Key: "items." + b.spec.Key, Value: 1}})
	x.Why = "the bucket that holds an element"
	return x
}

func (b *bucketing) holding(key, element any) (bson.D, error) {
	if b.spec.Key == "" {
		return nil, b.refused("items", nil, "elements have no Key to be found by")
	}
	if _, err := b.keyText(key); err != nil {
		return nil, err
	}
	stored, err := b.encode(key)
	if err != nil {
		return nil, b.refused("key", nil, err.Error())
	}
	id, err := b.value("items[]."+b.spec.Key, element)
	if err != nil {
		return nil, err
	}
	if !isKey(id) {
		return nil, b.refused("items[]."+b.spec.Key, id, "is not a key: null would match elements without one, a regular expression is a pattern")
	}
	return b.holder(bucketElement{stored: stored, id: id}), nil
}

// holder matches the bucket that holds an element.
func (b *bucketing) holder(e bucketElement) bson.D {
	return bson.D{{Key: "key", Value: model.Eq(e.stored)}, {Key: "items." + b.spec.Key, Value: model.Eq(e.id)}}
}

func (b *bucketing) total(key any) (mongo.Pipeline, error) {
	filter, err := b.ofKey(key)
	sum := func(v any) bson.D { return bson.D{{Key: "$sum", Value: v}} }
	group := bson.D{
		{Key: "_id", Value: nil}, {Key: "buckets", Value: sum(1)}, {Key: "n", Value: sum("$n")}, {Key: "bytes", Value: sum("$bytes")},
	}
	kept := bson.D{}
	for i, t := range b.totals {
		names, total := []string{"sum", "min", "max"}, bson.D{}
		for _, name := range names {
			field := fmt.Sprintf("%s%d", name, i)
			group = append(group, bson.E{Key: field, Value: bson.D{{Key: "$" + name, Value: "$totals." + t.name + "." + name}}})
			total = append(total, bson.E{Key: name, Value: "$" + field})
		}
		kept = append(kept, bson.E{Key: t.name, Value: total})
	}
	out := bson.D{{Key: "_id", Value: 0}, {Key: "buckets", Value: 1}, {Key: "n", Value: 1}, {Key: "bytes", Value: 1}}
	if len(kept) > 0 {
		out = append(out, bson.E{Key: "totals", Value: kept})
	}
	return mongo.Pipeline{
		{{Key: "$match", Value: filter}},
		{{Key: "$group", Value: group}},
		{{Key: "$project", Value: out}},
	}, err
}
