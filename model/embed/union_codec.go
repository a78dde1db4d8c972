package embed

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/docmodel/docmodel/internal/core"
	"go.mongodb.org/mongo-driver/v2/bson"
)

var rawType = reflect.TypeFor[bson.Raw]()

// A unionCodec encodes and decodes values of the interface type. Other code recognizes it
// in a registry by its Go type.
type unionCodec struct {
	u        *union
	encoders map[reflect.Type]bson.ValueEncoder // the registry's own, by types without pointers
	decoders map[reflect.Type]bson.ValueDecoder
}

// register adds the union to a registry: its interface type and the types of its cases.
// Values of these types are written with their tags also outside of interface fields, for
// instance as whole documents.
func (u *union) register(r *bson.Registry) {
	k := &unionCodec{u, map[reflect.Type]bson.ValueEncoder{}, map[reflect.Type]bson.ValueDecoder{}}
	u.checkRegistry(r)
	for _, c := range u.cases {
		base := c.base()
		enc, err := r.LookupEncoder(base)
		dec, decErr := r.LookupDecoder(base)
		if err = errors.Join(err, decErr); err != nil {
			core.Fail(err.Error(), fmt.Sprintf("Register of the union of %s", u.iface), "give a registry of bson.NewRegistry")
		}
		k.encoders[base], k.decoders[base] = enc, dec
	}
	for i := range u.cases {
		c := &u.cases[i]
		if c.unknown != nil {
			continue
		}
		base := c.base()
		r.RegisterTypeEncoder(base, caseEncoder{k})
		if reflect.PointerTo(base).Implements(reflect.TypeFor[bson.ValueMarshaler]()) {
			r.RegisterTypeEncoder(reflect.PointerTo(base), bson.ValueEncoderFunc(k.encodePointer))
		}
		if u.keepsTag(base) {
			r.RegisterTypeDecoder(base, bson.ValueDecoderFunc(k.decodeCase))
		}
	}
	r.RegisterTypeEncoder(u.iface, bson.ValueEncoderFunc(k.encodeInterface))
	r.RegisterTypeDecoder(u.iface, k)
}

// checkRegistry panics if the registry has a conflicting union.
func (u *union) checkRegistry(r *bson.Registry) {
	place := core.Place(fmt.Sprintf("Register of the union of %s, with the tag %q", u.iface, u.tag))
	if dec, err := r.LookupDecoder(u.iface); err == nil {
		if _, twice := dec.(*unionCodec); twice {
			place.Fail("the registry already has a union of this type",
				"register one union for an interface type, or give each union a registry of its own")
		}
	}
	for _, c := range u.cases {
		base := c.base()
		enc, err := r.LookupEncoder(base)
		for other, ok := enc.(caseEncoder); err == nil && ok; other, ok = other.k.encoders[base].(caseEncoder) {
			if by := other.k.u; by.tag == u.tag || u.keepsTag(base) {
				place.Fail(fmt.Sprintf("%s is also in the union of %s with the tag %q, and would be stored with both tags",
					base, by.iface, by.tag),
					"declare a separate type for each union, or give each union a registry of its own")
			}
		}
	}
}

// keepsTag reports whether the type would decode the tag as one of its own fields.
func (u *union) keepsTag(base reflect.Type) bool {
	l, err := core.LayoutOf(base, nil)
	return err == nil && l.Open && !reflect.PointerTo(base).Implements(reflect.TypeFor[bson.Unmarshaler]())
}

// registeredIn reports whether the registry decodes the interface type by this union.
func (u *union) registeredIn(r *bson.Registry) bool {
	if r == nil {
		return false
	}
	dec, err := r.LookupDecoder(u.iface)
	k, ok := dec.(*unionCodec)
	return err == nil && ok && k.u == u
}

// encodeInterface writes the value in an interface of the union.
func (k *unionCodec) encodeInterface(ec bson.EncodeContext, w bson.ValueWriter, v reflect.Value) error {
	c, err := k.u.caseOf(v)
	if err != nil {
		return err
	}
	for v.Kind() == reflect.Interface || v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	if c.unknown != nil {
		own, err := k.own(ec, v)
		if err != nil {
			return err
		}
		return writeRaw(ec, w, own)
	}
	return k.write(ec, w, v, c)
}

// encodePointer writes a pointer to a case's type. Without it, the driver would call a
// method of the pointer.
func (k *unionCodec) encodePointer(ec bson.EncodeContext, w bson.ValueWriter, v reflect.Value) error {
	if v.IsNil() {
		return w.WriteNull()
	}
	return k.encodeCase(ec, w, v.Elem())
}

// A caseEncoder writes values of a case's type. Other code recognizes it in a registry by
// its Go type.
type caseEncoder struct{ k *unionCodec }

func (c caseEncoder) EncodeValue(ec bson.EncodeContext, w bson.ValueWriter, v reflect.Value) error {
	return c.k.encodeCase(ec, w, v)
}

func (k *unionCodec) encodeCase(ec bson.EncodeContext, w bson.ValueWriter, v reflect.Value) error {
	c, err := k.u.caseOf(v)
	if err != nil {
		return err
	}
	return k.write(ec, w, v, c)
}

