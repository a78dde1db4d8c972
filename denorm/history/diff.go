package history

import (
	"bytes"

	"github.com/docmodel/docmodel/internal/core"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// compareDocuments compares two documents field by field, and arrays whole.
func (h *untypedHistory) compareDocuments(from, to any) ([]Difference, error) {
	a, err := h.docs.Document(from)
	if err != nil {
		return nil, h.docs.Refuse("older", nil, err.Error())
	}
	b, err := h.docs.Document(to)
	if err != nil {
		return nil, h.docs.Refuse("newer", nil, err.Error())
	}
	return h.compareFields(nil, "", a, b), nil
}

// compareFields appends the differences below a path. The fields that the technique
// writes don't count.
func (h *untypedHistory) compareFields(out []Difference, at string, a, b bson.Raw) []Difference {
	compare := func(key string, x, y bson.RawValue) {
		path := at + key
		if path == h.version || path == h.revised || x.Type == y.Type && bytes.Equal(x.Value, y.Value) {
			return
		}
		if core.Overlap(path, h.version) || core.Overlap(path, h.revised) ||
			x.Type == bson.TypeEmbeddedDocument && y.Type == x.Type {
			inX, _ := x.DocumentOK()
			inY, _ := y.DocumentOK()
			out = h.compareFields(out, path+".", inX, inY)
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
