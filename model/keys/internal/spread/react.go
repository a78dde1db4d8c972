package spread

import (
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Reactions returns how a store keeps a document under the key of its value and part.
func (k *Keys) Reactions() []model.Reaction {
	r := model.Reaction{
		Collection: k.docs.Name(), Paths: []string{k.path}, Derives: []string{k.path}, Amend: k.amend,
		Accepts: func(_ string, given, computed bson.RawValue) bool { // a value without its part
			text, isText := given.StringValueOK()
			key, isKey := computed.StringValueOK()
			value, _ := split(key)
			return isText && isKey && text == value
		},
	}
	if k.spec.By != "" {
		r.Paths = append(r.Paths, k.spec.By)
	}
	return []model.Reaction{r}
}

// amend returns the key of a document that holds a value, or the value's key.
func (k *Keys) amend(w model.StoreWrite) (bson.D, error) {
	held, _ := core.ValueAt(w.After, k.path)
	text, _ := held.StringValueOK()
	value, n := split(text)
	switch {
	case text == "":
		return nil, k.docs.Refuse(k.path, nil, "is missing: set it to a value, to which the store adds the part")
	case value == "" || k.spec.By == "" && n >= k.spec.Parts:
		return nil, k.docs.Refuse(k.path, text, "isn't a value, and isn't a key of the spread")
	}
	var want string
	var err error
	switch {
	case k.spec.By != "":
		var by bson.RawValue
		if by, err = bsonLookup(w.After, k.spec.By); err != nil {
			return nil, k.docs.Refuse(k.spec.By, nil, err.Error())
		}
		want, err = k.Key(value, by)
	case n >= 0:
		return nil, nil
	default: // a retry chooses the same part
		var number uint64
		if number, err = k.hashedRaw(w.After.Lookup("_id")); err == nil {
			want, err = k.KeyAt(value, number)
		}
	}
	return bson.D{{Key: k.path, Value: want}}, err
}
