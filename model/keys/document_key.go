package keys

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// DocumentKey is the same key as a [Composite], as a document: {_id: {state: 'CA', city: 'San Francisco', user: 42}}. Its parts
// keep their types and need no encoding, and can be asked for by themselves (with an index on "_id.city", say). Make it with
// [NewDocumentKey].
//
// # The order of its fields
//
// To MongoDB a document is a list of fields in an order. {_id: {city: 'San Francisco', state: 'CA', user: 42}} is another
// document, which can be stored beside the first, and finds nothing of it. A Go map has no order, and so can't be such an _id;
// a struct has the order of its fields, and bson.D that of its elements. Here the order is declared, and all that is generated
// follows it; a K whose fields are in another order is refused.
//
// Documents compare field by field: the type of the first field's value, then its name, then the value; then the second field;
// and one that has no more fields is less (manual: "Comparison/Sort Order", "Objects"). So ranges of whole documents work, are
// served by the index on _id, and are what [DocumentKey.Prefix] and [DocumentKey.Range] return: from {state: 'CA', city: MinKey()}
// to {state: 'CA', city: MaxKey()}. But by the same rule
//
//   - a bound of another type (a Long for a string, null) is above or below everything, and no error;
//   - a bound whose first field has another name is compared by that name;
//   - an _id of fewer or more fields, or in another order, lies somewhere in between;
//   - conditions on a field ("_id.state": 'CA') find documents in any order of fields, and are not served by the index on _id,
//     whose key is the whole document.
//
// In a string key none of that can happen, and any tool can type it. Where ids should keep their types, take this one.
//
// Source: "Composite Key Index" (seed 002 §8).
type DocumentKey[D, K any] struct {
	docs *model.Collection[D, K]
	c    *composite
}

// NewDocumentKey declares that documents have an _id that is a document of parts, in their order. A part's path is the name of
// a field of the _id. It panics with a [*model.DeclarationError] when there are less than two parts, when one is there twice,
// has a dot in its name, isn't a field of K or of another type there; and when K has other fields, or in another order, is a
// map, or has a field with omitempty, which its zero value would leave out of the key.
func NewDocumentKey[D, K any](docs *model.Collection[D, K], parts ...Part) *DocumentKey[D, K] {
	c := composite{name: docs.Name(), parts: parts, enc: docs.Encode}
	x := &DocumentKey[D, K]{docs, declareParts(c, "NewDocumentKey", func(name string) model.Field { return model.MustField(docs, "_id."+name) })}
	var zero K
	x.c.declareDocument(model.ShapeOf(docs).As(reflect.TypeFor[K]()).Nested(), zero)
	return x
}

// declareDocument checks a document's fields against those of K. Of a K that marshals itself they are those that its zero value has.
func (c *composite) declareDocument(k model.Shape, zero any) {
	bad := func(problem, remedy string) {
		panic(&model.DeclarationError{Problem: problem, Place: "NewDocumentKey of " + c.name, Remedy: remedy})
	}
	var want, got []string
	for _, p := range c.parts {
		if err := model.CheckKey(p.Path); err != nil || p.only {
			bad(fmt.Sprintf("part %q is no field of the _id", p.Path), "name fields of the _id; all of them are in the key alone")
		}
		want = append(want, p.Path)
	}
	fields, rest := k.Fields()
	switch {
	case k.Type.Kind() == reflect.Map, rest != nil:
		bad(fmt.Sprintf("the _id's type %s is or holds a map, whose fields have no order", k.Type), "use a struct, or bson.D")
	case k.Kind == model.DocumentShape:
		for _, f := range fields {
			if f.Optional {
				bad(fmt.Sprintf("field %q of the _id's type %s isn't stored when it is empty", f.Name, k.Type),
					"take omitempty off it, or the pointer off the struct that it is inlined by: an _id without it is another key")
			}
			got = append(got, f.Name)
		}
	default:
		v, err := c.encoded("_id", zero)
		doc, ok := v.DocumentOK()
		if err != nil || !ok {
			return
		}
		elements, _ := doc.Elements()
		for _, e := range elements {
			got = append(got, e.Key())
		}
		if len(got) == 0 {
			return
		}
	}
	if !slices.Equal(got, want) {
		bad(fmt.Sprintf("the _id's type %s has the fields %q, and the parts are %q", k.Type, got, want), "name the parts in the order of the type's fields, all of them")
	}
}

