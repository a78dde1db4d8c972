package denorm

import (
	"context"
	"errors"
	"math"
	"strings"

	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/readpref"
)

// A BucketEnd is what [Bucket.Append] decides from: the newest bucket of the element's key and period, without its items. The
// zero BucketEnd says that there is none.
type BucketEnd struct {
	ID     string `bson:"_id"` // "" for none
	Seq    int64  `bson:"seq"`
	N      int64  `bson:"n"`
	Bytes  int64  `bson:"bytes"`
	Closed bool   `bson:"closed"`

	Holds string `bson:"-"` // the _id of a bucket of the key that holds the element already; "" for none
}

// bucketElement is an element and its key, encoded and checked.
type bucketElement struct {
	key     any // of the sequence, as it was given
	stored  any // the same, encoded
	item    bson.RawValue
	id      bson.RawValue // what identifies the element; of type 0 without a spec.Key
	period  string
	numbers []any // by bucketing.totals; nil where the element has none
}

func (b *bucketing) append(key, element any) model.Change[BucketEnd] {
	e, err := b.element(key, element)
	if err != nil {
		return model.Change[BucketEnd]{Err: err, Decide: func(BucketEnd) (model.Plan, error) { return model.RefusedPlan(b.name, err), nil }}
	}
	return model.Change[BucketEnd]{
		Read:     func(ctx context.Context, db *mongo.Database) (BucketEnd, error) { return b.readEnd(ctx, db, e) },
		Decide:   func(end BucketEnd) (model.Plan, error) { return b.decide(e, end) },
		Attempts: 100,
	}
}

// readEnd reads the newest bucket, and then whether any holds the element. In this order: if none does, the element can
// come only into the newest bucket that was read, or one after it, and the write's own guard sees it there.
func (b *bucketing) readEnd(ctx context.Context, db *mongo.Database, e bucketElement) (BucketEnd, error) {
	ofPeriod, err := b.ofPeriods(e.key, e.period, e.period)
	if err != nil {
		return BucketEnd{}, err
	}
	newest := model.Find[BucketEnd]{Query: model.Query{
		Collection: b.name, Filter: ofPeriod, Sort: bson.D{{Key: "_id", Value: -1}}, Index: model.IDIndex,
		Projection: bson.D{{Key: "seq", Value: 1}, {Key: "n", Value: 1}, {Key: "bytes", Value: 1}, {Key: "closed", Value: 1}},
		Options:    model.ReadOptions{ReadPreference: readpref.Primary()},
	}}
	end, err := newest.One(ctx, db)
	if errors.Is(err, model.ErrNotFound) {
		end, err = BucketEnd{}, nil
	}
	if err != nil || b.spec.Key == "" {
		return end, err
	}
	holder := model.Find[BucketEnd]{Query: model.Query{
		Collection: b.name, Filter: b.holder(e), Projection: bson.D{{Key: "_id", Value: 1}}, Index: b.keyIndex().Name,
		Options: model.ReadOptions{ReadPreference: readpref.Primary()},
	}}
	found, err := holder.One(ctx, db)
	if errors.Is(err, model.ErrNotFound) {
		return end, nil
	}
	end.Holds = found.ID
	return end, err
}

// decide writes to the newest bucket, or closes it and opens the next.
func (b *bucketing) decide(e bucketElement, end BucketEnd) (model.Plan, error) {
	size := int64(len(e.item.Value))
	switch {
	case end.Holds != "":
		return model.Plan{Applied: true}, nil
	case end.ID == "":
		return model.NewPlan(b.write(e, 0)), nil
	case end.Closed || end.N >= int64(b.spec.Max):
		return model.NewPlan(b.write(e, end.Seq+1)), nil
	case b.spec.MaxBytes == 0 || end.Bytes+size <= b.spec.MaxBytes:
		return model.NewPlan(b.write(e, end.Seq)), nil
	}
	p := model.NewPlan(b.closing(end.ID), b.write(e, end.Seq+1))
	p.Options.AllowPartial = b.spec.Key == "" // half of it is whole; only what was written can't be recognized
	p.Leaves = "a closed bucket; the next append opens the next"
	return p, nil
}

// closing is the write that keeps a bucket from taking more.
func (b *bucketing) closing(id string) model.Write {
	return model.Write{
		Collection: b.name, Index: model.IDIndex,
		Model: &mongo.UpdateOneModel{
			Filter: bson.D{{Key: "_id", Value: id}},
			Update: bson.D{{Key: "$set", Value: bson.D{{Key: "closed", Value: true}}}},
		},
	}
}

func (b *bucketing) appendTo(key any, seq int64, element any) model.Write {
	e, err := b.element(key, element)
	if err != nil {
		return model.Refused(b.name, err)
	}
	return b.write(e, seq)
}

