package core_test

import (
	"bytes"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/docmodel/docmodel/internal/core"
)

// driverMarshal encodes as the driver would, by the test's own reading of the options.
func driverMarshal(t *testing.T, o *options.BSONOptions, v any) (bson.Raw, error) {
	t.Helper()
	var buf bytes.Buffer
	enc := bson.NewEncoder(bson.NewDocumentWriter(&buf))
	enc.SetRegistry(bson.NewRegistry()) // a registry remembers the names of the first encoding, JSON's or not
	if o != nil {
		for _, x := range []struct {
			on  bool
			set func()
		}{
			{o.UseJSONStructTags, enc.UseJSONStructTags},
			{o.OmitEmpty, enc.OmitEmpty}, {o.OmitZeroStruct, enc.OmitZeroStruct},
			{o.NilSliceAsEmpty, enc.NilSliceAsEmpty}, {o.NilMapAsEmpty, enc.NilMapAsEmpty},
			{o.NilByteSliceAsEmpty, enc.NilByteSliceAsEmpty}, {o.IntMinSize, enc.IntMinSize},
		} {
			if x.on {
				x.set()
			}
		}
	}
	err := enc.Encode(v)
	return buf.Bytes(), err
}

// stored is what a document has at one path.
type stored struct {
	path  string
	types []bson.Type
}

// storedPaths lists the paths of a document and the types found there; arrays are crossed.
func storedPaths(doc bson.Raw) []stored {
	var out []stored
	at := map[string]int{}
	var walk func(prefix string, v bson.RawValue, named bool)
	walk = func(prefix string, v bson.RawValue, named bool) {
		if named {
			i, ok := at[prefix]
			if !ok {
				i, at[prefix] = len(out), len(out)
				out = append(out, stored{path: prefix})
			}
			out[i].types = append(out[i].types, v.Type)
		}
		switch v.Type {
		case bson.TypeArray:
			values, _ := v.Array().Values()
			for _, e := range values {
				walk(prefix, e, false)
			}
		case bson.TypeEmbeddedDocument:
			elems, _ := v.Document().Elements()
			for _, e := range elems {
				walk(strings.TrimPrefix(prefix+"."+e.Key(), "."), e.Value(), true)
			}
		}
	}
	walk("", bson.RawValue{Type: bson.TypeEmbeddedDocument, Value: doc}, false)
	return out
}

// TestLayoutAgreesWithDriver encodes random documents of random types with the driver, and holds the layout to what
// came out: each stored path resolves, each other doesn't, names come in the order they are written, and StoresNull is
// right.
func TestLayoutAgreesWithDriver(t *testing.T) {
	rounds := 80
	if testing.Short() {
		rounds = 20
	}
	for name, o := range shapeOptions() {
		t.Run(name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(7, 11))
			for range rounds {
				checkLayout(t, r, randomStruct(r, 2), o)
				if t.Failed() {
					return
				}
			}
		})
	}
}

func checkLayout(t *testing.T, r *rand.Rand, typ reflect.Type, o *options.BSONOptions) {
	t.Helper()
	full, sparse := reflect.New(typ).Elem(), reflect.New(typ).Elem()
	fill(r, full, false)
	fill(r, sparse, true)
	l, layoutErr := core.LayoutOf(typ, core.NewCodec(o, nil))
	raw, err := driverMarshal(t, o, full.Interface())
	if (err != nil) != (layoutErr != nil) {
		t.Fatalf("%s\nthe driver says %v, the layout %v", typ, err, layoutErr)
	}
	if err != nil {
		return
	}
	c := core.NewCodec(o, nil)
	elems, _ := raw.Elements()
	var names []string
	for _, e := range elems {
		if l.HasField(e.Key()) {
			names = append(names, e.Key())
		}
	}
	if !slices.Equal(names, l.Names) {
		t.Fatalf("%s\nthe driver writes %v, the layout says %v", typ, names, l.Names)
	}
	for _, s := range storedPaths(raw) {
		f, err := l.Resolve(s.path, c)
		if err != nil {
			t.Fatalf("%s\nstored path %q: %v", typ, s.path, err)
		}
		if !f.Untyped && kindOf(f.Type) == scalar && f.IsArray() != slices.Contains(s.types, bson.TypeArray) {
			t.Errorf("%s\npath %q: IsArray is %v, stored are %v", typ, s.path, f.IsArray(), s.types)
		}
		if other, err := l.Resolve(s.path+"_no", c); err == nil && !other.Untyped {
			t.Errorf("%s\npath %q_no is not stored, and resolves", typ, s.path)
		}
	}
	checkNulls(t, l, c, o, raw, sparse)
}

