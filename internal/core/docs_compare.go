package core

// model.New compares all declarations of one collection that its techniques were given: they must agree on how the
// documents are stored. The Go types may differ only where a declaration includes both (model/model_docs.go).

import (
	"fmt"
	"reflect"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// Includes reports whether d's declaration says that documents of e's type are stored in
// the collection: the type itself, a value of d's interface (a union of types), or an older
// version.
func (d *Docs) Includes(e *Docs) bool {
	own, other := d.baseType(), e.baseType()
	isInterface := own.Kind() == reflect.Interface
	if own == other || isInterface && (other.Implements(own) || reflect.PointerTo(other).Implements(own)) {
		return true
	}
	if d.older == nil {
		return false
	}
	d.older.mu.Lock()
	defer d.older.mu.Unlock()
	for _, t := range d.older.types {
		if _, was := kindOf(t); was == other {
			return true
		}
	}
	return false
}

// IsUntyped reports whether the documents' Go type stores any document: bson.D, bson.Raw,
// a map or an empty interface. Such a declaration contradicts no other one.
func (d *Docs) IsUntyped() bool {
	base := d.baseType()
	switch {
	case openTypes[base]:
		return true
	case isMarshaler(base) || isMarshaler(reflect.PointerTo(base)):
		return false
	case base.Kind() == reflect.Interface:
		return base.NumMethod() == 0
	}
	return base.Kind() == reflect.Map || base.Kind() == reflect.Slice && base.Elem() == elemType
}

// baseType returns the documents' Go type without pointers.
func (d *Docs) baseType() reflect.Type {
	_, base := kindOf(d.typ)
	return base
}

// A Difference says how two declarations of a collection contradict each other, in words for
// the text of a *model.DeclarationError: Own and Other follow the name of the collection
// ("with versions", "without these versions").
type Difference struct{ Own, Other, Remedy string }

// Compare returns how two declarations of one collection differ in something other than
// the documents' type, or nil. It compares the types of the _ids, tags, versions, the field
// of stores and whether the _ids are made of keys. It compares tags and versions only for
// equal types, and the _ids only if both declarations are typed or both untyped.
func (d *Docs) Compare(e *Docs) *Difference {
	const oneValue = "give both techniques one Collection value"
	same := d.baseType() == e.baseType()
	switch own, other := keyClass(d.key), keyClass(e.key); {
	case own != other && own != "" && other != "" && d.IsUntyped() == e.IsUntyped():
		return &Difference{
			fmt.Sprintf("with _ids of type %s", d.key), fmt.Sprintf("with _ids of type %s", e.key),
			"declare the collection with one type of _ids",
		}
	case same && d.codec.jsonTags() != e.codec.jsonTags():
		own, other := pick(d.codec.jsonTags(), "with fields named by JSON tags", "with fields named by bson tags")
		return &Difference{own, other, "declare the collection with the same CollectionOptions"}
	case same && !d.IsUntyped() && d.older.loadVersions() != e.older.loadVersions():
		own, other := pick(d.older.loadVersions() != nil, "with versions", "without these versions")
		return &Difference{own, other, oneValue + ", that of schema.NewVersions"}
	case d.StoreField() != e.StoreField():
		return &Difference{
			"with stores' field " + string(d.StoreField()), "with stores' field " + string(e.StoreField()),
			"declare the collection with the same CollectionOptions",
		}
	case d.IsKeyed() != e.IsKeyed():
		own, other := pick(d.IsKeyed(), "with _ids made of keys", "without keys")
		return &Difference{own, other, oneValue}
	}
	return nil
}

// pick returns a and b, swapped unless first is true: the text for the own declaration comes first.
func pick(first bool, a, b string) (own, other string) {
	if first {
		return a, b
	}
	return b, a
}

// keyClass names how _ids of a Go type are stored. It is "" if that isn't known. Two Go
// types of one class have equal _ids, so they may be the K of one collection: all integers
// and floats are numbers, because a server compares them by value.
func keyClass(t reflect.Type) string {
	k, base := kindOf(t)
	switch {
	case k == document:
		return "document"
	case k != scalar:
		return ""
	case base == reflect.TypeFor[bson.DateTime]():
		return "time.Time"
	case base == reflect.TypeFor[bson.Binary]():
		return "binary"
	case scalarTypes[base]:
		return base.String()
	}
	switch base.Kind() {
	case reflect.String:
		return "string"
	case reflect.Bool:
		return "bool"
	case reflect.Slice, reflect.Array: // of bytes: other arrays aren't scalars
		return "binary"
	}
	return "number"
}
