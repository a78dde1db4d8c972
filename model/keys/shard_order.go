package keys

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// compareKeys orders shard keys field by field.
func compareKeys(a, b []bson.RawValue) int { return slices.CompareFunc(a, b, compareValues) }

// compareValues orders values as an index does; binary and code by their bytes.
func compareValues(a, b bson.RawValue) int {
	if c := cmp.Compare(typeOrder(a.Type), typeOrder(b.Type)); c != 0 {
		return c
	}
	switch a.Type {
	case bson.TypeInt32, bson.TypeInt64, bson.TypeDouble, bson.TypeDecimal128:
		return model.CompareNumbers(a, b)
	case bson.TypeString, bson.TypeSymbol:
		x, _ := a.StringValueOK()
		y, _ := b.StringValueOK()
		return cmp.Compare(x, y)
	case bson.TypeDateTime:
		return cmp.Compare(a.DateTime(), b.DateTime())
	case bson.TypeTimestamp:
		at, ai := a.Timestamp()
		bt, bi := b.Timestamp()
		return cmp.Or(cmp.Compare(at, bt), cmp.Compare(ai, bi))
	case bson.TypeEmbeddedDocument, bson.TypeArray:
		return compareDocuments(bson.Raw(a.Value), bson.Raw(b.Value))
	}
	return bytes.Compare(a.Value, b.Value)
}

// compareDocuments compares types, names and values, pair by pair; what ends first is less.
func compareDocuments(a, b bson.Raw) int {
	x, _ := a.Elements()
	y, _ := b.Elements()
	return slices.CompareFunc(x, y, func(e, f bson.RawElement) int {
		return cmp.Or(cmp.Compare(typeOrder(e.Value().Type), typeOrder(f.Value().Type)), cmp.Compare(e.Key(), f.Key()), compareValues(e.Value(), f.Value()))
	})
}
