package core

import (
	"encoding/binary"
	"fmt"
	"reflect"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// AppendDocument begins a document or array with a field name. Append its elements next,
// then call [EndDocument]. begun is where its bytes start. In BSON (https://bsonspec.org/spec.html)
// an element is its type, its name, a NUL and its value. A document is its length in four bytes,
// which are only known at the end, its elements, and a NUL.
func AppendDocument(dst []byte, t bson.Type, name string) (out []byte, begun int) {
	dst = appendHeader(dst, t, name)
	return append(dst, 0, 0, 0, 0), len(dst)
}

// EndDocument ends a document of [AppendDocument]. It fills in the length. Without a document
// around it, begin with four bytes of zero and give their index.
func EndDocument(dst []byte, begun int) []byte {
	if begun < 0 || begun > len(dst)-4 {
		Fail(fmt.Sprintf("there is no document at byte %d of %d", begun, len(dst)), "EndDocument",
			"give a result of AppendDocument")
	}
	dst = append(dst, 0)
	binary.LittleEndian.PutUint32(dst[begun:], uint32(len(dst)-begun))
	return dst
}

// appendHeader appends what precedes an element's value. The name must have no NUL: callers
// checked it.
func appendHeader(dst []byte, t bson.Type, name string) []byte {
	dst = append(dst, byte(t))
	dst = append(dst, name...)
	return append(dst, 0)
}

// AppendRaw appends an element with a name and an encoded value.
func AppendRaw(dst []byte, name string, v bson.RawValue) []byte {
	return append(appendHeader(dst, v.Type, name), v.Value...)
}

// AppendElement appends an element with name and v to dst. It is Value followed by the driver's
// encoding, without the driver for frequent types.
func (c *Codec) AppendElement(dst []byte, name string, v any) ([]byte, error) {
	if out, ok := c.appendFast(dst, name, v, 0); ok {
		return out, nil
	}
	// Value checks the bytes of a RawValue, and puts the keys of maps in order, which slices may
	// contain too. Other values are encoded as they are.
	_, raw := v.(bson.RawValue)
	if k := reflect.ValueOf(v).Kind(); raw || k == reflect.Slice || k == reflect.Map {
		var err error
		if v, err = c.Value(v); err != nil {
			return nil, err
		}
	}
	doc, err := c.Document(bson.D{{Key: name, Value: v}})
	if err != nil {
		return nil, err
	}
	return append(dst, doc[4:len(doc)-1]...), nil // without the length and the end of the document
}
