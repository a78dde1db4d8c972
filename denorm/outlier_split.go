package denorm

import (
	"fmt"

	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// unsplit matches the owners whose array outgrew Max without overflow.
func (o *outlying) unsplit() bson.D {
	return bson.D{
		{Key: o.position(o.spec.Max), Value: bson.D{{Key: "$exists", Value: true}}},
		{Key: o.spec.Flag, Value: bson.D{{Key: "$ne", Value: true}}},
	}
}

// split is the plan for a batch of owners.
func (o *outlying) split(docs []bson.Raw) (p model.Plan, _ error) {
	for _, doc := range docs {
		steps, err := o.splitOne(doc)
		if err != nil {
			return model.Plan{}, fmt.Errorf("document %s: %w", cut(model.Shell(doc.Lookup("_id"))), err)
		}
		p.Steps = append(p.Steps, steps...)
	}
	if len(p.Steps) > 0 {
		p.Leaves = "overflow documents of an array that still holds all; the next run completes them"
	}
	return p, nil
}

// splitOne are the steps for one owner: an overflow document for each part of what is over, and then the array.
func (o *outlying) splitOne(doc bson.Raw) (steps []model.Step, _ error) {
	v, err := o.at(doc, o.path)
	if err != nil {
		return nil, err
	}
	list := elementsOf(v)
	id := clone(doc.Lookup("_id"))
	key, err := o.ownerKey(id)
	if err != nil || len(list) <= o.spec.Max {
		return nil, err
	}
	keep := o.keep(list)
	move := make([]bucketElement, 0, len(list)-keep)
	for _, item := range list[keep:] {
		e, err := o.in.element(key, clone(item))
		if err != nil {
			return nil, err
		}
		move = append(move, e)
	}
	if steps, err = o.splitPages(key, id, 0, move, len(list)); err != nil {
		return nil, err
	}
	return append(steps, o.shorten(id, keep, list, false)), nil
}

// splitPages are the writes of as few overflow documents as hold these elements of an array, from a number on.
func (o *outlying) splitPages(key any, id bson.RawValue, seq int64, move []bucketElement, length int) (steps []model.Step, _ error) {
	for len(move) > 0 {
		n, bytes := 0, int64(0)
		for n < len(move) && n < o.in.spec.Max {
			if bytes += int64(len(move[n].item.Value)); n > 0 && bytes > o.pageBytes() {
				break
			}
			n++
		}
		w, err := o.splitPage(key, id, seq, move[:n], length)
		if err != nil {
			return nil, err
		}
		steps, move, seq = append(steps, w), move[n:], seq+1
	}
	return steps, nil
}

// keep is how many elements stay in the array.
func (o *outlying) keep(list []bson.RawValue) int {
	var bytes int64
	for i, item := range list {
		if item.Type == bson.TypeEmbeddedDocument {
			bytes += int64(len(item.Value))
		}
		if i == o.spec.Max || o.spec.MaxBytes > 0 && bytes > o.spec.MaxBytes {
			return i
		}
	}
	return len(list)
}

// pageBytes is how much a Split puts into one document. Without a bound of the Bucket's it leaves room for the command.
func (o *outlying) pageBytes() int64 {
	if o.in.spec.MaxBytes > 0 {
		return o.in.spec.MaxBytes
	}
	return maxBucketBytes / 2
}

// ownerKey is an owner's _id as the key of buckets.
func (o *outlying) ownerKey(id bson.RawValue) (any, error) {
	switch id.Type {
	case bson.TypeString:
		return id.StringValue(), nil
	case bson.TypeInt32:
		return int64(id.Int32()), nil
	case bson.TypeInt64:
		return id.Int64(), nil
	case bson.TypeObjectID:
		return id.ObjectID(), nil
	}
	return nil, o.refused("_id", id, "is not of a type that overflow can be kept under")
}

// splitPage is the upsert of an overflow document. It replaces what a Split of a shorter array left under this number, if it
// begins as this one does; what a Split of the same array left is the same.
func (o *outlying) splitPage(key any, id bson.RawValue, seq int64, page []bucketElement, length int) (model.Write, error) {
	bucket, err := o.in.bucketID(key, "", seq)
	if err != nil {
		return model.Write{}, err
	}
	list := make(bson.A, len(page))
	for i, e := range page {
		list[i] = e.item
	}
	byID, upsert := bson.D{{Key: "_id", Value: bucket}}, true
	set := bson.D{
		{Key: "key", Value: mql.Literal(id)}, {Key: "seq", Value: seq}, {Key: "closed", Value: true},
		{Key: "split", Value: int64(length)}, {Key: "items", Value: mql.Literal(list)},
	}
	return model.Write{
		Collection: o.in.name, Index: model.IDIndex, Expect: model.One, Once: true,
		Done:    bson.D{byID[0], {Key: "split", Value: int64(length)}, {Key: "items", Value: bson.D{{Key: "$eq", Value: list}}}},
		Reasons: []model.Reason{{If: byID, Err: ErrLeftover}},
		Model: &mongo.UpdateOneModel{
			Filter: bson.D{byID[0], {Key: "split", Value: bson.D{{Key: "$lt", Value: int64(length)}}}, {Key: "items.0", Value: bson.D{{Key: "$eq", Value: list[0]}}}},
			Update: mongo.Pipeline{{{Key: "$set", Value: set}}, {{Key: "$set", Value: o.in.recounted()}}}, Upsert: &upsert,
		},
	}, nil
}

// shorten is the write that cuts off the array what is in the overflow, and says so, if its end is as it was read.
func (o *outlying) shorten(id bson.RawValue, keep int, list []bson.RawValue, flagged bool) model.Write {
	end := make(bson.A, 0, len(list)-keep)
	for _, item := range list[keep:] {
		end = append(end, clone(item))
	}
	byID := bson.E{Key: "_id", Value: model.Eq(id)}
	is, done := any(true), bson.D(nil)
	if !flagged {
		is, done = bson.D{{Key: "$ne", Value: true}}, bson.D{byID, {Key: o.spec.Flag, Value: true}}
	}
	return model.Write{
		Collection: o.docs, Index: model.IDIndex, Expect: model.One, Once: true, Done: done,
		Model: &mongo.UpdateOneModel{
			Filter: bson.D{
				byID, {Key: o.spec.Flag, Value: is},
				{Key: o.position(o.spec.Max), Value: bson.D{{Key: "$exists", Value: true}}},
				// One more than was read, so that a longer array differs.
				{Key: "$expr", Value: mql.Op("$eq", mql.Op("$slice", o.list(), keep, len(end)+1), mql.Literal(end))},
			},
			Update: bson.D{
				{Key: "$set", Value: bson.D{{Key: o.spec.Flag, Value: true}}},
				{Key: "$push", Value: bson.D{{Key: o.path, Value: bson.D{{Key: "$each", Value: bson.A{}}, {Key: "$slice", Value: keep}}}}},
			},
		},
	}
}
