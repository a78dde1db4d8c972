package bucket

import (
	"fmt"
	"slices"

	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/found"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// ListChecks returns the checks of counts and of oversized buckets.
func (b *Buckets) ListChecks() []model.Check {
	counts := b.Docs.Name() + ": miscounted buckets"
	most := fmt.Sprintf("a bucket holds at most %d items", b.Spec.Max)
	if b.Spec.MaxBytes > 0 {
		most += fmt.Sprintf(" and %d bytes", b.Spec.MaxBytes)
	}
	is, update := b.planRecount()
	return commands.MarkChecksKeyed([]model.Check{{
		Name: counts, Collection: b.Docs.Name(), Rule: "a bucket's count, bytes and totals are those of its items",
		Pipeline: b.findMiscounted(), Tell: found.DescribeRows(drift.describeFinding),
		Mend: found.MendMatching(counts, b.Docs.Name(), is, "some buckets corrected; the next check finds the others",
			mongo.UpdateOneModel{Update: update}),
	}, {
		Name: b.Docs.Name() + ": oversized buckets", Collection: b.Docs.Name(), Rule: most,
		Pipeline: b.findOversized(), Tell: found.DescribeRows(oversizedBucket.describeFinding),
	}}, b.ListKeyed()...)
}

// A drift is a bucket whose counts differ from its items.
type drift struct {
	ID      bson.RawValue `bson:"_id"`
	Stored  bson.Raw      `bson:"stored"`  // n, bytes and totals as they are stored, whatever their types
	Counted bson.Raw      `bson:"counted"` // the same by the items, without totals of which no item has a value
}

// describeFinding shows the stored and the counted numbers.
func (d drift) describeFinding(f *model.Finding) {
	f.ID, f.Problem = d.ID,
		fmt.Sprintf("stores %s, but its items make %s", model.Shell(d.Stored), model.Shell(d.Counted))
}

// An oversizedBucket holds more than Max or MaxBytes.
type oversizedBucket struct {
	ID    bson.RawValue `bson:"_id"`
	N     int64         `bson:"n"`
	Bytes bson.RawValue `bson:"bytes"` // as they are stored
}

func (d oversizedBucket) describeFinding(f *model.Finding) {
	f.ID, f.Problem = d.ID, fmt.Sprintf("holds %d items", d.N)
	if d.Bytes.Type != 0 {
		f.Problem += " and " + model.Shell(d.Bytes) + " bytes"
	}
}

// ListItems is the expression of a bucket's array, or of an empty one.
func ListItems() bson.D { return mql.List("items") }

// countN and countBytes are the expressions of the numbers that the items make.
func countN() bson.D { return mql.Op("$size", ListItems()) }

func countBytes() bson.D { return SumSizes(ListItems()) }

// SumSizes is the expression of the sum of the sizes of a list's documents. An element
// that isn't a document counts 0, because $bsonSize would fail the query.
func SumSizes(list any) bson.D {
	size := mql.Cond(mql.Op("$eq", mql.Op("$type", "$$item"), "object"), mql.Op("$bsonSize", "$$item"), 0)
	return mql.Op("$toLong", mql.Op("$sum", mql.Map(list, "item", size)))
}

// countTotal is the expression of a total. of makes it from the numbers in the order of
// the items: floats are added in the order in which $inc added them. otherwise is its
// value if no item has a number. Integers become long, as an append stores them.
func countTotal(t total, otherwise any, of func(values string) any) bson.D {
	value := mql.Cond(mql.Op("$in", mql.Op("$type", "$$item."+t.path), bson.A{"int", "long"}),
		mql.Op("$toLong", "$$item."+t.path), "$$item."+t.path)
	values := mql.Op("$filter", bson.D{
		{Key: "input", Value: mql.Map(ListItems(), "item", value)}, {Key: "as", Value: "value"},
		{Key: "cond", Value: mql.Op("$isNumber", "$$value")},
	})
	return mql.Op("$let", bson.D{
		{Key: "vars", Value: bson.D{{Key: "values", Value: values}}},
		{Key: "in", Value: mql.Cond(mql.Op("$eq", mql.Op("$size", "$$values"), 0), otherwise, of("$$values"))},
	})
}

// countSum adds values one after the other, as $inc did. $sum compensates rounding
// errors, so that its sum of floats would differ.
func countSum(values string) any {
	return mql.Op("$reduce", bson.D{
		{Key: "input", Value: values}, {Key: "initialValue", Value: int64(0)},
		{Key: "in", Value: mql.Op("$add", "$$value", "$$this")},
	})
}

// countAll is the document of a total.
func countAll(values string) any {
	return bson.D{
		{Key: "sum", Value: countSum(values)}, {Key: "min", Value: mql.Op("$min", values)},
		{Key: "max", Value: mql.Op("$max", values)},
	}
}

// compareCounts is the expression that a bucket's counts differ from its items.
func (b *Buckets) compareCounts() bson.D {
	or := bson.A{mql.Op("$ne", "$n", countN()), mql.Op("$ne", "$bytes", countBytes())}
	for _, t := range b.totals {
		path := "$totals." + t.name
		kept := bson.A{}
		for _, name := range []string{"sum", "min", "max"} {
			kept = append(kept, mql.IfNull(path+"."+name, nil))
		}
		counted := countTotal(t, bson.A{nil, nil, nil}, func(values string) any {
			return bson.A{countSum(values), mql.Op("$min", values), mql.Op("$max", values)}
		})
		or = append(or, mql.Op("$ne", kept, counted))
	}
	return bson.D{{Key: "$or", Value: or}}
}

// findMiscounted is the pipeline of the drifts.
func (b *Buckets) findMiscounted() mongo.Pipeline {
	stored := bson.D{{Key: "n", Value: "$n"}, {Key: "bytes", Value: "$bytes"}}
	counted := bson.D{{Key: "n", Value: countN()}, {Key: "bytes", Value: countBytes()}}
	if totals := b.countTotals(); len(totals) > 0 {
		stored = append(stored, bson.E{Key: "totals", Value: "$totals"})
		counted = append(counted, bson.E{Key: "totals", Value: totals})
	}
	return mongo.Pipeline{
		mql.Match(mql.E("$expr", b.compareCounts())),
		mql.SortID(),
		mql.Project(mql.E("stored", stored), mql.E("counted", counted)),
	}
}

// countTotals returns the totals that the items make, each under its name.
func (b *Buckets) countTotals() (d bson.D) {
	for _, t := range b.totals {
		d = append(d, bson.E{Key: t.name, Value: countTotal(t, "$$REMOVE", countAll)})
	}
	return d
}

// planRecount returns the filter of a miscounted bucket, and the update that counts it
// again.
func (b *Buckets) planRecount() (is bson.D, update mongo.Pipeline) {
	set := b.CountAgain()
	return mql.Op("$expr", b.compareCounts()), mongo.Pipeline{mql.Set(slices.Insert(set, 2, b.closeIfFull())...)}
}

// CountAgain returns the fields of an update that counts a bucket by its items.
func (b *Buckets) CountAgain() bson.D {
	set := bson.D{{Key: "n", Value: countN()}, {Key: "bytes", Value: countBytes()}}
	for _, e := range b.countTotals() {
		set = append(set, bson.E{Key: "totals." + e.Key, Value: e.Value})
	}
	return set
}

// closeIfFull closes a bucket whose count says that it was full. Its count may go down in
// the same update, but later elements are in later buckets.
func (b *Buckets) closeIfFull() bson.E {
	return mql.E("closed",
		mql.Cond(mql.Op("$gte", mql.IfNull("$n", 0), b.Spec.Max), true, mql.IfNull("$closed", "$$REMOVE")))
}

// findOversized is the pipeline of buckets over Max or MaxBytes.
func (b *Buckets) findOversized() mongo.Pipeline {
	return mongo.Pipeline{
		{{Key: "$match", Value: b.matchOversized()}},
		mql.SortID(),
		mql.Project(mql.E("n", countN()), mql.E("bytes", 1)),
	}
}

// matchOversized matches a bucket that has an item at the index Max, or whose bytes are
// over MaxBytes.
func (b *Buckets) matchOversized() bson.D {
	tooMany := bson.D{{Key: fmt.Sprintf("items.%d", b.Spec.Max), Value: mql.Exists(true)}}
	if b.Spec.MaxBytes == 0 {
		return tooMany
	}
	tooLarge := bson.D{{Key: "bytes", Value: bson.D{{Key: "$gt", Value: b.Spec.MaxBytes}}}}
	return bson.D{{Key: "$or", Value: bson.A{tooMany, tooLarge}}}
}

// MakeValidation is a validator that limits the number of items.
func (b *Buckets) MakeValidation() model.Validation {
	list := bson.D{{Key: "bsonType", Value: "array"}, {Key: "maxItems", Value: b.Spec.Max}}
	return model.Validation{Collection: b.Docs.Name(), Validator: bson.D{{Key: "$jsonSchema", Value: bson.D{
		{Key: "required", Value: bson.A{"key", "seq", "n", "bytes", "items"}},
		{Key: "properties", Value: bson.D{{Key: "items", Value: list}}},
	}}}}
}
