package denorm

import (
	"fmt"

	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A BucketDrift is a bucket whose counts are not those of its items.
type BucketDrift struct {
	ID      string      `bson:"_id"`
	Stored  bson.Raw    `bson:"stored"`  // n, bytes and totals as they are stored, whatever their types
	Counted BucketCount `bson:"counted"` // the same by the items
}

// A BucketCount is what the items of a bucket add up to.
type BucketCount struct {
	N      int              `bson:"n"`
	Bytes  int64            `bson:"bytes"`
	Totals map[string]Total `bson:"totals"` // without those of which no item has a value
}

// op is an expression of one operator.
func op(name string, args ...any) bson.D {
	if len(args) == 1 {
		return bson.D{{Key: name, Value: args[0]}}
	}
	return bson.D{{Key: name, Value: bson.A(args)}}
}

// items is the bucket's array, or an empty one.
func items() bson.D { return op("$cond", op("$isArray", "$items"), "$items", bson.A{}) }

// countN, countBytes and countTotal are the expressions of what the items add up to.
func countN() bson.D { return op("$size", items()) }

func countBytes() bson.D {
	size := op("$cond", op("$eq", op("$type", "$$item"), "object"), op("$bsonSize", "$$item"), 0)
	return op("$toLong", op("$sum", mapItems(size)))
}

func mapItems(in any) bson.D {
	return op("$map", bson.D{{Key: "input", Value: items()}, {Key: "as", Value: "item"}, {Key: "in", Value: in}})
}

// countTotal gives sum, min and max in the order of the items, which is that of the $inc that kept the sum; otherwise where
// no item has a number. Integers are made long, as an append keeps them.
func countTotal(t bucketTotal, otherwise any, of func(values string) any) bson.D {
	value := op("$cond", op("$in", op("$type", "$$item."+t.path), bson.A{"int", "long"}), op("$toLong", "$$item."+t.path), "$$item."+t.path)
	values := op("$filter", bson.D{
		{Key: "input", Value: mapItems(value)}, {Key: "as", Value: "value"}, {Key: "cond", Value: op("$isNumber", "$$value")},
	})
	return op("$let", bson.D{
		{Key: "vars", Value: bson.D{{Key: "values", Value: values}}},
		{Key: "in", Value: op("$cond", op("$eq", op("$size", "$$values"), 0), otherwise, of("$$values"))},
	})
}

func countSum(values string) any {
	return op("$reduce", bson.D{
		{Key: "input", Value: values}, {Key: "initialValue", Value: int64(0)}, {Key: "in", Value: op("$add", "$$value", "$$this")},
	})
}

func countAll(values string) any {
	return bson.D{{Key: "sum", Value: countSum(values)}, {Key: "min", Value: op("$min", values)}, {Key: "max", Value: op("$max", values)}}
}

// differs is the expression that a bucket's counts are not those of its items.
func (b *bucketing) differs() bson.D {
	or := bson.A{op("$ne", "$n", countN()), op("$ne", "$bytes", countBytes())}
	for _, t := range b.totals {
		path := "$totals." + t.name
		kept := bson.A{}
		for _, name := range []string{"sum", "min", "max"} {
			kept = append(kept, op("$ifNull", path+"."+name, nil))
		}
		counted := countTotal(t, bson.A{nil, nil, nil}, func(values string) any {
			return bson.A{countSum(values), op("$min", values), op("$max", values)}
		})
		or = append(or, op("$ne", kept, counted))
	}
	return bson.D{{Key: "$or", Value: or}}
}

func (b *bucketing) check() mongo.Pipeline {
	stored := bson.D{{Key: "n", Value: "$n"}, {Key: "bytes", Value: "$bytes"}}
	counted := bson.D{{Key: "n", Value: countN()}, {Key: "bytes", Value: countBytes()}}
	if totals := b.counted(); len(totals) > 0 {
		stored = append(stored, bson.E{Key: "totals", Value: "$totals"})
		counted = append(counted, bson.E{Key: "totals", Value: totals})
	}
	return mongo.Pipeline{
		{{Key: "$match", Value: op("$expr", b.differs())}},
		{{Key: "$sort", Value: bson.D{{Key: "_id", Value: 1}}}},
		{{Key: "$project", Value: bson.D{{Key: "stored", Value: stored}, {Key: "counted", Value: counted}}}},
	}
}

// counted are the totals by the items, each under its name.
func (b *bucketing) counted() (d bson.D) {
	for _, t := range b.totals {
		d = append(d, bson.E{Key: t.name, Value: countTotal(t, "$$REMOVE", countAll)})
	}
	return d
}

func (b *bucketing) repair() model.Write {
	set := bson.D{
		{Key: "n", Value: countN()}, {Key: "bytes", Value: countBytes()},
		{Key: "closed", Value: op("$cond", op("$gte", op("$ifNull", "$n", 0), b.spec.Max), true, op("$ifNull", "$closed", "$$REMOVE"))},
	}
	for _, e := range b.counted() {
		set = append(set, bson.E{Key: "totals." + e.Key, Value: e.Value})
	}
	return model.Write{
		Collection: b.name, Once: true,
		Model: &mongo.UpdateManyModel{
			Filter: op("$expr", b.differs()),
			Update: mongo.Pipeline{{{Key: "$set", Value: set}}},
		},
	}
}

// over matches a bucket that has an item after the last that it may hold, or counts too many bytes.
func (b *bucketing) over() bson.D {
	tooMany := bson.D{{Key: fmt.Sprintf("items.%d", b.spec.Max), Value: bson.D{{Key: "$exists", Value: true}}}}
	if b.spec.MaxBytes == 0 {
		return tooMany
	}
	tooLarge := bson.D{{Key: "bytes", Value: bson.D{{Key: "$gt", Value: b.spec.MaxBytes}}}}
	return bson.D{{Key: "$or", Value: bson.A{tooMany, tooLarge}}}
}

func (b *bucketing) validator() bson.D {
	list := bson.D{{Key: "bsonType", Value: "array"}, {Key: "maxItems", Value: b.spec.Max}}
	return bson.D{{Key: "$jsonSchema", Value: bson.D{
		{Key: "required", Value: bson.A{"key", "seq", "n", "bytes", "items"}},
		{Key: "properties", Value: bson.D{{Key: "items", Value: list}}},
	}}}
}
