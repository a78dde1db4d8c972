package model

import (
	"bytes"
	"cmp"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// CompareIDs orders _ids as MongoDB sorts them, without a collation. Numbers of one value, which MongoDB holds to be equal, come in
// the order of their types, so that the order is total.
func CompareIDs(a, b bson.RawValue) int {
	return cmp.Or(compareValues(a, b), cmp.Compare(a.Type, b.Type), bytes.Compare(a.Value, b.Value))
}

// idClasses are the places of BSON's types in MongoDB's order
// (https://www.mongodb.com/docs/manual/reference/bson-type-comparison-order/). Types without an entry come before all.
var idClasses = map[bson.Type]int{
	bson.TypeMinKey: -1, bson.TypeUndefined: 1, bson.TypeNull: 2,
	bson.TypeInt32: 3, bson.TypeInt64: 3, bson.TypeDouble: 3, bson.TypeDecimal128: 3, bson.TypeString: 4, bson.TypeSymbol: 4,
	bson.TypeEmbeddedDocument: 5, bson.TypeArray: 6, bson.TypeBinary: 7, bson.TypeObjectID: 8, bson.TypeBoolean: 9,
	bson.TypeDateTime: 10, bson.TypeTimestamp: 11, bson.TypeRegex: 12, bson.TypeDBPointer: 13, bson.TypeJavaScript: 14,
	bson.TypeCodeWithScope: 15, bson.TypeMaxKey: 16,
}

// compareValues compares values as MongoDB does.
func compareValues(a, b bson.RawValue) int {
	class := idClasses[a.Type]
	if c := cmp.Compare(class, idClasses[b.Type]); c != 0 {
		return c
	}
	if !wellFormed(a) || !wellFormed(b) {
		return bytes.Compare(a.Value, b.Value)
	}
	switch class {
	case idClasses[bson.TypeDouble]:
		return CompareNumbers(a, b)
	case idClasses[bson.TypeString]: // its bytes come after its length
		return bytes.Compare(a.Value[min(4, len(a.Value)):], b.Value[min(4, len(b.Value)):])
	case idClasses[bson.TypeEmbeddedDocument], idClasses[bson.TypeArray]:
		return compareElements(a.Value, b.Value)
	case idClasses[bson.TypeDateTime]:
		return cmp.Compare(a.DateTime(), b.DateTime())
	case idClasses[bson.TypeTimestamp]:
		t, i := a.Timestamp()
		u, j := b.Timestamp()
		return cmp.Or(cmp.Compare(t, u), cmp.Compare(i, j))
	case idClasses[bson.TypeBinary]:
		x, d := a.Binary()
		y, e := b.Binary()
		return cmp.Or(cmp.Compare(len(d), len(e)), cmp.Compare(x, y), bytes.Compare(d, e))
	}
	return bytes.Compare(a.Value, b.Value)
}

// compareElements compares documents, or arrays, element by element: by type, then name, then value.
func compareElements(a, b bson.Raw) int {
	x, errA := a.Elements()
	y, errB := b.Elements()
	if errA != nil || errB != nil {
		return bytes.Compare(a, b)
	}
	for i := range min(len(x), len(y)) {
		v, w := x[i].Value(), y[i].Value()
		c := cmp.Or(cmp.Compare(idClasses[v.Type], idClasses[w.Type]), cmp.Compare(x[i].Key(), y[i].Key()))
		if c = cmp.Or(c, compareValues(v, w)); c != 0 {
			return c
		}
	}
	return cmp.Compare(len(x), len(y))
}
