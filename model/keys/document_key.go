package keys

import (
	"reflect"

	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/keys/internal/composite"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// DocumentKey is the same key as a [Composite], as a document: {_id: {state: 'CA', city: 'San Francisco', user: 42}}. Its parts
// keep their types and need no encoding, and can be asked for by themselves (with an index on "_id.city", say). Make it with
// [NewDocumentKey].
//
// # The order of its fields
//
// To MongoDB a document is a list of fields in an order. {_id: {city: 'San Francisco', state: 'CA', user: 42}} is another
// document, which can be stored beside the first, and finds nothing of it. A Go map has no order, and so can't be such an _id;
// a struct has the order of its fields, and bson.D that of its elements. Here the order is declared, and all that is generated
// follows it; a K whose fields are in another order is refused.
//
// Documents compare field by field: the type of the first field's value, then its name, then the value; then the second field;
// and one that has no more fields is less (manual: "Comparison/Sort Order", "Objects"). So ranges of whole documents work, are
// served by the index on _id, and are what [DocumentKey.Prefix] and [DocumentKey.Range] return: from {state: 'CA', city: MinKey()}
// to {state: 'CA', city: MaxKey()}. But by the same rule
//
//   - a bound of another type (a Long for a string, null) is above or below everything, and no error;
//   - a bound whose first field has another name is compared by that name;
//   - an _id of fewer or more fields, or in another order, lies somewhere in between;
//   - conditions on a field ("_id.state": 'CA') find documents in any order of fields, and are not served by the index on _id,
//     whose key is the whole document.
//
// In a string key none of that can happen, and any tool can type it. Where ids should keep their types, take this one.
//
// Source: "Composite Key Index" (seed 002 §8).
type DocumentKey[D, K any] struct {
	model.Parts

	docs *model.Collection[D, K]
	c    *composite.Key
}

// NewDocumentKey declares that documents have an _id that is a document of parts, in their order. A part's path is the name of
// a field of the _id. It panics with a [*model.DeclarationError] when there are less than two parts, when one is there twice,
// has a dot in its name, isn't a field of K or of another type there; and when K has other fields, or in another order, is a
// map, or has a field with omitempty, which its zero value would leave out of the key.
func NewDocumentKey[D, K any](docs *model.Collection[D, K], parts ...Part) *DocumentKey[D, K] {
	place := core.Place("NewDocumentKey of " + docs.Name())
	c := declareKey(docs.Docs(), place, parts, "_id.")
	var zero K
	c.DeclareDocument(place, c.Shape().As(reflect.TypeFor[K]()).Nested(), zero)
	return &DocumentKey[D, K]{model.Parts{}, docs, c}
}

// ID returns the _id of values, one for each part, in their order: for a K that is a bson.D.
func (x *DocumentKey[D, K]) ID(values ...any) (bson.D, error) { return x.c.Document(values) }

// Prefix returns the documents whose first parts are the values, in the order of keys. Without values it is all documents. Page
// it with Limited and After(doc.ID); with Sorted(bson.D{{Key: "_id", Value: -1}}) the last keys come first.
//
// Cost: one command, and one per further batch; served by _id.
func (x *DocumentKey[D, K]) Prefix(values ...any) *model.Find[D] {
	filter, err := x.c.DocumentsUnder(values)
	return x.ordered(filter, err)
}

// Range returns the documents whose first parts are those of prefix, and whose next part is from ≤ part < to, in the order of
// keys; nil is no bound.
//
// Cost: as [DocumentKey.Prefix].
func (x *DocumentKey[D, K]) Range(prefix []any, from, to any) *model.Find[D] {
	filter, err := x.c.DocumentsWithin(prefix, from, to)
	return x.ordered(filter, err)
}

func (x *DocumentKey[D, K]) ordered(filter bson.D, err error) *model.Find[D] {
	return inKeyOrder(x.docs.Find(filter), 1, err)
}
