package schema

import (
	"reflect"
	"slices"
	"strings"

	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/rawdoc"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// A Variant is one of several forms of a document. Make it with [As], for Spec.Variants
// or Field.Variants.
type Variant struct {
	tag    string
	typ    reflect.Type
	fields []Field
}

// As returns the variant for documents with this tag. These documents have V's fields.
// The parameter fields gives additional rules. [Of] panics if a tag occurs twice, or V
// isn't a struct.
func As[V any](tag string, fields ...Field) Variant {
	return Variant{tag, reflect.TypeFor[V](), slices.Clone(fields)}
}

func (b *builder) oneOf(n *node, path, tag string, variants []Variant) {
	if err := core.CheckKey(tag); err != nil {
		b.refuse(path, "the tag: "+err.Error(), "name a field of the document")
	}
	switch {
	case !n.allows("object"):
		b.refuse(path,
			"variants are documents, but the field is of type "+strings.Join(n.types, " or "), "name another field")
	case len(variants) == 0:
		b.refuse(path, "the tag has no variants", "give at least one variant")
	case len(n.types) == 0:
		n.types = []string{"object"}
		if n.nullable {
			n.types = append(n.types, "null")
		}
	}
	n.tag, n.variants = tag, nil
	for _, v := range variants {
		if slices.ContainsFunc(n.variants, func(old *variant) bool { return old.tag == v.tag }) {
			b.refuse(path, "the variants have the tag "+model.Shell(v.tag)+" twice",
				"give each variant a tag of its own")
		}
		n.variants = append(n.variants, &variant{v.tag, b.variant(n, path, tag, v)})
	}
	if b.closed && n.rest == nil { // a closed schema would refuse fields of the schemas beside it
		n.closed = false
	}
}

// variant describes one form of the documents at n.
func (b *builder) variant(n *node, path, tag string, v Variant) *node {
	shape := b.shape
	if path != "" {
		shape = shape.AsEmbedded()
	}
	if shape = shape.As(v.typ); shape.Kind != core.DocumentShape {
		b.refuse(path, v.typ.String()+" isn't a struct", "give a variant a struct of its own")
	}
	shape.Null = false
	own := &builder{docs: b.docs, closed: b.closed, loose: b.loose, shape: shape, opaque: b.opaque}
	own.field = func(p string) { b.refuse(p, v.typ.String()+" has no such field", "name a field of the variant") }
	out := own.node(shape, path, nil)
	for _, f := range v.fields {
		f.apply(own, out)
	}
	told := &node{
		types: []string{"string"},
		enum:  []bson.RawValue{own.value(place{path: rawdoc.JoinPath(path, tag)}, v.tag)},
	}
	if i := slices.IndexFunc(out.fields, func(p *property) bool { return p.name == tag }); i >= 0 {
		out.fields[i].node = told
	} else {
		out.fields = append([]*property{{tag, told}}, out.fields...)
	}
	out.require(tag, true)
	if out.closed {
		for _, p := range n.fields {
			if out.property(p.name) == nil {
				out.fields = append(out.fields, &property{p.name, &node{}})
			}
		}
	}
	return out
}
