package core

import (
	"encoding/binary"
	"fmt"
	"math"
	"reflect"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// AppendDocument begins a document or an array that others hold by a name. Its elements are appended next. Its bytes, once
// [EndDocument] ended it, are those from begun.
func AppendDocument(dst []byte, t bson.Type, name string) (out []byte, begun int) {
	dst = appendHeader(dst, t, name)
	return append(dst, 0, 0, 0, 0), len(dst)
}

// EndDocument ends a document of [AppendDocument].
func EndDocument(dst []byte, begun int) []byte {
	if begun < 0 || begun > len(dst)-4 {
		Fail(fmt.Sprintf("no document begins at %d of %d bytes", begun, len(dst)), "EndDocument", "give what AppendDocument returned")
	}
	dst = append(dst, 0)
	binary.LittleEndian.PutUint32(dst[begun:], uint32(len(dst)-begun))
	return dst
}

func appendHeader(dst []byte, t bson.Type, name string) []byte {
	dst = append(dst, byte(t))
	dst = append(dst, name...)
	return append(dst, 0)
}

// AppendElement appends the element of a document that holds v by a name, to the bytes of those before it.
func (c *Codec) AppendElement(dst []byte, name string, v any) ([]byte, error) {
	if !c.rewritesScalars() && strings.IndexByte(name, 0) < 0 {
		if out, ok := appendScalar(dst, name, v); ok {
			return out, nil
		}
	}
	if k := reflect.ValueOf(v).Kind(); k == reflect.Slice || k == reflect.Map { // may hold maps, which are put in order
		var err error
		if v, err = c.Value(v); err != nil {
			return nil, err
		}
	}
	if c == nil && isPlainStruct(reflect.TypeOf(v)) {
		doc, err := bson.Marshal(v)
		return append(appendHeader(dst, bson.TypeEmbeddedDocument, name), doc...), err
	}
	doc, err := c.Document(bson.D{{Key: name, Value: v}})
	if err != nil {
		return nil, err
	}
	return append(dst, doc[4:len(doc)-1]...), nil
}

// appendScalar appends the scalars that most documents are made of, as the driver writes them.
func appendScalar(dst []byte, name string, v any) (_ []byte, ok bool) {
	le := binary.LittleEndian
	switch v := v.(type) {
	case string:
		dst = le.AppendUint32(appendHeader(dst, bson.TypeString, name), uint32(len(v)+1))
		return append(append(dst, v...), 0), true
	case int:
		if v != int(int32(v)) {
			return le.AppendUint64(appendHeader(dst, bson.TypeInt64, name), uint64(v)), true
		}
		return le.AppendUint32(appendHeader(dst, bson.TypeInt32, name), uint32(v)), true
	case int32:
		return le.AppendUint32(appendHeader(dst, bson.TypeInt32, name), uint32(v)), true
	case int64:
		return le.AppendUint64(appendHeader(dst, bson.TypeInt64, name), uint64(v)), true
	case float64:
		return le.AppendUint64(appendHeader(dst, bson.TypeDouble, name), math.Float64bits(v)), true
	case time.Time:
		return le.AppendUint64(appendHeader(dst, bson.TypeDateTime, name), uint64(v.UnixMilli())), true
	case bson.ObjectID:
		return append(appendHeader(dst, bson.TypeObjectID, name), v[:]...), true
	}
	return dst, false
}
