package denorm

import (
	"fmt"

	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Checks returns two checks of all buckets.
//
// The first finds the buckets whose count, bytes or totals differ from their items: changed by other code, or stored before a
// total was declared. Mending counts them anew on the server, in one atomic update of each, so that an append comes whole
// before or after it. A bucket that was full by its count stays closed. Items are not touched.
//
// The second finds the buckets with more items than Max, or more bytes by their own count than MaxBytes: filled under another
// spec, or by other code. They are read like others, and take no more items. No write mends them.
//
// Cost: see [model.Check]; mending writes one document each, by _id.
func (b *Bucket[K, E]) Checks() []model.Check { return b.in.checks() }

func (b *bucketing) checks() []model.Check {
	counts := b.name + ": miscounted buckets"
	most := fmt.Sprintf("a bucket holds at most %d items", b.spec.Max)
	if b.spec.MaxBytes > 0 {
		most += fmt.Sprintf(" and %d bytes", b.spec.MaxBytes)
	}
	is, update := b.recount()
	return []model.Check{{
		Name: counts, Collection: b.name, Rule: "a bucket's count, bytes and totals are those of its items",
		Pipeline: b.miscounted(), Tell: core.Tells[bucketDrift](), Mend: core.Mends(counts, b.name, updateEach(b.name, is, update)),
	}, {
		Name: b.name + ": oversized buckets", Collection: b.name, Rule: most,
		Pipeline: b.oversized(), Tell: core.Tells[oversizedBucket](),
	}}
}

// A bucketDrift is a bucket whose counts are not those of its items.
type bucketDrift struct {
	ID      bson.RawValue `bson:"_id"`
	Stored  bson.Raw      `bson:"stored"`  // n, bytes and totals as they are stored, whatever their types
	Counted bson.Raw      `bson:"counted"` // the same by the items, without totals of which no item has a value
}

func (d bucketDrift) Tell(f *model.Finding) {
	f.ID, f.Problem = d.ID, fmt.Sprintf("stores %s, its items make %s", model.Shell(d.Stored), model.Shell(d.Counted))
}

// An oversizedBucket holds more than Max or MaxBytes.
type oversizedBucket struct {
	ID    bson.RawValue `bson:"_id"`
	N     int64         `bson:"n"`
	Bytes bson.RawValue `bson:"bytes"` // as they are stored
}

func (d oversizedBucket) Tell(f *model.Finding) {
	f.ID, f.Problem = d.ID, fmt.Sprintf("holds %d items", d.N)
	if d.Bytes.Type != 0 {
		f.Problem += " and " + model.Shell(d.Bytes) + " bytes"
	}
}

// items is the bucket's array, or an empty one.
func items() bson.D { return mql.Op("$cond", mql.Op("$isArray", "$items"), "$items", bson.A{}) }

// countN, countBytes and countTotal are the expressions of what the items add up to.
func countN() bson.D { return mql.Op("$size", items()) }

func countBytes() bson.D {
	size := mql.Op("$cond", mql.Op("$eq", mql.Op("$type", "$$item"), "object"), mql.Op("$bsonSize", "$$item"), 0)
	return mql.Op("$toLong", mql.Op("$sum", mapItems(size)))
}

func mapItems(in any) bson.D {
	return mql.Op("$map", bson.D{{Key: "input", Value: items()}, {Key: "as", Value: "item"}, {Key: "in", Value: in}})
}

// countTotal gives sum, min and max in the order of the items, which is that of the $inc that kept the sum; otherwise where
// no item has a number. Integers are made long, as an append keeps them.
func countTotal(t bucketTotal, otherwise any, of func(values string) any) bson.D {
	value := mql.Op("$cond", mql.Op("$in", mql.Op("$type", "$$item."+t.path), bson.A{"int", "long"}), mql.Op("$toLong", "$$item."+t.path), "$$item."+t.path)
	values := mql.Op("$filter", bson.D{
		{Key: "input", Value: mapItems(value)}, {Key: "as", Value: "value"}, {Key: "cond", Value: mql.Op("$isNumber", "$$value")},
	})
	return mql.Op("$let", bson.D{
		{Key: "vars", Value: bson.D{{Key: "values", Value: values}}},
		{Key: "in", Value: mql.Op("$cond", mql.Op("$eq", mql.Op("$size", "$$values"), 0), otherwise, of("$$values"))},
	})
}

func countSum(values string) any {
	return mql.Op("$reduce", bson.D{
		{Key: "input", Value: values}, {Key: "initialValue", Value: int64(0)}, {Key: "in", Value: mql.Op("$add", "$$value", "$$this")},
	})
}

func countAll(values string) any {
	return bson.D{{Key: "sum", Value: countSum(values)}, {Key: "min", Value: mql.Op("$min", values)}, {Key: "max", Value: mql.Op("$max", values)}}
}

// differs is the expression that a bucket's counts are not those of its items.
func (b *bucketing) differs() bson.D {
	or := bson.A{mql.Op("$ne", "$n", countN()), mql.Op("$ne", "$bytes", countBytes())}
	for _, t := range b.totals {
		path := "$totals." + t.name
		kept := bson.A{}
		for _, name := range []string{"sum", "min", "max"} {
			kept = append(kept, mql.Op("$ifNull", path+"."+name, nil))
		}
		counted := countTotal(t, bson.A{nil, nil, nil}, func(values string) any {
			return bson.A{countSum(values), mql.Op("$min", values), mql.Op("$max", values)}
		})
		or = append(or, mql.Op("$ne", kept, counted))
	}
	return bson.D{{Key: "$or", Value: or}}
}

func (b *bucketing) miscounted() mongo.Pipeline {
	stored := bson.D{{Key: "n", Value: "$n"}, {Key: "bytes", Value: "$bytes"}}
	counted := bson.D{{Key: "n", Value: countN()}, {Key: "bytes", Value: countBytes()}}
	if totals := b.counted(); len(totals) > 0 {
		stored = append(stored, bson.E{Key: "totals", Value: "$totals"})
		counted = append(counted, bson.E{Key: "totals", Value: totals})
	}
	return mongo.Pipeline{
		{{Key: "$match", Value: mql.Op("$expr", b.differs())}},
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

// recount is the filter of a bucket that is miscounted, and the update that counts it anew.
func (b *bucketing) recount() (is bson.D, update mongo.Pipeline) {
	set := bson.D{
		{Key: "n", Value: countN()}, {Key: "bytes", Value: countBytes()},
		{Key: "closed", Value: mql.Op("$cond", mql.Op("$gte", mql.Op("$ifNull", "$n", 0), b.spec.Max), true, mql.Op("$ifNull", "$closed", "$$REMOVE"))},
	}
	for _, e := range b.counted() {
		set = append(set, bson.E{Key: "totals." + e.Key, Value: e.Value})
	}
	return mql.Op("$expr", b.differs()), mongo.Pipeline{{{Key: "$set", Value: set}}}
}

func (b *bucketing) oversized() mongo.Pipeline {
	return mongo.Pipeline{
		{{Key: "$match", Value: b.over()}},
		{{Key: "$sort", Value: bson.D{{Key: "_id", Value: 1}}}},
		{{Key: "$project", Value: bson.D{{Key: "n", Value: countN()}, {Key: "bytes", Value: 1}}}},
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
