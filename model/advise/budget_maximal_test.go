package advise_test

import (
	"encoding/json"
	"fmt"
	"math"
	"net/url"
	"reflect"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/advise"
)

type budgetInner struct {
	A string `bson:"a,omitempty"`
	B int    `bson:"b,minsize"`
}

type budgetInlined struct {
	Left  *string `bson:"left"`
	Right []byte  `bson:"right,omitempty"`
}

type budgetName string

// budgetDoc has a field of every kind that the driver stores.
type budgetDoc struct {
	ID       bson.ObjectID             `bson:"_id"`
	Bool     bool                      `bson:"bool"`
	I8       int8                      `bson:"i8"`
	I32      int32                     `bson:"i32"`
	I64      *int64                    `bson:"i64,omitempty"`
	Int      int                       `bson:"int"`
	U16      uint16                    `bson:"u16"`
	U32      uint32                    `bson:"u32"`
	U64      uint64                    `bson:"u64"`
	F32      float32                   `bson:"f32"`
	F64      float64                   `bson:"f64"`
	Name     budgetName                `bson:"name"`
	Data     []byte                    `bson:"data"`
	Hash     [32]byte                  `bson:"hash"`
	When     time.Time                 `bson:"when"`
	For      time.Duration             `bson:"for"`
	Decimal  bson.Decimal128           `bson:"decimal"`
	Date     bson.DateTime             `bson:"date"`
	Stamp    bson.Timestamp            `bson:"stamp"`
	Binary   bson.Binary               `bson:"binary"`
	Regex    bson.Regex                `bson:"regex"`
	Pointer  bson.DBPointer            `bson:"pointer"`
	Min      bson.MinKey               `bson:"min"`
	Max      bson.MaxKey               `bson:"max"`
	Null     bson.Null                 `bson:"null"`
	Gone     bson.Undefined            `bson:"gone"`
	Symbol   bson.Symbol               `bson:"symbol"`
	Script   bson.JavaScript           `bson:"script"`
	URL      url.URL                   `bson:"url"`
	Number   json.Number               `bson:"number"`
	Inner    *budgetInner              `bson:"inner"`
	Inners   []budgetInner             `bson:"inners"`
	Pointers []*budgetInner            `bson:"pointers,omitempty"`
	Tags     []string                  `bson:"tags"`
	Grid     [][]int32                 `bson:"grid"`
	Words    [][]string                `bson:"words,omitempty"`
	Pair     [2]budgetInner            `bson:"pair"`
	None     [0]int32                  `bson:"none,omitempty"`
	Prices   map[string]budgetInner    `bson:"prices"`
	Counts   map[string]int64          `bson:"counts"`
	Lists    map[string][]budgetInner  `bson:"lists"`
	Texts    map[string]string         `bson:"texts"`
	Any      any                       `bson:"any"`
	Raw      bson.Raw                  `bson:"raw"`
	D        bson.D                    `bson:"d"`
	Skipped  string                    `bson:"-"`
	Inlined  budgetInlined             `bson:",inline"`
	Through  *budgetThrough            `bson:",inline"`
	Rest     map[string]map[string]int `bson:",inline"`
}

type budgetThrough struct {
	Deep struct {
		Er []struct {
			Est []bool `bson:"est"`
		} `bson:"er"`
	} `bson:"deep"`
}

var budgetDocs = model.NewCollection[budgetDoc, bson.ObjectID]("docs")

// budgetBounds bound all of a budgetDoc.
var budgetBounds = []advise.Bound{
	{Path: "name", Bytes: 20}, {Path: "data", Bytes: 33}, {Path: "binary", Bytes: 7}, {Path: "regex", Bytes: 9},
	{Path: "pointer", Bytes: 5}, {Path: "symbol", Bytes: 4}, {Path: "script", Bytes: 6}, {Path: "url", Bytes: 40},
	{Path: "inner.a", Bytes: 11}, {Path: "inners", Items: 12}, {Path: "inners.a", Bytes: 3},
	{Path: "pointers", Items: 101}, {Path: "pointers.a", Bytes: 1}, {Path: "tags", Items: 1005, Bytes: 8},
	{Path: "grid", Items: 11}, {Path: "grid.*", Items: 3}, {Path: "words", Items: 2},
	{Path: "words.*", Items: 3, Bytes: 5}, {Path: "pair.a", Bytes: 2}, {Path: "prices", Items: 4, Key: 6},
	{Path: "prices.*.a", Bytes: 7}, {Path: "counts", Items: 3, Key: 2}, {Path: "lists", Items: 2, Key: 3},
	{Path: "lists.*", Items: 2}, {Path: "lists.*.a", Bytes: 9}, {Path: "texts", Items: 2, Key: 5, Bytes: 10},
	{Path: "any", Bytes: 21}, {Path: "raw", Bytes: 30}, {Path: "d", Bytes: 25}, {Path: "left", Bytes: 4},
	{Path: "right", Bytes: 5}, {Path: "deep.er", Items: 10}, {Path: "deep.er.est", Items: 2},
	{Path: "*", Items: 2, Key: 12}, {Path: "*.*", Items: 5, Key: 3},
}

