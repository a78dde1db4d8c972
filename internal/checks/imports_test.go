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
			if local == "geohash" && strings.Contains(imported, ".") && !isWithin(imported, "geohash") &&
				!within(imported, goCmp) {
				t.Errorf("the tests of %s import %s: geohash knows the standard library only", p.ImportPath, imported)
			}
		}
	}
}

// TestMongotestStandsAlone holds that neither mongotest nor a test of it needs a model, or what knows one.
func TestMongotestStandsAlone(t *testing.T) {
	list := packages(t)
	for _, p := range list {
		if !within(p.local(), "mongotest") {
			continue
		}
		for name := range importedBy(list, slices.Concat(p.Imports, p.TestImports, p.XTestImports)) {
			if !isWithin(name, "mongotest") && !isUnderMongotest(name) {
				t.Errorf("%s or its tests need %s", p.ImportPath, name)
			}
		}
	}
}

// TestTenantsSeeAll holds that the tests that CI runs as one tenant's have modeltest in them, which puts them under
// the tenant: see package tenancy.
func TestTenantsSeeAll(t *testing.T) {
	list := packages(t)
	for _, p := range list {
		if area := areaOf(p.local()); area != "model" && !slices.Contains(techniqueAreas, area) {
			continue
		}
		needed := importedBy(list, slices.Concat(p.Imports, p.TestImports, p.XTestImports))
		if needed[module+"/mongotest"] && !needed[module+"/model/modeltest"] && p.local() != "model/modeltest" {
			t.Errorf("the tests of %s need model/modeltest: without it, they don't run as a tenant's", p.ImportPath)
		}
	}
}

// importedBy returns the module's packages that a list of imports needs.
func importedBy(list []goPackage, imports []string) map[string]bool {
	direct := map[string][]string{}
	for _, p := range list {
		direct[p.ImportPath] = p.Imports
	}
	out := map[string]bool{}
	var add func(names []string)
	add = func(names []string) {
		for _, name := range names {
			if _, ours := direct[name]; ours && !out[name] {
				out[name] = true
				add(direct[name])
			}
		}
	}
	add(imports)
	return out
}

// madeOf lists the techniques that are made of others.
var madeOf = map[string][]string{
	"denorm/bucket":         {"denorm/internal/bucket"},
	"denorm/indextable":     {"denorm/internal/indextable"},
	"denorm/inverted":       {"denorm/internal/indextable"},
	"denorm/outlier":        {"denorm/bucket", "denorm/internal/bucket"},
	"denorm/subsetpages":    {"denorm/bucket", "denorm/internal/bucket"},
	"relate/joincollection": {"relate/dangling"},
}

// TestCompiledTechniques holds that a program compiles only the techniques of relate and denorm that it imports. All of
// them share the packages with what several need.
func TestCompiledTechniques(t *testing.T) {
	shared := []string{
		"denorm", "denorm/internal/flat", "denorm/internal/keytext", "denorm/internal/stored", "relate", "relate/internal/idref",
		"relate/internal/stmt",
	}
	list := packages(t)
	found := 0
	for _, p := range list {
		local := p.local()
		if area := areaOf(local); area != "relate" && area != "denorm" || strings.Contains(local, "/internal/") {
			continue
		}
		found++
		for name := range importedBy(list, p.Imports) {
			needed := strings.TrimPrefix(name, module+"/")
			area := areaOf(needed)
			if (area == "relate" || area == "denorm") && !slices.Contains(shared, needed) &&
				!slices.Contains(madeOf[local], needed) {
				t.Errorf("a program that imports %s compiles %s too", local, needed)
			}
		}
	}
	if found < 30 {
		t.Errorf("found only %d packages: something is wrong with the search", found)
	}
}