// write is the upsert of an element into the bucket of a number.
func (b *bucketing) write(e bucketElement, seq int64) model.Write {
	id, err := b.bucketID(e.key, e.period, seq)
	if err != nil {
		return model.Refused(b.name, err)
	}
	size := int64(len(e.item.Value))
	byID := bson.D{{Key: "_id", Value: id}}
	filter := bson.D{{Key: "_id", Value: id}, {Key: "n", Value: bson.D{{Key: "$lt", Value: b.spec.Max}}}}
	full := bson.A{
		bson.D{{Key: "n", Value: bson.D{{Key: "$gte", Value: b.spec.Max}}}},
		bson.D{{Key: "closed", Value: true}},
	}
	if room := b.spec.MaxBytes - size; b.spec.MaxBytes > 0 {
		filter = append(filter, bson.E{Key: "bytes", Value: bson.D{{Key: "$lte", Value: room}}})
		full = append(full, bson.D{{Key: "bytes", Value: bson.D{{Key: "$gt", Value: room}}}})
	}
	w := model.Write{
		Collection: b.name, Index: model.IDIndex, Expect: model.One,
		Reasons: []model.Reason{
			{If: model.And(byID, bson.D{{Key: "$or", Value: full}}), Err: ErrBucketFull},
			{If: byID, Err: model.ErrStale}, // another writer has just created it
		},
	}
	filter = append(filter, bson.E{Key: "closed", Value: bson.D{{Key: "$ne", Value: true}}})
	if b.spec.Key != "" {
		path := "items." + b.spec.Key
		filter = append(filter, bson.E{Key: path, Value: bson.D{{Key: "$ne", Value: e.id}}})
		w.Done = model.And(byID, bson.D{{Key: path, Value: model.Eq(e.id)}})
		w.Once = true
	}
	upsert := true
	w.Model = &mongo.UpdateOneModel{Filter: filter, Update: b.update(e, seq), Upsert: &upsert}
	return w
}

// update pushes an element and counts it.
func (b *bucketing) update(e bucketElement, seq int64) bson.D {
	inc := bson.D{{Key: "n", Value: 1}, {Key: "bytes", Value: int64(len(e.item.Value))}}
	var least, most bson.D
	for i, t := range b.totals {
		if v := e.numbers[i]; v != nil {
			inc = append(inc, bson.E{Key: "totals." + t.name + ".sum", Value: v})
			least = append(least, bson.E{Key: "totals." + t.name + ".min", Value: v})
			most = append(most, bson.E{Key: "totals." + t.name + ".max", Value: v})
		}
	}
	fresh := bson.D{{Key: "key", Value: e.stored}}
	if e.period != "" {
		fresh = append(fresh, bson.E{Key: "period", Value: e.period})
	}
	u := bson.D{{Key: "$push", Value: bson.D{{Key: "items", Value: e.item}}}, {Key: "$inc", Value: inc}}
	if len(least) > 0 {
		u = append(u, bson.E{Key: "$min", Value: least}, bson.E{Key: "$max", Value: most})
	}
	return append(u, bson.E{Key: "$setOnInsert", Value: append(fresh, bson.E{Key: "seq", Value: seq})})
}

// element encodes and checks what an append is handed.
func (b *bucketing) element(key, element any) (e bucketElement, err error) {
	e.key = key
	if _, err = b.keyText(key); err != nil {
		return e, err
	}
	if e.stored, err = b.encode(key); err != nil {
		return e, b.refused("key", nil, err.Error())
	}
	if e.item, err = b.value("items[]", element); err != nil {
		return e, err
	}
	switch size := int64(len(e.item.Value)); {
	case e.item.Type != bson.TypeEmbeddedDocument:
		return e, b.refused("items[]", nil, "the element is not stored as a document")
	case b.spec.MaxBytes > 0 && size > b.spec.MaxBytes:
		return e, b.refused("items[]", size, "the element has more bytes than a bucket may hold")
	}
	if path, err := model.CheckNames(e.item, "items[]"); err != nil {
		return e, b.refused(path, nil, err.Error())
	}
	if b.spec.Key != "" {
		if e.id = e.lookup(b.spec.Key); !isKey(e.id) {
			return e, b.refused("items[]."+b.spec.Key, nil, "the element has no key")
		}
	}
	if b.spec.Period != NoPeriod {
		at := e.lookup(b.spec.At)
		if at.Type != bson.TypeDateTime {
			return e, b.refused("items[]."+b.spec.At, nil, "the element has no time")
		}
		if e.period, err = b.period("items[]."+b.spec.At, at.Time()); err != nil {
			return e, err
		}
	}
	for _, t := range b.totals {
		v, err := b.number(e.lookup(t.path), t.path)
		if err != nil {
			return e, err
		}
		e.numbers = append(e.numbers, v)
	}
	return e, nil
}

func (e bucketElement) lookup(path string) bson.RawValue {
	return bson.Raw(e.item.Value).Lookup(strings.Split(path, ".")...)
}

// value encodes any value.
func (b *bucketing) value(field string, v any) (bson.RawValue, error) {
	v, err := b.encode(v)
	if err != nil {
		return bson.RawValue{}, b.refused(field, nil, err.Error())
	}
	out, err := raw(v)
	if err != nil {
		return bson.RawValue{}, b.refused(field, nil, err.Error())
	}
	return out, nil
}

// number is what is added to a total: an int64 or a float64, so that a sum is not bound to 32 bits; nil for none.
func (b *bucketing) number(v bson.RawValue, path string) (any, error) {
	switch v.Type {
	case 0, bson.TypeNull:
		return nil, nil
	case bson.TypeInt32:
		return int64(v.Int32()), nil
	case bson.TypeInt64:
		return v.Int64(), nil
	case bson.TypeDouble:
		if f := v.Double(); !math.IsNaN(f) && !math.IsInf(f, 0) {
			return f, nil
		}
	}
	return nil, b.refused("items[]."+path, v, "can't be added up: it is no finite number of 64 bits")
}
