package mongotest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/docmodel/docmodel/internal/mongosh"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"
)

// Recordings are extended JSON. An int32 is a plain number, and a double has a fraction.
// Other numbers are written with their type, so every value keeps its type.

// typeKeys are the first keys of objects that extended JSON uses for values.
var typeKeys = map[string]bool{
	"$oid": true, "$date": true, "$numberInt": true, "$numberLong": true, "$numberDouble": true, "$numberDecimal": true,
	"$binary": true, "$timestamp": true, "$regularExpression": true, "$undefined": true, "$dbPointer": true, "$code": true,
	"$symbol": true, "$minKey": true, "$maxKey": true, documentKey: true,
}

// documentKey encloses a document with a type key as its first field.
const documentKey = "$document"

const textWidth = 110 // a wider document gets a line for each field

// extendedText returns a value as text, indented by two spaces for each level.
func extendedText(v bson.RawValue) (string, error) {
	w := &textWriter{}
	b := w.value(nil, v, 0)
	return string(b), w.err
}

type textWriter struct{ err error }

func (w *textWriter) value(b []byte, v bson.RawValue, level int) []byte {
	line := w.line(nil, v)
	open, closing := byte('{'), byte('}')
	if v.Type == bson.TypeArray {
		open, closing = '[', ']'
	} else if v.Type != bson.TypeEmbeddedDocument || bytes.HasPrefix(line, []byte(`{"`+documentKey+`"`)) {
		return append(b, line...)
	}
	elements, err := bson.Raw(v.Value).Elements()
	if err != nil || len(elements) == 0 || len(line)+2*level <= textWidth {
		return append(b, line...)
	}
	b = append(b, open)
	for i, e := range elements {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(b, '\n'), strings.Repeat("  ", level+1)...)
		if open == '{' {
			b = append(w.quoted(b, e.Key()), ": "...)
		}
		b = w.value(b, e.Value(), level+1)
	}
	b = append(append(b, '\n'), strings.Repeat("  ", level)...)
	return append(b, closing)
}

// line writes a value without line breaks.
func (w *textWriter) line(b []byte, v bson.RawValue) []byte {
	switch v.Type {
	case bson.TypeEmbeddedDocument, bson.TypeArray:
		return w.container(b, v)
	case bson.TypeString:
		return w.quoted(b, v.StringValue())
	case bson.TypeInt32:
		return strconv.AppendInt(b, int64(v.Int32()), 10)
	case bson.TypeInt64:
		return fmt.Appendf(b, `{"$numberLong": "%d"}`, v.Int64())
	case bson.TypeObjectID:
		return fmt.Appendf(b, `{"$oid": "%s"}`, v.ObjectID().Hex())
	case bson.TypeBoolean:
		return strconv.AppendBool(b, v.Boolean())
	case bson.TypeNull:
		return append(b, "null"...)
	case bson.TypeDouble:
		f := v.Double()
		text := strconv.FormatFloat(f, 'f', -1, 64)
		if math.IsNaN(f) || math.IsInf(f, 0) || len(text) > 20 || f == 0 && math.Signbit(f) {
			break
		}
		if !strings.Contains(text, ".") {
			text += ".0"
		}
		return append(b, text...)
	case bson.TypeDateTime:
		t := time.UnixMilli(v.DateTime()).UTC()
		if y := t.Year(); y < 1970 || y > 9999 {
			break
		}
		return append(t.AppendFormat(append(b, `{"$date": "`...), "2006-01-02T15:04:05.000Z"), `"}`...)
	}
	text, err := bson.MarshalExtJSON(bson.D{{Key: "v", Value: v}}, true, false)
	if err != nil {
		w.fail(err)
		return b
	}
	inner := strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(string(text)), `{"v":`), "}")
	return append(b, inner...)
}

func (w *textWriter) container(b []byte, v bson.RawValue) []byte {
	elements, err := bson.Raw(v.Value).Elements()
	if err != nil {
		w.fail(err)
		return b
	}
	if v.Type == bson.TypeArray {
		b = append(b, '[')
		for i, e := range elements {
			if i > 0 {
				b = append(b, ", "...)
			}
			b = w.line(b, e.Value())
		}
		return append(b, ']')
	}
	enclosed := len(elements) > 0 && typeKeys[elements[0].Key()]
	if enclosed {
		b = append(b, `{"`+documentKey+`": `...)
	}
	b = append(b, '{')
	for i, e := range elements {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = w.line(append(w.quoted(b, e.Key()), ": "...), e.Value())
	}
	b = append(b, '}')
	if enclosed {
		b = append(b, '}')
	}
	return b
}

func (w *textWriter) quoted(b []byte, s string) []byte {
	if !utf8.ValidString(s) {
		w.fail(fmt.Errorf("a string that isn't UTF-8: %q", mongosh.Shorten(s, 40)))
	}
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // a string can be encoded
	return append(b, bytes.TrimSuffix(out.Bytes(), []byte("\n"))...)
}

