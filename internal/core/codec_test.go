package core_test

import (
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/docmodel/docmodel/model"

	"github.com/docmodel/docmodel/internal/core"
)

// encodeV is a value's bytes, for comparing what it is at two times.
func encodeV(t *testing.T, v any) string {
	t.Helper()
	raw, err := bson.Marshal(bson.D{{Key: "v", Value: v}})
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// Inlined is exported, for the driver passes over an embedded type that is not.
type Inlined struct {
	N int64 `bson:"n"`
}

// TestEncodeDoesNotAlias changes the caller's value after it was encoded.
func TestEncodeDoesNotAlias(t *testing.T) {
	type inner struct{ List []string }
	inlined := &Inlined{N: 1}
	bytes, list := []byte{1, 2}, []string{"a"}
	inD, inA, inM := bson.D{{Key: "k", Value: 1}}, bson.A{1}, bson.M{"k": 1}
	raw, _ := bson.Marshal(bson.D{{Key: "k", Value: 1}})
	s := &inner{list}
	pipeline := mongo.Pipeline{{{Key: "$match", Value: inD}}}
	for _, c := range []struct {
		v      any
		change func()
		reason string
	}{
		{bytes, func() { bytes[0]++ }, "bytes"},
		{bson.Binary{Data: bytes}, func() { bytes[0]++ }, "bytes in a Binary"},
		{list, func() { list[0] += "x" }, "a slice"},
		{inD, func() { inD[0].Value = inD[0].Value.(int) + 1 }, "a document"},
		{
			bson.D{{Key: "x", Value: bson.A{inD}}}, func() { inD[0].Value = inD[0].Value.(int) + 1 },
			"a document further down",
		},
		{inA, func() { inA[0] = inA[0].(int) + 1 }, "an array"},
		{inM, func() { inM["k"] = inM["k"].(int) + 1 }, "a map"},
		{bson.D{{Key: "m", Value: inM}}, func() { inM["k"] = inM["k"].(int) + 1 }, "a map further down"},
		{pipeline, func() { inD[0].Value = inD[0].Value.(int) + 1 }, "a pipeline"},
		{[]bson.D{inD}, func() { inD[0].Value = inD[0].Value.(int) + 1 }, "a list of documents"},
		{s, func() { s.List[0] += "y" }, "a struct behind a pointer"},
		{outer{inlined}, func() { inlined.N++ }, "an inlined struct behind a pointer"},
		{bson.Raw(raw), func() { raw[7]++ }, "raw bytes"},
		{bson.RawValue{Type: bson.TypeEmbeddedDocument, Value: raw}, func() { raw[7]++ }, "a raw value"},
		{bson.CodeWithScope{Code: "f", Scope: inD}, func() { inD[0].Value = inD[0].Value.(int) + 1 }, "a scope"},
	} {
		got, err := products.Encode(c.v)
		if err != nil {
			t.Fatalf("%s: %v", c.reason, err)
		}
		before := encodeV(t, got)
		if before != encodeV(t, c.v) {
			t.Errorf("%s: encoded otherwise than the driver does", c.reason)
		}
		c.change()
		if encodeV(t, got) != before {
			t.Errorf("%s: changed with the caller's value", c.reason)
		}
		if encodeV(t, c.v) == before {
			t.Errorf("%s: the test changed nothing", c.reason)
		}
	}
}

// TestEncodeScalarsAsTheyAre: what can't change needs no copy, and stays readable.
func TestEncodeScalarsAsTheyAre(t *testing.T) {
	for _, v := range []any{
		nil, true, 1, int32(1), int64(1), uint8(1), 1.5, "$where", oid(1), bson.DateTime(1), time.Unix(1, 0),
		bson.Regex{Pattern: "^.*"},
	} {
		if got, err := products.Encode(v); err != nil || !reflect.DeepEqual(got, v) {
			t.Errorf("Encode(%T %v) = %T %v, %v", v, v, got, got, err)
		}
	}
	if _, err := products.Encode(func() {}); err == nil {
		t.Error("a function was encoded")
	}
}

// TestEncodeMapsInOneOrder: equal maps give equal bytes, every time.
func TestEncodeMapsInOneOrder(t *testing.T) {
	first := ""
	for i := range 50 {
		m := bson.M{}
		for _, k := range []string{"a", "b", "c", "d", "e", "f"} {
			m[k] = bson.M{"x": 1, "y": 2, "z": 3}
		}
		v, err := products.Encode(bson.D{{Key: "m", Value: m}})
		if err != nil {
			t.Fatal(err)
		}
		if got := encodeV(t, v); i == 0 {
			first = got
		} else if got != first {
			t.Fatal("two encodings of equal maps differ")
		}
	}
}

type upper string

// TestEncodeUsesOptionsAndRegistry: what is generated is what the collection's client would store.
func TestEncodeUsesOptionsAndRegistry(t *testing.T) {
	registry := bson.NewRegistry()
	registry.RegisterTypeEncoder(reflect.TypeFor[upper](),
		bson.ValueEncoderFunc(func(_ bson.EncodeContext, w bson.ValueWriter, v reflect.Value) error {
			return w.WriteString("UPPER " + v.String())
		}))
	registry.RegisterKindEncoder(reflect.String,
		bson.ValueEncoderFunc(func(_ bson.EncodeContext, w bson.ValueWriter, v reflect.Value) error {
			return w.WriteString("S " + v.String())
		}))
	type doc struct {
		ID int64    `bson:"_id"`
		N  int64    `bson:"n"`
		S  []string `bson:"s"`
	}
	with := func(o model.CollectionOptions) *model.Collection[doc, int64] {
		return model.NewCollectionWith[doc, int64]("docs", o)
	}
	for _, c := range []struct {
		c            *model.Collection[doc, int64]
		v            any
		want, reason string
	}{
		{with(model.CollectionOptions{}), int64(5), "Long('5')", "the driver's default"},
		{
			c: with(model.CollectionOptions{BSON: &options.BSONOptions{IntMinSize: true}}),
			v: int64(5), want: "5", reason: "IntMinSize stores the smallest",
		},
		{
			c:    with(model.CollectionOptions{BSON: &options.BSONOptions{IntMinSize: true}}),
			v:    bson.A{int64(5), bson.D{{Key: "n", Value: int64(1 << 40)}}},
			want: "[5, {n: Long('1099511627776')}]", reason: "at any depth",
		},
		{
			with(model.CollectionOptions{BSON: &options.BSONOptions{NilSliceAsEmpty: true}}), []string(nil), "[]",
			"nil slices",
		},
		{
			c: with(model.CollectionOptions{BSON: &options.BSONOptions{NilSliceAsEmpty: true}}),
			v: bson.D{{Key: "d", Value: bson.D(nil)}}, want: "{d: {}}", reason: "nil documents",
		},
		{with(model.CollectionOptions{}), bson.D(nil), "null", "nil documents by default"},
		{with(model.CollectionOptions{BSON: &options.BSONOptions{NilMapAsEmpty: true}}), bson.M(nil), "{}", "nil maps"},
		{with(model.CollectionOptions{Registry: registry}), upper("x"), "'UPPER x'", "a type of the registry"},
		{
			c: with(model.CollectionOptions{Registry: registry}),
			v: bson.D{{Key: "k", Value: "x"}}, want: "{k: 'S x'}", reason: "a kind of the registry",
		},
	} {
		v, err := c.c.Docs().Encode(c.v)
		if err != nil || model.Shell(v) != c.want {
			t.Errorf("%s: %s, %v, want %s", c.reason, model.Shell(v), err, c.want)
		}
	}
	small := with(model.CollectionOptions{BSON: &options.BSONOptions{IntMinSize: true, NilSliceAsEmpty: true}})
	if diff := cmp.Diff("db.docs.insertOne({_id: 1, n: 2, s: []})", small.Insert(doc{1, 2, nil}).String()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff("db.docs.find({_id: 1}).limit(1)", small.ByID(1).String()); diff != "" {
		t.Error(diff)
	}
	o := &options.BSONOptions{}
	c := with(model.CollectionOptions{BSON: o})
	o.IntMinSize = true
	if v, _ := c.Docs().Encode(int64(1)); v != int64(1) {
		t.Error("changing the options after the declaration changed the collection")
	}
}

// Structs that can't change are kept as they are; what could change, or needs a look at its names, is encoded.
func TestEncodePlain(t *testing.T) {
	type plain struct {
		Name string
		At   time.Time
		ID   bson.ObjectID
		In   struct{ N int64 }
	}
	type named struct {
		N int `bson:"$n"`
	}
	type inline struct {
		In map[string]any `bson:",inline"`
	}
	for _, c := range []struct {
		v    any
		kept bool
	}{
		{plain{Name: "a"}, true}, {struct{}{}, true}, {&plain{}, false}, {struct{ P *int }{}, false},
		{struct{ L []int }{}, false}, {struct{ A any }{}, false}, {struct{ M bson.M }{}, false}, {named{}, false},
		{inline{}, false}, {struct{ B bson.Binary }{}, false}, {struct{ A [2]string }{}, false},
		{struct{ V bson.RawValue }{bson.RawValue{Type: bson.TypeNull}}, false},
	} {
		got, err := products.Encode(c.v)
		if err != nil {
			t.Fatal(err)
		}
		if _, isRaw := got.(bson.RawValue); isRaw == c.kept {
			t.Errorf("%T: encoded %v, want %v", c.v, isRaw, !c.kept)
		}
		if encodeV(t, got) != encodeV(t, c.v) {
			t.Errorf("%T: encoded otherwise than the driver does", c.v)
		}
	}
	if path, err := core.CheckNames(named{}, "x"); err == nil || path != "x.$n" {
		t.Errorf("%q, %v: a name that can't be stored", path, err)
	}
	json := model.NewCollectionWith[part, int32]("parts", model.CollectionOptions{
		BSON: &options.BSONOptions{UseJSONStructTags: true},
	}).Docs()
	if got, err := json.Encode(plain{}); err != nil || reflect.TypeOf(got) != reflect.TypeFor[bson.RawValue]() {
		t.Errorf("%T, %v: a collection with options of its own encodes by them", got, err)
	}
}
