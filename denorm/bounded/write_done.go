package bounded

// This file recognizes a push that was applied before.

import (
	"fmt"
	"slices"

	"github.com/docmodel/docmodel/denorm/internal/stored"
	"github.com/docmodel/docmodel/internal/direction"
	"github.com/docmodel/docmodel/internal/mql"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// matchPushed matches an array as a push of elements with keys leaves it, so that a
// repeated push is recognized: the array has each element, or it is full and would drop
// the missing ones again.
func (b *untypedBounded) matchPushed(path string, each []bson.RawValue, keys bson.A) bson.D {
	all := func(keys bson.A) bson.D { return bson.D{{Key: path, Value: mql.Op("$all", keys)}} }
	switch {
	case len(keys) == 1:
		return all(keys)
	case len(b.spec.By) == 0 && !b.spec.First:
		return all(keys[max(0, len(keys)-b.spec.Max):]) // the last push out the others
	case len(b.spec.By) == 0:
		return mql.Op("$or", all(keys), b.matchFull())
	}
	again := bson.A{b.matchFull()}
	for i, e := range each {
		values, ok := b.readSortValues(e)
		if !ok {
			return all(keys)
		}
		again = append(again,
			mql.Op("$or", bson.D{{Key: path, Value: mql.Eq(keys[i])}}, mql.Op("$expr", b.wouldDrop(values))))
	}
	return mql.Op("$or", all(keys), bson.D{{Key: "$and", Value: again}})
}

// matchFull matches an array with Max elements.
func (b *untypedBounded) matchFull() bson.D {
	return bson.D{{Key: fmt.Sprintf("%s.%d", b.field.Path, b.spec.Max-1), Value: mql.Exists(true)}}
}

// readSortValues reads the values by which an element is sorted. An array has no single
// place in the order.
func (b *untypedBounded) readSortValues(element bson.RawValue) ([]any, bool) {
	values := make([]any, len(b.spec.By))
	for i, by := range b.spec.By {
		switch v := stored.ElementAt(element, by.Key); v.Type {
		case bson.TypeArray:
			return nil, false
		case 0: // missing: sorts as null
		default:
			values[i] = v
		}
	}
	return values, true
}

// wouldDrop is the expression that an element with these sort values is dropped before
// all elements of the array.
func (b *untypedBounded) wouldDrop(values []any) bson.D {
	var before bson.A
	equal := bson.A{}
	for i, by := range b.spec.By {
		kept, value := mql.IfNull("$$kept."+by.Key, nil), mql.Literal(values[i])
		op := "$lt" // sorts before, and the last are kept
		if ascending := direction.Parse(by.Value) == 1; ascending == b.spec.First {
			op = "$gt"
		}
		before = append(before, bson.D{{Key: "$and", Value: append(slices.Clone(equal), mql.Op(op, kept, value))}})
		equal = append(equal, mql.Op("$eq", kept, value))
	}
	first := mql.Map("$"+b.field.Path, "kept", bson.D{{Key: "$or", Value: before}})
	return mql.Op("$not", bson.A{mql.Op("$anyElementTrue", bson.A{first})})
}
