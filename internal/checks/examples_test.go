package checks

import (
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
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
		"model": {"Lease", "New", "Observer", "Model_Indexes", "Model_Diagram", "Model_Audit"}, "model/embed": {"Union"}, "model/keys": {"Composite", "Sequence", "Shard"},
		"model/schema": {"Number", "Of", "Versions", "Expiry"}, "model/advise": {"Advice_HTML", "Budget", "Choose", "Survey"},
		"relate": {"Join", "Dangling", "OnDelete", "Migration", "NewExtract", "NewAbsorb"}, "denorm": {"Feed", "Subset_pages"}, "paths": {"Tree", "Convert", "Graph"},
		"geohash": {"Encode", "Cell", "Circle_Cover", "CommonCell"}, "geohash/geofield": {"Field"},
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
			return ""
		}
	}
	return "has no Example" + name
}

// isWholeFile reports whether godoc shows the file as one program: a single example, at least one other declaration, and
// no test.
func isWholeFile(f *ast.File) bool {
	examples, others := 0, 0
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			switch {
			case d.Recv == nil && hasPrefix(d.Name.Name, "Example"):
				examples++
			case d.Recv == nil && (hasPrefix(d.Name.Name, "Test") || hasPrefix(d.Name.Name, "Fuzz") || hasPrefix(d.Name.Name, "Benchmark")):
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

func hasPrefix(name, kind string) bool { return len(name) >= len(kind) && name[:len(kind)] == kind }

// The packages that hold techniques are found.
func TestTechniquesAreFound(t *testing.T) {
	want := map[string][]string{"relate": {"ChildRefs", "ParentRef"}, "denorm": {"Bounded"}}
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
