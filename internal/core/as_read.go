package core

// A write that follows from a read must not overwrite what another client wrote in between. So its filter has the
// document as it was read. For {_id: 7, n: 1} the filter of AsRead is
//
//	{_id: 7, $expr: {$in: ["$$ROOT", [{$literal: {_id: 7, n: 1}}]]}}
//
// and that of Shape.AsRead, for a type with the fields _id and n,
//
//	{_id: 7, $expr: {$and: [{$eq: ["$n", 1]}]}}
//
// If the filter matches nothing, the write is stale, and whoever sent it reads again. Conditions without $expr wouldn't
// do: {n: 1} also matches n: [1, 2], and {n: null} a document without n.

import (
	"bytes"
	"reflect"
	"slices"

	"github.com/docmodel/docmodel/internal/mql"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// AsRead returns the filter for a document that is unchanged since it was read: its
// fields, their order and their values equal doc's. An expression compares whole values.
// An array that contains a value doesn't equal the value, null doesn't equal a missing
// field, and an int equals the same double. doc must have an _id. The filter contains a
// copy of doc.
func AsRead(doc bson.Raw) bson.D {
	doc = bytes.Clone(doc)
	return matchIDAndExpr(doc, documentCondition(doc))
}

// documentCondition returns the condition that a document equals doc.
func documentCondition(doc bson.Raw) bson.D {
	// Not $eq: MongoDB 4.4 and 5.0 fail where $expr compares $$ROOT with a constant.
	return bson.D{{Key: "$in", Value: bson.A{"$$ROOT", bson.A{mql.Literal(doc)}}}}
}

// FieldsAsRead returns the filter for a document whose named top-level fields are as
// read: equal to the fields of doc, or missing if doc lacks them. It compares like [AsRead]. It
// ignores names that [CheckKey] refuses, because an expression can't name them. The writes of
// schema.Versions call it, which depend on the fields that differ between versions.
func FieldsAsRead(doc bson.Raw, names ...string) bson.D {
	doc = bytes.Clone(doc)
	all := bson.A{}
	for _, name := range names {
		if CheckKey(name) == nil {
			all = append(all, fieldCondition(name, doc.Lookup(name)))
		}
	}
	return matchIDAndExpr(doc, bson.D{{Key: "$and", Value: all}})
}

// AsRead returns the filter for a document of the shape that is as it was read. doc is
// the value read, encoded again. It ignores fields that the type doesn't know. Every
// field is known if the type keeps all of them. A field that was read as empty, and may
// have been missing, must be missing, null or empty. For a type with its own marshaler
// only the fields that it writes are compared. Values are compared as [AsRead] does,
// embedded documents with all their fields. It is for callers who have only the Go document
// that they read: doc then lacks the stored fields that the type dropped.
func (s Shape) AsRead(doc bson.Raw) bson.D {
	doc = bytes.Clone(doc)
	return matchIDAndExpr(doc, s.condition(doc, nil))
}

// condition returns the condition of AsRead, without the fields added, which scopes added. A
// type that keeps all fields is compared whole, or field by field if there are added fields.
func (s Shape) condition(doc bson.Raw, added []string) bson.D {
	base, kind := reflect.Type(nil), open
	if s.Type != nil {
		kind, base = kindOf(s.Type)
	}
	if base == nil || base == rawType || base == dType || base.Kind() == reflect.Interface {
		if len(added) == 0 {
			return documentCondition(doc)
		}
		return bson.D{{Key: "$and", Value: s.codec.fieldConditions(doc, nil, true, added)}}
	}
	// A map, and a struct with an inlined map, has all fields of the document that was read.
	var own *Layout
	whole := base.Kind() == reflect.Map && !isMarshaler(base) && !isMarshaler(reflect.PointerTo(base))
	if kind == document {
		own, _ = LayoutOf(base, s.codec)
		whole = own != nil && own.Open
	}
	return bson.D{{Key: "$and", Value: s.codec.fieldConditions(doc, own, whole, added)}}
}

var dType, rawType = reflect.TypeFor[bson.D](), reflect.TypeFor[bson.Raw]()

// fieldConditions returns the conditions on a document's fields. l is the type's layout or
// nil. The fields added may have any value. whole means that the document has no further fields.
func (c *Codec) fieldConditions(doc bson.Raw, l *Layout, whole bool, added []string) bson.A {
	all, names := bson.A{}, bson.A{"_id"}
	for _, name := range added {
		names = append(names, name)
	}
	field := func(name string, v bson.RawValue) {
		names = append(names, name)
		if name == "_id" || slices.Contains(added, name) || CheckKey(name) != nil {
			return
		}
		if l != nil && l.fields[name] != nil {
			// A missing field, null and an empty value are read as the same Go value, so all of
			// them may have been stored.
			if alike := c.readAsZero(l.fields[name].typ); v.Type == 0 || isReadAsZero(alike, v) {
				held := bson.D{{Key: "$ifNull", Value: bson.A{"$" + name, nil}}}
				all = append(all, bson.D{{Key: "$in", Value: bson.A{held, mql.Literal(alike)}}})
				return
			}
		}
		all = append(all, fieldCondition(name, v))
	}
	elements, _ := doc.Elements()
	for _, e := range elements {
		field(e.Key(), e.Value())
	}
	// Fields that the type has, but that weren't encoded again: they were empty.
	if l != nil {
		for _, name := range l.Names {
			if doc.Lookup(name).Type == 0 {
				field(name, bson.RawValue{})
			}
		}
	}
	// No other field may have been added: the names of the stored document are among names.
	if whole {
		stored := bson.D{{Key: "$map", Value: bson.D{
			{Key: "input", Value: bson.D{{Key: "$objectToArray", Value: "$$ROOT"}}}, {Key: "as", Value: "f"},
			{Key: "in", Value: "$$f.k"},
		}}}
		all = append(all, bson.D{{Key: "$setIsSubset", Value: bson.A{stored, mql.Literal(names)}}})
	}
	return all
}

// readAsZero returns the values that decode as a type's zero value, as a missing field
// does: null, and the stored zero value. For a list or a map this is the empty one.
func (c *Codec) readAsZero(t reflect.Type) bson.A {
	alike := bson.A{nil}
	zero := reflect.Zero(t)
	switch {
	case t.Kind() == reflect.Slice && !isMarshaler(t):
		zero = reflect.MakeSlice(t, 0, 0)
	case t.Kind() == reflect.Map && !isMarshaler(t):
		zero = reflect.MakeMap(t)
	case t.Kind() == reflect.Pointer, t.Kind() == reflect.Interface: // nil, which is null
		return alike
	}
	doc, err := c.Document(bson.D{{Key: "v", Value: zero.Interface()}})
	if v := doc.Lookup("v"); err == nil && v.Type != 0 && v.Type != bson.TypeNull {
		alike = append(alike, v)
	}
	return alike
}

// isReadAsZero reports whether a value equals one of the values that readAsZero returned. A
// zero of another number's type is equal.
func isReadAsZero(alike bson.A, v bson.RawValue) bool {
	if v.Type == bson.TypeNull {
		return true
	}
	for _, x := range alike {
		x, ok := x.(bson.RawValue)
		if ok && (x.Equal(v) || x.IsNumber() && v.IsNumber() && x.AsFloat64() == v.AsFloat64()) {
			return true
		}
	}
	return false
}

// fieldCondition returns the condition that a field equals a value, or is missing for a value of
// type 0. $type says "missing" for a missing field only, but $eq with null matches null.
func fieldCondition(name string, v bson.RawValue) bson.D {
	if v.Type == 0 {
		return bson.D{{Key: "$eq", Value: bson.A{bson.D{{Key: "$type", Value: "$" + name}}, "missing"}}}
	}
	return bson.D{{Key: "$eq", Value: bson.A{"$" + name, mql.Literal(v)}}}
}

// matchIDAndExpr returns the filter for the document with doc's _id if a condition is true. The
// _id is outside the expression, so that a server uses the index.
func matchIDAndExpr(doc bson.Raw, condition any) bson.D {
	return bson.D{{Key: "_id", Value: mql.Eq(doc.Lookup("_id"))}, {Key: "$expr", Value: condition}}
}
