package checks

import (
	"go/ast"
	"go/doc"
	godoc "go/doc/comment"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// A doc link that no declaration answers is shown with its brackets.
var brackets = regexp.MustCompile(`(?:^|\W)\[\*?[A-Za-z]\w*(\.[A-Za-z]\w*){0,2}\]`)

// TestDocLinks: each link in a doc comment of a public package leads to a declaration. A
// link to a method that a type has only by an embedded struct doesn't: declare the method.
func TestDocLinks(t *testing.T) {
	for _, top := range []string{"model", "relate", "denorm", "paths", "geohash"} {
		err := filepath.WalkDir(filepath.Join(root(), top), func(dir string, e fs.DirEntry, err error) error {
			if err != nil || !e.IsDir() {
				return err
			}
			if e.Name() == "internal" || e.Name() == "testdata" {
				return filepath.SkipDir
			}
			wantDocLinks(t, dir)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

func wantDocLinks(t *testing.T, dir string) {
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	set := token.NewFileSet()
	var parsed []*ast.File
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(set, name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		parsed = append(parsed, f)
	}
	if len(parsed) == 0 {
		return
	}
	p, err := doc.NewFromFiles(set, parsed, dir, doc.PreserveAST)
	if err != nil {
		t.Fatal(err)
	}
	links := p.Parser()
	for _, f := range parsed {
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.BlockStmt:
				return false
			case *ast.FuncDecl:
				return n.Name.IsExported()
			case *ast.CommentGroup:
				for _, text := range plainTexts(links.Parse(n.Text())) {
					for _, link := range brackets.FindAllString(text, -1) {
						t.Errorf("%s: the link %s leads nowhere: name a declaration, or leave the brackets out",
							set.Position(n.Pos()), link)
					}
				}
			}
			return true
		})
	}
}

// plainTexts returns the texts of a doc comment outside code and resolved links.
func plainTexts(d *godoc.Doc) (out []string) {
	texts := func(list []godoc.Text) {
		for _, x := range list {
			if s, ok := x.(godoc.Plain); ok {
				out = append(out, string(s))
			}
		}
	}
	var blocks func([]godoc.Block)
	blocks = func(list []godoc.Block) {
		for _, b := range list {
			switch b := b.(type) {
			case *godoc.Paragraph:
				texts(b.Text)
			case *godoc.Heading:
				texts(b.Text)
			case *godoc.List:
				for _, item := range b.Items {
					blocks(item.Content)
				}
			}
		}
	}
	blocks(d.Content)
	return out
}
