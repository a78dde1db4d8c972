package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// listed has the tour's fields of one package of `go list -json`.
type listed struct {
	ImportPath   string
	Name         string
	Doc          string
	Dir          string
	GoFiles      []string
	Imports      []string
	TestImports  []string // of tests within the package
	XTestImports []string // of external tests
	Deps         []string // direct and indirect imports
}

// errNoGo reports that the go command is missing.
var errNoGo = errors.New("stdlib: the go command is not on PATH: this tour reads the standard library with `go list -json std`; install Go from https://go.dev/dl and try again")

// listStd asks the go command for the standard library's packages.
func listStd(ctx context.Context) ([]listed, error) {
	path, err := exec.LookPath("go")
	if err != nil {
		return nil, errNoGo
	}
	cmd := exec.CommandContext(ctx, path, "list", "-json=ImportPath,Name,Doc,Dir,GoFiles,Imports,TestImports,XTestImports,Deps", "std")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("stdlib: go list: %w: %s", err, strings.TrimSpace(stderr.String()))
	}
	return decodeList(bytes.NewReader(out))
}

// decodeList reads a stream of JSON objects.
func decodeList(r io.Reader) ([]listed, error) {
	var all []listed
	for d := json.NewDecoder(r); ; {
		var p listed
		switch err := d.Decode(&p); {
		case errors.Is(err, io.EOF):
			return all, nil
		case err != nil:
			return nil, fmt.Errorf("stdlib: reading the output of go list: %w", err)
		}
		all = append(all, p)
	}
}

// library is the standard library's stored data.
type library struct {
	packages []Package
	files    []File
	imports  []Import
	deps     map[string][]string // dependencies by package, from go list
}

func readStd(ctx context.Context) (*library, error) {
	all, err := listStd(ctx)
	if err != nil {
		return nil, err
	}
	return documents(all, fileSize)
}

// documents converts packages to stored documents. It leaves out imports that aren't in
// the list (C). sizeOf returns the bytes of a file.
func documents(all []listed, sizeOf func(path string) (int64, error)) (*library, error) {
	known := map[string]bool{}
	for _, p := range all {
		known[p.ImportPath] = true
	}
	unknown := func(imp string) bool { return !known[imp] }
	std := &library{deps: map[string][]string{}}
	for _, p := range all {
		p.Imports = slices.DeleteFunc(p.Imports, unknown)
		std.packages = append(std.packages, Package{ID: p.ImportPath, Name: p.Name, Doc: p.Doc, Imports: p.Imports})
		std.deps[p.ImportPath] = slices.DeleteFunc(p.Deps, unknown)
		tests := slices.DeleteFunc(slices.Concat(p.TestImports, p.XTestImports), unknown)
		std.imports = append(std.imports, pairs(p, tests)...)
		for _, name := range p.GoFiles {
			n, err := sizeOf(filepath.Join(p.Dir, name))
			if err != nil {
				return nil, fmt.Errorf("stdlib: %w", err)
			}
			std.files = append(std.files, File{ID: p.ImportPath + "/" + name, Package: p.ImportPath, Name: name, Words: words(name), Bytes: n})
		}
	}
	return std, nil
}

// pairs returns a package's distinct imports, without the package itself, which external
// tests import.
func pairs(p listed, tests []string) (out []Import) {
	all := slices.Concat(p.Imports, tests)
	slices.Sort(all)
	for _, imp := range slices.Compact(all) {
		if imp != p.ImportPath {
			out = append(out, Import{
				ID: p.ImportPath + " " + imp, From: p.ImportPath, To: imp,
				Code: slices.Contains(p.Imports, imp), Tests: slices.Contains(tests, imp),
			})
		}
	}
	return out
}

// words returns the distinct words of a file's name. The last words can be constraints:
// exec_linux_amd64.go.
func words(name string) []string {
	all := strings.FieldsFunc(strings.TrimSuffix(name, ".go"), func(r rune) bool { return r == '_' || r == '-' || r == '.' })
	slices.Sort(all)
	return slices.Compact(all)
}

func fileSize(path string) (int64, error) {
	info, err := os.Stat(path)
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}
