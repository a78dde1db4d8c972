package denorm

import (
	"bytes"
	"fmt"

	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// oversized matches the owners whose array is over Max although there is overflow.
func (o *outlying) oversized() bson.D {
	return bson.D{
		{Key: o.spec.Flag, Value: true},
		{Key: o.position(o.spec.Max), Value: bson.D{{Key: "$exists", Value: true}}},
	}
}

// A crowded owner is one that is over Max, and of its overflow documents the numbers, and the elements that its array has too.
type crowded struct {
	ID    bson.RawValue   `bson:"_id"`
	Kept  []bson.RawValue `bson:"kept"`
	Pages []struct {
		Seq   int64           `bson:"seq"`
		Items []bson.RawValue `bson:"items"`
	} `bson:"pages"`
}

// crowd are the stages that read crowded owners.
func (o *outlying) crowd() mongo.Pipeline {
	stage := mql.Lookup(o.in.name, "_id", "key", "pages")
	same := mql.Op("$filter", bson.D{
		{Key: "input", Value: items()}, {Key: "as", Value: "item"}, {Key: "cond", Value: mql.Op("$in", "$$item."+o.in.spec.Key, "$$keys")},
	})
	stage[0].Value = append(stage[0].Value.(bson.D),
		bson.E{Key: "let", Value: bson.D{{Key: "keys", Value: "$keys"}}},
		bson.E{Key: "pipeline", Value: mongo.Pipeline{{{Key: "$project", Value: bson.D{{Key: "seq", Value: 1}, {Key: "items", Value: same}}}}}},
	)
	return mongo.Pipeline{
		{{Key: "$project", Value: bson.D{
			{Key: "kept", Value: o.list()}, {Key: "keys", Value: mql.Op("$cond", mql.Op("$isArray", "$"+o.path), "$"+o.keyPath(), bson.A{})},
		}}},
		stage,
		{{Key: "$unset", Value: "keys"}},
	}
}

func (o *outlying) settle(docs []bson.Raw) (p model.Plan, _ error) {
	for _, doc := range docs {
		steps, err := o.settleOne(doc)
		if err != nil {
			return model.Plan{}, fmt.Errorf("document %s: %w", cut(model.Shell(doc.Lookup("_id"))), err)
		}
		p.Steps = append(p.Steps, steps...)
	}
	if len(p.Steps) > 0 {
		p.Leaves = "elements in the overflow that the array still holds; the next run takes them off the array"
	}
	return p, nil
}

// settleOne are the steps for one owner: overflow documents after the last one for what isn't there already, and then the array.
func (o *outlying) settleOne(doc bson.Raw) ([]model.Step, error) {
	var owner crowded
	if err := bson.Unmarshal(doc, &owner); err != nil {
		return nil, err
	}
	id := clone(owner.ID)
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
				id, _ := model.ValueAt(doc, o.in.spec.Key)
				held[name(id)] = item
			}
		}
	}
	keep := o.keep(owner.Kept)
	hold(owner.Kept[:keep])
	for _, page := range owner.Pages {
		next = max(next, page.Seq+1)
		hold(page.Items)
	}
	var move []bucketElement
	for i, item := range owner.Kept[keep:] {
		e, err := o.in.element(key, clone(item))
		if err != nil {
			return nil, err
		}
		there, ok := held[name(e.id)]
		switch {
		case !ok:
			move = append(move, e)
			held[name(e.id)] = item
		case !bytes.Equal(there.Value, item.Value):
			return nil, o.refused(o.position(keep+i), model.Shell(e.id), "is there twice, with other fields: take one of both out")
		}
	}
	steps, err := o.splitPages(key, id, next, move, len(owner.Kept))
	if err != nil {
		return nil, err
	}
	return append(steps, o.shorten(id, keep, owner.Kept, true)), nil
}
