package denorm

import (
	"context"
	"fmt"
	"reflect"

	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/readpref"
)

// An OutlierEnd is what [Outlier.Append] and [Outlier.Remove] decide from.
type OutlierEnd struct {
	N        int64     `bson:"n"`       // how many elements the array holds
	Bytes    int64     `bson:"bytes"`   // of those, in BSON; 0 without MaxBytes
	Flagged  bool      `bson:"flagged"` // there is overflow, or there may be
	Holds    bool      `bson:"holds"`   // the array holds the element
	Type     string    `bson:"type"`    // of what is stored in the array's place: "array", or "missing" for nothing
	Overflow BucketEnd `bson:"-"`       // the newest overflow document; not read while the array has room
}

// outlying is what of an [Outlier] doesn't depend on its types.
type outlying struct {
	stored // the owners
	path   string
	spec   OutlierSpec
	in     *bucketing // the overflow
}

func (o *outlying) declare(element any, array, field model.Field, owner func(path string) model.Field) {
	fail := func(problem, remedy string) {
		panic(&model.DeclarationError{Problem: problem, Place: fmt.Sprintf("NewOutlier of %s.%s", o.docs, o.path), Remedy: remedy})
	}
	switch {
	case o.spec.Max < 1 || o.spec.Max > 1_000_000:
		fail(fmt.Sprintf("Max is %d", o.spec.Max), "keep from one to a million elements")
	case o.spec.MaxBytes < 0 || o.spec.MaxBytes > maxBucketBytes:
		fail(fmt.Sprintf("MaxBytes is %d", o.spec.MaxBytes), "give 0, or at most 15 MiB, which leaves room in MongoDB's 16 MiB")
	case o.spec.Flag == "":
		fail("no Flag", "name the path of a bool that says that there is overflow")
	case model.Overlap(o.spec.Flag, o.path) || model.Overlap(o.spec.Flag, "_id"):
		fail(fmt.Sprintf("Flag %q is the array's or the _id's place", o.spec.Flag), "name another field")
	case o.in.spec.Period != NoPeriod:
		fail("the overflow is kept by a Period", "declare the Bucket without one: its pages must be in the order of appending")
	case o.in.name == o.docs:
		fail("owners and overflow are one collection", "give the Bucket a collection of its own")
	case !array.Open && !field.Open && field.Type != reflect.TypeOf(element):
		fail(fmt.Sprintf("the array holds %s, and the overflow %T", field.Type, element), "declare both with one type of elements")
	}
	if flag := owner(o.spec.Flag); flag.Arrays > 0 || !flag.Open && flag.Type.Kind() != reflect.Bool {
		fail(fmt.Sprintf("Flag %q is a %s", o.spec.Flag, kindOf(flag)), "name a bool outside arrays")
	}
}

func (o *outlying) flagIndex() model.Index {
	x := model.NewIndex(o.docs, bson.D{{Key: o.spec.Flag, Value: 1}, {Key: "_id", Value: 1}})
	x.Partial = bson.D{{Key: o.spec.Flag, Value: true}}
	x.Why = "those that have overflow"
	return x
}

func (o *outlying) indexes() []model.Index {
	x := o.in.keyIndex()
	if o.in.spec.Key == "" {
		x = model.NewIndex(o.in.name, bson.D{{Key: "key", Value: 1}})
		x.Why = "the overflow of an owner, for the check"
	}
	return []model.Index{o.flagIndex(), x}
}

// list is the expression of the array, or an empty one.
func (o *outlying) list() bson.D {
	return mql.Op("$cond", mql.Op("$isArray", "$"+o.path), "$"+o.path, bson.A{})
}

// bytes is the expression of the elements' sizes, added up.
func (o *outlying) bytes() bson.D {
	size := mql.Op("$cond", mql.Op("$eq", mql.Op("$type", "$$item"), "object"), mql.Op("$bsonSize", "$$item"), 0)
	return mql.Op("$toLong", mql.Op("$sum", mql.Op("$map", bson.D{{Key: "input", Value: o.list()}, {Key: "as", Value: "item"}, {Key: "in", Value: size}})))
}