// refuseImport says why a package's own code (not its tests) may not import another, or "".
func refuseImport(p goPackage, imported string) string {
	local := p.local()
	area := areaOf(local)
	other := areaOf(strings.TrimPrefix(strings.TrimPrefix(imported, module), "/"))
	isOurs := within(imported, module)
	switch {
	case slices.ContainsFunc(foundations, func(dir string) bool { return isWithin(imported, dir) }) &&
		(area == "model" || slices.Contains(techniqueAreas, area)) && local != "geohash":
		return ""
	case (isWithin(imported, "internal/found") || isWithin(imported, "internal/commands")) && local != "model" &&
		(area == "model" || slices.Contains(techniqueAreas, area)) && local != "geohash":
		return ""
	case isOurs &&
		slices.ContainsFunc(foundations, func(dir string) bool { return within(local, dir) }) && area == "internal" &&
		!slices.ContainsFunc(foundations, func(dir string) bool { return isWithin(imported, dir) }) &&
		!isWithin(imported, "internal/mongoerr"):
		return "what model stands on knows nothing of it"
	case strings.HasPrefix(imported, "golang.org/x/text/") && local != "mongotest/internal/engine/collation":
		return "x/text is for the engine's collations"
	case within(imported, goCmp) && local != "model/modeltest" && local != "mongotest":
		return "go-cmp is for tests, mongotest and model/modeltest"
	case within(local, "mongotest") && isOurs && !isWithin(imported, "mongotest") && !isUnderMongotest(imported):
		return "mongotest is for programs that know the driver alone"
	case isWithin(imported, "internal/testserver") && local != "mongotest" && local != "model/modeltest":
		return "testserver is what mongotest shows to model/modeltest alone"
	case isOurs && (isWithin(imported, "model/modeltest") || isWithin(imported, "mongotest")) && p.isBehindLibrary():
		return "a library's own code doesn't need a test's helper"
	case imported == module+"/mongotest":
		return ""
	case local == "geohash" && strings.Contains(strings.SplitN(imported, "/", 2)[0], "."):
		return "geohash knows the standard library only"
	case within(local, "model/design") && isOurs && (other == "model" || slices.Contains(techniqueAreas, other)) &&
		!strings.Contains(imported, "/internal/"):
		return "" // it declares techniques, for a whole workload
	case area == "model" && isOurs && other != "model" && local != "model/modeltest":
		return "the vocabulary knows no technique"
	case local == "model" && isOurs:
		return "model is the root: embed, keys, schema and advise are written in it"
	case area == "model" && local != "model/modeltest" && strings.HasPrefix(imported, module+"/model/") &&
		!isOwnCore(local, imported):
		return "techniques know the vocabulary, and never each other"
	case slices.Contains(techniqueAreas, area) && isOurs && p.isBehindLibrary() && other != area && other != "model" &&
		!geofieldUsesGeohash(local, imported):
		return "techniques know the vocabulary, and never each other"
	case p.isBehindLibrary() && !isOurs && strings.Contains(strings.SplitN(imported, "/", 2)[0], ".") &&
		!strings.HasPrefix(imported, driver):
		return "the library depends on the driver alone"
	}
	return ""
}

// foundations are what model and the techniques stand on: forms of filters, BSON's values as a server compares them,
// collections without their Go types, the directions 1 and -1, tenants in _ids, values in mongosh, expressions and
// stages, documents without some fields, what a context tells everything that runs, and web pages.
var foundations = []string{
	"internal/bsondoc", "internal/bsonval", "internal/core", "internal/direction", "internal/keyed", "internal/mongosh",
	"internal/mql", "internal/page", "internal/rawdoc", "internal/runctx",
}

// isUnderMongotest reports whether mongotest stands on a package: BSON's values, errors of a server, values in
// mongosh, and what mongotest shows to modeltest.
func isUnderMongotest(imported string) bool {
	under := []string{"internal/bsonval", "internal/mongoerr", "internal/mongosh", "internal/testserver"}
	return slices.ContainsFunc(under, func(dir string) bool { return isWithin(imported, dir) })
}

var techniqueAreas = []string{"relate", "denorm", "paths", "geohash"}

