package outlier

import (
	"github.com/docmodel/docmodel/denorm/internal/bucket"
	"github.com/docmodel/docmodel/denorm/internal/stored"
	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Split moves what arrays hold over the bound into overflow documents.
func (o *Outlier) Split() model.Job {
	return model.Job{Name: "outlier " + o.docs.Name() + "." + o.path, Stages: []model.Stage{{
		Collection: o.docs.Name(), BatchSize: 10,
		Filter: o.unsplit(), Projection: bson.D{{Key: o.path, Value: 1}},
		Plan: commands.PlanBatches("overflow documents of an array that still holds all elements; the next run "+
			"completes them",
			o.splitOwner),
	}}}
}

// unsplit matches the owners whose array outgrew Max without overflow.
func (o *Outlier) unsplit() bson.D {
	return bson.D{
		{Key: o.position(o.spec.Max), Value: mql.Exists(true)}, o.isUnflagged(),
	}
}

// splitOwner are the steps for one owner: an overflow document for each part of what is over, and then the array.
func (o *Outlier) splitOwner(doc bson.Raw) (steps []model.Step, _ error) {
	v, err := stored.ValueAt(o.docs, doc, o.path)
	if err != nil {
		return nil, err
	}
	list := core.Elements(v)
	id := doc.Lookup("_id")
	key, err := o.ownerKey(id)
	if err != nil || len(list) <= o.spec.Max {
		return nil, err
	}
	keep := o.keep(list)
	move := make([]bucket.Element, 0, len(list)-keep)
	for _, item := range list[keep:] {
		e, err := o.in.EncodeElement(key, item)
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
func (o *Outlier) splitPages(
	key any, id bson.RawValue, seq int64, move []bucket.Element, length int,
) (steps []model.Step, _ error) {
	for len(move) > 0 {
		n, bytes := 0, int64(0)
		for n < len(move) && n < o.in.Spec.Max {
			if bytes += int64(len(move[n].Item.Value)); n > 0 && bytes > o.pageBytes() {
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
func (o *Outlier) keep(list []bson.RawValue) int {
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
func (o *Outlier) pageBytes() int64 {
	if o.in.Spec.MaxBytes > 0 {
		return o.in.Spec.MaxBytes
	}
	return stored.MaxBytes / 2
}

// ownerKey is an owner's _id as the key of buckets.
func (o *Outlier) ownerKey(id bson.RawValue) (any, error) {
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
	return nil, o.docs.Refuse("_id", id, "has a type that can't be the key of the Bucket")
}

// splitPage is the upsert of an overflow document. It replaces what a Split of a shorter array left under this number,
// if it begins as this one does; what a Split of the same array left is the same.
func (o *Outlier) splitPage(
	key any, id bson.RawValue, seq int64, page []bucket.Element, length int,
) (model.Write, error) {
	bucket, err := o.in.MakeID(key, "", seq)
	if err != nil {
		return model.Write{}, err
	}
	list := make(bson.A, len(page))
	for i, e := range page {
		list[i] = e.Item
	}
	split, own := int64(length), bson.D{{Key: "_id", Value: bucket}}
	set := bson.D{
		{Key: "key", Value: mql.Literal(id)}, {Key: "seq", Value: seq}, {Key: "closed", Value: true},
		{Key: "split", Value: split}, {Key: "items", Value: mql.Literal(list)},
	}
	shorter := bson.D{
		own[0], {Key: "split", Value: mql.Op("$lt", split)}, {Key: "items.0", Value: mql.Op("$eq", list[0])},
	}
	w := o.in.MarkKeyed(commands.UpsertOne(o.in.Docs.Name(), shorter, mongo.Pipeline{
		mql.Set(set...), mql.Set(o.in.CountAgain()...),
	}))
	w.Expect, w.Done = model.One, bson.D{
		own[0], {Key: "split", Value: split},
		{Key: "items", Value: bson.D{{Key: "$eq", Value: list}}},
	}
	w.Reasons = []model.Reason{{If: own, Err: errLeftover}}
	return w, nil
}

// shorten is the write that cuts off the array what is in the overflow, and says so, if its end is as it was read.
func (o *Outlier) shorten(id bson.RawValue, keep int, list []bson.RawValue, flagged bool) model.Write {
	end, flag := mql.A(list[keep:]), mql.E(o.spec.Flag, true)
	is, done := flag, bson.D(nil)
	if !flagged {
		is, done = o.isUnflagged(), append(commands.MatchID(id), flag)
	}
	w := commands.UpdateIf(o.docs.Name(),
		append(commands.MatchID(id), is, mql.E(o.position(o.spec.Max), mql.Exists(true)),
			// One more than was read, so that a longer array differs.
			mql.E("$expr", mql.Op("$eq", mql.Op("$slice", o.list(), keep, len(end)+1), mql.Literal(end))),
		),
		append(mql.Set(flag),
			mql.E("$push", bson.D{{
				Key:   o.path,
				Value: bson.D{{Key: "$each", Value: bson.A{}}, {Key: "$slice", Value: keep}},
			}})))
	w.Expect, w.Done = model.One, done
	return w
}
