package core_test

import (
	"fmt"
	"math/rand/v2"
	"net/url"
	"reflect"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// Random struct types, their values and BSON options, for the tests that hold this package against the driver.

type (
	shapeBytes  []byte
	shapeByte   byte
	shapeDoc    bson.D
	shapeString string
	shapeHash   [4]byte

	// shapeMoney is stored as one string.
	shapeMoney struct{ Cents int64 }
	// shapePoint is stored as a document of its own making.
	shapePoint struct{ X, Y int32 }
	// shapeInner has fields of each tag option that layouts read.
	shapeInner struct {
		Name   string
		Tags   []string `bson:"tags,omitempty"`
		Notes  []string
		Parent *bson.ObjectID
		At     time.Time `bson:"at,omitempty"`
	}
	// shapeEmbedded is inlined by its tag, not by being embedded.
	shapeEmbedded struct {
		shapeHidden
		ShapeBase   `bson:",inline"`
		*ShapeMixin `bson:",inline"`
		ShapeNested
		Own string
	}
	ShapeBase   struct{ Created, Shadowed time.Time }
	ShapeMixin  struct{ Mixed []int32 }
	ShapeNested struct{ Deep string }
	shapeHidden struct{ Hidden string }
	// shapeShadow hides an inlined field of the same name.
	shapeShadow struct {
		ShapeBase `bson:",inline"`
		Shadowed  string
	}
	shapeOpen struct {
		Known string
		Rest  map[string]any `bson:",inline"`
	}
	shapeJSON struct {
		A string `json:"a_json,omitempty"`
		B string `json:"b_json" bson:"b_bson"`
		C string `json:"-"`
		D []string
		E string `bson:"-"`
	}
)

func (m shapeMoney) MarshalBSONValue() (byte, []byte, error) {
	t, b, err := bson.MarshalValue(fmt.Sprintf("%d¢", m.Cents))
	return byte(t), b, err
}

func (p shapePoint) MarshalBSON() ([]byte, error) {
	return bson.Marshal(bson.D{{Key: "type", Value: "Point"}, {Key: "c", Value: bson.A{p.X, p.Y}}})
}

// shapeTypes are the types that random fields have.
var shapeTypes = []reflect.Type{
	reflect.TypeFor[string](), reflect.TypeFor[int32](), reflect.TypeFor[int64](), reflect.TypeFor[uint16](),
	reflect.TypeFor[float64](), reflect.TypeFor[bool](), reflect.TypeFor[shapeString](),
	reflect.TypeFor[bson.ObjectID](),
	reflect.TypeFor[time.Time](), reflect.TypeFor[bson.DateTime](), reflect.TypeFor[bson.Decimal128](),
	reflect.TypeFor[bson.Binary](), reflect.TypeFor[bson.Regex](), reflect.TypeFor[url.URL](),
	reflect.TypeFor[bson.Timestamp](), reflect.TypeFor[[]byte](), reflect.TypeFor[shapeBytes](),
	reflect.TypeFor[[]shapeByte](), reflect.TypeFor[[16]byte](), reflect.TypeFor[shapeHash](), reflect.TypeFor[any](),
	reflect.TypeFor[map[string]int32](), reflect.TypeFor[bson.RawArray](), reflect.TypeFor[bson.D](),
	reflect.TypeFor[bson.M](), reflect.TypeFor[bson.A](), reflect.TypeFor[shapeDoc](), reflect.TypeFor[[]bson.E](),
	reflect.TypeFor[shapeMoney](), reflect.TypeFor[*shapeMoney](), reflect.TypeFor[shapePoint](),
	reflect.TypeFor[shapeInner](), reflect.TypeFor[shapeEmbedded](), reflect.TypeFor[shapeShadow](),
	reflect.TypeFor[shapeOpen](),
	reflect.TypeFor[shapeJSON](),
}

// shapeOptions are the driver's options that change what is stored, one at a time and all together.
func shapeOptions() map[string]*options.BSONOptions {
	return map[string]*options.BSONOptions{
		"none":                nil,
		"UseJSONStructTags":   {UseJSONStructTags: true},
		"OmitEmpty":           {OmitEmpty: true},
		"OmitZeroStruct":      {OmitZeroStruct: true},
		"NilSliceAsEmpty":     {NilSliceAsEmpty: true},
		"NilMapAsEmpty":       {NilMapAsEmpty: true},
		"NilByteSliceAsEmpty": {NilByteSliceAsEmpty: true},
		"IntMinSize":          {IntMinSize: true},
		"all": {
			UseJSONStructTags: true, OmitEmpty: true, OmitZeroStruct: true, NilSliceAsEmpty: true, NilMapAsEmpty: true,
			NilByteSliceAsEmpty: true, IntMinSize: true,
		},
	}
}

// randomStruct returns a struct type of random fields, some of which are structs, slices, arrays and pointers of
// others.
func randomStruct(r *rand.Rand, depth int) reflect.Type {
	fields := []reflect.StructField{{Name: "ID", Type: reflect.TypeFor[bson.ObjectID](), Tag: `bson:"_id"`}}
	for i := range 1 + r.IntN(6) {
		f := reflect.StructField{Name: fmt.Sprintf("F%d", i), Type: randomType(r, depth)}
		switch r.IntN(7) {
		case 0:
			f.Tag = reflect.StructTag(fmt.Sprintf(`bson:"name%d,omitempty"`, i))
		case 1:
			f.Tag = reflect.StructTag(fmt.Sprintf(`bson:",omitempty" json:"other%d"`, i))
		case 2:
			f.Tag = reflect.StructTag(fmt.Sprintf(`json:"json%d,omitempty"`, i))
		case 3:
			f.Tag = reflect.StructTag(fmt.Sprintf("whole%d,omitempty", i)) // a tag without keys is the driver's whole
		case 4:
			if t := f.Type; t.Kind() == reflect.Struct && depth > 0 && kindOf(t) == document && t.NumField() > 0 &&
				t.Field(0).Name != "ID" {
				f.Tag = `bson:",inline"`
			}
		}
		fields = append(fields, f)
	}
	return reflect.StructOf(fields)
}

// kind says how a value of a type is stored, by the test's own reading of the driver.
type kind uint8

const (
	scalar kind = iota
	document
	array
	open // its fields are not known
)

func kindOf(t reflect.Type) kind {
	marshals := func(t reflect.Type) bool {
		return t.Implements(reflect.TypeFor[bson.ValueMarshaler]()) || t.Implements(reflect.TypeFor[bson.Marshaler]())
	}
	for t.Kind() == reflect.Pointer && !marshals(t) {
		t = t.Elem()
	}
	switch reflect.Zero(t).Interface().(type) {
	case time.Time, bson.Decimal128, bson.Binary, bson.Regex, bson.Timestamp, url.URL:
		return scalar
	case bson.A:
		return open
	}
	switch {
	case marshals(t), marshals(reflect.PointerTo(t)), t.Kind() == reflect.Map, t.Kind() == reflect.Interface:
		return open
	case t.Kind() == reflect.Struct:
		return document
	case t.Kind() != reflect.Slice && t.Kind() != reflect.Array, t.Elem() == reflect.TypeFor[byte]():
		return scalar
	case t.Elem() == reflect.TypeFor[bson.E]():
		return open
	}
	return array
}

func randomType(r *rand.Rand, depth int) reflect.Type {
	t := shapeTypes[r.IntN(len(shapeTypes))]
	if depth > 0 && r.IntN(3) == 0 {
		t = randomStruct(r, depth-1)
	}
	switch r.IntN(7) {
	case 0:
		return reflect.SliceOf(t)
	case 1:
		return reflect.PointerTo(t)
	case 2:
		return reflect.SliceOf(reflect.PointerTo(t))
	case 3:
		return reflect.ArrayOf(2, t)
	case 4:
		return reflect.SliceOf(reflect.SliceOf(t))
	}
	return t
}

// fill gives v a value that stores every field. With sparse, everything that can be is nil or zero, but slices hold one
// element and pointers point at something, so that what lies below is stored.
func fill(r *rand.Rand, v reflect.Value, sparse bool) {
	switch v.Interface().(type) {
	case time.Time:
		if !sparse {
			v.Set(reflect.ValueOf(time.UnixMilli(1_700_000_000_000 + r.Int64N(1000)).UTC()))
		}
		return
	case bson.Decimal128:
		v.Set(reflect.ValueOf(bson.NewDecimal128(1, 2)))
		return
	case bson.Timestamp:
		v.Set(reflect.ValueOf(bson.Timestamp{T: 1, I: 2}))
		return
	case bson.Regex:
		v.Set(reflect.ValueOf(bson.Regex{Pattern: "^.*", Options: "i"}))
		return
	case bson.Binary:
		v.Set(reflect.ValueOf(bson.Binary{Subtype: 4, Data: []byte{1, 2}}))
		return
	case url.URL:
		v.Set(reflect.ValueOf(url.URL{Scheme: "https", Host: "example.org"}))
		return
	}
	if sparse {
		fillSparse(r, v)
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString([]string{"a", "$where", "x.y", "é"}[r.IntN(4)])
	case reflect.Int32, reflect.Int64:
		v.SetInt(1 + r.Int64N(1<<30))
	case reflect.Uint8, reflect.Uint16:
		v.SetUint(1 + r.Uint64N(200))
	case reflect.Float64:
		v.SetFloat(r.Float64() + 1)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Interface:
		v.Set(reflect.ValueOf([]any{
			int32(7), "s", bson.D{{Key: "q", Value: int32(1)}}, []string{"x"}, map[string]int{"k": 1},
		}[r.IntN(5)]))
	case reflect.Map:
		m := reflect.MakeMap(v.Type())
		e := reflect.New(v.Type().Elem()).Elem()
		fill(r, e, false)
		m.SetMapIndex(reflect.ValueOf("key"), e)
		v.Set(m)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(r, v.Elem(), false)
	case reflect.Slice:
		if v.Type().Elem() == reflect.TypeFor[bson.E]() {
			v.Set(reflect.ValueOf(bson.D{{Key: "k", Value: int32(3)}}).Convert(v.Type()))
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fallthrough
	case reflect.Array:
		for i := range v.Len() {
			fill(r, v.Index(i), false)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				fill(r, v.Field(i), false)
			}
		}
	}
}

func fillSparse(r *rand.Rand, v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if kindOf(v.Type()) == document {
			v.Set(reflect.New(v.Type().Elem()))
			fill(r, v.Elem(), true)
		}
	case reflect.Slice:
		if kindOf(v.Type()) != array || r.IntN(2) == 0 {
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(r, v.Index(0), true)
	case reflect.Array:
		for i := range v.Len() {
			fill(r, v.Index(i), true)
		}
	case reflect.Struct:
		if kindOf(v.Type()) == document {
			for i := range v.NumField() {
				if v.Type().Field(i).IsExported() {
					fill(r, v.Field(i), true)
				}
			}
		}
	}
}

// TestShapes holds the generator itself to what it promises: each listed type occurs.
func TestShapes(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	seen := map[reflect.Type]bool{}
	for range 300 {
		st := randomStruct(r, 2)
		for i := range st.NumField() {
			t := st.Field(i).Type
			for t.Kind() == reflect.Slice || t.Kind() == reflect.Pointer || t.Kind() == reflect.Array {
				seen[t] = true
				t = t.Elem()
			}
			seen[t] = true
		}
	}
	for _, want := range shapeTypes {
		if !seen[want] {
			t.Errorf("no random struct has a field of type %s", want)
		}
	}
}