func (o *outlying) flagged() bson.D { return mql.Op("$eq", "$"+o.spec.Flag, true) }

// keyPath is the path of the elements' keys.
func (o *outlying) keyPath() string { return o.path + "." + o.in.spec.Key }

// position is the path of an element by its place.
func (o *outlying) position(n int) string { return fmt.Sprintf("%s.%d", o.path, n) }

// change is a change of the elements of an owner.
func (o *outlying) change(err error, read func(context.Context, *mongo.Database) (OutlierEnd, error), decide func(OutlierEnd) (model.Plan, error)) model.Change[OutlierEnd] {
	if err != nil {
		decide = func(OutlierEnd) (model.Plan, error) { return model.RefusedPlan(o.docs, err), nil }
	}
	return model.Change[OutlierEnd]{Err: err, Read: read, Decide: decide, Attempts: 100}
}

func (o *outlying) append(id bson.RawValue, err error, owner, element any) model.Change[OutlierEnd] {
	var e bucketElement
	if err == nil {
		e, err = o.in.element(owner, element)
	}
	return o.change(err,
		func(ctx context.Context, db *mongo.Database) (OutlierEnd, error) {
			return o.read(ctx, db, id, e, func(s OutlierEnd) bool { return !s.Holds && (s.Flagged || !o.room(e, s)) })
		},
		func(s OutlierEnd) (model.Plan, error) { return o.decide(id, e, s) },
	)
}

// room reports whether the array takes an element.
func (o *outlying) room(e bucketElement, s OutlierEnd) bool {
	return s.N < int64(o.spec.Max) && (o.spec.MaxBytes == 0 || s.Bytes+int64(len(e.item.Value)) <= o.spec.MaxBytes)
}

// read reads the owner, and then its overflow if it is needed. In this order: what Split moves in between is seen in the overflow.
func (o *outlying) read(ctx context.Context, db *mongo.Database, id bson.RawValue, e bucketElement, overflow func(OutlierEnd) bool) (OutlierEnd, error) {
	s, err := o.readOwner(ctx, db, id, e)
	if err != nil || !overflow(s) || s.N > int64(o.spec.Max) && !s.Flagged {
		return s, err
	}
	if s.Overflow, err = o.in.readEnd(ctx, db, e); err != nil || s.Flagged || s.Overflow.ID == "" {
		return s, err
	}
	now, err := o.readOwner(ctx, db, id, e) // was it flagged meanwhile, or is the flag missing?
	if err == nil && now.Flagged {
		err = model.ErrStale
	}
	return s, err
}

func (o *outlying) readOwner(ctx context.Context, db *mongo.Database, id bson.RawValue, e bucketElement) (OutlierEnd, error) {
	fields := bson.D{
		{Key: "_id", Value: 0}, {Key: "n", Value: mql.Op("$toLong", mql.Op("$size", o.list()))},
		{Key: "flagged", Value: o.flagged()}, {Key: "type", Value: mql.Op("$type", "$"+o.path)},
	}
	if o.spec.MaxBytes > 0 {
		fields = append(fields, bson.E{Key: "bytes", Value: o.bytes()})
	}
	if o.in.spec.Key != "" {
		keys := mql.Op("$cond", mql.Op("$isArray", "$"+o.path), "$"+o.keyPath(), bson.A{})
		fields = append(fields, bson.E{Key: "holds", Value: mql.Op("$in", mql.Literal(e.id), keys)})
	}
	return model.Aggregate[OutlierEnd]{Aggregation: model.Aggregation{
		Collection: o.docs, Index: model.IDIndex, Options: model.ReadOptions{ReadPreference: readpref.Primary()},
		Pipeline: mongo.Pipeline{
			{{Key: "$match", Value: bson.D{{Key: "_id", Value: model.Eq(id)}}}}, {{Key: "$project", Value: fields}},
		},
	}}.One(ctx, db)
}

