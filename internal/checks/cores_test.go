package checks

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// finishedCores are the packages whose words are held by [TestCores]. It grows to all cores.
var finishedCores = []string{
	"denorm/attributes",
	"denorm/bounded",
	"denorm/internal/bucket",
	"denorm/columns",
	"denorm/copies",
	"denorm/counter",
	"denorm/eventlog",
	"denorm/feed",
	"denorm/internal/flat",
	"denorm/history",
	"denorm/inbox",
	"denorm/internal/indextable",
	"denorm/inverted",
	"denorm/internal/keytext",
	"denorm/normalized",
	"denorm/numbered",
	"denorm/outbox",
	"denorm/outlier",
	"denorm/proximity",
	"denorm/rollup",
	"denorm/slots",
	"denorm/internal/stored",
	"denorm/subset",
	"denorm/subsetpages",
	"denorm/uniquecount",
	"denorm/widerow",
	"internal/bsondoc",
	"internal/bsonval",
	"internal/bsonval/order",
	"internal/bsonval/valuetest",
	"internal/commands",
	"internal/core",
	"internal/direction",
	"internal/found",
	"internal/keyed",
	"internal/mongoerr",
	"internal/mongosh",
	"internal/mql",
	"internal/page",
	"internal/rawdoc",
	"internal/runctx",
	"internal/tenancy",
	"internal/testserver",
	"internal/verify",
	"model/keys/internal/composite",
	"model/keys/internal/sequence",
	"model/keys/internal/spread",
	"model/keys/internal/stored",
	"model/schema/internal/expiry",
	"model/schema/internal/versions",
	"mongotest/internal/engine",
	"mongotest/internal/engine/args",
	"mongotest/internal/engine/changestream",
	"mongotest/internal/engine/collation",
	"mongotest/internal/engine/cursor",
	"mongotest/internal/engine/dates",
	"mongotest/internal/engine/differ",
	"mongotest/internal/engine/differ/cases",
	"mongotest/internal/engine/differ/grammar",
	"mongotest/internal/engine/differ/outcome",
	"mongotest/internal/engine/differ/rules",
	"mongotest/internal/engine/differ/tree",
	"mongotest/internal/engine/expr",
	"mongotest/internal/engine/failpoint",
	"mongotest/internal/engine/forms",
	"mongotest/internal/engine/fts",
	"mongotest/internal/engine/geo",
	"mongotest/internal/engine/indexes",
	"mongotest/internal/engine/interrupt",
	"mongotest/internal/engine/jsonschema",
	"mongotest/internal/engine/operators",
	"mongotest/internal/engine/pcre",
	"mongotest/internal/engine/pipe",
	"mongotest/internal/engine/pipeline",
	"mongotest/internal/engine/plan",
	"mongotest/internal/engine/projection",
	"mongotest/internal/engine/query",
	"mongotest/internal/engine/router",
	"mongotest/internal/engine/session",
	"mongotest/internal/engine/specs",
	"mongotest/internal/engine/store",
	"mongotest/internal/engine/update",
	"mongotest/internal/engine/window",
	"mongotest/internal/engine/wire",
	"paths/internal/convert",
	"paths/internal/document",
	"paths/internal/forest",
	"paths/internal/graph",
	"paths/internal/pathstest",
	"paths/internal/rollup",
	"paths/internal/tree",
	"relate/childrefs",
	"relate/dangling",
	"relate/internal/idref",
	"relate/joincollection",
	"relate/join",
	"relate/migrate",
	"relate/ondelete",
	"relate/parentref",
	"relate/internal/stmt",
	"relate/twosided",
}

const (
	minCommentPercent  = 15  // of the lines of a core that aren't blank, without its tests
	minPackageComment  = 20  // lines
	maxColumns         = 120 // a tab counts as four
	maxNamelessClosure = 5   // lines of a function literal that is an argument
	maxUnkeyedFields   = 3
)

