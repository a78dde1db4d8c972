package slots

import (
	"github.com/docmodel/docmodel/internal/rawdoc"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// describeKeys says how a slot with an old _id is joined to the tenant's slot.
func (s *untypedSlots) describeKeys() model.KeyedDocs {
	return model.KeyedDocs{Collection: s.docs.Name(), Join: s.joinSlots}
}

// joinSlots returns the update that adds an old slot to another slot with the same key
// and number. A sender numbers its transfers, so $max keeps the numbers from going back.
// Slots with transfers are refused: ok is false.
func (s *untypedSlots) joinSlots(old, now bson.Raw) (bson.D, bool) {
	a, errA := decodeSlot(old)
	b, errB := decodeSlot(now)
	if errA != nil || errB != nil || a.Of != b.Of ||
		a.Out != nil || b.Out != nil || a.In != nil || b.In != nil {
		return nil, false
	}
	inc := bson.D{{Key: "sum", Value: a.Sum}}
	if s.spec.Stock {
		inc = append(inc, bson.E{Key: "free", Value: a.Free})
	}
	most := bson.D{{Key: "seq", Value: a.Seq}}
	for name, n := range a.Got {
		most = append(most, bson.E{Key: "got." + name, Value: n})
	}
	push := bson.D{
		{Key: "$each", Value: encodeTokens(a.Ops)}, {Key: "$position", Value: 0}, {Key: "$slice", Value: -s.spec.Keep},
	}
	return bson.D{
		{Key: "$inc", Value: inc}, {Key: "$max", Value: most}, {Key: "$push", Value: bson.D{{Key: "ops", Value: push}}},
	}, true
}

// decodeSlot decodes a slot without its _id, which isn't a string if it carries a tenant.
func decodeSlot(doc bson.Raw) (slot storedSlot, err error) {
	if doc, err = rawdoc.RemoveFields(doc, "_id"); err == nil {
		err = bson.Unmarshal(doc, &slot)
	}
	return slot, err
}
