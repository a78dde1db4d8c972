package compose

import (
	"encoding/json"
	"go/importer"
	gotoken "go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// noFixture are the techniques that have no fixture, and why.
var noFixture = map[string]string{
	"bucket.Bucket":           "all documents of its collection are its own: model.New refuses whoever writes there; outlier.Outlier's pages are one",
	"eventlog.EventLog":       "all documents of its collections are its own",
	"feed.Feed":               "what it writes is its caller's plan, by a change stream that no operation waits for",
	"numbered.Numbered":       "it stores documents flat, which their Go type can't decode: no technique that reads whole documents can share them",
	"eventlog.Projection":     "all documents of its collections are its own, and it only reads the commits of an EventLog",
	"slots.Slots":             "all documents of its collection are its own",
	"uniquecount.UniqueCount": "all documents of its collection are its own",
	"keys.DocumentKey":        "it only queries",
	"keys.Sequence":           "it gives documents the _ids of its own kind, which those of the other fixtures don't have",
	"keys.Shard":              "it only computes",
	"schema.Schema":           "it writes nothing",
}

// Every technique has a fixture, or a reason why it has none.
func TestEveryTechniqueHasAFixture(t *testing.T) {
	if testing.Short() {
		t.Skip("it compiles the library's packages")
	}
	has := map[string]bool{}
	for _, f := range fixtures {
		name, _, _ := strings.Cut(f.name, " ")
		has[name] = true
	}
	found := techniques(t)
	if len(found) < 30 {
		t.Errorf("only %d techniques were found: %q", len(found), found)
	}
	for _, name := range found {
		switch why, named := noFixture[name]; {
		case !has[name] && !named:
			t.Errorf("%s has no fixture, and no reason why", name)
		case has[name] && named:
			t.Errorf("%s has a fixture, and a reason why it has none: %s", name, why)
		}
		delete(has, name)
		delete(noFixture, name)
	}
	for name := range has {
		t.Errorf("%s has a fixture, and is no technique", name)
	}
	for name := range noFixture {
		t.Errorf("%s is named as without a fixture, and is no technique", name)
	}
}

// techniques are the exported types of the library that implement model.Technique, but for those of package model.
func techniques(t *testing.T) (names []string) {
	const module = "github.com/docmodel/docmodel/"
	out, err := exec.Command("go", "list", "-export", "-deps", "-json=ImportPath,Export", module+"...").Output()
	if err != nil {
		t.Fatal(err)
	}
	exports := map[string]string{}
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p struct{ ImportPath, Export string }
		if err := d.Decode(&p); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		exports[p.ImportPath] = p.Export
	}
	load := importer.ForCompiler(gotoken.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) {
		return os.Open(exports[path])
	})
	of := func(path string) *types.Package {
		p, err := load.Import(path)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	technique := of(module + "model").Scope().Lookup("Technique").Type().Underlying().(*types.Interface)
	for path := range exports {
		own := strings.TrimPrefix(path, module)
		if own == path || own == "model" || strings.Contains(own, "internal") || strings.HasPrefix(own, "examples/") {
			continue
		}
		scope := of(path).Scope()
		for _, name := range scope.Names() {
			if n, ok := scope.Lookup(name).(*types.TypeName); ok && n.Exported() &&
				types.Implements(types.NewPointer(n.Type()), technique) {
				names = append(names, of(path).Name()+"."+name)
			}
		}
	}
	return names
}