// sound says why the elements of an owner can't be changed.
func (o *outlying) sound(s OutlierEnd) error {
	switch {
	case s.Type != "" && s.Type != "array" && s.Type != "missing":
		return o.refused(o.path, nil, "is stored as "+s.Type+", not as an array")
	case s.Flagged:
		return nil
	case s.N > int64(o.spec.Max):
		return ErrUnsplit
	case s.Overflow.ID != "":
		return ErrUnflagged
	}
	return nil
}

// decide pushes into the array, or sets the flag and appends to the overflow.
func (o *outlying) decide(id bson.RawValue, e bucketElement, s OutlierEnd) (model.Plan, error) {
	if err := o.sound(s); err != nil {
		return model.Plan{}, err
	}
	switch {
	case s.Holds:
		return model.Plan{Applied: true}, nil
	case s.Flagged:
		return o.in.decide(e, s.Overflow)
	case o.room(e, s):
		return model.NewPlan(o.push(id, e)), nil
	}
	p, err := o.in.decide(e, s.Overflow)
	p.Steps = append([]model.Step{o.setFlag(id, e)}, p.Steps...)
	p.Options.AllowPartial = o.in.spec.Key == "" // half of it is whole; only what was written can't be recognized
	p.Leaves = "a flag without overflow; the next append goes there"
	return p, err
}

// push is the write of an element into the array.
func (o *outlying) push(id bson.RawValue, e bucketElement) model.Write {
	filter := bson.D{
		{Key: "_id", Value: model.Eq(id)}, {Key: o.spec.Flag, Value: bson.D{{Key: "$ne", Value: true}}},
		{Key: o.position(o.spec.Max - 1), Value: bson.D{{Key: "$exists", Value: false}}},
	}
	w := model.Write{Collection: o.docs, Index: model.IDIndex, Expect: model.One}
	if o.in.spec.Key != "" {
		filter = append(filter, bson.E{Key: o.keyPath(), Value: isNot(e.id)})
		w.Done = bson.D{{Key: "_id", Value: model.Eq(id)}, {Key: o.keyPath(), Value: model.Eq(e.id)}}
		w.Once = true
	}
	if o.spec.MaxBytes > 0 {
		room := o.spec.MaxBytes - int64(len(e.item.Value))
		filter = append(filter, bson.E{Key: "$expr", Value: mql.Op("$lte", o.bytes(), room)})
	}
	w.Model = &mongo.UpdateOneModel{Filter: filter, Update: bson.D{{Key: "$push", Value: bson.D{{Key: o.path, Value: e.item}}}}}
	return w
}

// setFlag is the write that says that there is overflow. From then on the array takes no element: so what it doesn't hold now, it
// never will.
func (o *outlying) setFlag(id bson.RawValue, e bucketElement) model.Write {
	byID := bson.E{Key: "_id", Value: model.Eq(id)}
	filter := bson.D{byID, {Key: o.spec.Flag, Value: bson.D{{Key: "$ne", Value: true}}}, {Key: o.position(o.spec.Max), Value: bson.D{{Key: "$exists", Value: false}}}}
	done := bson.D{byID, {Key: o.spec.Flag, Value: true}}
	if o.in.spec.Key != "" {
		absent := bson.E{Key: o.keyPath(), Value: isNot(e.id)}
		filter, done = append(filter, absent), append(done, absent)
	}
	return model.Write{Collection: o.docs, Index: model.IDIndex, Expect: model.One, Done: done, Once: true, Model: &mongo.UpdateOneModel{
		Filter: filter, Update: bson.D{{Key: "$set", Value: bson.D{{Key: o.spec.Flag, Value: true}}}},
	}}
}

