package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"testing"
)

// Each service is a program, and has the handlers of its techniques.
func TestCostServices(t *testing.T) {
	for _, s := range costServices {
		source, err := costService(s.techniques, s.everywhere)
		if err != nil {
			t.Fatalf("%s: %v", s.name, err)
		}
		file, err := parser.ParseFile(token.NewFileSet(), "main.go", source, 0)
		if err != nil {
			t.Fatalf("%s: %v", s.name, err)
		}
		handlers := 0
		ast.Inspect(file, func(n ast.Node) bool {
			if v, ok := n.(*ast.ValueSpec); ok && v.Names[0].Name == "handlers" {
				handlers = len(v.Values[0].(*ast.CompositeLit).Elts)
			}
			return true
		})
		want := costTypes + max(s.techniques, 0)
		if s.everywhere {
			want = costTypes * (1 + s.techniques)
		}
		if handlers != want {
			t.Errorf("%s: %d handlers, not %d", s.name, handlers, want)
		}
	}
}