// write writes the tag and then the value's own fields.
func (k *unionCodec) write(ec bson.EncodeContext, w bson.ValueWriter, v reflect.Value, c *UnionCase) error {
	own, err := k.own(ec, v)
	if err != nil {
		return err
	}
	if held, err := own.LookupErr(k.u.tag); err == nil {
		return k.u.refused(held, fmt.Sprintf("%s itself stores a field of this name, which is the union's tag", v.Type()))
	}
	doc, begun := core.AppendDocument(make([]byte, 0, len(own)+len(k.u.tag)+len(c.tag)+16), bson.TypeEmbeddedDocument, "")
	doc, _ = (*core.Codec)(nil).AppendElement(doc, k.u.tag, c.tag)
	doc = core.EndDocument(append(doc, own[4:len(own)-1]...), begun)
	return writeRaw(ec, w, bson.Raw(doc[begun:]))
}

// own encodes a value without the union. It writes the value as a field, because custom
// marshalers can't write whole documents.
func (k *unionCodec) own(ec bson.EncodeContext, v reflect.Value) (bson.Raw, error) {
	if !v.CanAddr() { // a method of the pointer may encode it
		held := reflect.New(v.Type()).Elem()
		held.Set(v)
		v = held
	}
	var buf bytes.Buffer
	doc, err := bson.NewDocumentWriter(&buf).WriteDocument()
	if err != nil {
		return nil, err
	}
	field, err := doc.WriteDocumentElement("v")
	if err == nil {
		err = k.encoders[v.Type()].EncodeValue(ec, field, v)
	}
	if err == nil {
		err = doc.WriteDocumentEnd()
	}
	if err != nil {
		return nil, err
	}
	own, ok := bson.Raw(buf.Bytes()).Lookup("v").DocumentOK()
	if !ok {
		return nil, k.u.refused(nil, fmt.Sprintf("%s isn't stored as a document", v.Type()))
	}
	if err := own.Validate(); err != nil || v.Kind() != reflect.Map {
		return own, err
	}
	return inOrder(own)
}

// inOrder sorts a document's fields by name, because a map has no order.
func inOrder(doc bson.Raw) (bson.Raw, error) {
	elems, err := doc.Elements()
	if err != nil {
		return nil, err
	}
	slices.SortFunc(elems, func(a, b bson.RawElement) int { return strings.Compare(a.Key(), b.Key()) })
	out, begun := core.AppendDocument(make([]byte, 0, len(doc)+2), bson.TypeEmbeddedDocument, "")
	for _, e := range elems {
		out = append(out, e...)
	}
	return bson.Raw(core.EndDocument(out, begun)[begun:]), nil
}

func writeRaw(ec bson.EncodeContext, w bson.ValueWriter, doc bson.Raw) error {
	enc, err := ec.LookupEncoder(rawType)
	if err != nil {
		return err
	}
	return enc.EncodeValue(ec, w, reflect.ValueOf(doc))
}

// DecodeValue reads a value of the interface type. Null becomes nil.
func (k *unionCodec) DecodeValue(dc bson.DecodeContext, r bson.ValueReader, into reflect.Value) error {
	switch r.Type() {
	case bson.TypeNull:
		into.SetZero()
		return r.ReadNull()
	case bson.TypeEmbeddedDocument, 0:
	default:
		return k.u.refused(nil, fmt.Sprintf("a %s isn't a value of the union: it must be a document", r.Type()))
	}
	raw, err := readRaw(dc, r)
	if err != nil {
		return err
	}
	tag, _ := raw.Lookup(k.u.tag).StringValueOK()
	i, known := k.u.byTag[tag]
	if !known {
		if k.u.other == nil {
			return k.u.refused(tag, "isn't a declared tag; the tags are "+k.u.names())
		}
		into.Set(k.u.other.unknown(UnknownValue{tag, raw}))
		return nil
	}
	c := k.u.cases[i]
	base := c.base()
	made := reflect.New(base)
	if err := k.decodeOwn(dc, raw, made.Elem()); err != nil {
		return err
	}
	if c.typ == base {
		made = made.Elem()
	}
	into.Set(made)
	return nil
}

// decodeCase reads a type that would decode the tag as one of its own fields.
func (k *unionCodec) decodeCase(dc bson.DecodeContext, r bson.ValueReader, into reflect.Value) error {
	if r.Type() == bson.TypeNull {
		into.SetZero()
		return r.ReadNull()
	}
	raw, err := readRaw(dc, r)
	if err != nil {
		return err
	}
	return k.decodeOwn(dc, raw, into)
}

// decodeOwn reads a value's own fields.
func (k *unionCodec) decodeOwn(dc bson.DecodeContext, raw bson.Raw, into reflect.Value) error {
	if k.u.keepsTag(into.Type()) {
		raw = withoutField(raw, k.u.tag)
	}
	return k.decoders[into.Type()].DecodeValue(dc, bson.NewDocumentReader(bytes.NewReader(raw)), into)
}

// readRaw reads a document as its bytes.
func readRaw(dc bson.DecodeContext, r bson.ValueReader) (raw bson.Raw, err error) {
	dec, err := dc.LookupDecoder(rawType)
	if err == nil {
		err = dec.DecodeValue(dc, r, reflect.ValueOf(&raw).Elem())
	}
	return raw, err
}

// withoutField returns a document without one field.
func withoutField(doc bson.Raw, name string) bson.Raw {
	elems, err := doc.Elements()
	if err != nil {
		return doc
	}
	out, begun := core.AppendDocument(make([]byte, 0, len(doc)), bson.TypeEmbeddedDocument, "")
	for _, e := range elems {
		if e.Key() != name {
			out = append(out, e...)
		}
	}
	return bson.Raw(core.EndDocument(out, begun)[begun:])
}
