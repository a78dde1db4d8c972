// This test reads the source of the engine and of the packages below it: which code asks for the real time.

package engine_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// realClock are the functions by which code asks for the real time, or waits for it.
var realClock = map[string][]string{
	"time":    {"Now", "Since", "Until", "After", "AfterFunc", "NewTimer", "NewTicker", "Tick", "Sleep"},
	"bson":    {"NewObjectID"},
	"context": {"WithTimeout", "WithDeadline"},
}

// tools are the programs and tests that live below the engine, and aren't part of it.
var tools = []string{"differ", "specs", "operators"}

// The engine asks its own clock. What asks the real one says why, on its line: "// real time: …".
func TestRealTimeHasReason(t *testing.T) {
	found := 0
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir():
			for _, name := range tools {
				if path == name {
					return fs.SkipDir
				}
			}
			return nil
		case filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		found += checkRealTime(t, path)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if found == 0 {
		t.Error("no place was found: the test looks for the wrong names")
	}
}

// checkRealTime reports the places of a file that ask for the real time without a reason. It returns how many have one.
func checkRealTime(t *testing.T, path string) (reasons int) {
	t.Helper()
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, path, nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	reason := map[int]bool{}
	for _, group := range file.Comments {
		for _, c := range group.List {
			if strings.HasPrefix(c.Text, "// real time: ") {
				reason[files.Position(c.Pos()).Line] = true
			}
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		s, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		pkg, _ := s.X.(*ast.Ident)
		if pkg == nil {
			return true
		}
		for _, name := range realClock[pkg.Name] {
			if s.Sel.Name != name {
				continue
			}
			if at := files.Position(s.Pos()); reason[at.Line] {
				reasons++
			} else {
				t.Errorf("%s: %s.%s asks for the real time: use the engine's clock, or say why on the line: // real "+
					"time: …", at,
					pkg.Name, name)
			}
		}
		return true
	})
	return reasons
}
