package checks

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// A proof is a kind of test: one that calls a function of modeltest, or bears a word in its name.
type proof struct {
	name  string
	calls []string
	words []string
}

var proofs = []proof{
	{name: "server too", calls: []string{"modeltest.Each", "modeltest.FaultMatrix", "modeltest.Interleave"}},
	{name: "costs", calls: []string{"modeltest.WantCost", "modeltest.Measure"}},
	{name: "indexes", calls: []string{"modeltest.WantIndexed"}},
	{name: "cuts", calls: []string{"modeltest.FaultMatrix"}, words: []string{"Cut", "Dies", "Killed"}},
	{name: "races", calls: []string{"modeltest.Interleave"}, words: []string{"Concurrent", "Writers", "Movers", "Race", "Crowd"}},
}

// by reports whether a test of this name, which leads to what reach holds, is such a proof.
func (p proof) by(test string, reach map[string]bool) bool {
	return slices.ContainsFunc(p.calls, func(c string) bool { return reach[c] }) ||
		slices.ContainsFunc(p.words, func(w string) bool { return strings.Contains(test, w) })
}

// testFiles are a package's test files, as names that lead to names: what each declaration of them mentions, be it declared there
// ("seed") or imported ("relate.NewTwoWay").
type testFiles struct {
	mentions map[string][]string // by the name of a function, method, variable, type or constant
	tests    []string
}

// readTests parses the test files of a package. Inside the package itself its own names count as imported ones.
func readTests(t *testing.T, p goPackage) testFiles {
	t.Helper()
	out := testFiles{mentions: map[string][]string{}}
	for i, file := range slices.Concat(p.TestGoFiles, p.XTestGoFiles) {
		f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, file), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		out.add(f, i < len(p.TestGoFiles), p.Name)
	}
	return out
}

func (s *testFiles) add(f *ast.File, inside bool, pkg string) {
	imported := map[string]string{}
	for _, i := range f.Imports {
		p, _ := strconv.Unquote(i.Path.Value)
		name := path.Base(p)
		if i.Name != nil {
			name = i.Name.Name
		}
		imported[name] = path.Base(p)
	}
	for _, d := range f.Decls {
		names := declared(d)
		var found []string
		ast.Inspect(d, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.SelectorExpr:
				if x, ok := n.X.(*ast.Ident); ok && imported[x.Name] != "" {
					found = append(found, imported[x.Name]+"."+n.Sel.Name)
					return false
				}
			case *ast.Ident:
				found = append(found, n.Name)
				if inside && n.IsExported() {
					found = append(found, pkg+"."+n.Name)
				}
			}
			return true
		})
		for _, name := range names {
			s.mentions[name] = append(s.mentions[name], found...)
			if _, isFunc := d.(*ast.FuncDecl); isFunc && strings.HasPrefix(name, "Test") {
				s.tests = append(s.tests, name)
			}
		}
	}
}

func declared(d ast.Decl) []string {
	switch d := d.(type) {
	case *ast.FuncDecl:
		return []string{d.Name.Name}
	case *ast.GenDecl:
		var names []string
		for _, spec := range d.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				names = append(names, spec.Name.Name)
			case *ast.ValueSpec:
				for _, n := range spec.Names {
					names = append(names, n.Name)
				}
			}
		}
		return names
	}
	return nil
}

// reach is all that a test mentions, itself or through what it mentions.
func (s *testFiles) reach(test string) map[string]bool {
	seen := map[string]bool{test: true}
	for next := []string{test}; len(next) > 0; {
		name := next[len(next)-1]
		next = next[:len(next)-1]
		for _, m := range s.mentions[name] {
			if !seen[m] {
				seen[m] = true
				next = append(next, m)
			}
		}
	}
	return seen
}
