package mongotest

import (
	"reflect"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"
)

// Stored values, in the form that Diff compares: a storedDocument, a storedArray, or a
// storedScalar.
type (
	storedDocument struct {
		Order  fieldOrder // nil if it has none
		Fields map[string]any
	}
	storedArray  []any
	storedScalar struct {
		Type bson.Type
		Data string
	}
	fieldOrder []string
)

// maxNesting is the depth to which a value is searched for maps. MongoDB stores 100 levels.
const maxNesting = 100

type reflectValue = reflect.Value

var fieldOrderType = reflect.TypeFor[fieldOrder]()

func (o fieldOrder) String() string { return strings.Join(o, ", ") }

// storedValue returns how v is stored. It looks into maps and slices, because documents
// from a map have no field order.
func storedValue(v any) (any, error) {
	switch v := v.(type) {
	case nil:
		return storedScalar{Type: bson.TypeNull}, nil
	case bson.D:
		if v == nil {
			return storedScalar{Type: bson.TypeNull}, nil
		}
		out := storedDocument{Order: fieldOrder{}, Fields: map[string]any{}}
		for _, e := range v {
			field, err := storedValue(e.Value)
			if err != nil {
				return nil, err
			}
			out.add(e.Key, field)
		}
		return out, nil
	case bson.Raw:
		return storedRaw(bson.RawValue{Type: bson.TypeEmbeddedDocument, Value: v}, true)
	case bson.RawValue:
		return storedRaw(v, true)
	case bson.RawArray:
		return storedRaw(bson.RawValue{Type: bson.TypeArray, Value: v}, true)
	case bson.ValueMarshaler, bson.Marshaler, []byte, bson.ObjectID:
		return marshaled(v)
	}
	r := reflect.ValueOf(v)
	switch {
	case r.Kind() == reflect.Map && !r.IsNil() && r.Type().Key().Kind() == reflect.String:
		out := storedDocument{Fields: map[string]any{}}
		for _, key := range r.MapKeys() {
			field, err := storedValue(r.MapIndex(key).Interface())
			if err != nil {
				return nil, err
			}
			out.Fields[key.String()] = field
		}
		return out, nil
	case r.Kind() == reflect.Slice && !r.IsNil() && r.Type().Elem().Kind() != reflect.Uint8:
		out := storedArray{}
		for i := range r.Len() {
			item, err := storedValue(r.Index(i).Interface())
			if err != nil {
				return nil, err
			}
			out = append(out, item)
		}
		return out, nil
	}
	return marshaled(v)
}

func marshaled(v any) (any, error) {
	t, data, err := bson.MarshalValue(v)
	if err != nil {
		return nil, err
	}
	return storedRaw(bson.RawValue{Type: t, Value: data}, !holdsMap(reflect.ValueOf(v), maxNesting))
}

func storedRaw(v bson.RawValue, ordered bool) (any, error) {
	if err := v.Validate(); err != nil {
		return nil, err
	}
	switch v.Type {
	case bson.TypeEmbeddedDocument:
		out := storedDocument{Fields: map[string]any{}}
		if ordered {
			out.Order = fieldOrder{}
		}
		elements, err := v.Document().Elements()
		if err != nil {
			return nil, err
		}
		for _, e := range elements {
			field, err := storedRaw(e.Value(), ordered)
			if err != nil {
				return nil, err
			}
			out.add(e.Key(), field)
		}
		return out, nil
	case bson.TypeArray:
		out := storedArray{}
		values, err := v.Array().Values()
		if err != nil {
			return nil, err
		}
		for _, item := range values {
			s, err := storedRaw(item, ordered)
			if err != nil {
				return nil, err
			}
			out = append(out, s)
		}
		return out, nil
	}
	return storedScalar{v.Type, string(v.Value)}, nil
}

// add stores a field. A duplicate name, which BSON allows, gets a prime.
func (d *storedDocument) add(key string, v any) {
	for {
		if _, taken := d.Fields[key]; !taken {
			break
		}
		key += "′"
	}
	d.Fields[key] = v
	if d.Order != nil {
		d.Order = append(d.Order, key)
	}
}

// holdsMap reports whether v is, or contains, a non-empty map, whose fields are encoded
// in any order.
func holdsMap(v reflect.Value, depth int) bool {
	if depth == 0 {
		return true
	}
	switch v.Kind() {
	case reflect.Map:
		return v.Len() > 0
	case reflect.Pointer, reflect.Interface:
		return !v.IsNil() && holdsMap(v.Elem(), depth-1)
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			if v.Type().Elem().Kind() != reflect.Uint8 && holdsMap(v.Index(i), depth-1) {
				return true
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() && holdsMap(v.Field(i), depth-1) {
				return true
			}
		}
	}
	return false
}

// rebuild returns the original value, for display.
func rebuild(v any) bson.RawValue {
	switch v := v.(type) {
	case storedScalar:
		return bson.RawValue{Type: v.Type, Value: []byte(v.Data)}
	case storedArray:
		b := bsoncore.NewArrayBuilder()
		for _, item := range v {
			r := rebuild(item)
			b.AppendValue(bsoncore.Value{Type: bsoncore.Type(r.Type), Data: r.Value})
		}
		return bson.RawValue{Type: bson.TypeArray, Value: b.Build()}
	case storedDocument:
		keys := slices.Clone(v.Order)
		if keys == nil {
			for key := range v.Fields {
				keys = append(keys, key)
			}
			slices.Sort(keys)
		}
		b := bsoncore.NewDocumentBuilder()
		for _, key := range keys {
			r := rebuild(v.Fields[key])
			b.AppendValue(key, bsoncore.Value{Type: bsoncore.Type(r.Type), Data: r.Value})
		}
		return bson.RawValue{Type: bson.TypeEmbeddedDocument, Value: bson.Raw(b.Build())}
	}
	return bson.RawValue{}
}

// typeName returns the name of a BSON type for display.
func typeName(t bson.Type) string {
	switch t {
	case bson.TypeInt32:
		return "int32"
	case bson.TypeInt64:
		return "int64"
	case bson.TypeEmbeddedDocument:
		return "document"
	}
	return t.String()
}
