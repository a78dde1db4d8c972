package denorm

import (
	"fmt"

	"github.com/docmodel/docmodel/internal/direction"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// done matches an array as a push of elements with keys leaves it, so that the push is recognized when it is run again:
// the array holds each of them, or it is full and would drop again what it doesn't hold.
func (b *Bounded[D, K]) done(path string, each []bson.RawValue, keys bson.A) bson.D {
	all := func(keys bson.A) bson.D { return bson.D{{Key: path, Value: bson.D{{Key: "$all", Value: keys}}}} }
	switch {
	case len(keys) == 1:
		return all(keys)
	case len(b.spec.By) == 0 && b.spec.Keep == Last:
		return all(keys[max(0, len(keys)-b.spec.Max):]) // the last push out the others
	case len(b.spec.By) == 0:
		return bson.D{{Key: "$or", Value: bson.A{all(keys), b.full()}}}
	}
	again := bson.A{b.full()}
	for i, e := range each {
		values, ok := b.sortValues(e)
		if !ok {
			return all(keys)
		}
		again = append(again, bson.D{{Key: "$or", Value: bson.A{
			bson.D{{Key: path, Value: model.Eq(keys[i])}},
			bson.D{{Key: "$expr", Value: b.dropped(values)}},
		}}})
	}
	return bson.D{{Key: "$or", Value: bson.A{all(keys), bson.D{{Key: "$and", Value: again}}}}}
}

func (b *Bounded[D, K]) full() bson.D {
	return bson.D{{Key: fmt.Sprintf("%s.%d", b.field.Path, b.spec.Max-1), Value: bson.D{{Key: "$exists", Value: true}}}}
}

// sortValues reads what an element is sorted by. An array there has no single place in the order.
func (b *Bounded[D, K]) sortValues(element bson.RawValue) ([]any, bool) {
	values := make([]any, len(b.spec.By))
	for i, by := range b.spec.By {
		switch v := elementAt(element, by.Key); v.Type {
		case bson.TypeArray:
			return nil, false
		case 0: // missing: sorts as null
		default:
			values[i] = v
		}
	}
	return values, true
}

// dropped is the expression that no kept element would be dropped before one with these sort values.
func (b *Bounded[D, K]) dropped(values []any) bson.D {
	var before bson.A
	equal := bson.A{}
	for i, by := range b.spec.By {
		kept := bson.D{{Key: "$ifNull", Value: bson.A{"$$kept." + by.Key, nil}}}
		value := bson.D{{Key: "$literal", Value: values[i]}}
		op := "$lt" // sorts before, and the last are kept
		if ascending := direction.Of(by.Value) == 1; ascending != (b.spec.Keep == Last) {
			op = "$gt"
		}
		before = append(before, bson.D{{Key: "$and", Value: append(append(bson.A{}, equal...), bson.D{{Key: op, Value: bson.A{kept, value}}})}})
		equal = append(equal, bson.D{{Key: "$eq", Value: bson.A{kept, value}}})
	}
	return bson.D{{Key: "$not", Value: bson.A{bson.D{{Key: "$anyElementTrue", Value: bson.A{bson.D{{Key: "$map", Value: bson.D{
		{Key: "input", Value: "$" + b.field.Path}, {Key: "as", Value: "kept"}, {Key: "in", Value: bson.D{{Key: "$or", Value: before}}},
	}}}}}}}}}
}