// Words that say nothing of what a function does: pronouns, prepositions, articles, adverbs, and participles that don't
// end with "ed".
var emptyNames = strings.Fields(`
	a an the it its that this those these what which who one ones none some any each every other others both such same
	of with without in into on onto at by to from for or and not but as than if off out over under above below
	within between among around near inside outside before after behind beside against through across along beyond
	is was are were be been has had holds tells does did
	here there then when where while again also still yet already only else fresh own away apart
	held known kept left made built sent gone done taken given written seen shown told lost found begun bound
	tell sweep
`)

// Verbs that end with "ed".
var verbsWithEd = []string{"embed", "exceed", "feed", "need", "proceed", "seed", "shed", "speed", "spread", "succeed"}

var singleWord = regexp.MustCompile(`^[A-Za-z][a-z0-9]*$`)

// isEmptyName reports whether a function's name says nothing alone. Names of several words aren't judged.
func isEmptyName(name string) bool {
	if !singleWord.MatchString(name) {
		return false
	}
	word := strings.ToLower(name)
	switch name {
	case "Is", "As": // of package errors
		return false
	}
	return slices.Contains(emptyNames, word) || strings.HasSuffix(word, "ed") && !slices.Contains(verbsWithEd, word)
}

func TestIsEmptyName(t *testing.T) {
	for name, want := range map[string]bool{
		"of": true, "Without": true, "numbered": true, "Grouped": true, "still": true,
		"withEvent": false, "readNumbered": false, "Is": false, "embed": false, "Key": false,
	} {
		if got := isEmptyName(name); got != want {
			t.Errorf("isEmptyName(%q) = %v, want %v", name, got, want)
		}
	}
}

// TestCores holds the rules for the words of cores: comments, names, and lines that fit on a screen. With -v it lists
// the cores that aren't finished.
func TestCores(t *testing.T) {
	for _, dir := range finishedCores {
		// With dots, because "/engine" in a name means a test on the engine.
		t.Run(strings.ReplaceAll(dir, "/", "."), func(t *testing.T) {
			checkCore(t, filepath.Join("../..", dir))
		})
	}
	if !testing.Verbose() {
		return
	}
	for _, p := range packages(t) {
		if local := p.local(); isCore(local) && !slices.Contains(finishedCores, local) {
			t.Logf("not finished: %s", local)
		}
	}
}

// isCore reports whether a package is behind a public one, or behind all of them. Programs and packages of tests aren't
// cores.
func isCore(local string) bool {
	for _, dir := range []string{
		"examples", "internal/checks", "internal/compose", "internal/ci", "internal/kills", "internal/testkit",
	} {
		if within(local, dir) {
			return false
		}
	}
	return strings.Contains("/"+local, "/internal/")
}

// checkCore checks all files of a package but its examples, which contain printed commands.
func checkCore(t *testing.T, dir string) {
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	files = slices.DeleteFunc(files, func(name string) bool { return strings.HasPrefix(filepath.Base(name), "example") })
	if err != nil || len(files) == 0 {
		t.Fatalf("no files in %s: %v", dir, err)
	}
	lines, comments, page := 0, 0, 0
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, name, text, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		checkColumns(t, name, string(text))
		for _, problem := range judgeFile(fset, f) {
			t.Error(problem)
		}
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		l, c := countComments(string(text))
		lines, comments = lines+l, comments+c
		page = max(page, countPage(f))
	}
	if percent := 100 * comments / max(lines, 1); percent < minCommentPercent {
		t.Errorf("%d %% of %d lines are comments, fewer than %d %%", percent, lines, minCommentPercent)
	}
	if page < minPackageComment {
		t.Errorf("the package comment has %d lines, fewer than %d: see CONTRIBUTING.md",
			page, minPackageComment)
	}
}

// countPage returns the lines of a file's comment on the whole package. In a public package, whose own comment is for
// its users, a comment that begins with "Inside package" is for readers of the files.
func countPage(f *ast.File) int {
	if f.Doc != nil {
		return strings.Count(f.Doc.Text(), "\n")
	}
	if len(f.Comments) > 0 && strings.HasPrefix(f.Comments[0].Text(), "Inside package ") {
		return strings.Count(f.Comments[0].Text(), "\n")
	}
	return 0
}