func (w *textWriter) fail(err error) {
	if w.err == nil {
		w.err = err
	}
}

// parseExtended reads a document that [extendedText] wrote, or in its form.
func parseExtended(text string) (bson.Raw, error) {
	v, err := parseJSON([]byte(text))
	switch {
	case err != nil:
		return nil, err
	case v.Type != bsoncore.TypeEmbeddedDocument:
		return nil, errors.New("want a document")
	}
	return bson.Raw(v.Data), nil
}

func parseJSON(text []byte) (bsoncore.Value, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	token, err := d.Token()
	if err != nil {
		return bsoncore.Value{}, err
	}
	var v bsoncore.Value
	switch x := token.(type) {
	case nil:
		v = bsoncore.Value{Type: bsoncore.TypeNull}
	case bool:
		v = bsoncore.Value{Type: bsoncore.TypeBoolean, Data: bsoncore.AppendBoolean(nil, x)}
	case string:
		v = bsoncore.Value{Type: bsoncore.TypeString, Data: bsoncore.AppendString(nil, x)}
	case json.Number:
		return parseNumber(x.String())
	case json.Delim:
		if x == '[' {
			return parseArray(d)
		}
		return parseObject(d, text)
	}
	return v, nil
}

func parseNumber(s string) (bsoncore.Value, error) {
	if strings.ContainsAny(s, ".eE") {
		f, err := strconv.ParseFloat(s, 64)
		return bsoncore.Value{Type: bsoncore.TypeDouble, Data: bsoncore.AppendDouble(nil, f)}, err
	}
	n, err := strconv.ParseInt(s, 10, 32)
	if err != nil {
		return bsoncore.Value{}, fmt.Errorf(`%s is not an int32; write {"$numberLong": "%s"}`, s, s)
	}
	return bsoncore.Value{Type: bsoncore.TypeInt32, Data: bsoncore.AppendInt32(nil, int32(n))}, nil
}

func parseArray(d *json.Decoder) (bsoncore.Value, error) {
	b := bsoncore.NewArrayBuilder()
	for d.More() {
		v, err := parseNext(d)
		if err != nil {
			return v, err
		}
		b.AppendValue(v)
	}
	_, err := d.Token()
	return bsoncore.Value{Type: bsoncore.TypeArray, Data: b.Build()}, err
}

func parseNext(d *json.Decoder) (bsoncore.Value, error) {
	var raw json.RawMessage
	if err := d.Decode(&raw); err != nil {
		return bsoncore.Value{}, err
	}
	return parseJSON(raw)
}

// parseObject reads an object after its first token. text is the whole object.
func parseObject(d *json.Decoder, text []byte) (bsoncore.Value, error) {
	b := bsoncore.NewDocumentBuilder()
	for first := true; d.More(); first = false {
		token, err := d.Token()
		if err != nil {
			return bsoncore.Value{}, err
		}
		key, ok := token.(string)
		switch {
		case !ok:
			return bsoncore.Value{}, io.ErrUnexpectedEOF
		case first && key == documentKey:
			return parseEnclosed(d)
		case first && typeKeys[key]:
			return parseTyped(text)
		}
		v, err := parseNext(d)
		if err != nil {
			return v, fmt.Errorf("%s: %w", key, err)
		}
		b.AppendValue(key, v)
	}
	_, err := d.Token()
	return bsoncore.Value{Type: bsoncore.TypeEmbeddedDocument, Data: b.Build()}, err
}

// parseEnclosed reads a document with no field as a type key.
func parseEnclosed(d *json.Decoder) (bsoncore.Value, error) {
	if token, err := d.Token(); err != nil || token != json.Delim('{') {
		return bsoncore.Value{}, errors.Join(errors.New("want a document in "+documentKey), err)
	}
	b := bsoncore.NewDocumentBuilder()
	for d.More() {
		token, err := d.Token()
		if err != nil {
			return bsoncore.Value{}, err
		}
		v, err := parseNext(d)
		if err != nil {
			return v, err
		}
		b.AppendValue(token.(string), v)
	}
	return bsoncore.Value{Type: bsoncore.TypeEmbeddedDocument, Data: b.Build()}, nil
}

// parseTyped reads a value that extended JSON writes as an object.
func parseTyped(text []byte) (bsoncore.Value, error) {
	var d struct{ V bson.RawValue }
	if err := bson.UnmarshalExtJSON(fmt.Appendf(nil, `{"v": %s}`, text), false, &d); err != nil {
		return bsoncore.Value{}, err
	}
	return bsoncore.Value{Type: bsoncore.Type(d.V.Type), Data: bytes.Clone(d.V.Value)}, nil
}
