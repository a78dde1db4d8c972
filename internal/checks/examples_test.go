package checks

import (
	"errors"
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"go/types"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// Each technique's type has an example that is a whole file, so that the documentation shows its declarations too, and
// whose output is checked.
func TestExamples(t *testing.T) {
	dirs := map[string]goPackage{}
	for _, p := range packages(t) {
		dirs[p.ImportPath] = p
	}
	for _, p := range libraries(t) {
		for _, name := range techniques(p) {
			if name == "Schema" {
				continue // a function makes it, whose Example is among the fixed ones
			}
			if problem := exampleProblem(t, dirs[p.Path()], name); problem != "" {
				t.Errorf("%s.%s: %s", p.Name(), name, problem)
			}
		}
	}
}

// So have functions, and types that are no technique of their own.
func TestFixedExamples(t *testing.T) {
	names := map[string][]string{
		"model": {
			"Aggregate", "Change", "Change_Also", "Check", "Check_own", "Collection", "Find", "InTx", "IndexSet", "Job", "Lease",
			"Merge", "MergeInto", "MergePlans", "Model", "Model_Audit", "Model_Diagram", "Model_Indexes", "Modify", "New",
			"Observer", "Page", "Plan", "Result", "Scope", "Stage", "StepError", "Stream", "Technique", "Validation",
			"WithTransactions", "Write",
		},
		"model/advise":     {"Advice_HTML", "Budget", "Choose", "Survey"},
		"model/design":     {"Lint"},
		"model/embed":      {"Kinds", "Nested", "One", "Union"},
		"model/keys":       {"Allocator", "Composite", "Sequence", "Shard"},
		"mongotest":        {"Clock", "Faults", "Gate", "Monitor", "Shards", "Start", "TTL"},
		"model/schema":     {"Expiry", "Number", "Of", "Schema", "Versions"},
		"relate/dangling":  {"Dangling"},
		"relate/join":      {"Join"},
		"relate/migrate":   {"Migration", "NewAbsorb", "NewExtract"},
		"relate/ondelete":  {"OnDelete"},
		"denorm/feed":      {"Feed"},
		"denorm/outbox":    {"Relay"},
		"denorm/subset":    {"Subset_pages"},
		"paths":            {"Convert", "Forest", "Graph", "Tree"},
		"geohash":          {"Box", "Cell", "Circle_Cover", "CommonCell", "Encode"},
		"geohash/geofield": {"Field", "Nearest", "Within"},
	}
	for _, p := range packages(t) {
		for _, name := range names[p.local()] {
			if problem := exampleProblem(t, p, name); problem != "" {
				t.Errorf("%s: %s", p.local(), problem)
			}
		}
		delete(names, p.local())
	}
	if len(names) > 0 {
		t.Errorf("packages were not found: %v", names)
	}
}

var parsedFiles sync.Map // by path

// parsed is a file of Go, which is parsed once.
func parsed(t *testing.T, path string) *ast.File {
	t.Helper()
	if f, ok := parsedFiles.Load(path); ok {
		return f.(*ast.File)
	}
	f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	parsedFiles.Store(path, f)
	return f
}

func exampleProblem(t *testing.T, p goPackage, name string) string {
	for _, file := range slices.Concat(p.TestGoFiles, p.XTestGoFiles) {
		f := parsed(t, filepath.Join(p.Dir, file))
		for _, e := range doc.Examples(f) {
			if e.Name != name {
				continue
			}
			switch {
			case e.Output == "" && !e.EmptyOutput:
				return "Example" + name + " in " + file + " has no // Output: and is not run"
			case !isWholeFile(f):
				return "Example" + name + " is not a whole file: " + file + " must hold one example, its declarations, and no test"
			}
			if missing := undeclared(t, filepath.Join(p.Dir, file), nil); len(missing) > 0 {
				return "Example" + name + " is not a whole program: " + file + " doesn't declare " + strings.Join(missing, ", ")
			}
			return ""
		}
	}
	return "has no Example" + name
}

// isWholeFile reports whether godoc shows the file as one program: a single example, at least one other declaration,
// and no test.
func isWholeFile(f *ast.File) bool {
	examples, others := 0, 0
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			switch {
			case d.Recv == nil && hasPrefix(d.Name.Name, "Example"):
				examples++
			case d.Recv == nil &&
				(hasPrefix(d.Name.Name, "Test") || hasPrefix(d.Name.Name, "Fuzz") || hasPrefix(d.Name.Name, "Benchmark")):
				return false
			default:
				others++
			}
		case *ast.GenDecl:
			if d.Tok != token.IMPORT {
				others++
			}
		}
	}
	return examples == 1 && others > 0
}

// undeclared returns the names that a file takes from other files of its package.
func undeclared(t *testing.T, file string, source any) (missing []string) {
	t.Helper()
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, file, source, 0)
	if err != nil {
		t.Fatal(err)
	}
	check := types.Config{
		Importer: emptyPackages{},
		Error: func(err error) {
			var at types.Error
			if !errors.As(err, &at) {
				return
			}
			name, ok := strings.CutPrefix(at.Msg, "undefined: ")
			if ok && !strings.Contains(name, ".") && !slices.Contains(missing, name) { // a dot: a name of an import
				missing = append(missing, name)
			}
		},
	}
	_, _ = check.Check("p", fset, []*ast.File{f}, nil) // its errors were given to Error
	return missing
}

// emptyPackages imports every package as one that declares nothing.
type emptyPackages struct{}

func (emptyPackages) Import(at string) (*types.Package, error) {
	p := types.NewPackage(at, path.Base(strings.TrimSuffix(at, "/v2")))
	p.MarkComplete()
	return p, nil
}

// A name of another file is found, and names of the file, of imports and of the language are not.
func TestUndeclared(t *testing.T) {
	const source = `package p
import "example.com/driver/v2"
type here struct{ field string }
func f() (int, error) { x := here{field: there}; return len(x.field), driver.Err }`
	if got := undeclared(t, "p.go", source); !slices.Equal(got, []string{"there"}) {
		t.Errorf("%q are missing, want there", got)
	}
}

func hasPrefix(name, kind string) bool { return len(name) >= len(kind) && name[:len(kind)] == kind }

// The packages that hold techniques are found.
func TestTechniquesAreFound(t *testing.T) {
	want := map[string][]string{"childrefs": {"ChildRefs"}, "parentref": {"ParentRef"}, "bounded": {"Bounded"}}
	for _, p := range libraries(t) {
		for _, name := range want[p.Name()] {
			if !slices.Contains(techniques(p), name) {
				t.Errorf("%s.%s was not found among %q", p.Name(), name, techniques(p))
			}
		}
		delete(want, p.Name())
	}
	if len(want) > 0 {
		t.Errorf("packages were not found: %v", want)
	}
}