func checkColumns(t *testing.T, name, text string) {
	for i, line := range strings.Split(text, "\n") {
		if n := len([]rune(strings.ReplaceAll(line, "\t", "    "))); n > maxColumns {
			t.Errorf("%s:%d has %d columns, more than %d", name, i+1, n, maxColumns)
		}
	}
}

// countComments counts the lines that aren't blank, and those of them that are comments alone.
func countComments(text string) (lines, comments int) {
	for line := range strings.Lines(text) {
		switch line = strings.TrimSpace(line); {
		case line == "":
			continue
		case strings.HasPrefix(line, "//"):
			comments++
		}
		lines++
	}
	return lines, comments
}

// ofInterfaces are methods that types inside a public package export because an interface asks for them.
var ofInterfaces = []string{"Error", "Unwrap", "String", "Load"}

// isForUsers reports whether users call a function: Then, Left and Between are words of the field.
func isForUsers(f *ast.FuncDecl) bool {
	if f.Recv == nil || !f.Name.IsExported() {
		return f.Name.IsExported()
	}
	receiver := ""
	ast.Inspect(f.Recv.List[0].Type, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && receiver == "" {
			receiver = id.Name
		}
		return receiver == ""
	})
	return ast.IsExported(receiver)
}

// judgeFile returns what is wrong with the names, closures and literals of a file.
func judgeFile(fset *token.FileSet, f *ast.File) (problems []string) {
	add := func(pos token.Pos, format string, args ...any) {
		problems = append(problems, fset.Position(pos).String()+": "+fmt.Sprintf(format, args...))
	}
	name := fset.Position(f.Pos()).Filename
	isTest, isPublic := strings.HasSuffix(name, "_test.go"), !strings.Contains(name, "/internal/")
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			if isPublic && !isTest && n.Name.IsExported() && !isForUsers(n) && !slices.Contains(ofInterfaces, n.Name.Name) {
				add(n.Pos(), "%s is exported, but its type isn't", n.Name.Name)
			}
			if isEmptyName(n.Name.Name) && !(isPublic && isForUsers(n)) {
				add(n.Pos(), "%s isn't a verb and its object", n.Name.Name)
			}
		case *ast.InterfaceType:
			for _, m := range n.Methods.List {
				for _, name := range m.Names {
					if isEmptyName(name.Name) {
						add(name.Pos(), "%s isn't a verb and its object", name.Name)
					}
				}
			}
		case *ast.CallExpr:
			for _, arg := range n.Args {
				lit, ok := arg.(*ast.FuncLit)
				if !ok || isTest {
					continue
				}
				lines := fset.Position(lit.End()).Line - fset.Position(lit.Pos()).Line - 1
				if lines > maxNamelessClosure {
					add(lit.Pos(), "a closure of %d lines has no name", lines)
				}
			}
		case *ast.CompositeLit:
			if isUnkeyedStruct(n) && !isTest {
				add(n.Pos(), "a literal of %d fields has no keys", len(n.Elts))
			}
		}
		return true
	})
	return problems
}

// lists are types whose literals are lists, by the end of their names.
var lists = regexp.MustCompile(`(^A|^D|^Raw|Pipeline|s)$`)

// isUnkeyedStruct reports whether a literal of a named type that isn't a list has many values without keys.
func isUnkeyedStruct(n *ast.CompositeLit) bool {
	name := ""
	switch t := n.Type.(type) {
	case *ast.Ident:
		name = t.Name
	case *ast.SelectorExpr:
		name = t.Sel.Name
	}
	if name == "" || lists.MatchString(name) || len(n.Elts) <= maxUnkeyedFields {
		return false
	}
	_, keyed := n.Elts[0].(*ast.KeyValueExpr)
	return !keyed
}