// ID returns the _id of values, one for each part, in their order.
func (x *DocumentKey[D, K]) ID(values ...any) (bson.D, error) { return x.c.document(values) }

// ByKey returns the query of one document by all its parts. None is model.ErrNotFound.
//
// Cost: one command, one document by _id.
func (x *DocumentKey[D, K]) ByKey(values ...any) model.Find[D] {
	id, err := x.c.document(values)
	f := x.ordered(bson.D{{Key: "_id", Value: model.Eq(id)}}, err)
	f.Sort, f.Limit = nil, 1
	return f
}

// Prefix returns the documents whose first parts are the values, in the order of keys. Without values it is all documents. Page
// it with Limited and After(doc.ID).
//
// Cost: one command, and one per further batch; served by _id.
func (x *DocumentKey[D, K]) Prefix(values ...any) model.Find[D] {
	filter, err := x.c.documentsUnder(values)
	return x.ordered(filter, err)
}

// Range returns the documents whose first parts are those of prefix, and whose next part is from ≤ part < to, in the order of
// keys; nil is no bound.
//
// Cost: as [DocumentKey.Prefix].
func (x *DocumentKey[D, K]) Range(prefix []any, from, to any) model.Find[D] {
	filter, err := x.c.documentsWithin(prefix, from, to)
	return x.ordered(filter, err)
}

// Descending returns a query of this key's with the last keys first. Page it with Limited and After(doc.ID).
//
// Cost: that of the query; the index on _id is walked backwards, which costs the same.
func (x *DocumentKey[D, K]) Descending(f model.Find[D]) model.Find[D] {
	f.Sort = bson.D{{Key: "_id", Value: -1}}
	return f
}

// Indexes returns none: the index on _id serves all.
func (x *DocumentKey[D, K]) Indexes() []model.Index { return nil }

// Relations returns none.
func (x *DocumentKey[D, K]) Relations() []model.Relation { return nil }

func (x *DocumentKey[D, K]) ordered(filter bson.D, err error) model.Find[D] {
	f := x.docs.Find(filter)
	orderByID(&f.Query, err)
	return f
}

func (c *composite) document(values []any) (bson.D, error) {
	vs, err := c.all(values)
	return c.named(vs), err
}

// named are the first parts with their names.
func (c *composite) named(vs []bson.RawValue) bson.D {
	d := make(bson.D, 0, len(vs)+1)
	for i, v := range vs {
		d = append(d, bson.E{Key: c.parts[i].Path, Value: v})
	}
	return d
}

func (c *composite) documentsUnder(values []any) (bson.D, error) {
	vs, err := c.read(values)
	switch {
	case err != nil:
		return nil, err
	case len(vs) == 0:
		return bson.D{}, nil
	case len(vs) == len(c.parts):
		return bson.D{{Key: "_id", Value: model.Eq(c.named(vs))}}, nil
	}
	return c.documentRange(vs, [2]bson.RawValue{}), nil
}

func (c *composite) documentsWithin(prefix []any, from, to any) (bson.D, error) {
	vs, bounds, err := c.bounds(prefix, from, to)
	if err != nil {
		return nil, err
	}
	if bounds[0].Type != 0 && bounds[1].Type != 0 {
		low, err := c.appendPart(nil, len(vs), bounds[0])
		high, err2 := c.appendPart(nil, len(vs), bounds[1])
		if err != nil || err2 != nil || string(high) < string(low) {
			return nil, c.refused("to", held(bounds[1]), "comes before from")
		}
	}
	return c.documentRange(vs, bounds), nil
}

// documentRange matches documents that begin with parts, and whose next part is from ≤ part < to.
func (c *composite) documentRange(vs []bson.RawValue, bounds [2]bson.RawValue) bson.D {
	next := c.parts[len(vs)].Path
	low, high := c.named(vs), c.named(vs)
	if bounds[0].Type != 0 {
		low = append(low, bson.E{Key: next, Value: bounds[0]})
	} else {
		low = append(low, bson.E{Key: next, Value: bson.MinKey{}})
	}
	if bounds[1].Type != 0 {
		high = append(high, bson.E{Key: next, Value: bounds[1]})
	} else {
		high = append(high, bson.E{Key: next, Value: bson.MaxKey{}})
	}
	return bson.D{{Key: "_id", Value: bson.D{{Key: "$gte", Value: low}, {Key: "$lt", Value: high}}}}
}
