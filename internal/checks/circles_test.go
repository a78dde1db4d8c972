package checks

import (
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// maxCircle is how many files of a package may refer to each other in a circle. Nobody reads more than that as one.
const maxCircle = 25

// TestCircles: files of a package refer mostly in one direction. A file refers to another if it uses an identifier that
// the other declares.
func TestCircles(t *testing.T) {
	if testing.Short() {
		t.Skip("it type-checks packages of many files")
	}
	set, checked := token.NewFileSet(), 0
	load := importer.ForCompiler(set, "gc", exportData(t))
	for _, p := range packages(t) {
		if len(p.GoFiles) <= maxCircle {
			continue
		}
		checked++
		if circle := largestCircle(fileReferences(t, p, set, load)); len(circle) > maxCircle {
			t.Errorf("%s: %d files refer to each other in a circle, at most %d may: %v", p.local(), len(circle),
				maxCircle, circle)
		}
	}
	if checked < 3 {
		t.Errorf("only %d packages have many files: something is wrong with the search", checked)
	}
}

// TestModelLayers: a file of package model refers to no file of a later layer, by the table of docs/ARCHITECTURE.md.
func TestModelLayers(t *testing.T) {
	if testing.Short() {
		t.Skip("it type-checks package model")
	}
	layers := modelLayers(t)
	set := token.NewFileSet()
	all := packages(t)
	i := slices.IndexFunc(all, func(p goPackage) bool { return p.local() == "model" })
	for from, list := range fileReferences(t, all[i], set, importer.ForCompiler(set, "gc", exportData(t))) {
		for _, to := range list {
			if own, other := layerOf(layers, from), layerOf(layers, to); other > own {
				t.Errorf("model/%s (%s) refers to %s (%s), of a later layer", from,
					layers[own].name, to, layers[other].name)
			}
		}
	}
}

// A layer is a row of the table: its name, and the patterns of its files. The first layer has all other files.
type layer struct {
	name  string
	files []string
}

var backticked = regexp.MustCompile("`([^`]+)`")

func modelLayers(t *testing.T) (out []layer) {
	t.Helper()
	page, err := os.ReadFile(filepath.Join(root(), "docs/ARCHITECTURE.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "\n## How package model is layered\n")
	section, _, _ = strings.Cut(section, "\n## ")
	for line := range strings.Lines(section) {
		cells := strings.Split(line, "|")
		if len(cells) < 4 || strings.Contains(line, "---") || strings.TrimSpace(cells[1]) == "layer" {
			continue
		}
		row := layer{name: strings.TrimSpace(cells[1])}
		for _, m := range backticked.FindAllStringSubmatch(cells[2], -1) {
			row.files = append(row.files, m[1])
		}
		out = append(out, row)
	}
	if len(out) < 4 {
		t.Fatalf("the table has only %d layers", len(out))
	}
	return out
}

// layerOf returns the layer with the longest pattern that matches a file.
func layerOf(layers []layer, file string) (found int) {
	longest := 0
	for i, l := range layers[1:] {
		for _, pattern := range l.files {
			if ok, _ := filepath.Match(pattern, file); ok && len(pattern) > longest {
				found, longest = i+1, len(pattern)
			}
		}
	}
	return found
}

// exportData opens what the compiler knows of a package.
func exportData(t *testing.T) importer.Lookup {
	t.Helper()
	all, err := goList("-export", "-deps", "-json=ImportPath,Export", "./...")
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, p := range all {
		files[p.ImportPath] = p.Export
	}
	return func(path string) (io.ReadCloser, error) { return os.Open(files[path]) }
}

// fileReferences returns the files to which each file of a package refers.
func fileReferences(t *testing.T, p goPackage, set *token.FileSet, load types.Importer) map[string][]string {
	t.Helper()
	var parsed []*ast.File
	for _, name := range p.GoFiles {
		f, err := parser.ParseFile(set, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		parsed = append(parsed, f)
	}
	info := types.Info{Uses: map[*ast.Ident]types.Object{}}
	own, err := (&types.Config{Importer: load}).Check(p.ImportPath, set, parsed, &info)
	if err != nil {
		t.Fatal(err)
	}
	fileOf := func(pos token.Pos) string { return filepath.Base(set.Position(pos).Filename) }
	out := map[string][]string{}
	for id, used := range info.Uses {
		if used.Pkg() != own || isLocal(used, own) {
			continue
		}
		from, to := fileOf(id.Pos()), fileOf(used.Pos())
		if from != to && !slices.Contains(out[from], to) {
			out[from] = append(out[from], to)
		}
	}
	return out
}

// isLocal reports whether an object is a variable of a function.
func isLocal(o types.Object, of *types.Package) bool {
	v, ok := o.(*types.Var)
	return ok && !v.IsField() && v.Parent() != of.Scope()
}

// largestCircle returns the largest set of files each of which leads to all others, by Tarjan's algorithm.
func largestCircle(refers map[string][]string) (largest []string) {
	index, low, onStack := map[string]int{}, map[string]int{}, map[string]bool{}
	var stack []string
	var visit func(string)
	visit = func(file string) {
		index[file] = len(index) + 1
		low[file], onStack[file] = index[file], true
		stack = append(stack, file)
		for _, to := range refers[file] {
			if index[to] == 0 {
				visit(to)
				low[file] = min(low[file], low[to])
			} else if onStack[to] {
				low[file] = min(low[file], index[to])
			}
		}
		if low[file] != index[file] {
			return
		}
		at := slices.Index(stack, file)
		circle := slices.Clone(stack[at:])
		for _, f := range circle {
			onStack[f] = false
		}
		if stack = stack[:at]; len(circle) > len(largest) {
			largest = circle
		}
	}
	for file := range refers {
		if index[file] == 0 {
			visit(file)
		}
	}
	slices.Sort(largest)
	return largest
}

// A circle through four files is found, beside one of two.
func TestLargestCircle(t *testing.T) {
	got := largestCircle(map[string][]string{
		"a": {"b", "e"}, "b": {"c"}, "c": {"d"}, "d": {"a"}, "e": {"f"}, "f": {"e"}, "g": {"a"},
	})
	if want := []string{"a", "b", "c", "d"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
