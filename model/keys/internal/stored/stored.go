// Package stored makes documents as a collection stores them, under an _id that is made for them. The cores of package
// model/keys write by it: sequence gives a document the next number of a counter, composite an _id of several of its
// fields.
//
//	Document(docs, Order{ID: x, Name: "a"})   →   {_id: x, name: "a", v: 2}
//	UnderKey(that, int64(17))                 →   {_id: 17, name: "a", v: 2}
//
// # How a document is written under a key
//
//  1. [Document] encodes the caller's Go value as its collection does, with the version that the collection's schema
//     adds. The value may have an _id, such as the zero value of its Go field.
//  2. The core computes the _id: it reserves a number, or takes it from the document's fields.
//  3. [UnderKey] puts the _id in place of the document's own. It is the first field, as a server stores it.
//
// The result is what the core inserts. The job of composite, which looks for documents under a wrong _id, calls
// UnderKey with nil for a stored document, and computes the _id again. Package model/keys samples documents for the
// choice of a shard key by Document alone.
//
// Nothing here sends a command, and no value that is passed in changes.
//
// Errors are those of encoding, and of a value that isn't a document. A caller adds the
// collection and the operation to the error.
package stored

import (
	"errors"

	"github.com/docmodel/docmodel/internal/core"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Document returns a Go value as its collection stores it.
func Document(docs *core.Docs, doc any) (bson.Raw, error) {
	v, err := docs.Raw(doc)
	if err != nil {
		return nil, err
	}
	held, ok := v.DocumentOK()
	if !ok {
		return nil, errors.New("is nil, or isn't stored as a document")
	}
	return docs.StampVersion(held)
}

// UnderKey returns a stored document with the _id id in place of its own.
func UnderKey(doc bson.Raw, id any) (bson.Raw, error) {
	elements, err := doc.Elements()
	if err != nil {
		return nil, err
	}
	d := bson.D{{Key: "_id", Value: id}}
	for _, e := range elements {
		if e.Key() != "_id" {
			d = append(d, bson.E{Key: e.Key(), Value: e.Value()})
		}
	}
	return bson.Marshal(d)
}
