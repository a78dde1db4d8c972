package core

// A Codec does two things. Document and Decode convert whole documents between Go and BSON. Value, CopyD and
// CopyPipeline copy a caller's filter, update or pipeline: a value that the caller could change later is encoded, every
// other value stays a Go value, so that the library can still look into it and the driver encodes it only once.

import (
	"bytes"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/docmodel/docmodel/internal/bsonval"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// A Codec encodes a collection's documents by the driver's options and registry. The nil
// Codec uses the driver's defaults, and only it uses the fast ways of fast.go and structs.go
// for structs. A Codec never changes.
type Codec struct {
	options  *options.BSONOptions // nil for the defaults
	registry *bson.Registry       // nil for the default
	// decodes whole documents of the collection's type, or nil for the driver's way
	whole   func(raw bson.Raw, doc any) error
	wholeAs reflect.Type // a pointer to that type
}

// NewCodec makes a codec of the options of a collection. Each parameter may be nil. They should
// be the options of the mongo.Client, because the driver encodes by the client's options what
// Value leaves in Go types.
func NewCodec(o *options.BSONOptions, r *bson.Registry) *Codec {
	if o == nil && r == nil {
		return nil
	}
	c := &Codec{registry: r}
	if o != nil {
		own := *o
		c.options = &own
	}
	return c
}

// Options returns the driver's options. nil means the defaults.
func (c *Codec) Options() *options.BSONOptions {
	if c == nil {
		return nil
	}
	return c.options
}

// jsonTags reports whether fields are named by their JSON tags.
func (c *Codec) jsonTags() bool { return c != nil && c.options != nil && c.options.UseJSONStructTags }

// DecodesWhole reports whether the collection's own function decodes values of into's
// type. Versions have such a function ([Docs.SetVersions]), which needs the document with all
// its fields. So package model refuses a projection for it.
func (c *Codec) DecodesWhole(into any) bool {
	return c != nil && c.whole != nil && reflect.TypeOf(into) == c.wholeAs
}

// jsonRegistry is the default registry for JSON tags. A registry caches each struct's
// names, so it can't serve two kinds of tags.
var jsonRegistry = bson.NewRegistry()

// Registry returns the registry for the driver. nil means the default.
func (c *Codec) Registry() *bson.Registry {
	if c.jsonTags() && c.registry == nil {
		return jsonRegistry
	}
	if c == nil {
		return nil
	}
	return c.registry
}

// Document encodes a document as the driver does.
func (c *Codec) Document(v any) (bson.Raw, error) {
	if err := CheckDepth(v); err != nil {
		return nil, err
	}
	return c.encodeDocument(v)
}

// encodeDocument is Document for a value that is known not to be too deep.
func (c *Codec) encodeDocument(v any) (bson.Raw, error) {
	if raw, ok := v.(bson.Raw); ok {
		return bytes.Clone(raw), nil
	}
	if c == nil {
		if doc, ok := appendFastDocumentOf(v); ok {
			return doc, nil
		}
		return bson.Marshal(v)
	}
	var buf bytes.Buffer
	enc := bson.NewEncoder(bson.NewDocumentWriter(&buf))
	if r := c.Registry(); r != nil {
		enc.SetRegistry(r)
	}
	c.configure(enc)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return buf.Bytes(), nil
}

// configure gives an encoder the collection's options, as a mongo.Client with them would.
func (c *Codec) configure(enc *bson.Encoder) {
	o := c.options
	if o == nil {
		return
	}
	switchOn([]option{
		{o.ErrorOnInlineDuplicates, enc.ErrorOnInlineDuplicates},
		{o.IntMinSize, enc.IntMinSize},
		{o.NilByteSliceAsEmpty, enc.NilByteSliceAsEmpty},
		{o.NilMapAsEmpty, enc.NilMapAsEmpty},
		{o.NilSliceAsEmpty, enc.NilSliceAsEmpty},
		{o.OmitZeroStruct, enc.OmitZeroStruct},
		{o.OmitEmpty, enc.OmitEmpty},
		{o.StringifyMapKeysWithFmt, enc.StringifyMapKeysWithFmt},
		{o.UseJSONStructTags, enc.UseJSONStructTags},
	})
}

// An option of the driver: whether the collection has it, and the encoder's or decoder's method
// that sets it.
type option struct {
	on bool
	do func()
}

// switchOn calls the methods of the options that are set.
func switchOn(list []option) {
	for _, o := range list {
		if o.on {
			o.do()
		}
	}
}

// nilIsNull reports whether a nil slice or map of the type is written as null.
func (c *Codec) nilIsNull(t reflect.Type) bool {
	var o options.BSONOptions
	if c != nil && c.options != nil {
		o = *c.options
	}
	switch {
	case t == bytesType:
		return !o.NilByteSliceAsEmpty
	case t.Kind() == reflect.Slice:
		return !o.NilSliceAsEmpty
	case t.Kind() == reflect.Map:
		return !o.NilMapAsEmpty
	}
	return false
}

// Value encodes one value, so that later changes of the caller's value have no effect. It
// returns scalars and immutable structs unchanged. A document, list or pipeline of the driver's
// types stays of its type, with its values encoded in turn. A map becomes a bson.D with sorted
// keys. A list of ObjectIDs becomes a bson.RawValue, which the driver copies whole. Other
// values become a bson.RawValue too.
func (c *Codec) Value(v any) (any, error) {
	if err := CheckDepth(v); err != nil {
		return nil, err
	}
	return c.clone(v)
}

// clone is Value for a value that is known not to be too deep. Nil documents and lists go to the
// driver at the end, which writes them as null.
func (c *Codec) clone(v any) (any, error) {
	switch v := v.(type) {
	case nil, bool, int, int8, int16, int32, int64, uint8, uint16, uint32, uint64, uint, float32, float64, string,
		bson.ObjectID, bson.DateTime, bson.Decimal128, bson.Timestamp, bson.Regex, bson.MinKey, bson.MaxKey,
		bson.Null, bson.Undefined, bson.Symbol, bson.JavaScript, bson.DBPointer, time.Time:
		if !c.rewritesScalars() {
			return v, nil
		}
	case bson.D:
		if v != nil {
			return c.cloneD(v)
		}
	case bson.A:
		if v != nil {
			return c.cloneA(v)
		}
	case mongo.Pipeline:
		if v != nil {
			return c.clonePipeline(v)
		}
	case []bson.D:
		if v != nil {
			return c.clonePipeline(v)
		}
	case []bson.ObjectID:
		if v != nil && !c.rewritesScalars() {
			const header = 2 // the type and the empty name of an element
			return bson.RawValue{Type: bson.TypeArray, Value: appendIDs(nil, "", v)[header:]}, nil
		}
	case []string:
		if v != nil && !c.rewritesScalars() {
			return slices.Clone(v), nil
		}
	case bson.RawValue:
		if v.Type != 0 && !bsonval.WellFormed(v) {
			return nil, ValueError("", "value", nil, "the bytes aren't a valid "+v.Type.String())
		}
		return bsonval.Clone(v), nil
	}
	if c == nil && isPlain(reflect.TypeOf(v)) {
		return v, nil
	}
	if m := reflect.ValueOf(v); c.isPlainMap(m) {
		return c.sortedD(m)
	}
	doc, err := c.encodeDocument(bson.D{{Key: "v", Value: v}})
	if err != nil {
		return nil, err
	}
	return doc.LookupErr("v")
}

// rewritesScalars reports whether a scalar may be encoded other than by the driver's
// default.
func (c *Codec) rewritesScalars() bool {
	return c != nil && (c.registry != nil || c.options != nil && c.options.IntMinSize)
}

// CopyD encodes the values of a document like [Codec.Value].
func (c *Codec) CopyD(d bson.D) (bson.D, error) {
	if err := CheckDepth(d); err != nil {
		return nil, err
	}
	return c.cloneD(d)
}

// cloneD is clone for the values of a document. The names stay.
func (c *Codec) cloneD(d bson.D) (bson.D, error) {
	if d == nil {
		return nil, nil
	}
	out := make(bson.D, len(d))
	for i, e := range d {
		v, err := c.clone(e.Value)
		if err != nil {
			return nil, err
		}
		out[i] = bson.E{Key: e.Key, Value: v}
	}
	return out, nil
}

// isPlainMap reports whether v is a map that the driver encodes key by key, in any order.
func (c *Codec) isPlainMap(v reflect.Value) bool {
	return v.Kind() == reflect.Map && !v.IsNil() && v.Type().Key() == stringType && !isMarshaler(v.Type()) &&
		(c == nil || c.registry == nil)
}

// sortedD copies a map as a document with sorted keys, so that equal maps have equal
// bytes.
func (c *Codec) sortedD(m reflect.Value) (bson.D, error) {
	d := make(bson.D, 0, m.Len())
	for k, v := range m.Seq2() {
		d = append(d, bson.E{Key: k.String(), Value: v.Interface()})
	}
	slices.SortFunc(d, func(a, b bson.E) int { return strings.Compare(a.Key, b.Key) })
	return c.cloneD(d)
}

// CopyPipeline encodes the values of a pipeline like [Codec.Value].
func (c *Codec) CopyPipeline(p mongo.Pipeline) (mongo.Pipeline, error) {
	if err := CheckDepth(p); err != nil {
		return nil, err
	}
	return c.clonePipeline(p)
}

func (c *Codec) clonePipeline(p mongo.Pipeline) (mongo.Pipeline, error) {
	out := make(mongo.Pipeline, len(p))
	for i, stage := range p {
		d, err := c.cloneD(stage)
		if err != nil {
			return nil, err
		}
		out[i] = d
	}
	return out, nil
}

func (c *Codec) cloneA(a bson.A) (bson.A, error) {
	if a == nil {
		return nil, nil
	}
	out := make(bson.A, len(a))
	for i, e := range a {
		v, err := c.clone(e)
		if err != nil {
			return nil, err
		}
		out[i] = v
	}
	return out, nil
}

// Decode is the inverse of Document. doc is a pointer. It decodes a document of an older version
// as the newest if the codec is that of versions ([Docs.Codec]).
func (c *Codec) Decode(raw bson.Raw, doc any) error {
	if c.DecodesWhole(doc) {
		return c.whole(raw, doc)
	}
	if c == nil {
		return bson.Unmarshal(raw, doc)
	}
	dec := bson.NewDecoder(bson.NewDocumentReader(bytes.NewReader(raw)))
	if c.registry != nil {
		dec.SetRegistry(c.registry)
	}
	if o := c.options; o != nil {
		switchOn([]option{
			{o.AllowTruncatingDoubles, dec.AllowTruncatingDoubles},
			{o.BinaryAsSlice, dec.BinaryAsSlice},
			{o.DefaultDocumentM, dec.DefaultDocumentM},
			{o.DefaultDocumentMap, dec.DefaultDocumentMap},
			{o.ObjectIDAsHexString, dec.ObjectIDAsHexString},
			{o.UseJSONStructTags, dec.UseJSONStructTags},
			{o.UseLocalTimeZone, dec.UseLocalTimeZone},
			{o.ZeroMaps, dec.ZeroMaps},
			{o.ZeroStructs, dec.ZeroStructs},
		})
	}
	return dec.Decode(doc)
}