// keyed is an element that only its key is known of.
func (o *outlying) keyed(owner, key any) (e bucketElement, err error) {
	if _, err = o.in.holding(owner, key); err != nil {
		return e, err
	}
	e.key = owner
	if e.stored, err = o.in.encode(owner); err != nil {
		return e, err
	}
	e.id, err = o.in.value("items[]."+o.in.spec.Key, key)
	return e, err
}

func (o *outlying) remove(id bson.RawValue, err error, owner, key any) model.Change[OutlierEnd] {
	var e bucketElement
	if err == nil {
		e, err = o.keyed(owner, key)
	}
	return o.change(err,
		func(ctx context.Context, db *mongo.Database) (OutlierEnd, error) {
			return o.read(ctx, db, id, e, func(s OutlierEnd) bool { return !s.Holds && s.Flagged })
		},
		func(s OutlierEnd) (model.Plan, error) {
			if err := o.sound(s); err != nil {
				return model.Plan{}, err
			}
			switch {
			case s.Holds:
				return model.NewPlan(o.pull(id, e)), nil
			case s.Overflow.Holds != "":
				return model.NewPlan(o.in.without(s.Overflow.Holds, e)), nil
			}
			return model.Plan{}, nil
		},
	)
}

// pull takes an element out of the array. Not matching is stale: it may have been moved into the overflow.
func (o *outlying) pull(id bson.RawValue, e bucketElement) model.Write {
	return model.Write{Collection: o.docs, Index: model.IDIndex, Expect: model.One, Once: true, Model: &mongo.UpdateOneModel{
		Filter: bson.D{{Key: "_id", Value: model.Eq(id)}, {Key: o.keyPath(), Value: model.Eq(e.id)}},
		Update: bson.D{{Key: "$pull", Value: bson.D{{Key: o.path, Value: bson.D{{Key: o.in.spec.Key, Value: model.Eq(e.id)}}}}}},
	}}
}

// without takes an element out of a bucket, and counts what stays. One that was full stays closed: those after it hold later elements.
func (b *bucketing) without(bucket string, e bucketElement) model.Write {
	others := mql.Op("$filter", bson.D{
		{Key: "input", Value: items()}, {Key: "as", Value: "item"}, {Key: "cond", Value: mql.Op("$ne", "$$item."+b.spec.Key, mql.Literal(e.id))},
	})
	return model.Write{Collection: b.name, Index: model.IDIndex, Expect: model.One, Once: true, Model: &mongo.UpdateOneModel{
		Filter: bson.D{{Key: "_id", Value: bucket}, {Key: "items." + b.spec.Key, Value: model.Eq(e.id)}},
		Update: mongo.Pipeline{
			{{Key: "$set", Value: bson.D{
				{Key: "closed", Value: mql.Op("$cond", mql.Op("$gte", mql.Op("$ifNull", "$n", 0), b.spec.Max), true, mql.Op("$ifNull", "$closed", "$$REMOVE"))},
				{Key: "items", Value: others},
			}}},
			{{Key: "$set", Value: b.recounted()}},
			{{Key: "$unset", Value: "split"}}, // no Split may put back what is gone
		},
	}}
}

// recounted are the counts of a bucket by its items.
func (b *bucketing) recounted() bson.D {
	set := bson.D{{Key: "n", Value: countN()}, {Key: "bytes", Value: countBytes()}}
	for _, e := range b.counted() {
		set = append(set, bson.E{Key: "totals." + e.Key, Value: e.Value})
	}
	return set
}

func (o *outlying) delete(owner model.Write, key any) model.Plan {
	overflow, err := o.in.ofKey(key)
	if owner.Err == nil {
		owner.Err = err
	}
	if owner.Err != nil {
		return model.RefusedPlan(o.docs, owner.Err)
	}
	p := model.NewPlan(owner, model.Write{Collection: o.in.name, Index: model.IDIndex, Model: &mongo.DeleteManyModel{Filter: overflow}})
	p.Leaves = "overflow without an owner"
	return p
}
