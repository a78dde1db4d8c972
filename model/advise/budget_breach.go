package advise

import (
	"go.mongodb.org/mongo-driver/v2/bson"
)

// A Breach is a [Budget]'s bound that a document violates.
type Breach struct {
	Path  string
	Bound string // "Items", "Bytes" or "Key"; "Type" if the Go type lacks Path
	Max   int64  // declared maximum; 0 if none
	Got   int64  // greatest number of items or bytes found at Path
}

// Breaches returns the bounds that doc violates, each once, in the order of doc's fields.
// doc is a Go value, bson.Raw or bson.D. Breaches returns an error if doc can't be stored
// as a document or array.
func (b *Budget) Breaches(doc any) ([]Breach, error) {
	if _, err := b.Size(doc); err != nil {
		return nil, err
	}
	raw, err := encodedValue(b.docs, doc)
	if err != nil {
		return nil, err
	}
	var found breaches
	found.look(b.root, raw)
	return found, nil
}

type breaches []Breach

// add notes a value above the limit. A limit of 0 notes everything.
func (f *breaches) add(path, bound string, limit, got int64) {
	if got <= limit {
		return
	}
	for i, x := range *f {
		if x.Path == path && x.Bound == bound {
			(*f)[i].Got = max(x.Got, got)
			return
		}
	}
	*f = append(*f, Breach{path, bound, limit, got})
}

func (f *breaches) declared(path, bound string, limit, got int64) {
	if limit > 0 {
		f.add(path, bound, limit, got)
	}
}

// look compares a value with its node. It ignores values of another type.
func (f *breaches) look(n *node, v bson.RawValue) {
	switch n.class {
	case variable:
		f.declared(n.path, "Bytes", n.bounds.Bytes, held(v))
	case opaque:
		f.declared(n.path, "Bytes", n.bounds.Bytes, int64(len(v.Value)))
	case list:
		values, ok := elements(v, bson.TypeArray)
		if !ok {
			return
		}
		f.declared(n.path, "Items", n.bounds.Items, int64(len(values)))
		for _, e := range values {
			f.look(n.elem, e.Value())
		}
	case entries:
		if values, ok := elements(v, bson.TypeEmbeddedDocument); ok {
			f.entries(n, values)
		}
	case object:
		if values, ok := elements(v, bson.TypeEmbeddedDocument); ok {
			f.object(n, values)
		}
	}
}

func (f *breaches) entries(n *node, values []bson.RawElement) {
	f.declared(n.path, "Items", n.bounds.Items, int64(len(values)))
	for _, e := range values {
		f.declared(n.path, "Key", n.bounds.Key, int64(len(e.Key())))
		f.look(n.elem, e.Value())
	}
}

func (f *breaches) object(n *node, values []bson.RawElement) {
	var rest []bson.RawElement
next:
	for _, e := range values {
		for _, field := range n.fields {
			if field.name == e.Key() {
				f.look(field, e.Value())
				continue next
			}
		}
		if n.rest != nil {
			rest = append(rest, e)
			continue
		}
		f.add(join(n.path, e.Key()), "Type", 0, int64(len(e.Value().Value))+1)
	}
	if n.rest != nil {
		f.entries(n.rest, rest)
	}
}

func elements(v bson.RawValue, want bson.Type) ([]bson.RawElement, bool) {
	if v.Type != want {
		return nil, false
	}
	out, err := bson.Raw(v.Value).Elements()
	return out, err == nil
}

// held is the number of bytes of a value that a bound counts.
func held(v bson.RawValue) int64 {
	overhead := 0
	switch v.Type {
	case bson.TypeString, bson.TypeSymbol, bson.TypeJavaScript:
		overhead = 5
	case bson.TypeBinary:
		if overhead = 5; len(v.Value) > 4 && v.Value[4] == 2 {
			overhead = 9
		}
	case bson.TypeRegex:
		overhead = 2
	case bson.TypeDBPointer:
		overhead = 17
	default:
		return 0
	}
	return int64(max(0, len(v.Value)-overhead))
}