// maximal makes the largest values that keep to bounds, by reflection over Go's values: it knows nothing of the budget.
type maximal map[string]advise.Bound

func newMaximal(bounds []advise.Bound) maximal {
	m := maximal{}
	for _, b := range bounds {
		m[b.Path] = b
	}
	return m
}

func bytesOf(n int64) string { return strings.Repeat("x", int(n)) }

// documentOf is a BSON document of exactly n bytes, for values that are open.
func documentOf(n int64) bson.D { return bson.D{{Key: "k", Value: bytesOf(n - 13)}} }

func (m maximal) set(v reflect.Value, path string) {
	b := m[path]
	switch p := v.Addr().Interface().(type) {
	case *bson.Binary:
		*p = bson.Binary{Subtype: 2, Data: []byte(bytesOf(b.Bytes))}
		return
	case *bson.Regex:
		*p = bson.Regex{Pattern: bytesOf(b.Bytes - 1), Options: "i"}
		return
	case *bson.DBPointer:
		*p = bson.DBPointer{DB: bytesOf(b.Bytes), Pointer: bson.NewObjectID()}
		return
	case *url.URL:
		*p = url.URL{Path: bytesOf(b.Bytes)}
		return
	case *json.Number:
		*p = "1234567890123"
		return
	case *any:
		*p = documentOf(b.Bytes)
		return
	case *bson.Raw:
		*p, _ = bson.Marshal(documentOf(b.Bytes))
		return
	case *bson.D:
		*p = documentOf(b.Bytes)
		return
	case *bson.ObjectID, *time.Time, *bson.Decimal128, *bson.Timestamp, *bson.MinKey, *bson.MaxKey,
		*bson.Null, *bson.Undefined:
		return
	}
	m.setKind(v, path, b)
}

func (m maximal) setKind(v reflect.Value, path string, b advise.Bound) {
	at := func(name string) string { return strings.TrimPrefix(path+"."+name, ".") }
	within := func(t reflect.Type) string { // the path of what a list or map holds
		for t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
		switch k := t.Kind(); {
		case k == reflect.Map, k == reflect.Slice &&
			t.Elem().Kind() != reflect.Uint8, v.Kind() == reflect.Map && k == reflect.Struct:
			return at("*")
		}
		return path
	}
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		m.set(v.Elem(), path)
	case reflect.Struct:
		for i := range v.NumField() {
			f := v.Type().Field(i)
			name, flags, _ := strings.Cut(f.Tag.Get("bson"), ",")
			switch inline := strings.Contains(flags, "inline"); {
			case name == "-":
			case inline && f.Type.Kind() == reflect.Map:
				m.set(v.Field(i), at("*"))
			case inline:
				m.set(v.Field(i), path)
			default:
				m.set(v.Field(i), at(name))
			}
		}
	case reflect.String:
		v.SetString(bytesOf(b.Bytes))
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			v.SetBytes([]byte(bytesOf(b.Bytes)))
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), int(b.Items), int(b.Items)))
		for i := range v.Len() {
			m.set(v.Index(i), within(v.Type().Elem()))
		}
	case reflect.Array:
		for i := range v.Len() {
			m.set(v.Index(i), within(v.Type().Elem()))
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		for i := range b.Items {
			elem := reflect.New(v.Type().Elem()).Elem()
			m.set(elem, within(v.Type().Elem()))
			v.SetMapIndex(reflect.ValueOf(fmt.Sprintf("%0*d", b.Key, i)), elem)
		}
	case reflect.Int, reflect.Int64:
		v.SetInt(math.MinInt64)
	case reflect.Uint, reflect.Uint64:
		v.SetUint(math.MaxInt64)
	case reflect.Uint32:
		v.SetUint(math.MaxUint32)
	}
}
