package core

// Callers change a document by a $set of fields ([Docs.Set]) or by operators ([Docs.Update]). This file checks and
// encodes both. The update of operators is encoded at once, into a buffer of the caller, because a write that is sent
// often should not allocate a document and encode it again in the driver.

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// Set checks and encodes the fields of a caller's $set. Each must be a path of the
// documents outside arrays (an array is set whole), have the field's type, and not
// overlap another path or _id. Paths in whole can't be set in part: a technique copies the
// value of such a path, and would see only a part of the new value. The returned values are
// bson.RawValues.
func (d *Docs) Set(fields bson.D, whole ...string) (bson.D, error) {
	if len(fields) == 0 {
		return nil, d.Refuse("fields", nil, "no field was given: give at least one")
	}
	out := make(bson.D, len(fields))
	for i, e := range fields {
		f, err := d.Field(e.Key)
		switch {
		case err != nil:
			return nil, err
		case Overlap(e.Key, "_id"):
			return nil, d.Refuse(e.Key, nil, "is in the _id, which can't change")
		case f.Array != "" && f.Array != e.Key:
			return nil, d.Refuse(e.Key, nil, "is in an array: set the whole array")
		}
		for _, path := range whole {
			if strings.HasPrefix(e.Key, path+".") {
				return nil, d.Refuse(e.Key, nil,
					fmt.Sprintf("is in %q, which is also stored elsewhere: set all of it", path))
			}
		}
		for _, other := range fields[:i] {
			if Overlap(e.Key, other.Key) {
				return nil, d.Refuse(e.Key, nil,
					fmt.Sprintf("overlaps %q, which is set too: give each field once", other.Key))
			}
		}
		v, err := d.FieldValue(f, e.Value, false)
		if err != nil {
			return nil, err
		}
		out[i] = bson.E{Key: e.Key, Value: v}
	}
	return out, nil
}

// SetOrRemove checks and encodes fields like [Docs.Set]. A bson.RawValue{} stays as it is: it
// removes the field. Store.Set calls it. The path of a removal is checked as that of nil, which
// every type accepts.
func (d *Docs) SetOrRemove(fields bson.D, whole ...string) (bson.D, error) {
	given := slices.Clone(fields)
	for i, e := range given {
		if isRemoval(e) {
			given[i].Value = nil
		}
	}
	set, err := d.Set(given, whole...)
	for i, e := range fields {
		if err == nil && isRemoval(e) {
			set[i].Value = bson.RawValue{}
		}
	}
	return set, err
}

// isRemoval reports whether a field's value stands for its removal.
func isRemoval(e bson.E) bool {
	v, isRaw := e.Value.(bson.RawValue)
	return isRaw && v.Type == 0
}

// Operators checks and copies a caller's update, a document of operators. The server
// checks their meaning. Without an operator, the server would replace the document or refuse
// the update, depending on the command.
func (d *Docs) Operators(update bson.D) (bson.D, error) {
	u, err := d.codec.CopyD(update)
	if err != nil {
		return nil, d.Refuse("update", nil, err.Error())
	}
	return u, d.checkOperators(u)
}

// checkOperators refuses an empty update, and a name that isn't an operator's.
func (d *Docs) checkOperators(update bson.D) error {
	if len(update) == 0 {
		return d.Refuse("update", nil, "is empty: give at least one update operator")
	}
	for _, e := range update {
		if len(e.Key) < 2 || e.Key[0] != '$' {
			return d.Refuse(e.Key, nil, "isn't an update operator; use Replace to store a whole document")
		}
	}
	return nil
}

// Update checks a caller's update like [Docs.Operators] and [Docs.CheckUpdate], and
// encodes it. It returns a bson.Raw in room, or in a larger buffer. If the driver must
// encode a value, it returns a bson.D. Collection.Update passes room in the value that it
// returns, so that most updates need no further memory.
func (d *Docs) Update(room []byte, update bson.D) (any, error) {
	if raw, ok := d.codec.appendFastDocument(room[:0], update); ok {
		return bson.Raw(raw), d.CheckOwnUpdate(update)
	}
	u, err := d.Operators(update)
	if err == nil {
		err = d.CheckUpdate(u)
	}
	return u, err
}

// CheckOwnUpdate checks a caller's update that no Codec copied, because [Docs.UpdateWith]
// encoded its values.
func (d *Docs) CheckOwnUpdate(update bson.D) error {
	if err := d.checkOperators(update); err != nil {
		return err
	}
	return d.CheckUpdate(update)
}

