package model

import (
	"reflect"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// Decoding returns the collection with another way to decode its whole documents: by a function that is handed each as it is
// stored, and must not keep it. What decodes into another type than D ([Project], [AggregateAs], Query with a type of its own)
// is decoded as before. A query with a projection of whole documents is refused. Writes are not affected.
func Decoding[D, K any](c *Collection[D, K], decode func(raw bson.Raw, doc *D) error) *Collection[D, K] {
	if c == nil || decode == nil {
		panic(&DeclarationError{"no collection, or no function that decodes", "Decoding", "give both"})
	}
	own := codec{}
	if base := declOf(c).orZero().codec; base != nil {
		own = *base
	}
	own.wholeAs = reflect.TypeFor[*D]()
	own.whole = func(raw bson.Raw, doc any) error { return decode(raw, doc.(*D)) }
	decl := *declOf(c).orZero()
	decl.codec = &own
	return &Collection[D, K]{&decl, c.id}
}

// EncodeDocument returns a whole document, of any type, as the collection's options store it.
func EncodeDocument[D, K any](c *Collection[D, K], doc any) (bson.Raw, error) {
	return declOf(c).orZero().codec.document(doc)
}
