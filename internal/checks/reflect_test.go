package checks

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// findings are what a check has found, of which these are the details.
func findings(check model.Check, details ...any) []model.Finding {
	found := make([]model.Finding, 0, len(details)+4)
	for _, d := range details {
		raw, err := bson.Marshal(d)
		if err != nil {
			panic(err)
		}
		found = append(found, model.Finding{Check: check.Name, Collection: check.Collection, Detail: raw})
	}
	return found
}

// roomy returns the slice with room behind it, so that an append of somebody else's would write there.
func roomy[S ~[]E, E any](s S) S {
	out := make(S, len(s), len(s)+4)
	copy(out, s)
	return out
}

// dump is everything that the values reach, as text: exported fields, and the room behind slices too.
func dump(values ...any) string {
	var b strings.Builder
	for _, v := range values {
		dumpValue(&b, reflect.ValueOf(v))
		b.WriteByte('\n')
	}
	return b.String()
}

func dumpValue(b *strings.Builder, v reflect.Value) {
	switch v.Kind() {
	case reflect.Invalid:
		b.WriteString("nil")
	case reflect.Pointer, reflect.Interface:
		b.WriteByte('&')
		dumpValue(b, v.Elem())
	case reflect.Slice:
		fmt.Fprintf(b, "%s(%d)[", v.Type(), v.Len())
		for all, i := v.Slice(0, v.Cap()), 0; i < all.Len(); i++ {
			dumpValue(b, all.Index(i))
			b.WriteByte(' ')
		}
		b.WriteByte(']')
	case reflect.Struct:
		b.WriteString(v.Type().String() + "{")
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				dumpValue(b, v.Field(i))
				b.WriteByte(' ')
			}
		}
		b.WriteByte('}')
	default:
		fmt.Fprintf(b, "%#v", v.Interface()) // maps are printed in the order of their keys
	}
}

// scribble changes everything that the values reach.
func scribble(values ...any) {
	for _, v := range values {
		scribbleValue(reflect.ValueOf(v), 0)
	}
}

func scribbleValue(v reflect.Value, depth int) {
	if depth > 20 {
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		scribbleValue(v.Elem(), depth+1)
	case reflect.Interface:
		if v.NumMethod() > 0 {
			v.SetZero()
			return
		}
		scribbleValue(v.Elem(), depth+1)
		if v.CanSet() {
			v.Set(reflect.ValueOf("scribbled"))
		}
	case reflect.Slice:
		for all, i := v.Slice(0, v.Cap()), 0; i < all.Len(); i++ {
			scribbleValue(all.Index(i), depth+1)
		}
	case reflect.Array:
		for i := range v.Len() {
			scribbleValue(v.Index(i), depth+1)
		}
	case reflect.Map:
		for _, k := range v.MapKeys() {
			scribbleValue(v.MapIndex(k), depth+1)
			v.SetMapIndex(k, reflect.Value{})
		}
	case reflect.Struct:
		if isGenerated(v.Type()) {
			v.SetZero() // its insides belong to nobody
			return
		}
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				scribbleValue(v.Field(i), depth+1)
			}
		}
	default:
		scribbleScalar(v)
	}
}

func isGenerated(t reflect.Type) bool {
	return t == reflect.TypeFor[model.Write]() || t == reflect.TypeFor[model.Plan]() ||
		t == reflect.TypeFor[model.MergeInto]()
}

func scribbleScalar(v reflect.Value) {
	if !v.CanSet() {
		return
	}
	switch {
	case v.Kind() == reflect.String:
		v.SetString("scribbled")
	case v.Kind() == reflect.Bool:
		v.SetBool(!v.Bool())
	case v.CanInt():
		v.SetInt(v.Int() + 1)
	case v.CanUint():
		v.SetUint((v.Uint() + 1) % 128)
	case v.CanFloat():
		v.SetFloat(v.Float() + 1)
	}
}

// The helpers of the purity tests see what they must.
func TestScribble(t *testing.T) {
	type doc struct {
		Name string
		List []int
		At   *string
	}
	text := "a"
	d := &doc{Name: "n", List: []int{1, 2}, At: &text}
	inputs := []any{
		d,
		bson.D{{Key: "a", Value: bson.A{"x", bson.D{{Key: "b", Value: 1}}}}},
		map[string]int{"k": 1}, []byte{1},
	}
	before := dump(inputs...)
	scribble(inputs...)
	if got := dump(inputs...); got == before || text == "a" || d.Name == "n" || d.List[1] == 2 {
		t.Fatalf("scribble left something: %s", got)
	}
	s := roomy([]int{1})
	before = dump(s)
	_ = append(s, 7)
	if dump(s) == before {
		t.Fatal("dump doesn't see what is written behind a slice")
	}
}