// UpdateWith encodes an update of operators, followed by the fields of more. Fields of
// the same operator are joined. Each operator's value is a bson.D. It returns a bson.Raw
// in room or in a larger buffer, or nil if the driver must encode a value. embed.Versioned
// adds the increment of the version by it:
//
//	{$set: {a: 1}, $inc: {n: 2}}  with  $inc: {v: 1}  is  {$set: {a: 1}, $inc: {n: 2, v: 1}}
func (d *Docs) UpdateWith(room []byte, update bson.D, more ...bson.E) bson.Raw {
	buf := append(room[:0], 0, 0, 0, 0)
	for _, op := range update {
		begun, ok := 0, true
		buf, begun = AppendDocument(buf, bson.TypeEmbeddedDocument, op.Key)
		if buf, ok = d.appendFields(buf, op.Value.(bson.D)); !ok {
			return nil
		}
		for _, own := range more {
			if own.Key != op.Key {
				continue
			}
			if buf, ok = d.appendFields(buf, own.Value.(bson.D)); !ok {
				return nil
			}
		}
		buf = EndDocument(buf, begun)
	}
	for _, own := range more {
		var ok bool
		if slices.ContainsFunc(update, func(op bson.E) bool { return op.Key == own.Key }) {
			continue
		}
		if buf, ok = d.codec.appendFast(buf, own.Key, own.Value, 1); !ok {
			return nil
		}
	}
	return EndDocument(buf, 0)
}

// appendFields appends the fields of an operator. Their level is 2: the update is 0, and the
// operator's document 1.
func (d *Docs) appendFields(dst []byte, fields bson.D) (_ []byte, ok bool) {
	for i := range fields {
		if dst, ok = d.codec.appendFast(dst, fields[i].Key, fields[i].Value, 2); !ok {
			return dst, false
		}
	}
	return dst, true
}

// FieldValue encodes a caller's value, which must have the field's type. With element, an
// array field takes an element. A bson.RawValue must be readable as the type. Other values are
// compared by their Go type, so an int isn't accepted for a field of type int32.
func (d *Docs) FieldValue(f Field, v any, element bool) (bson.RawValue, error) {
	held, isRaw := v.(bson.RawValue)
	if isRaw && !f.Untyped && !d.isReadable(f, held, element) || !isRaw && !f.fitsType(reflect.TypeOf(v), element) {
		have, want := fmt.Sprintf("%T", v), f.Type.String()
		if !element {
			want = f.kindName()
		}
		if isRaw {
			have = "BSON " + held.Type.String()
		}
		return bson.RawValue{}, d.Refuse(f.Path, nil, fmt.Sprintf("is a %s, but the field is of type %s", have, want))
	}
	out, err := d.Raw(v)
	if err != nil {
		return bson.RawValue{}, d.Refuse(f.Path, nil, err.Error())
	}
	if path, err := CheckNames(out, f.Path); err != nil {
		return bson.RawValue{}, d.Refuse(path, nil, err.Error())
	}
	return out, nil
}

// isReadable reports whether an encoded value can be read as a field's type. It decodes a
// document with the value as its only field, because the collection's options and registry
// decide, and they apply to whole documents.
func (d *Docs) isReadable(f Field, v bson.RawValue, element bool) bool {
	t := f.Type
	if f.IsArray() && !element {
		t = reflect.SliceOf(t)
	}
	doc, err := bson.Marshal(bson.D{{Key: "v", Value: v}})
	field := reflect.StructField{Name: "V", Type: t, Tag: `bson:"v" json:"v"`}
	return err == nil && d.Decode(doc, reflect.New(reflect.StructOf([]reflect.StructField{field})).Interface()) == nil
}

// fitsType reports whether values of a type can be stored in a field. With element, an array
// field takes an element.
func (f Field) fitsType(have reflect.Type, element bool) bool {
	if have == nil || f.Untyped {
		return true
	}
	want := pointedTo(f.Type) // Field.Type has no pointer, except of a pointer type with a marshaler
	have = pointedTo(have)
	if !f.IsArray() || element {
		return have == want
	}
	if have.Kind() != reflect.Slice && have.Kind() != reflect.Array {
		return false
	}
	return pointedTo(have.Elem()) == want || have.Elem().Kind() == reflect.Interface
}

// pointedTo returns the type behind one pointer.
func pointedTo(t reflect.Type) reflect.Type {
	if t.Kind() == reflect.Pointer {
		return t.Elem()
	}
	return t
}
