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

// makeSplitJob is the job that moves the elements over Max into overflow documents.
func (o *untypedOutlier) makeSplitJob() model.Job {
	return model.Job{Name: "outlier " + o.docs.Name() + "." + o.path, Stages: []model.Stage{{
		Collection: o.docs.Name(), BatchSize: 10,
		Filter: o.matchUnsplit(), Projection: bson.D{{Key: o.path, Value: 1}},
		Plan: commands.PlanBatches("overflow documents of an array that still holds all elements; the next run "+
			"completes them",
			o.splitOwner),
	}}}
}

// matchUnsplit matches the owners whose array has outgrown Max without overflow.
func (o *untypedOutlier) matchUnsplit() bson.D {
	return bson.D{
		{Key: o.elementPath(o.spec.Max), Value: mql.Exists(true)}, o.isUnflagged(),
	}
}

// splitOwner returns the steps for one owner: overflow documents for the elements over
// Max, and then the shorter array.
func (o *untypedOutlier) splitOwner(doc bson.Raw) (steps []model.Step, _ error) {
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
	keep := o.countKept(list)
	move := make([]bucket.Element, 0, len(list)-keep)
	for _, item := range list[keep:] {
		e, err := o.in.EncodeElement(key, item)
		if err != nil {
			return nil, err
		}
		move = append(move, e)
	}
	if steps, err = o.writePages(key, id, 0, move, len(list)); err != nil {
		return nil, err
	}
	return append(steps, o.shortenArray(id, keep, list, false)), nil
}

// writePages returns the writes of as few overflow documents as possible for these
// elements of an array, with numbers from seq.
func (o *untypedOutlier) writePages(
	key any, id bson.RawValue, seq int64, move []bucket.Element, length int,
) (steps []model.Step, _ error) {
	for len(move) > 0 {
		n, bytes := 0, int64(0)
		for n < len(move) && n < o.in.Spec.Max {
			if bytes += int64(len(move[n].Item.Value)); n > 0 && bytes > o.maxPageBytes() {
				break
			}
			n++
		}
		w, err := o.writePage(key, id, seq, move[:n], length)
		if err != nil {
			return nil, err
		}
		steps, move, seq = append(steps, w), move[n:], seq+1
	}
	return steps, nil
}

// countKept returns how many elements stay in the array.
func (o *untypedOutlier) countKept(list []bson.RawValue) int {
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

// maxPageBytes returns how many bytes a split puts into one document. Without MaxBytes of
// the Bucket it is half of the limit, so that a command has room for the document.
func (o *untypedOutlier) maxPageBytes() int64 {
	if o.in.Spec.MaxBytes > 0 {
		return o.in.Spec.MaxBytes
	}
	return stored.MaxBytes / 2
}

// ownerKey returns an owner's _id as the key of buckets.
func (o *untypedOutlier) ownerKey(id bson.RawValue) (any, error) {
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

// writePage is the upsert of an overflow document. It replaces the document that a split
// of a shorter array left under this number, if both begin with the same element. A split
// of the same array has left the same document.
func (o *untypedOutlier) writePage(
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

// shortenArray is the write that cuts the elements in the overflow off the array and sets
// the flag, if the end of the array is as it was read.
func (o *untypedOutlier) shortenArray(id bson.RawValue, keep int, list []bson.RawValue, flagged bool) model.Write {
	end, flag := mql.Array(list[keep:]), mql.E(o.spec.Flag, true)
	is, done := flag, bson.D(nil)
	if !flagged {
		is, done = o.isUnflagged(), append(commands.MatchID(id), flag)
	}
	w := commands.UpdateIf(o.docs.Name(),
		append(commands.MatchID(id), is, mql.E(o.elementPath(o.spec.Max), mql.Exists(true)),
			// One more than was read, so that a longer array differs.
			mql.E("$expr", mql.Op("$eq", mql.Op("$slice", o.listKept(), keep, len(end)+1), mql.Literal(end))),
		),
		append(mql.Set(flag),
			mql.E("$push", bson.D{{
				Key:   o.path,
				Value: bson.D{{Key: "$each", Value: bson.A{}}, {Key: "$slice", Value: keep}},
			}})))
	w.Expect, w.Done = model.One, done
	return w
}
