package model

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/docmodel/docmodel/internal/bsonval"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// elementKey is the key of an element that the caller names, encoded.
func (m *embedding) elementKey(key any) (bson.RawValue, error) {
	v, err := m.decl.rawValue(key)
	switch {
	case err != nil:
		return v, m.refused(m.path+"."+m.key, nil, err.Error())
	case !tellsApart(v):
		return v, m.refused(m.path+"."+m.key, v, "is not a key: null would match elements without one, a regular expression is a pattern")
	}
	return v, nil
}

// tellsApart reports whether a value can be an element's key.
func tellsApart(v bson.RawValue) bool {
	switch v.Type {
	case 0, bson.TypeNull, bson.TypeUndefined, bson.TypeRegex, bson.TypeArray:
		return false
	}
	return true
}

// rawValue is a value of the caller's as the collection stores it, in bytes of its own.
func (c *declaration) rawValue(v any) (bson.RawValue, error) {
	enc, err := c.orZero().codec.value(v)
	if err != nil {
		return bson.RawValue{}, err
	}
	if held, ok := enc.(bson.RawValue); ok {
		return held, held.Validate()
	}
	doc, err := bson.Marshal(bson.D{{Key: "v", Value: enc}})
	if err != nil {
		return bson.RawValue{}, err
	}
	return bson.Raw(doc).Lookup("v"), nil
}

// part is a document of the caller's that is stored at a path, encoded and checked.
func (c *declaration) part(path string, v any) (bson.RawValue, error) {
	raw, err := c.rawValue(v)
	if err != nil {
		return raw, c.refuse(path, nil, err.Error())
	}
	if raw.Type != bson.TypeEmbeddedDocument {
		return raw, c.refuse(path, nil, "is not stored as a document")
	}
	if at, err := checkKeys(bson.Raw(raw.Value), path, 1+strings.Count(path, ".")); err != nil {
		return raw, c.refuse(at, nil, err.Error())
	}
	return raw, nil
}

// elements encodes elements and reads their keys; each must have one, and none may come twice.
func (m *embedding) elements(list []any) (elems, keys bson.A, err error) {
	if len(list) == 0 {
		return nil, nil, m.refused(m.path, nil, "no element was given")
	}
	seen := map[string]bool{}
	for i, e := range list {
		place := fmt.Sprintf("%s[%d]", m.path, i)
		v, err := m.decl.part(place, e)
		if err != nil {
			return nil, nil, err
		}
		key, inArray := ValueAt(bson.Raw(v.Value), m.key)
		switch name := bsonval.Key(key); {
		case inArray || !tellsApart(key):
			return nil, nil, m.refused(place+"."+m.key, nil, "the element has no key")
		case seen[name]:
			return nil, nil, m.refused(place+"."+m.key, key, "two elements have the same key")
		default:
			seen[name] = true
		}
		elems, keys = append(elems, v), append(keys, key)
	}
	return elems, keys, nil
}

// elementOperators are those that a write to one element may use. $rename can't reach into arrays, and $setOnInsert inserts nothing.
var elementOperators = map[string]bool{
	"$set": true, "$unset": true, "$inc": true, "$mul": true, "$min": true, "$max": true, "$bit": true, "$currentDate": true,
	"$push": true, "$addToSet": true, "$pull": true, "$pullAll": true, "$pop": true,
}

