package outlier

import (
	"bytes"

	"github.com/docmodel/docmodel/denorm/internal/bucket"
	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// makeSettleJob is the job that moves elements which other code pushed over Max to the
// end of the overflow.
func (o *untypedOutlier) makeSettleJob() model.Job {
	j := model.Job{Name: "outlier settled " + o.docs.Name() + "." + o.path, Stages: []model.Stage{{
		Collection: o.docs.Name(), BatchSize: 10, Keyed: o.in.ListKeyed(),
		Filter: o.matchOversized(), Projection: bson.D{{Key: o.path, Value: 1}}, Pipeline: o.readCrowded(),
		Plan: commands.PlanBatches("elements that both the overflow and the array hold; the next run removes them "+
			"from the array",
			o.settleOwner),
	}}}
	if o.in.Spec.ElementKey == "" {
		j.Err = o.docs.Refuse(o.path, nil, "can be settled only if the Bucket has an ElementKey: give one to its spec")
	}
	return j
}

// matchOversized matches the owners whose array is over Max although there is overflow.
func (o *untypedOutlier) matchOversized() bson.D {
	return bson.D{
		{Key: o.spec.Flag, Value: true},
		{Key: o.elementPath(o.spec.Max), Value: mql.Exists(true)},
	}
}

// A crowded is an owner that is over Max, with the numbers of its overflow documents and
// their elements that the array has too.
type crowded struct {
	ID    bson.RawValue   `bson:"_id"`
	Kept  []bson.RawValue `bson:"kept"`
	Pages []struct {
		Seq   int64           `bson:"seq"`
		Items []bson.RawValue `bson:"items"`
	} `bson:"pages"`
}

// readCrowded returns the stages that read crowded owners.
func (o *untypedOutlier) readCrowded() mongo.Pipeline {
	stage := mql.Lookup(o.in.Docs.Name(), "_id", "key", "pages")
	same := mql.Op("$filter", bson.D{
		{Key: "input", Value: bucket.ListItems()}, {Key: "as", Value: "item"},
		{Key: "cond", Value: mql.Op("$in", "$$item."+o.in.Spec.ElementKey, "$$keys")},
	})
	stage[0].Value = append(stage[0].Value.(bson.D),
		bson.E{Key: "let", Value: bson.D{{Key: "keys", Value: "$keys"}}},
		bson.E{Key: "pipeline", Value: mongo.Pipeline{mql.Project(mql.E("seq", 1), mql.E("items", same))}},
	)
	return mongo.Pipeline{
		mql.Project(mql.E("kept", o.listKept()), mql.E("keys", o.listKeys())), stage, mql.Op("$unset", "keys"),
	}
}

// settleOwner returns the steps for one owner: overflow documents for the elements that
// the overflow lacks, after the last one, and then the shorter array. An element that
// both have with different fields is refused, because one of them would be lost.
func (o *untypedOutlier) settleOwner(doc bson.Raw) ([]model.Step, error) {
	var owner crowded
	if err := bson.Unmarshal(doc, &owner); err != nil {
		return nil, err
	}
	id := owner.ID
	key, err := o.ownerKey(id)
	if err != nil || len(owner.Kept) <= o.spec.Max {
		return nil, err
	}
	next := int64(0)
	held := map[string]bson.RawValue{}
	name := func(id bson.RawValue) string { return string(rune(id.Type)) + string(id.Value) }
	hold := func(items []bson.RawValue) {
		for _, item := range items {
			if doc, ok := item.DocumentOK(); ok {
				id, _ := core.ValueAt(doc, o.in.Spec.ElementKey)
				held[name(id)] = item
			}
		}
	}
	keep := o.countKept(owner.Kept)
	hold(owner.Kept[:keep])
	for _, page := range owner.Pages {
		next = max(next, page.Seq+1)
		hold(page.Items)
	}
	var move []bucket.Element
	for i, item := range owner.Kept[keep:] {
		e, err := o.in.EncodeElement(key, item)
		if err != nil {
			return nil, err
		}
		there, ok := held[name(e.ID)]
		switch {
		case !ok:
			move = append(move, e)
			held[name(e.ID)] = item
		case !bytes.Equal(there.Value, item.Value):
			return nil, o.docs.Refuse(o.elementPath(keep+i), model.Shell(e.ID),
				"is stored twice with different fields: remove one of the two")
		}
	}
	steps, err := o.writePages(key, id, next, move, len(owner.Kept))
	if err != nil {
		return nil, err
	}
	return append(steps, o.shortenArray(id, keep, owner.Kept, true)), nil
}
