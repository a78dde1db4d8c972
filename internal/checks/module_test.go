package checks

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

const (
	module    = "github.com/docmodel/docmodel"
	modelPath = module + "/model"
)

// goPackage is what the checks need of go list's answer.
type goPackage struct {
	ImportPath, Name, Dir, Export      string
	Imports, TestImports, XTestImports []string
	GoFiles, TestGoFiles, XTestGoFiles []string
}

// local is the import path within the module: "relate" for the package relate, "" for the root.
func (p goPackage) local() string {
	return strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, module), "/")
}

// isLibrary reports whether users import the package to declare models: not a program, nor internal, nor a test's
// helper.
func (p goPackage) isLibrary() bool {
	return p.isBehindLibrary() && !strings.Contains(p.local(), "/internal/")
}

// isBehindLibrary reports whether the package is a library, or holds what is behind one: relate and
// relate/internal/migrate.
func (p goPackage) isBehindLibrary() bool {
	local := p.local()
	return p.Name != "main" && !strings.HasSuffix(local, "test") && !within(local, "internal") &&
		!within(local, "examples") && !within(local, "mongotest")
}

func within(path, dir string) bool { return path == dir || strings.HasPrefix(path, dir+"/") }

// packages lists the module's packages.
func packages(t *testing.T) []goPackage {
	t.Helper()
	list, err := listPackages()
	if err != nil {
		t.Fatal(err)
	}
	return list
}

var listPackages = sync.OnceValues(func() ([]goPackage, error) {
	return goList("-json=ImportPath,Name,Dir,Imports,TestImports,XTestImports,GoFiles,TestGoFiles,XTestGoFiles", "./...")
})

// libraries type-checks the library's packages from the compiler's export data. With -short the test ends here: it
// looks at source, has the packages compiled, and nothing of it runs at once, for -race to look at.
func libraries(t *testing.T) []*types.Package {
	t.Helper()
	if testing.Short() {
		t.Skip("it compiles the library's packages")
	}
	list, err := loadLibraries()
	if err != nil {
		t.Fatal(err)
	}
	return list
}

var loadLibraries = sync.OnceValues(func() ([]*types.Package, error) {
	all, err := listPackages()
	if err != nil {
		return nil, err
	}
	var paths []string
	for _, p := range all {
		if p.isLibrary() {
			paths = append(paths, p.ImportPath)
		}
	}
	deps, err := goList(append([]string{"-export", "-deps", "-json=ImportPath,Export"}, paths...)...)
	if err != nil {
		return nil, err
	}
	files := map[string]string{}
	for _, d := range deps {
		files[d.ImportPath] = d.Export
	}
	load := importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) {
		return os.Open(files[path])
	})
	var out []*types.Package
	for _, path := range paths {
		p, err := load.Import(path)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		out = append(out, p)
	}
	return out, nil
})

func goList(args ...string) ([]goPackage, error) {
	out, err := goCommand(append([]string{"list"}, args...)...)
	if err != nil {
		return nil, err
	}
	var list []goPackage
	for dec := json.NewDecoder(strings.NewReader(out)); ; {
		var p goPackage
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return list, nil
		} else if err != nil {
			return nil, err
		}
		list = append(list, p)
	}
}

// goCommand runs the go command at the module's root and returns what it prints.
func goCommand(args ...string) (string, error) {
	cmd := exec.Command("go", args...)
	cmd.Dir = root()
	var out, problems strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &problems
	if err := cmd.Run(); err != nil {
		return out.String(), fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, problems.String())
	}
	return out.String(), nil
}

// root is the module's directory; tests run in their package's.
func root() string { return filepath.Join("..", "..") }

// techniques lists the exported types of a package that are a model.Technique.
func techniques(p *types.Package) (out []string) {
	for _, name := range p.Scope().Names() {
		obj, ok := p.Scope().Lookup(name).(*types.TypeName)
		if !ok || !obj.Exported() || types.IsInterface(obj.Type()) || name == "Parts" {
			continue
		}
		set := types.NewMethodSet(types.NewPointer(obj.Type()))
		if !slices.ContainsFunc([]string{"Indexes", "Relations"}, func(m string) bool { return set.Lookup(p, m) == nil }) {
			out = append(out, name)
		}
	}
	return out
}
