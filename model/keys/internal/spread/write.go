package spread

import (
	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// hashed is the number of a value of By.
func (k *Keys) hashed(v any) (uint64, error) {
	raw, err := k.docs.Raw(v)
	if err != nil {
		return 0, k.docs.Refuse(k.spec.By, nil, err.Error())
	}
	return k.hashedRaw(raw)
}

func (k *Keys) hashedRaw(raw bson.RawValue) (uint64, error) {
	if !isKey(raw) {
		return 0, k.docs.Refuse(k.spec.By, nil,
			"is missing, null, an array or a regular expression, which can't be looked up")
	}
	return uint64(k.hash(raw)), nil
}

func isKey(v bson.RawValue) bool {
	switch v.Type {
	case 0, bson.TypeNull, bson.TypeUndefined, bson.TypeRegex, bson.TypeArray:
		return false
	}
	return true
}

// Key is the key of a value for a document with a value of By.
func (k *Keys) Key(value string, by any) (string, error) {
	if k.spec.By == "" {
		return "", k.docs.Refuse("By", nil, "wasn't declared, so the caller chooses the part: use KeyAt")
	}
	if err := k.checked(value); err != nil {
		return "", err
	}
	n, err := k.hashed(by)
	return key(value, part(n, k.spec.Parts)), err
}

// KeyAt is the key of a value for a number of the caller's choice.
func (k *Keys) KeyAt(value string, number uint64) (string, error) {
	if k.spec.By != "" {
		return "", k.docs.Refuse("number", number, "can't be chosen, because By chooses the part: use Key")
	}
	return key(value, part(number, k.spec.Parts)), k.checked(value)
}

// moved brings a document under another key, if it is as it was found.
func (k *Keys) moved(d misplaced) model.Write {
	id := bson.D{{Key: "_id", Value: mql.Eq(bsonval.Clone(d.ID))}, {Key: k.path, Value: mql.Eq(bsonval.Clone(d.Key))}}
	if k.spec.By != "" && k.spec.By != "_id" {
		id = append(id, mql.E(k.spec.By, mql.Eq(bsonval.Clone(d.By))))
	}
	return model.Write{Collection: k.docs.Name(), Index: model.IDIndex, Idempotent: true, Model: &mongo.UpdateOneModel{
		Filter: id, Update: mql.Set(mql.E(k.path, d.Want)),
	}}
}
