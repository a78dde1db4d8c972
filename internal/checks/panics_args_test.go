package checks

import (
	"context"
	"math"
	"reflect"
	"strings"
	"sync"
	"time"

	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// foreign is what isn't a database of the driver.
type foreign struct{}

func (foreign) Name() string          { return "foreign" }
func (foreign) Client() *mongo.Client { return nil }

// good is an argument as it may be.
func (w *walker) good(t reflect.Type) reflect.Value {
	switch t {
	case reflect.TypeFor[context.Context]():
		return reflect.ValueOf(context.Background())
	case reflect.TypeFor[*bson.Registry]():
		return reflect.ValueOf(bson.NewRegistry())
	case reflect.TypeFor[*mongo.Database](), reflect.TypeFor[model.DB](), reflect.TypeFor[core.DB]():
		return reflect.ValueOf(w.db)
	case reflect.TypeFor[bson.RawValue]():
		return reflect.ValueOf(rawOf("x"))
	case reflect.TypeFor[bson.Raw]():
		raw, _ := bson.Marshal(bson.D{{Key: "_id", Value: "x"}})
		return reflect.ValueOf(bson.Raw(raw))
	case reflect.TypeFor[any]():
		return reflect.ValueOf("x")
	case reflect.TypeFor[bson.ObjectID]():
		return reflect.ValueOf(oid(1))
	case reflect.TypeFor[time.Time]():
		return reflect.ValueOf(time.Unix(1e9, 0))
	}
	switch t.Kind() {
	case reflect.String:
		return reflect.ValueOf("x").Convert(t)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Uint8, reflect.Uint,
		reflect.Uint32, reflect.Uint64, reflect.Float64, reflect.Float32:
		return reflect.ValueOf(1).Convert(t)
	case reflect.Func:
		return stub(t)
	case reflect.Pointer:
		for _, v := range walkedValues {
			if reflect.TypeOf(v) == t {
				return reflect.ValueOf(v)
			}
		}
		return reflect.New(t.Elem())
	}
	return reflect.Zero(t)
}

// stub is a function that returns nothing.
func stub(t reflect.Type) reflect.Value {
	return reflect.MakeFunc(t, func([]reflect.Value) []reflect.Value {
		out := make([]reflect.Value, t.NumOut())
		for i := range out {
			out[i] = reflect.Zero(t.Out(i))
		}
		return out
	})
}

// cyclic is a value that holds itself.
type cyclic struct {
	Next *cyclic `bson:"next"`
	Any  any     `bson:"any"`
}

func badValues() []any {
	ring := &cyclic{}
	ring.Next, ring.Any = ring, ring
	list := bson.A{nil}
	list[0] = list
	table := bson.M{}
	table["self"] = table
	return []any{
		ring, list, table, deepDocument(), deepBytes(), make(chan int), func() {}, complex(1, 1), math.NaN(), math.Inf(1),
		int64(math.MaxInt64), "", "$where", "a\x00b", strings.Repeat("x", 1<<10), bson.Raw{1, 2, 3}, bson.Raw{},
		bson.RawValue{}, bson.RawValue{Type: bson.TypeString},
		bson.RawValue{Type: bson.TypeEmbeddedDocument, Value: []byte{9}}, bson.RawValue{Type: 99, Value: []byte{1}},
		bson.RawArray{3}, bson.D{{}}, bson.D{{Key: "$x", Value: nil}}, (*int)(nil), (*cyclic)(nil), struct{}{}, []byte(nil),
		[3]int{}, map[int]int{1: 1}, bson.D(nil), bson.M(nil), bson.Raw(nil), mongo.Pipeline(nil), bson.Regex{}, time.Time{},
		bson.Decimal128{}, bson.NewDecimal128(math.MaxUint64, math.MaxUint64),
	}
}

// deepDocument and deepBytes are deeper than any server stores.
var (
	deepDocument = sync.OnceValue(func() bson.D { return deepD(5000) })
	deepBytes    = sync.OnceValue(func() bson.Raw { return deepRaw(5000) })
)

func deepD(n int) bson.D {
	d := bson.D{}
	for range n {
		d = bson.D{{Key: "a", Value: d}}
	}
	return d
}

// deepRaw is an encoded document of so many levels.
func deepRaw(n int) bson.Raw {
	out := make([]byte, 0, 8*n+5)
	size := func(level int) uint32 { return uint32(5 + 8*level) }
	for i := n; i >= 0; i-- {
		s := size(i)
		out = append(out, byte(s), byte(s>>8), byte(s>>16), byte(s>>24))
		if i > 0 {
			out = append(out, byte(bson.TypeEmbeddedDocument), 'a', 0)
		}
	}
	return append(out, make([]byte, n+1)...)
}

// bad are arguments as they may not be.
func (w *walker) bad(t reflect.Type, depth int) []reflect.Value {
	out := []reflect.Value{reflect.Zero(t)}
	add := func(values ...any) {
		for _, v := range values {
			if r := reflect.ValueOf(v); r.IsValid() && r.Type().ConvertibleTo(t) &&
				(r.Kind() == t.Kind() || t.Kind() == reflect.Interface) {
				out = append(out, r.Convert(t))
			}
		}
	}
	switch t {
	case reflect.TypeFor[*mongo.Database](), reflect.TypeFor[context.Context]():
		return out
	case reflect.TypeFor[model.DB](), reflect.TypeFor[core.DB]():
		add((*mongo.Database)(nil), core.TestHandle(nil), foreign{},
			model.Scope{Tenant: bson.D{{Key: "tenant", Value: ""}}}.On(w.db), model.Observer{}.On(w.db))
		return out
	case reflect.TypeFor[bson.Raw]():
		add(bson.Raw{}, bson.Raw{1, 2, 3}, bson.Raw{5, 0, 0, 0, 0}, bson.Raw{255, 255, 255, 127, 2, 'a', 0},
			bson.Raw{12, 0, 0, 0, 2, 'a', 0, 255, 255, 255, 127, 0}, deepBytes())
		return out
	case reflect.TypeFor[bson.RawValue]():
		for _, v := range badValues() {
			if r, ok := v.(bson.RawValue); ok {
				add(r)
			}
		}
		add(bson.RawValue{Type: bson.TypeArray, Value: []byte{1}}, bson.RawValue{Type: bson.TypeObjectID, Value: []byte{1}},
			bson.RawValue{Type: bson.TypeInt64},
			bson.RawValue{Type: bson.TypeEmbeddedDocument, Value: deepBytes()}, bson.RawValue{
				Type: bson.TypeString, Value: []byte{255, 255, 255, 255, 0},
			})
		return out
	case reflect.TypeFor[time.Time]():
		add(time.Unix(math.MaxInt64, 0), time.Unix(math.MinInt64, 0), time.UnixMilli(math.MaxInt64),
			time.UnixMilli(math.MinInt64))
		return out
	}
	switch t.Kind() {
	case reflect.Interface:
		add(badValues()...)
	case reflect.Bool:
		add(true)
	case reflect.String:
		for _, s := range []string{
			"$", "a.b", ".", "a\x00b", "\xff", strings.Repeat("x", 1<<12), "-1", "9999999999999999999999", "{", "_id",
		} {
			out = append(out, reflect.ValueOf(s).Convert(t))
		}
	case reflect.Int, reflect.Int64:
		for _, n := range []int64{-1, math.MaxInt64, math.MinInt64, math.MaxInt32 + 1} {
			out = append(out, reflect.ValueOf(n).Convert(t))
		}
	case reflect.Int8, reflect.Int16, reflect.Int32, reflect.Uint8, reflect.Uint16, reflect.Uint32,
		reflect.Uint64, reflect.Uint:
		for _, n := range []int64{-1, 127, 200} {
			out = append(out, reflect.ValueOf(n).Convert(t))
		}
	case reflect.Float64, reflect.Float32:
		for _, n := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), math.MaxFloat64, -1} {
			out = append(out, reflect.ValueOf(n).Convert(t))
		}
	case reflect.Func:
		out = append(out, stub(t))
	case reflect.Pointer:
		if e := t.Elem(); e.Kind() == reflect.Struct &&
			(e.NumField() == 0 || e.Field(0).IsExported() && e.Field(0).Name != "Parts") {
			out = append(out, reflect.New(e)) // others are made by constructors alone
		}
	case reflect.Slice:
		out = append(out, reflect.MakeSlice(t, 0, 0), reflect.MakeSlice(t, 2, 2))
		if depth < 2 {
			for _, e := range w.bad(t.Elem(), depth+1) {
				s := reflect.MakeSlice(t, 1, 1)
				s.Index(0).Set(e)
				out = append(out, s)
			}
		}
	case reflect.Struct:
		for i := range t.NumField() {
			if depth > 1 || !t.Field(i).IsExported() {
				continue
			}
			for _, e := range w.bad(t.Field(i).Type, depth+1) {
				s := reflect.New(t).Elem()
				s.Field(i).Set(e)
				out = append(out, s)
			}
		}
	}
	return out
}
