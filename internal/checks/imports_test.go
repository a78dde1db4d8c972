package checks

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

const goCmp = "github.com/google/go-cmp"

// Imports point one way.
func TestImports(t *testing.T) {
	for _, p := range packages(t) {
		local := p.local()
		for _, imported := range p.Imports {
			if problem := refuseImport(p, imported); problem != "" {
				t.Errorf("%s imports %s: %s", p.ImportPath, imported, problem)
			}
		}
		for _, imported := range slices.Concat(p.TestImports, p.XTestImports) {
			if local == "geohash" && strings.Contains(imported, ".") && !isWithin(imported, "geohash") && !within(imported, goCmp) {
				t.Errorf("the tests of %s import %s: geohash knows the standard library only", p.ImportPath, imported)
			}
		}
	}
}

// refuseImport says why a package's own code (not its tests) may not import another, or "".
func refuseImport(p goPackage, imported string) string {
	local := p.local()
	area := areaOf(local)
	other := areaOf(strings.TrimPrefix(strings.TrimPrefix(imported, module), "/"))
	isOurs := within(imported, module)
	switch {
	case isWithin(imported, "internal/runctx") && (area == "model" || slices.Contains(techniqueAreas, area)) && local != "geohash":
		return "" // what a context tells everything that runs
	case within(imported, goCmp) && local != "model/modeltest":
		return "go-cmp is for tests and model/modeltest"
	case isWithin(imported, "internal/engine") && local != "model/modeltest" && !within(local, "internal/engine") && !relateSorts(local, imported):
		return "the engine is reached through model/modeltest"
	case isWithin(imported, "internal/direction") && (area == "model" || slices.Contains(techniqueAreas, area)) && local != "geohash":
		return "" // 1 and -1, of whatever type
	case isOurs && isWithin(imported, "model/modeltest") && p.isLibrary():
		return "a library's own code doesn't need a test's helper"
	case local == "geohash" && strings.Contains(strings.SplitN(imported, "/", 2)[0], "."):
		return "geohash knows the standard library only"
	case area == "model" && isOurs && other != "model" && local != "model/modeltest":
		return "the vocabulary knows no technique"
	case local == "model" && isOurs:
		return "model is the root: keys, schema and advise are written in it"
	case slices.Contains(techniqueAreas, area) && isOurs && other != area && other != "model" && !geofieldUsesGeohash(local, imported) && !relateSorts(local, imported):
		return "techniques know the vocabulary, and never each other"
	case p.isLibrary() && !isOurs && strings.Contains(strings.SplitN(imported, "/", 2)[0], ".") && !strings.HasPrefix(imported, driver):
		return "the library depends on the driver alone"
	}
	return ""
}

var techniqueAreas = []string{"relate", "denorm", "paths", "geohash"}

// areaOf is the first part of a path within the module.
func areaOf(local string) string {
	area, _, _ := strings.Cut(local, "/")
	return area
}

func isWithin(imported, dir string) bool { return within(imported, module+"/"+dir) }

func geofieldUsesGeohash(local, imported string) bool {
	return local == "geohash/geofield" && imported == module+"/geohash"
}

// relateSorts allows relate what it sorts children by in the application: BSON's order of values, and the values. One
// definition of that order serves the library and the engine that its tests run against; nothing else of the engine is
// meant to be linked into programs.
func relateSorts(local, imported string) bool {
	return local == "relate" && (imported == module+"/internal/engine/order" || imported == module+"/internal/engine/value")
}

// The module itself needs two others.
func TestDirectDependencies(t *testing.T) {
	out, err := goCommand("mod", "edit", "-json")
	if err != nil {
		t.Fatal(err)
	}
	var mod struct {
		Module  struct{ Path string }
		Require []struct {
			Path     string
			Indirect bool
		}
		Replace, Exclude []any
	}
	if err := json.Unmarshal([]byte(out), &mod); err != nil {
		t.Fatal(err)
	}
	var direct []string
	for _, r := range mod.Require {
		if !r.Indirect {
			direct = append(direct, r.Path)
		}
	}
	slices.Sort(direct)
	if want := []string{goCmp, strings.TrimSuffix(driver, "/")}; !slices.Equal(direct, want) {
		t.Errorf("go.mod requires %q directly, not %q", direct, want)
	}
	if mod.Module.Path != module || len(mod.Replace)+len(mod.Exclude) > 0 {
		t.Errorf("go.mod is of %s, with %d replacements and exclusions", mod.Module.Path, len(mod.Replace)+len(mod.Exclude))
	}
}

// The rules refuse what they must.
func TestRefuseImport(t *testing.T) {
	tests := []struct {
		reason, local, imported string
		ok                      bool
	}{
		{"a technique is written in the vocabulary", "relate", "model", true},
		{"techniques don't know each other", "relate", "denorm", false},
		{"not even a part of one", "denorm", "geohash/geofield", false},
		{"documents of places know places", "geohash/geofield", "geohash", true},
		{"geohash alone knows nothing", "geohash", "model", false},
		{"the vocabulary knows no technique", "model", "relate", false},
		{"nor do its parts", "model/keys", "paths", false},
		{"its parts know it", "model/keys", "model", true},
		{"it doesn't know its parts", "model", "model/keys", false},
		{"the test package knows the engine", "model/modeltest", "internal/engine", true},
		{"nobody else does", "paths", "internal/engine/value", false},
		{"but relate sorts as the server does", "relate", "internal/engine/order", true},
		{"and compares its values", "relate", "internal/engine/value", true},
		{"relate runs no engine", "relate", "internal/engine", false},
		{"nor a part of one", "relate", "internal/engine/query", false},
		{"no other technique sorts", "denorm", "internal/engine/order", false},
		{"but the engine itself", "internal/engine/plan", "internal/engine/value", true},
		{"a library doesn't know the test package", "relate", "model/modeltest", false},
		{"an example may", "examples/hello", "model/modeltest", true},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			p := goPackage{ImportPath: module + "/" + test.local, Name: "p"}
			if got := refuseImport(p, module+"/"+test.imported); (got == "") != test.ok {
				t.Errorf("%s imports %s: %q", test.local, test.imported, got)
			}
		})
	}
	if refuseImport(goPackage{ImportPath: module + "/geohash", Name: "geohash"}, driver+"bson") == "" {
		t.Error("geohash may import the driver")
	}
	if refuseImport(goPackage{ImportPath: module + "/relate", Name: "relate"}, goCmp+"/cmp") == "" {
		t.Error("relate may import go-cmp")
	}
}
