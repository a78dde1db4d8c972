package checks

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
	"testing"
)

// quoted returns the text that <!-- file: path --> or <!-- file: path#Name,Type.Method --> names:
// the whole file, or top-level declarations of it in the given order, with their comments and a
// blank line between two of them. A declaration in a group stands for its group.
func quoted(place string, read func(string) (string, error)) (string, error) {
	file, names, part := strings.Cut(place, "#")
	src, err := read(file)
	if err != nil || !part {
		return src, err
	}
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, file, src, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return "", err
	}
	var out []string
	for name := range strings.SplitSeq(names, ",") {
		text := ""
		for _, decl := range f.Decls {
			if declares(decl, name) {
				text = source(fset, src, decl)
			}
		}
		if text == "" {
			return "", fmt.Errorf("%s declares no %q at its top level", file, name)
		}
		out = append(out, text)
	}
	return strings.Join(out, "\n"), nil
}

func declares(decl ast.Decl, name string) bool {
	switch d := decl.(type) {
	case *ast.FuncDecl:
		receiver := ""
		if d.Recv != nil {
			t := d.Recv.List[0].Type
			if star, ok := t.(*ast.StarExpr); ok {
				t = star.X
			}
			if id, ok := t.(*ast.Ident); ok {
				receiver = id.Name + "."
			}
		}
		return receiver+d.Name.Name == name
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch s := spec.(type) {
			case *ast.TypeSpec:
				if s.Name.Name == name {
					return true
				}
			case *ast.ValueSpec:
				for _, id := range s.Names {
					if id.Name == name {
						return true
					}
				}
			}
		}
	}
	return false
}

// source is the text of a declaration: whole lines, from its comment to its end.
func source(fset *token.FileSet, src string, decl ast.Decl) string {
	begin := decl.Pos()
	switch d := decl.(type) {
	case *ast.FuncDecl:
		if d.Doc != nil {
			begin = d.Doc.Pos()
		}
	case *ast.GenDecl:
		if d.Doc != nil {
			begin = d.Doc.Pos()
		}
	}
	end := fset.Position(decl.End()).Offset
	line, _, _ := strings.Cut(src[end:], "\n")
	return src[fset.Position(begin).Offset:end+len(line)] + "\n"
}

// Files and declarations are quoted as they stand.
func TestQuoted(t *testing.T) {
	const src = `package p

// A T has an a.
type T struct {
	a int // inside
}

var b, c = 1, 2 // behind

var (
	d = 3
	e = 4
)

// M does nothing.
func (t *T) M() {}

func f() {}
`
	read := func(string) (string, error) { return src, nil }
	tests := []struct{ place, want, fails string }{
		{place: "p.go", want: src},
		{place: "p.go#T", want: "// A T has an a.\ntype T struct {\n\ta int // inside\n}\n"},
		{place: "p.go#c", want: "var b, c = 1, 2 // behind\n"},
		{place: "p.go#e", want: "var (\n\td = 3\n\te = 4\n)\n"},
		{place: "p.go#f,T.M", want: "func f() {}\n\n// M does nothing.\nfunc (t *T) M() {}\n"},
		{place: "p.go#M", fails: `p.go declares no "M" at its top level`},
		{place: "p.go#", fails: `p.go declares no "" at its top level`},
	}
	for _, test := range tests {
		t.Run(test.place, func(t *testing.T) {
			got, err := quoted(test.place, read)
			if fails := err != nil; got != test.want || fails != (test.fails != "") || fails && err.Error() != test.fails {
				t.Errorf("%v\n%s", err, lineDiff(test.want, got))
			}
		})
	}
}
