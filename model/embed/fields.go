package embed

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/direction"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// elementType checks that the path's documents have the Go type elem. It returns nil if
// the declared type leaves the path open.
func elementType(c *core.Docs, place core.Place, f core.Field, elem reflect.Type) reflect.Type {
	if f.Type != nil && f.Type != elem {
		place.Fail(fmt.Sprintf("path %q holds values of type %s, not %s", f.Path, f.Type, elem),
			"use the type in the documents, without pointers")
	}
	if l, err := core.LayoutOf(elem, c.Codec()); err != nil || len(l.Names) == 0 && !l.Open {
		place.Fail(fmt.Sprintf("%s isn't stored as a document", elem),
			"embed structs; for an array of plain values use $addToSet and $pull")
	}
	return f.Type
}

// checkIndexes checks and copies the keys of indexes. Their fields are paths within the
// value at path.
func checkIndexes(c *core.Docs, place core.Place, path string, indexes []bson.D) (out []bson.D) {
	for _, keys := range indexes {
		checkKeys(place, keys)
		for _, k := range keys {
			c.MustField(path + "." + k.Key)
		}
		out = append(out, slices.Clone(keys))
	}
	return out
}

// elementOperators are the update operators that a write to one element may use. $rename
// can't reach into arrays, and $setOnInsert has no effect without an insert.
var elementOperators = map[string]bool{
	"$set": true, "$unset": true, "$inc": true, "$mul": true, "$min": true, "$max": true,
	"$bit": true, "$currentDate": true, "$push": true, "$addToSet": true, "$pull": true, "$pullAll": true, "$pop": true,
}

// checkKeys checks the fields and directions of an index.
func checkKeys(place core.Place, keys bson.D) {
	if len(keys) == 0 {
		place.Fail("an index has no key", "name the fields of the index")
	}
	for i, k := range keys {
		if !ordersOnce(keys, i) {
			place.Fail(fmt.Sprintf("an index has the field %s with the value %s", k.Key, model.Shell(k.Value)),
				"name each field once, with 1 or -1")
		}
	}
}

// ordersOnce reports whether field i has a direction, and isn't listed before.
func ordersOnce(sort bson.D, i int) bool {
	return direction.Parse(sort[i].Value) != 0 && !has(sort[:i], sort[i].Key)
}

func has(d bson.D, key string) bool { return bsonval.Index(d, key) >= 0 }

// operators returns the update with the full paths of the element's fields, and checks
// these fields. The element is at base, inside so many arrays, and prefix is its path in
// the update. key is the field that may not be written, or "".
func operators(c *core.Docs, update bson.D, base string, arrays int, prefix, key string) (bson.D, error) {
	u, err := c.Operators(update)
	if err != nil {
		return nil, err
	}
	for i, op := range u {
		fields, ok := op.Value.(bson.D)
		switch {
		case !elementOperators[op.Key]:
			return nil, c.Refuse(op.Key, nil,
				"can't update an element: use $set, $unset, $inc, $push or another operator on fields of the element")
		case has(u[:i], op.Key):
			return nil, c.Refuse(op.Key, nil, "is given twice: give it once")
		case !ok || len(fields) == 0:
			return nil, c.Refuse(op.Key, nil, "needs a bson.D of fields of the element")
		}
		for j, f := range fields {
			if err := innerField(c, base, f.Key, arrays, key); err != nil {
				return nil, err
			}
			if op.Key == "$set" {
				if at, err := core.CheckNames(f.Value, base+"."+f.Key); err != nil {
					return nil, c.Refuse(at, nil, err.Error())
				}
			}
			fields[j].Key = prefix + "." + f.Key
		}
	}
	return u, nil
}

// innerField checks that the element at base has a field that an update can write by its
// name alone. The element is inside so many arrays.
func innerField(c *core.Docs, base, name string, arrays int, key string) error {
	f, err := c.Lookup(base + "." + name)
	crossed := f.Arrays - arrays
	if f.IsArray() {
		crossed--
	}
	switch {
	case err != nil:
		return c.Refuse(base, name, err.Error())
	case key != "" && core.Overlap(name, key):
		return c.Refuse(base+"."+name, nil, "is the element's key: add an element with the new key, and remove this element")
	case !f.Untyped && crossed > 0:
		return c.Refuse(base+"."+name, nil, "is in another array: declare that array with NewNested")
	}
	return nil
}

// conditions checks and copies conditions on fields of one element, also inside $and, $or
// and $nor.
func conditions(c *core.Docs, base string, cond bson.D) (bson.D, error) {
	return conditionsOn(c, base, cond, func(name string) error {
		_, err := c.Lookup(base + "." + name)
		return err
	})
}

// conditionsOn is conditions with a function that checks field names. base is the path of
// the element, or "" for whole documents.
func conditionsOn(c *core.Docs, base string, cond bson.D, check func(name string) error) (bson.D, error) {
	out := make(bson.D, 0, len(cond))
	for _, e := range cond {
		switch e.Key {
		case "$and", "$or", "$nor":
			list, err := conditionLists(c, base, e, check)
			if err != nil {
				return nil, err
			}
			out = append(out, bson.E{Key: e.Key, Value: list})
			continue
		}
		if err := check(e.Key); err != nil {
			return nil, c.Refuse(cmp.Or(base, "conditions"), e.Key, err.Error())
		}
		v, err := c.Codec().Value(e.Value)
		if err != nil {
			return nil, c.Refuse(strings.TrimPrefix(base+"."+e.Key, "."), nil, err.Error())
		}
		out = append(out, bson.E{Key: e.Key, Value: v})
	}
	return out, nil
}

func conditionLists(c *core.Docs, base string, e bson.E, check func(name string) error) (bson.A, error) {
	list, ok := e.Value.(bson.A)
	if !ok || len(list) == 0 {
		return nil, c.Refuse(e.Key, nil, "needs a bson.A of conditions")
	}
	out := make(bson.A, len(list))
	for i, x := range list {
		d, ok := x.(bson.D)
		if !ok || len(d) == 0 {
			return nil, c.Refuse(e.Key, nil, "needs a bson.A of conditions, each a bson.D")
		}
		inner, err := conditionsOn(c, base, d, check)
		if err != nil {
			return nil, err
		}
		out[i] = inner
	}
	return out, nil
}

// prefixed returns conditions on an element's fields as conditions on fields below path.
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

// toParent is the write that updates the document with this _id.
func toParent(c *core.Docs, id any, update bson.D) model.Write {
	byID, err := c.ByID(id)
	if err != nil {
		return model.Refused(c.Name(), err)
	}
	return model.Write{
		Collection: c.Name(), Expect: model.One, Index: model.IDIndex,
		Model: &mongo.UpdateOneModel{Filter: byID, Update: update},
	}
}