// operators are update operators on fields of the element, with the paths that reach it from the document. Fields are checked
// against those of the element, which are at a path in so many arrays. key is what may not be written, or "".
func (c *declaration) operators(update bson.D, base string, arrays int, prefix, key string) (bson.D, error) {
	if err := checkOperators(c.name, update); err != nil {
		return nil, err
	}
	out := make(bson.D, 0, len(update))
	for i, op := range update {
		fields, ok := op.Value.(bson.D)
		switch {
		case !elementOperators[op.Key]:
			return nil, c.refuse(op.Key, nil, "can't be applied to an element")
		case hasKey(update[:i], op.Key):
			return nil, c.refuse(op.Key, nil, "is given twice")
		case !ok || len(fields) == 0:
			return nil, c.refuse(op.Key, nil, "needs a bson.D of fields of the element")
		}
		scoped := make(bson.D, len(fields))
		for j, f := range fields {
			if err := c.innerField(base, f.Key, arrays, key); err != nil {
				return nil, err
			}
			v, err := c.codec.value(f.Value)
			if err != nil {
				return nil, c.refuse(base+"."+f.Key, nil, err.Error())
			}
			if op.Key == "$set" {
				if at, err := CheckNames(v, base+"."+f.Key); err != nil {
					return nil, c.refuse(at, nil, err.Error())
				}
			}
			scoped[j] = bson.E{Key: prefix + "." + f.Key, Value: v}
		}
		out = append(out, bson.E{Key: op.Key, Value: scoped})
	}
	return out, nil
}

// innerField checks that the document at a path, in so many arrays, has a field that can be written by its name alone.
func (c *declaration) innerField(base, name string, arrays int, key string) error {
	f, err := c.field(base + "." + name)
	crossed := f.Arrays - arrays
	if f.IsArray() {
		crossed--
	}
	switch {
	case err != nil:
		return c.refuse(base, name, err.Error())
	case key != "" && Overlap(name, key):
		return c.refuse(base+"."+name, nil, "is the element's key: add an element under the new key, and remove this one")
	case !f.Open && crossed > 0:
		return c.refuse(base+"."+name, nil, "lies inside another array: declare that with NewNested")
	}
	return nil
}

// conditions checks and copies conditions on fields of one element: of its own, and $and, $or and $nor of such.
func (c *declaration) conditions(base string, cond bson.D) (bson.D, error) {
	return c.conditionsOn(base, cond, func(name string) error {
		_, err := c.field(base + "." + name)
		return err
	})
}

// conditionsOn is conditions on fields that a function knows, at a path or, if that is "", of the documents.
func (c *declaration) conditionsOn(base string, cond bson.D, check func(name string) error) (bson.D, error) {
	out := make(bson.D, 0, len(cond))
	for _, e := range cond {
		switch e.Key {
		case "$and", "$or", "$nor":
			list, err := c.conditionLists(base, e, check)
			if err != nil {
				return nil, err
			}
			out = append(out, bson.E{Key: e.Key, Value: list})
			continue
		}
		if err := check(e.Key); err != nil {
			return nil, c.refuse(cmp.Or(base, "conditions"), e.Key, err.Error())
		}
		v, err := c.codec.value(e.Value)
		if err != nil {
			return nil, c.refuse(strings.TrimPrefix(base+"."+e.Key, "."), nil, err.Error())
		}
		out = append(out, bson.E{Key: e.Key, Value: v})
	}
	return out, nil
}

func (c *declaration) conditionLists(base string, e bson.E, check func(name string) error) (bson.A, error) {
	list, ok := e.Value.(bson.A)
	if !ok || len(list) == 0 {
		return nil, c.refuse(e.Key, nil, "needs a bson.A of conditions")
	}
	out := make(bson.A, len(list))
	for i, x := range list {
		d, ok := x.(bson.D)
		if !ok || len(d) == 0 {
			return nil, c.refuse(e.Key, nil, "needs a bson.A of conditions, each a bson.D")
		}
		inner, err := c.conditionsOn(base, d, check)
		if err != nil {
			return nil, err
		}
		out[i] = inner
	}
	return out, nil
}

// prefixed are conditions on an element's fields, once it stands alone at a path.
func prefixed(path string, cond bson.D) bson.D {
	out := make(bson.D, len(cond))
	for i, e := range cond {
		out[i] = bson.E{Key: path + "." + e.Key, Value: e.Value}
		if list, ok := e.Value.(bson.A); ok && strings.HasPrefix(e.Key, "$") {
			all := make(bson.A, len(list))
			for j, x := range list {
				all[j] = prefixed(path, x.(bson.D))
			}
			out[i] = bson.E{Key: e.Key, Value: all}
		}
	}
	return out
}
