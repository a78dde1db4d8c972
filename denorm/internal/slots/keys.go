package slots

import (
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// DescribeKeys says how a slot with an old _id is joined to the tenant's slot.
func (s *Slots) DescribeKeys() model.KeyedDocs {
	return model.KeyedDocs{Collection: s.docs.Name(), Join: s.joinSlots}
}

// joinSlots returns the update that adds an old slot to another slot with the same key
// and number. A sender numbers its transfers, so $max keeps the numbers from going back.
// Slots with transfers are refused: ok is false.
func (s *Slots) joinSlots(old, now bson.Raw) (bson.D, bool) {
	var a, b Slot
	if bson.Unmarshal(removeID(old), &a) != nil || bson.Unmarshal(removeID(now), &b) != nil || a.Of != b.Of ||
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

// removeID returns a slot without its _id, which isn't a string if it carries a tenant.
func removeID(doc bson.Raw) bson.Raw {
	var fields bson.D
	elems, _ := doc.Elements()
	for _, e := range elems {
		if e.Key() != "_id" {
			fields = append(fields, bson.E{Key: e.Key(), Value: e.Value()})
		}
	}
	out, _ := bson.Marshal(fields)
	return out
}
