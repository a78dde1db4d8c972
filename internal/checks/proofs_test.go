package checks

import (
	"go/ast"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// A proof is a kind of test: one that calls a function of mongotest or modeltest, or bears a word in its name.
type proof struct {
	name  string
	calls []string
	words []string
}

var proofs = []proof{
	{
		name:  "server too",
		calls: []string{"mongotest.Each", "modeltest.FaultMatrix", "modeltest.Interleave", "modeltest.Verify"},
	},
	{name: "costs", calls: []string{"modeltest.WantCost", "modeltest.Measure"}},
	{name: "indexes", calls: []string{"modeltest.WantIndexed", "modeltest.Verify"}},
	{name: "cuts", calls: []string{"modeltest.FaultMatrix", "modeltest.Verify"}, words: []string{"Cut", "Dies", "Killed"}},
	{
		name:  "races",
		calls: []string{"modeltest.Interleave", "modeltest.Verify"},
		words: []string{"Concurrent", "Writers", "Movers", "Race", "Crowd"},
	},
}

// by reports whether a test of this name, which leads to what reach holds, is such a proof.
func (p proof) by(test string, reach map[string]bool) bool {
	return slices.ContainsFunc(p.calls, func(c string) bool { return reach[c] }) ||
		slices.ContainsFunc(p.words, func(w string) bool { return strings.Contains(test, w) })
}

// testFiles are a package's test files, as names that lead to names: what each declaration of them mentions, be it
// declared there ("seed") or imported ("twosided.NewTwoWay").
type testFiles struct {
	mentions map[string][]string // by the name of a function, method, variable, type or constant
	tests    []string
}

// readTests parses the test files of a package, and what they share with those of others. Inside the package itself its
// own names count as imported ones.
func readTests(t *testing.T, p goPackage, shared []goPackage) testFiles {
	t.Helper()
	out := testFiles{mentions: map[string][]string{}}
	parse := func(p goPackage, file string) *ast.File { return parsed(t, filepath.Join(p.Dir, file)) }
	for i, file := range slices.Concat(p.TestGoFiles, p.XTestGoFiles) {
		out.add(parse(p, file), i < len(p.TestGoFiles), p.Name)
	}
	for _, kit := range shared {
		for _, file := range kit.GoFiles {
			out.share(parse(kit, file), kit.Name)
		}
	}
	return out
}

// share adds what a package for tests declares, as names that others import: "testkit.Mend". A type leads to what its
// methods mention.
func (s *testFiles) share(f *ast.File, pkg string) {
	own := testFiles{mentions: map[string][]string{}}
	own.add(f, false, pkg)
	for name, found := range own.mentions {
		for _, m := range found {
			s.mentions[pkg+"."+name] = append(s.mentions[pkg+"."+name], m, pkg+"."+m)
		}
	}
	for _, d := range f.Decls {
		if method, ok := d.(*ast.FuncDecl); ok && method.Recv != nil {
			typ := pkg + "." + receiverOf(method)
			s.mentions[typ] = append(s.mentions[typ], pkg+"."+method.Name.Name)
		}
	}
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
	for _, d := range declarations(f) {
		var found []string
		ast.Inspect(d.node, func(n ast.Node) bool {
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
		for _, name := range d.names {
			s.mentions[name] = append(s.mentions[name], found...)
			if _, isFunc := d.node.(*ast.FuncDecl); isFunc && strings.HasPrefix(name, "Test") {
				s.tests = append(s.tests, name)
			}
		}
	}
}

// A declaration is what a file declares, and the names that it gives it.
type declaration struct {
	node  ast.Node
	names []string
}

// declarations are those of a file: in a group, each variable with its own value.
func declarations(f *ast.File) (out []declaration) {
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			out = append(out, declaration{d, []string{d.Name.Name}})
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					out = append(out, declaration{spec, []string{spec.Name.Name}})
				case *ast.ValueSpec:
					for i, n := range spec.Names {
						out = append(out, declaration{spec, []string{n.Name}})
						if len(spec.Values) == len(spec.Names) && spec.Type == nil {
							out[len(out)-1].node = spec.Values[i]
						}
					}
				}
			}
		}
	}
	return out
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
