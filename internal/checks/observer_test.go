package checks

import (
	"reflect"
	"slices"
	"strings"
	"testing"
)

// What an observer is told as a name: each change and job of a technique has one, and it holds nothing that a caller
// handed in.
func TestObservedNames(t *testing.T) {
	const secret = "s3cret"
	named := map[string]bool{}
	var walk func(t *testing.T, v reflect.Value)
	walk = func(t *testing.T, v reflect.Value) {
		v = reflect.Indirect(v)
		switch {
		case !v.IsValid():
		case v.Kind() == reflect.Slice && strings.HasPrefix(v.Type().Elem().String(), "model."):
			for i := range v.Len() {
				walk(t, v.Index(i))
			}
		case v.Kind() == reflect.Struct && v.Type().PkgPath() == module+"/model":
			name := v.FieldByName("Name")
			kind, _, _ := strings.Cut(v.Type().Name(), "[")
			if !name.IsValid() || !slices.Contains([]string{"Change", "Job", "Check", "Stage"}, kind) {
				return
			}
			named[kind] = true
			if strings.Contains(name.String(), secret) || name.String() == "" && kind != "Stage" {
				t.Errorf("a %s is named %q", kind, name.String())
			}
			if stages := v.FieldByName("Stages"); stages.IsValid() {
				walk(t, stages)
			}
		}
	}
	for _, c := range registered {
		if strings.HasPrefix(c.Method, "model.") {
			continue // its cases are a user's own
		}
		t.Run(c.name(), func(t *testing.T) { walk(t, reflect.ValueOf(c.value(secret))) })
	}
	if !named["Change"] || !named["Job"] {
		t.Errorf("cases of %v", named)
	}
}