// checkNulls compares StoresNull with what is written for a value whose fields are nil.
func checkNulls(
	t *testing.T, l *core.Layout, c *core.Codec, o *options.BSONOptions, full bson.Raw, sparse reflect.Value,
) {
	t.Helper()
	raw, err := driverMarshal(t, o, sparse.Interface())
	if err != nil {
		t.Fatalf("%s: %v", sparse.Type(), err)
	}
	found := map[string][]bson.Type{}
	for _, s := range storedPaths(raw) {
		found[s.path] = s.types
	}
	for _, s := range storedPaths(full) {
		f, err := l.Resolve(s.path, c)
		if err != nil || f.Untyped && f.Type == nil {
			continue
		}
		if slices.Contains(found[s.path], bson.TypeNull) && !f.StoresNull() {
			t.Errorf("%s\npath %q stores null, and StoresNull says no", sparse.Type(), s.path)
		}
		k := kindOf(f.Type)
		// these are always nil when sparse
		always := f.Type.Kind() == reflect.Map || k == open && f.Type.Kind() == reflect.Slice
		if f.StoresNull() && always && f.Arrays == 0 && found[s.path] != nil &&
			!slices.Contains(found[s.path], bson.TypeNull) {
			t.Errorf("%s\npath %q: StoresNull says yes, stored is %v", sparse.Type(), s.path, found[s.path])
		}
	}
}

// TestReaderAgreesWithDriver reads each path of random documents, and compares with the driver's encoding.
func TestReaderAgreesWithDriver(t *testing.T) {
	for name, o := range shapeOptions() {
		t.Run(name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(3, 5))
			for range 25 {
				typ := randomStruct(r, 2)
				l, err := core.LayoutOf(typ, core.NewCodec(o, nil))
				if err != nil {
					continue
				}
				for _, sparse := range []bool{false, true} {
					v := reflect.New(typ).Elem()
					full, _ := driverMarshal(t, o, func() any {
						x := reflect.New(typ).Elem()
						fill(r, x, false)
						return x.Interface()
					}())
					fill(r, v, sparse)
					raw, err := driverMarshal(t, o, v.Interface())
					if err != nil {
						t.Fatal(err)
					}
					for _, s := range storedPaths(full) {
						checkReader(t, l, core.NewCodec(o, bson.NewRegistry()), v, raw, s.path)
					}
				}
				if t.Failed() {
					return
				}
			}
		})
	}
}

func checkReader(t *testing.T, l *core.Layout, c *core.Codec, v reflect.Value, raw bson.Raw, path string) {
	t.Helper()
	f, err := l.Resolve(path, c)
	if err != nil || f.Untyped {
		return
	}
	var want []bson.RawValue
	collectAt(bson.RawValue{Type: bson.TypeEmbeddedDocument, Value: raw}, strings.Split(path, "."), f.Arrays, &want)
	var got []any
	switch f.Type {
	case reflect.TypeFor[string]():
		got = readAll[string](c, v, f, path)
	case reflect.TypeFor[int32]():
		got = readAll[int32](c, v, f, path)
	case reflect.TypeFor[bool]():
		got = readAll[bool](c, v, f, path)
	case reflect.TypeFor[bson.ObjectID]():
		got = readAll[bson.ObjectID](c, v, f, path)
	case reflect.TypeFor[time.Time]():
		got = readAll[time.Time](c, v, f, path)
	case reflect.TypeFor[[]byte]():
		got = readAll[[]byte](c, v, f, path)
	case reflect.TypeFor[[16]byte]():
		got = readAll[[16]byte](c, v, f, path)
	case reflect.TypeFor[shapeMoney]():
		got = readAll[shapeMoney](c, v, f, path)
	case reflect.TypeFor[*shapeMoney]():
		got = readAll[*shapeMoney](c, v, f, path)
	case reflect.TypeFor[shapeInner]():
		got = readAll[shapeInner](c, v, f, path)
	case reflect.TypeFor[map[string]int32]():
		got = readAll[map[string]int32](c, v, f, path)
	default:
		return
	}
	if len(got) != len(want) {
		t.Errorf("%s\npath %q: read %d values, stored are %d: %v\n%s", v.Type(), path, len(got), len(want), got, raw)
		return
	}
	for i := range got {
		if enc, err := c.Document(bson.D{{Key: "v", Value: got[i]}}); err != nil || !enc.Lookup("v").Equal(want[i]) {
			if f.Type == reflect.TypeFor[shapeInner]() { // the option OmitEmpty reaches a document's own fields only
				continue
			}
			t.Errorf("%s\npath %q: read %v, stored is %v (%v)", v.Type(), path, got[i], want[i], err)
		}
	}
}

func readAll[V any](c *core.Codec, v reflect.Value, f core.Field, path string) []any {
	var out []any
	for _, x := range core.ReaderOf[V](f, c, path).Append(nil, v.Addr().Interface()) {
		out = append(out, x)
	}
	return out
}

// collectAt lists what is stored at a path, through at most that many arrays; nulls are left out.
func collectAt(v bson.RawValue, parts []string, arrays int, out *[]bson.RawValue) {
	switch {
	case v.Type == bson.TypeArray && arrays > 0:
		values, _ := v.Array().Values()
		for _, e := range values {
			collectAt(e, parts, arrays-1, out)
		}
	case len(parts) == 0:
		if v.Type != bson.TypeNull {
			*out = append(*out, v)
		}
	case v.Type == bson.TypeEmbeddedDocument:
		if inner, err := v.Document().LookupErr(parts[0]); err == nil {
			collectAt(inner, parts[1:], arrays, out)
		}
	}
}
