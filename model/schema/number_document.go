package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/rawdoc"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// DocumentJSON writes a document as JSON. Numbers that aren't [Number.Safe] become
// strings. The result risky lists the paths of these numbers: "items.0.id". Types that
// JSON lacks become relaxed Extended JSON: {"$oid": …}. A [*model.ValueError] reports
// invalid BSON, and field names that are empty, begin with "$", or contain a dot or NUL.
func DocumentJSON(doc bson.Raw) (text []byte, risky []string, err error) {
	if err := doc.Validate(); err != nil {
		return nil, nil, &model.ValueError{Field: "document", Reason: err.Error()}
	}
	if path, err := core.CheckNames(doc, ""); err != nil {
		return nil, nil, &model.ValueError{Field: path, Reason: err.Error()}
	}
	w := &jsonWriter{}
	if err := w.value("", bson.RawValue{Type: bson.TypeEmbeddedDocument, Value: doc}); err != nil {
		return nil, nil, err
	}
	return w.out.Bytes(), w.risky, nil
}

// DocumentFromJSON reads JSON that [DocumentJSON] wrote, even if another program rewrote
// it. In risky, pass the paths that DocumentJSON returned: strings at these paths become
// numbers. The BSON type of a number can change: see [Number].
func DocumentFromJSON(text []byte, risky []string) (bson.Raw, error) {
	r := &jsonReader{json.NewDecoder(bytes.NewReader(text)), map[string]bool{}}
	r.UseNumber()
	for _, path := range risky {
		r.risky[path] = true
	}
	token, err := r.Token()
	switch {
	case err != nil:
		return nil, badJSON("document", fmt.Sprintf("isn't a JSON document: %v", err))
	case token != json.Delim('{'):
		return nil, badJSON("document", "isn't a JSON document: it doesn't begin with {")
	}
	v, err := r.document("", 1)
	if err != nil {
		return nil, err
	}
	doc, ok := v.(bson.D)
	if !ok {
		return nil, badJSON("document", "is a value of Extended JSON, not a document")
	}
	if _, err := r.Token(); err != io.EOF {
		return nil, badJSON("document", "is followed by other text")
	}
	return bson.Marshal(doc)
}

func badJSON(field, reason string) error { return &model.ValueError{Field: field, Reason: reason} }

type jsonWriter struct {
	out   bytes.Buffer
	risky []string
}

func (w *jsonWriter) value(path string, v bson.RawValue) error {
	switch v.Type {
	case bson.TypeEmbeddedDocument, bson.TypeArray:
		return w.elements(path, v)
	case bson.TypeInt32, bson.TypeInt64, bson.TypeDouble, bson.TypeDecimal128:
		n, err := ofRaw(v)
		if err != nil {
			return err
		}
		if !n.Safe() {
			w.risky = append(w.risky, path)
		}
		text, err := n.MarshalJSON()
		w.out.Write(text)
		return err
	}
	text, err := bson.MarshalExtJSON(bson.D{{Key: "v", Value: v}}, false, false)
	if err != nil {
		return badJSON(path, err.Error())
	}
	w.out.Write(text[len(`{"v":`) : len(text)-1])
	return nil
}

func (w *jsonWriter) elements(path string, v bson.RawValue) error {
	elems, err := bson.Raw(v.Value).Elements()
	if err != nil {
		return err
	}
	isArray := v.Type == bson.TypeArray
	brackets := "{}"
	if isArray {
		brackets = "[]"
	}
	w.out.WriteByte(brackets[0])
	for i, e := range elems {
		if i > 0 {
			w.out.WriteByte(',')
		}
		name := e.Key()
		if isArray {
			name = strconv.Itoa(i)
		} else {
			key, err := json.Marshal(name)
			if err != nil {
				return err
			}
			w.out.Write(append(key, ':'))
		}
		if err := w.value(rawdoc.JoinPath(path, name), e.Value()); err != nil {
			return err
		}
	}
	w.out.WriteByte(brackets[1])
	return nil
}

type jsonReader struct {
	*json.Decoder
	risky map[string]bool
}

// document reads a document after its brace. If the first name begins with "$", it is an
// Extended JSON value.
func (r *jsonReader) document(path string, depth int) (any, error) {
	if depth > core.MaxDepth {
		return nil, badJSON(path, "is nested too deeply")
	}
	d, seen := bson.D{}, map[string]bool{}
	for r.More() {
		token, err := r.Token()
		if err != nil {
			return nil, badJSON(path, err.Error())
		}
		name, _ := token.(string)
		if len(d) == 0 && len(name) > 1 && name[0] == '$' {
			return r.extended(path, name)
		}
		if err := core.CheckKey(name); err != nil {
			return nil, badJSON(rawdoc.JoinPath(path, name), err.Error())
		}
		if seen[name] {
			return nil, badJSON(rawdoc.JoinPath(path, name), "is given twice")
		}
		seen[name] = true
		v, err := r.value(rawdoc.JoinPath(path, name), depth)
		if err != nil {
			return nil, err
		}
		d = append(d, bson.E{Key: name, Value: v})
	}
	_, err := r.Token()
	if err != nil {
		return nil, badJSON(path, err.Error())
	}
	return d, nil
}

// extended reads the rest of {"$oid": …} after its first name.
func (r *jsonReader) extended(path, name string) (any, error) {
	whole := bytes.NewBufferString(`{"v":{`)
	for first := true; first || r.More(); first = false {
		if !first {
			token, err := r.Token()
			if err != nil {
				return nil, badJSON(path, err.Error())
			}
			name, _ = token.(string)
			whole.WriteByte(',')
		}
		var v json.RawMessage
		if err := r.Decode(&v); err != nil {
			return nil, badJSON(rawdoc.JoinPath(path, name), err.Error())
		}
		key, err := json.Marshal(name)
		if err != nil {
			return nil, err
		}
		whole.Write(slices.Concat(key, []byte{':'}, v))
	}
	if _, err := r.Token(); err != nil {
		return nil, badJSON(path, err.Error())
	}
	whole.WriteString("}}")
	var out bson.D
	if err := bson.UnmarshalExtJSON(whole.Bytes(), false, &out); err != nil || len(out) != 1 {
		return nil, badJSON(path, fmt.Sprintf("isn't a value of Extended JSON: %v", err))
	}
	if _, isDocument := out[0].Value.(bson.D); isDocument {
		return nil, badJSON(path, "isn't a value of Extended JSON")
	}
	return out[0].Value, nil
}

func (r *jsonReader) value(path string, depth int) (any, error) {
	token, err := r.Token()
	if err != nil {
		return nil, badJSON(path, err.Error())
	}
	switch v := token.(type) {
	case json.Delim:
		if v == '{' {
			return r.document(path, depth+1)
		}
		return r.array(path, depth+1)
	case json.Number:
		return r.number(path, v.String())
	case string:
		if r.risky[path] {
			return r.number(path, v)
		}
	}
	return token, nil
}

func (r *jsonReader) number(path, text string) (any, error) {
	n, err := parseNumber(text)
	if err != nil {
		return nil, badJSON(path, err.Error())
	}
	return n.stored(), nil
}

func (r *jsonReader) array(path string, depth int) (any, error) {
	if depth > core.MaxDepth {
		return nil, badJSON(path, "is nested too deeply")
	}
	list := bson.A{}
	for r.More() {
		v, err := r.value(rawdoc.JoinPath(path, strconv.Itoa(len(list))), depth)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	if _, err := r.Token(); err != nil {
		return nil, badJSON(path, err.Error())
	}
	return list, nil
}
