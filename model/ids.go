package model

import (
	"bytes"
	"cmp"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// CompareIDs orders _ids: a total order, which is MongoDB's for numbers and for ids of one type other than documents, arrays and
// Decimal128. Numbers of one value are told apart by their type and bytes.
func CompareIDs(a, b bson.RawValue) int {
	class := func(v bson.RawValue) bson.Type {
		if v.Type == bson.TypeInt32 || v.Type == bson.TypeInt64 {
			return bson.TypeDouble
		}
		return v.Type
	}
	c := cmp.Compare(class(a), class(b))
	switch {
	case c != 0:
		return c
	case !wellFormed(a) || !wellFormed(b):
	case a.Type == bson.TypeString:
		return cmp.Compare(a.StringValue(), b.StringValue())
	case class(a) == bson.TypeDouble:
		c = CompareNumbers(a, b)
	case a.Type == bson.TypeDateTime:
		c = cmp.Compare(a.DateTime(), b.DateTime())
	case a.Type == bson.TypeTimestamp:
		t, i := a.Timestamp()
		u, j := b.Timestamp()
		c = cmp.Or(cmp.Compare(t, u), cmp.Compare(i, j))
	case a.Type == bson.TypeBinary:
		x, d := a.Binary()
		y, e := b.Binary()
		c = cmp.Or(cmp.Compare(len(d), len(e)), cmp.Compare(x, y), bytes.Compare(d, e))
	}
	return cmp.Or(c, cmp.Compare(a.Type, b.Type), bytes.Compare(a.Value, b.Value))
}
