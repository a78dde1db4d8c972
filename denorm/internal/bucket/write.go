package bucket

import (
	"context"
	"math"

	"github.com/docmodel/docmodel/denorm/internal/stored"
	"github.com/docmodel/docmodel/internal/bsondoc"
	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// An End is the state from which an append decides: the newest bucket of the element's
// key and period, without its items. The zero value means that the key and period have no
// bucket.
type End struct {
	ID     string `bson:"_id"` // "" for none
	Seq    int64  `bson:"seq"`
	N      int64  `bson:"n"`
	Bytes  int64  `bson:"bytes"`
	Closed bool   `bson:"closed"`

	// the _id of a bucket of the key that has the element already; "" for none
	Holds string `bson:"-"`
}

// An Element is an encoded and checked element with its key.
type Element struct {
	key     any // of the sequence, as the caller gave it
	stored  any // the same, encoded
	Item    bson.RawValue
	ID      bson.RawValue // what identifies the element; of type 0 without a spec.Key
	period  string
	numbers []any // by bucketing.totals; nil where the element has none
}

// AppendElement is the change that adds an element at the end of the key's sequence.
func (b *Buckets) AppendElement(key, element any) model.Change {
	e, err := b.EncodeElement(key, element)
	if err != nil {
		return commands.RefuseChange(b.Docs.Name(), err)
	}
	return model.ChangeOf[End]{
		Name:     "bucket " + b.Docs.Name(),
		Read:     func(ctx context.Context, db model.DB) (End, error) { return b.ReadEnd(ctx, db, e) },
		Decide:   func(end End) (model.Plan, error) { return b.PlanAppend(e, end) },
		Attempts: 100,
	}.Change()
}

// ReadEnd reads the newest bucket, and then whether any bucket has the element, in one
// command. The server runs a $unionWith after the stages before it. This order is safe:
// if no bucket has the element, it can only come into the newest bucket that was read, or
// into a later one, and the filter of the write asks that bucket again.
func (b *Buckets) ReadEnd(ctx context.Context, db model.DB, e Element) (end End, err error) {
	ofPeriod, err := b.matchPeriods(e.key, e.period, e.period)
	if err != nil {
		return End{}, err
	}
	newest := mongo.Pipeline{
		mql.Match(ofPeriod...), mql.Sort(mql.E("_id", -1)), {{Key: "$limit", Value: 1}},
		mql.Project(mql.E("seq", 1), mql.E("n", 1), mql.E("bytes", 1), mql.E("closed", 1)),
	}
	if b.Spec.ElementKey != "" {
		newest = append(newest, bson.D{{
			Key: "$unionWith",
			Value: bson.D{{Key: "coll", Value: b.Docs.Name()}, {Key: "pipeline", Value: mongo.Pipeline{
				mql.Match(b.MatchHolder(e)...), {{Key: "$limit", Value: 1}},
				mql.Project(mql.E("holds", mql.Literal(true))),
			}}},
		}})
	}
	found, err := (&model.Aggregate[foundEnd]{
		Aggregation: model.Aggregation{
			Collection: b.Docs.Name(), Pipeline: newest, Index: model.IDIndex, Keyed: b.ListKeyed(),
		},
	}).All(ctx, db)
	for _, f := range found {
		if f.Holds {
			end.Holds = f.End.ID
			continue
		}
		end = f.End
	}
	return end, err
}

// A foundEnd is the newest bucket, or a bucket that has the element.
type foundEnd struct {
	End   `bson:",inline"`
	Holds bool `bson:"holds"`
}

// PlanAppend writes into the newest bucket, or closes it and opens the next.
func (b *Buckets) PlanAppend(e Element, end End) (model.Plan, error) {
	if end.Holds != "" {
		return model.Plan{Applied: true}, nil
	}
	seq, opens := b.next(e, end)
	if !opens {
		return model.NewPlan(b.updateOnly(b.write(e, seq))), nil
	}
	if end.ID == "" || end.Closed || end.N >= int64(b.Spec.Max) {
		return model.NewPlan(b.write(e, seq)), nil
	}
	p := model.NewPlan(b.closing(end.ID), b.write(e, seq))
	p.Options.AllowPartial = b.Spec.ElementKey == "" // half of it is whole; only what was written can't be recognized
	p.Leaves = "a closed bucket; the next append opens a new bucket"
	return p, nil
}

// next returns the number of the bucket for an element, and whether an append opens it.
func (b *Buckets) next(e Element, end End) (seq int64, opens bool) {
	switch size := int64(len(e.Item.Value)); {
	case end.ID == "":
		return 0, true
	case end.Closed, end.N >= int64(b.Spec.Max), b.Spec.MaxBytes > 0 && end.Bytes+size > b.Spec.MaxBytes:
		return end.Seq + 1, true
	}
	return end.Seq, false
}

// OpenedID returns the _id of the bucket that an append opens, or "" for none.
func (b *Buckets) OpenedID(e Element, end End) string {
	seq, opens := b.next(e, end)
	if end.Holds != "" || !opens {
		return ""
	}
	id, _ := b.MakeID(e.key, e.period, seq)
	return id
}

// updateOnly changes the upsert into an update, for a bucket that was read. If the bucket
// was deleted meanwhile, the write is stale.
func (b *Buckets) updateOnly(w model.Write) model.Write {
	if w.Err != nil {
		return w
	}
	upsert := w.Model.(*mongo.UpdateOneModel)
	update := upsert.Update.(bson.D)
	w.Model = &mongo.UpdateOneModel{Filter: upsert.Filter, Update: update[:len(update)-1]} // without $setOnInsert
	w.Reasons = []model.Reason{w.Reasons[0], {Err: model.ErrStale}}
	return w
}

// closing is the write after which a bucket takes no more elements.
func (b *Buckets) closing(id string) model.Write {
	return model.Write{
		Collection: b.Docs.Name(), Index: model.IDIndex, Keyed: b.Docs.IsKeyed(),
		Model: &mongo.UpdateOneModel{
			Filter: bson.D{{Key: "_id", Value: id}}, Update: mql.Set(mql.E("closed", true)),
		},
	}
}

// AppendTo adds an element to the bucket of a number.
func (b *Buckets) AppendTo(key any, seq int64, element any) model.Write {
	e, err := b.EncodeElement(key, element)
	if err != nil {
		return model.Refused(b.Docs.Name(), err)
	}
	return b.write(e, seq)
}

// write is the upsert that adds an element to the bucket with a number. If the filter
// doesn't match an existing bucket, the upsert fails with a duplicate key, and Reasons
// say why.
func (b *Buckets) write(e Element, seq int64) model.Write {
	id, err := b.MakeID(e.key, e.period, seq)
	if err != nil {
		return model.Refused(b.Docs.Name(), err)
	}
	size := int64(len(e.Item.Value))
	byID := bson.D{{Key: "_id", Value: id}}
	filter := bson.D{byID[0], mql.E("n", mql.Op("$lt", b.Spec.Max))}
	full := bson.A{bson.D{{Key: "n", Value: mql.Op("$gte", b.Spec.Max)}}, bson.D{{Key: "closed", Value: true}}}
	if room := b.Spec.MaxBytes - size; b.Spec.MaxBytes > 0 {
		filter = append(filter, mql.E("bytes", mql.Op("$lte", room)))
		full = append(full, bson.D{{Key: "bytes", Value: mql.Op("$gt", room)}})
	}
	filter = append(filter, mql.E("closed", mql.Op("$ne", true)))
	var done bson.D
	if b.Spec.ElementKey != "" {
		path := "items." + b.Spec.ElementKey
		filter = append(filter, mql.E(path, mql.Op("$ne", e.ID)))
		done = bson.D{byID[0], mql.E(path, mql.Eq(e.ID))}
	}
	w := commands.UpsertOne(b.Docs.Name(), filter, b.update(e, seq))
	w.Expect, w.Done, w.Idempotent, w.Keyed = model.One, done, b.Spec.ElementKey != "", b.Docs.IsKeyed()
	w.Reasons = []model.Reason{
		{If: bsondoc.JoinFilters(byID, bson.D{{Key: "$or", Value: full}}), Err: errFull},
		{If: byID, Err: model.ErrStale}, // another writer has just created it
	}
	return w
}

// update pushes an element and counts it. The server computes $min and $max per path, so
// a total needs no read.
func (b *Buckets) update(e Element, seq int64) bson.D {
	inc := bson.D{{Key: "n", Value: 1}, {Key: "bytes", Value: int64(len(e.Item.Value))}}
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
	u := bson.D{{Key: "$push", Value: bson.D{{Key: "items", Value: e.Item}}}, {Key: "$inc", Value: inc}}
	if len(least) > 0 {
		u = append(u, bson.E{Key: "$min", Value: least}, bson.E{Key: "$max", Value: most})
	}
	return append(u, bson.E{Key: "$setOnInsert", Value: append(fresh, bson.E{Key: "seq", Value: seq})})
}

// EncodeElement encodes and checks the arguments of an append.
func (b *Buckets) EncodeElement(key, element any) (e Element, err error) {
	e.key = key
	if _, err = b.encodeKey(key); err != nil {
		return e, err
	}
	if e.stored, err = b.Docs.Encode(key); err != nil {
		return e, b.Docs.Refuse("key", nil, err.Error())
	}
	if e.Item, err = b.Docs.Part("items[]", element); err != nil {
		return e, err
	}
	if size := int64(len(e.Item.Value)); b.Spec.MaxBytes > 0 && size > b.Spec.MaxBytes {
		return e, b.Docs.Refuse("items[]", size, "the element alone is larger than MaxBytes of the spec")
	}
	if b.Spec.ElementKey != "" {
		if e.ID = e.lookup(b.Spec.ElementKey); !stored.IsKey(e.ID) {
			return e, b.Docs.Refuse("items[]."+b.Spec.ElementKey, nil,
				"is missing or null: bucket.Spec.ElementKey needs a value")
		}
	}
	if b.Spec.Period != 0 {
		at := e.lookup(b.Spec.At)
		if at.Type != bson.TypeDateTime {
			return e, b.Docs.Refuse("items[]."+b.Spec.At, nil,
				"the element has no time: give a value to the spec's At field")
		}
		if e.period, err = b.formatPeriod("items[]."+b.Spec.At, at.Time()); err != nil {
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

func (e Element) lookup(path string) bson.RawValue { return stored.ElementAt(e.Item, path) }

// number returns the value to add to a total, or nil for none. It is an int64 or a
// float64, because an int32 sum would overflow.
func (b *Buckets) number(v bson.RawValue, path string) (any, error) {
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
	return nil, b.Docs.Refuse("items[]."+path, v, "isn't a finite int32, int64 or double, so Totals can't add it up")
}

// RemoveElement removes an element from a bucket, and counts the others. A bucket that
// was full is closed, because later buckets have later elements.
func (b *Buckets) RemoveElement(bucket string, e Element) model.Write {
	others := mql.Op("$filter", bson.D{
		{Key: "input", Value: ListItems()}, {Key: "as", Value: "item"},
		{Key: "cond", Value: mql.Op("$ne", "$$item."+b.Spec.ElementKey, mql.Literal(e.ID))},
	})
	holds := bson.D{{Key: "_id", Value: bucket}, {Key: "items." + b.Spec.ElementKey, Value: mql.Eq(e.ID)}}
	w := commands.UpdateIf(b.Docs.Name(), holds, mongo.Pipeline{
		mql.Set(b.closeIfFull(), mql.E("items", others)),
		mql.Set(b.CountAgain()...),
		mql.Op("$unset", "split"), // of outlier: a running Split must not put the element back
	})
	w.Expect, w.Keyed = model.One, b.Docs.IsKeyed()
	return w
}

// errFull says that a bucket doesn't take an element. It is stale too: an append reads
// again, and goes on to the next bucket.
var errFull error = full{}

type full struct{}

func (full) Error() string {
	return "docmodel: no room: the bucket is full or closed, or has no room for this element"
}

func (full) Unwrap() []error { return []error{model.ErrFull, model.ErrStale} }
