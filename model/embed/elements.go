package embed

import (
	"fmt"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/core"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// elementKey encodes the caller's key of an element.
func (m *embedding) elementKey(key any) (bson.RawValue, error) {
	v, err := m.docs.Raw(key)
	switch {
	case err != nil:
		return v, m.docs.Refuse(m.path+"."+m.key, nil, err.Error())
	case !tellsApart(v):
		return v, m.docs.Refuse(m.path+"."+m.key, v,
			"can't be a key: null would match elements without a key, and a regular expression is a pattern")
	}
	return v, nil
}

// tellsApart reports whether v can be an element's key.
func tellsApart(v bson.RawValue) bool {
	switch v.Type {
	case 0, bson.TypeNull, bson.TypeUndefined, bson.TypeRegex, bson.TypeArray:
		return false
	}
	return true
}

// elements encodes elements and reads their keys. It refuses an element without a key,
// and two elements with the same key.
func (m *embedding) elements(list []any) (elems, keys bson.A, err error) {
	if len(list) == 0 {
		return nil, nil, m.docs.Refuse(m.path, nil, "no element was given: give at least one")
	}
	seen := map[string]bool{}
	for i, e := range list {
		place := fmt.Sprintf("%s[%d]", m.path, i)
		v, err := m.docs.Part(place, e)
		if err != nil {
			return nil, nil, err
		}
		key, inArray := core.ValueAt(bson.Raw(v.Value), m.key)
		switch name := bsonval.Key(key); {
		case inArray || !tellsApart(key):
			return nil, nil, m.docs.Refuse(place+"."+m.key, nil, "the element has no key: give a value to the Key field")
		case seen[name]:
			return nil, nil, m.docs.Refuse(place+"."+m.key, key, "two elements have the same key: give each key once")
		default:
			seen[name] = true
		}
		elems, keys = append(elems, v), append(keys, key)
	}
	return elems, keys, nil
}
