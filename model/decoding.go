package model

import (
	"reflect"

	"github.com/docmodel/docmodel/internal/core"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Decoding returns the collection with another way to decode its whole documents, which
// may be stored as other types than D too: by a function that is handed each as it is
// stored, and must not keep it. others are these types. A path that a technique over the
// collection uses must be stored alike in D and in others. Decoding panics with a
// [*DeclarationError] for a technique that was declared before; the constructor of a
// later technique panics. What decodes into another type than D ([Project],
// [AggregateAs], Query with a type of its own) is decoded as before. A query with a
// projection of whole documents is refused. Writes are not affected.
func Decoding[D, K any](c *Collection[D, K], others []reflect.Type, decode func(raw bson.Raw, doc *D) error) *Collection[D, K] {
	if c == nil || decode == nil {
		core.Fail("no collection, or no function that decodes", "Decoding", "give both")
	}
	return &Collection[D, K]{c.Docs().Decoding(others, reflect.TypeFor[*D](), func(raw bson.Raw, doc any) error {
		return decode(raw, doc.(*D))
	})}
}
