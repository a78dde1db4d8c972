package spread

import (
	"strings"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// MakeReactions returns how a store replaces a value by its key. The shell passes it to model.Parts.WithReactions. The
// store calls the reaction for new documents, and for updates that change the key field or By.
func (k *Keys) MakeReactions() []model.Reaction {
	r := model.Reaction{
		Collection: k.docs.Name(),
		Paths:      []string{k.path},
		Derives:    []string{k.path},
		Amend:      k.amendKey,
		Accepts:    acceptValue,
	}
	if k.spec.By != "" {
		r.Paths = append(r.Paths, k.spec.By)
	}
	return []model.Reaction{r}
}

// acceptValue lets a caller write "2014-03-28" where the store computed "2014-03-28#007". The store itself accepts the
// same key, and refuses another part's.
func acceptValue(_ string, given, computed bson.RawValue) bool {
	text, isText := given.StringValueOK()
	key, isKey := computed.StringValueOK()
	value, _ := splitKey(key)
	return isText && isKey && text == value
}

// amendKey returns the key of the document after the write. The document contains a value or a key, and both give the
// value. Without By, a key is the caller's choice of a part, and stays.
func (k *Keys) amendKey(w model.StoreWrite) (bson.D, error) {
	given, _ := core.ValueAt(w.After, k.path)
	text, _ := given.StringValueOK()
	value, part := splitKey(text)
	switch {
	case text == "":
		return nil, k.docs.Refuse(k.path, nil, "is missing: set it to a value, to which the store adds the part")
	case value == "" || k.spec.By == "" && part >= k.spec.Parts:
		return nil, k.docs.Refuse(k.path, text, "isn't a value, and isn't a key of the spread")
	}
	var want string
	var err error
	switch {
	case k.spec.By != "":
		var by bson.RawValue
		if by, err = lookupBy(w.After, k.spec.By); err != nil {
			return nil, k.docs.Refuse(k.spec.By, nil, err.Error())
		}
		want, err = k.Key(value, by)
	case part >= 0:
		return nil, nil
	default:
		// By the _id, so that a retry chooses the same part. A random part would store the document twice in a sharded
		// collection, which keeps _ids unique only within a shard.
		var number uint64
		if number, err = k.hashRaw(w.After.Lookup("_id")); err == nil {
			want, err = k.KeyAt(value, number)
		}
	}
	return bson.D{{Key: k.path, Value: want}}, err
}

// lookupBy returns a copy of the value at By, which isn't in an array. Its type is 0 if the field is missing.
func lookupBy(doc bson.Raw, path string) (bson.RawValue, error) {
	if err := doc.Validate(); err != nil {
		return bson.RawValue{}, err
	}
	return bsonval.Clone(doc.Lookup(strings.Split(path, ".")...)), nil
}
