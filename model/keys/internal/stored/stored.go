// Package stored makes documents as a collection stores them, under an _id that is made for them.
package stored

import (
	"errors"

	"github.com/docmodel/docmodel/internal/core"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Document is a document as a collection stores it.
func Document(docs *core.Docs, doc any) (bson.Raw, error) {
	v, err := docs.Raw(doc)
	if err != nil {
		return nil, err
	}
	held, ok := v.DocumentOK()
	if !ok {
		return nil, errors.New("is nil, or isn't stored as a document")
	}
	return docs.Stamped(held)
}

// UnderKey is a stored document with an _id, in the place of its own.
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
