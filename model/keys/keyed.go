package keys

import (
	"errors"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// storedDocument is a document as a collection's encoder stores it.
func storedDocument(encode func(any) (any, error), doc any) (bson.Raw, error) {
	v, err := encode(doc)
	if err != nil {
		return nil, err
	}
	raw, err := bson.Marshal(bson.D{{Key: "v", Value: v}})
	if err != nil {
		return nil, err
	}
	held, ok := bson.Raw(raw).Lookup("v").DocumentOK()
	if !ok {
		return nil, errors.New("is nil, or not stored as a document")
	}
	return held, nil
}

// underKey is a stored document with an _id, in the place of its own.
func underKey(doc bson.Raw, id any) (bson.Raw, error) {
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
