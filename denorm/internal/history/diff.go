package history

import (
	"bytes"

	"github.com/docmodel/docmodel/internal/core"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// A Difference is one path at which two documents differ.
type Difference struct {
	Path     string
	From, To bson.RawValue
}

// Diff compares two documents field by field, and arrays whole.
func (h *History) Diff(from, to any) ([]Difference, error) {
	a, err := h.docs.Document(from)
	if err != nil {
		return nil, h.docs.Refuse("older", nil, err.Error())
	}
	b, err := h.docs.Document(to)
	if err != nil {
		return nil, h.docs.Refuse("newer", nil, err.Error())
	}
	return h.diff(nil, "", a, b), nil
}

func (h *History) diff(out []Difference, at string, a, b bson.Raw) []Difference {
	compare := func(key string, x, y bson.RawValue) {
		path := at + key
		if path == h.version || path == h.revised || x.Type == y.Type && bytes.Equal(x.Value, y.Value) {
			return
		}
		if core.Overlap(path, h.version) || core.Overlap(path, h.revised) || x.Type == bson.TypeEmbeddedDocument && y.Type == x.Type {
			inX, _ := x.DocumentOK()
			inY, _ := y.DocumentOK()
			out = h.diff(out, path+".", inX, inY)
			return
		}
		out = append(out, Difference{path, x, y})
	}
	fields, _ := a.Elements()
	for _, e := range fields {
		compare(e.Key(), e.Value(), b.Lookup(e.Key()))
	}
	fields, _ = b.Elements()
	for _, e := range fields {
		if _, err := a.LookupErr(e.Key()); err != nil {
			compare(e.Key(), bson.RawValue{}, e.Value())
		}
	}
	return out
}
