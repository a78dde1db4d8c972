package core

// Every _id of a caller passes one of these functions before it is in a filter or a document. An empty _id is refused,
// because it is almost always a field that somebody forgot to set. A filter by it would match nothing, and an upsert
// would store one document for all of them.

import (
	"reflect"

	"github.com/docmodel/docmodel/internal/mql"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// ID reads and checks the _id of the document at doc, like CheckID.
func (d *Docs) ID(doc any) (id any, err error) {
	if reflect.ValueOf(doc).IsNil() {
		return nil, d.Refuse("_id", nil, "the document is nil")
	}
	found := false
	if d.id != nil {
		id, found = d.id(doc)
	}
	if !found {
		return nil, d.Refuse("_id", nil, "is missing: the document needs an _id")
	}
	return id, d.CheckID("_id", id)
}

// EncodeID checks and encodes a caller's _id. field names the argument or the path in errors:
// "_id", "parent", "ids". Later changes of the caller's value have no effect on the result.
func (d *Docs) EncodeID(field string, id any) (any, error) {
	if err := d.CheckID(field, id); err != nil {
		return nil, err
	}
	v, err := d.codec.Value(id)
	if err != nil {
		return nil, d.Refuse(field, nil, err.Error())
	}
	return v, nil
}

// ByID returns the filter for an _id: {_id: 7}. An _id that the query language would interpret,
// such as a document, stands under $eq.
func (d *Docs) ByID(id any) (bson.D, error) {
	v, err := d.EncodeID("_id", id)
	if err != nil {
		return nil, err
	}
	return bson.D{{Key: "_id", Value: mql.Eq(v)}}, nil
}

// RawID is [Docs.EncodeID] into new bytes, for techniques that compare or store the _id.
func (d *Docs) RawID(field string, id any) (bson.RawValue, error) {
	if err := d.CheckID(field, id); err != nil {
		return bson.RawValue{}, err
	}
	v, err := d.Raw(id)
	if err != nil {
		return bson.RawValue{}, d.Refuse(field, nil, err.Error())
	}
	return v, nil
}

// CheckID returns a *model.ValueError that names the field if id can't be an _id: nil,
// the zero value of its type unless this is a number or a boolean (a zero ObjectID could
// be stored once), or a value that MongoDB refuses. Techniques check every id of the
// caller.
func (d *Docs) CheckID(field string, id any) error {
	if EmptyID(id) {
		return ValueError(d.name, field, id, "is empty: give an id")
	}
	switch id.(type) {
	case bson.ObjectID, string, int, int32, int64: // most _ids: not empty, so nothing can be wrong
		return nil
	}
	doc, err := d.codec.Document(bson.D{{Key: "id", Value: id}})
	if err != nil {
		return d.Refuse(field, nil, err.Error())
	}
	held := doc.Lookup("id") // a copy: the caller's may change
	if below, reason := refusedID(held); reason != "" {
		return ValueError(d.name, field+below, held, reason)
	}
	return nil
}

// refusedID says what is wrong with an encoded _id, and below which path of it, or "". The rules
// of MongoDB: https://www.mongodb.com/docs/manual/core/document/#the-_id-field.
func refusedID(id bson.RawValue) (below, reason string) {
	empty := false
	switch id.Type {
	case 0:
		return "", "is missing: the document needs an _id"
	case bson.TypeArray, bson.TypeRegex, bson.TypeUndefined:
		return "", "is an array, a regular expression or undefined, which can't be an _id"
	case bson.TypeNull:
		empty = true
	case bson.TypeObjectID:
		empty = id.ObjectID().IsZero()
	case bson.TypeString:
		empty = id.StringValue() == ""
	case bson.TypeBinary:
		_, data := id.Binary()
		empty = len(data) == 0
	case bson.TypeEmbeddedDocument:
		if empty = len(id.Value) <= 5; empty { // a length and the end, without a field
			break
		}
		if path, err := checkKeys(bson.Raw(id.Value), "", 2); err != nil {
			return "." + path, err.Error()
		}
	}
	if empty {
		return "", "is empty: give an id"
	}
	return "", ""
}

// EmptyID reports whether a Go value is nil, or the zero value of a type other than a
// number or a boolean. 0 and false are _ids that programs use.
func EmptyID(id any) bool {
	switch id := id.(type) {
	case nil:
		return true
	case bson.ObjectID:
		return id.IsZero()
	case string:
		return id == ""
	case int, int32, int64, bson.Decimal128:
		return false
	case bson.RawValue:
		return id.Type == 0
	}
	v := reflect.ValueOf(id)
	switch {
	case v.CanInt(), v.CanUint(), v.CanFloat(), v.Kind() == reflect.Bool:
		return false
	}
	return v.IsZero()
}

// Anys converts ids to values of type any: generic shells pass their lists of ids to cores,
// which have no type parameters.
func Anys[K any](ids []K) []any {
	out := make([]any, len(ids))
	for i, id := range ids {
		out[i] = id
	}
	return out
}
