package schema

import (
	"reflect"
	"slices"
	"strings"

	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// A Variant is one form that a document can have; [As] makes it.
type Variant struct {
	tag   string
	typ   reflect.Type
	rules []Rule
}

// As returns the variant whose documents are a V, and say so by the tag. The rules are about V's fields.
func As[V any](tag string, rules ...Rule) Variant {
	return Variant{tag, reflect.TypeFor[V](), slices.Clone(rules)}
}

// OneOf says that the collection's documents come in several forms, told by the string at tag, a field of the document: products
// of many kinds. What the collection's own type says holds for all of them; each variant adds what its type says. A document
// whose tag is none of the variants', or missing, doesn't conform. The collection's type may be bson.Raw.
//
// Of panics for a tag that stands twice, and for a variant that isn't a struct.
func OneOf(tag string, variants ...Variant) Rule {
	return oneOf{tag, slices.Clone(variants)}
}

// OneOf is [OneOf] for a document within a field, or for the documents of an array: tag is a field of those.
func (f *FieldRule) OneOf(tag string, variants ...Variant) *FieldRule {
	variants = slices.Clone(variants)
	return f.add(func(b *builder, at place) { b.oneOf(at.node, at.path, tag, variants) })
}

type oneOf struct {
	tag      string
	variants []Variant
}

func (oneOf) rule() {}

func (o oneOf) apply(b *builder, root *node) { b.oneOf(root, "", o.tag, o.variants) }

func (b *builder) oneOf(n *node, path, tag string, variants []Variant) {
	if err := model.CheckKey(tag); err != nil {
		b.refuse(path, "the tag: "+err.Error(), "name a field of the document")
	}
	switch {
	case !n.allows("object"):
		b.refuse(path, "OneOf is for documents, and the field is "+strings.Join(n.types, " or "), "name another field")
	case len(variants) == 0:
		b.refuse(path, "OneOf of nothing", "give the variants that there are")
	case len(n.types) == 0:
		n.types = []string{"object"}
		if n.nullable {
			n.types = append(n.types, "null")
		}
	}
	n.tag, n.variants = tag, nil
	for _, v := range variants {
		if slices.ContainsFunc(n.variants, func(old *variant) bool { return old.tag == v.tag }) {
			b.refuse(path, "OneOf holds the tag "+model.Shell(v.tag)+" twice", "give each variant a tag of its own")
		}
		n.variants = append(n.variants, &variant{v.tag, b.variant(n, path, tag, v)})
	}
	if b.closed && n.rest == nil { // what is closed beside other schemas would refuse their fields
		n.closed = false
	}
}

// variant describes one form of the documents at n.
func (b *builder) variant(n *node, path, tag string, v Variant) *node {
	shape := b.shape
	if path != "" {
		shape = shape.Nested()
	}
	if shape = shape.As(v.typ); shape.Kind != model.DocumentShape {
		b.refuse(path, v.typ.String()+" is no struct", "give a variant a struct of its own")
	}
	shape.Null = false
	own := &builder{collection: b.collection, encode: b.encode, closed: b.closed, loose: b.loose, shape: shape}
	own.field = func(p string) { b.refuse(p, v.typ.String()+" stores no such field", "name a field of the variant") }
	out := own.node(shape, path, nil)
	b.opaque = append(b.opaque, own.opaque...)
	for _, r := range v.rules {
		a, ok := r.(applied)
		if !ok {
			b.refuse(path, "Closed and Loose are rules of the whole schema", "hand them to Of")
		}
		a.apply(own, out)
	}
	told := &node{types: []string{"string"}, enum: []bson.RawValue{own.value(place{path: join(path, tag)}, v.tag)}}
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