// areaOf is the first part of a path within the module.
func areaOf(local string) string {
	area, _, _ := strings.Cut(local, "/")
	return area
}

func isWithin(imported, dir string) bool { return within(imported, module+"/"+dir) }

// isOwnCore reports whether a part of model imports its own core: model/keys, or what is behind it,
// model/keys/internal/sequence.
func isOwnCore(local, imported string) bool {
	parts := strings.SplitN(local, "/", 3)
	return len(parts) > 1 && isWithin(imported, parts[0]+"/"+parts[1]+"/internal")
}

func geofieldUsesGeohash(local, imported string) bool {
	return local == "geohash/geofield" && imported == module+"/geohash"
}

// The module itself needs two others, and x/text for the engine's collations.
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
	if want := []string{goCmp, strings.TrimSuffix(driver, "/"), "golang.org/x/text"}; !slices.Equal(direct, want) {
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
		{"a technique stands on its core", "relate/migrate", "relate/internal/stmt", true},
		{"which is written in the vocabulary too", "relate/internal/stmt", "model", true},
		{"and no test's helper", "relate/internal/stmt", "model/modeltest", false},
		{"not even a part of one", "denorm", "geohash/geofield", false},
		{"documents of places know places", "geohash/geofield", "geohash", true},
		{"geohash alone knows nothing", "geohash", "model", false},
		{"the vocabulary knows no technique", "model", "relate", false},
		{"nor do its parts", "model/keys", "paths", false},
		{"its parts know it", "model/keys", "model", true},
		{"which don't know each other", "model/embed", "model/keys", false},
		{"nor each other's core", "model/embed", "model/keys/internal/sequence", false},
		{"but their own", "model/keys", "model/keys/internal/sequence", true},
		{"which may have parts too", "model/keys/internal/sequence", "model/keys/internal/stored", true},
		{"and knows no other technique", "model/keys/internal/sequence", "model/embed", false},
		{"a design is made of techniques", "model/design", "denorm", true},
		{"and of those of model", "model/design", "model/embed", true},
		{"it knows them from outside", "model/design", "denorm/internal/stored", false},
		{"it doesn't know its parts", "model", "model/keys", false},
		{"mongotest has the engine", "mongotest", "mongotest/internal/engine", true},
		{"and stands on values", "mongotest", "internal/bsonval", true},
		{"it knows no model", "mongotest", "model", false},
		{"nor tests of models", "mongotest", "model/modeltest", false},
		{"nor what models stand on", "mongotest", "internal/core", false},
		{"nor does its engine", "mongotest/internal/engine", "internal/core", false},
		{"nor a technique", "mongotest/internal/engine/query", "relate", false},
		{"nor a tenant", "mongotest", "internal/tenancy", false},
		{"tests of models stand on it", "model/modeltest", "mongotest", true},
		{"and on what it shows to them", "model/modeltest", "internal/testserver", true},
		{"which nobody else sees", "internal/testkit", "internal/testserver", false},
		{"all know the server's order of values", "relate", "internal/bsonval/order", true},
		{"the vocabulary too", "model", "internal/bsonval", true},
		{"a technique stands on collections without types", "relate", "internal/core", true},
		{"and so does the vocabulary", "model", "internal/core", true},
		{"which they know nothing of", "internal/core", "model", false},
		{"findings are the techniques'", "relate", "internal/found", true},
		{"and not the vocabulary's", "model", "internal/found", false},
		{"commands are the techniques'", "denorm", "internal/commands", true},
		{"and not the vocabulary's either", "model", "internal/commands", false},
		{"and the engine", "mongotest/internal/engine/plan", "internal/bsonval", true},
		{"which itself knows nothing", "internal/bsonval", "model", false},
		{"a library doesn't know the test package", "relate", "model/modeltest", false},
		{"nor the embedded server", "relate", "mongotest", false},
		{"nor does the vocabulary", "model", "mongotest", false},
		{"an example may know both", "examples/hello", "model/modeltest", true},
		{"and does", "examples/hello", "mongotest", true},
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
