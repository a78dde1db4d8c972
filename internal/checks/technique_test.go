package checks

import (
	"go/types"
	"slices"
	"strings"
	"testing"
)

// What New functions of the techniques' packages make is a model.Technique, but for what its documentation names.
func TestTechniques(t *testing.T) {
	none := []string{"embed.Union", "join.Join", "paths.Forest", "paths.RollUp"}
	var technique *types.Interface
	list := libraries(t)
	for _, p := range list {
		if p.Name() == "model" {
			technique = p.Scope().Lookup("Technique").Type().Underlying().(*types.Interface)
		}
	}
	found := 0
	for _, p := range list {
		dir := strings.TrimPrefix(p.Path(), module+"/")
		if !within(dir, "denorm") && !within(dir, "relate") && !slices.Contains([]string{"embed", "paths", "keys", "schema", "geofield"}, p.Name()) {
			continue
		}
		for _, name := range p.Scope().Names() {
			f, ok := p.Scope().Lookup(name).(*types.Func)
			if !ok || !strings.HasPrefix(name, "New") || f.Signature().Results().Len() == 0 {
				continue
			}
			made := f.Signature().Results().At(0).Type()
			at, ok := made.(*types.Pointer)
			if !ok {
				continue
			}
			named, ok := at.Elem().(*types.Named)
			if !ok {
				continue
			}
			found++
			is, want := types.Implements(made, technique), !slices.Contains(none, p.Name()+"."+named.Obj().Name())
			if is != want {
				t.Errorf("%s.%s makes a technique: %v; say so at model.Technique", p.Name(), name, is)
			}
		}
	}
	if found < 30 {
		t.Errorf("found only %d functions: something is wrong with the search", found)
	}
}
