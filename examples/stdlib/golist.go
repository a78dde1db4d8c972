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
	"strings"
)

// listed is what the tour needs of one package of `go list -json`.
type listed struct {
	ImportPath string
	Name       string
	Doc        string
	Dir        string
	GoFiles    []string
	Imports    []string
}

// errNoGo says what to do when there is no go command.
var errNoGo = errors.New("stdlib: the go command is not on PATH: this tour reads the standard library with `go list -json std`; install Go from https://go.dev/dl and try again")

// listStd asks the go command for the packages of the standard library.
func listStd(ctx context.Context) ([]listed, error) {
	path, err := exec.LookPath("go")
	if err != nil {
		return nil, errNoGo
	}
	cmd := exec.CommandContext(ctx, path, "list", "-json=ImportPath,Name,Doc,Dir,GoFiles,Imports", "std")
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

// documents turns packages into what is stored. Imports that the list doesn't hold (C) are left out. sizeOf gives a file's
// bytes.
func documents(all []listed, sizeOf func(path string) (int64, error)) (packages []Package, files []File, err error) {
	known := map[string]bool{}
	for _, p := range all {
		known[p.ImportPath] = true
	}
	for _, p := range all {
		doc := Package{ID: p.ImportPath, Name: p.Name, Doc: p.Doc}
		for _, imp := range p.Imports {
			if known[imp] {
				doc.Imports = append(doc.Imports, imp)
			}
		}
		packages = append(packages, doc)
		for _, name := range p.GoFiles {
			n, err := sizeOf(filepath.Join(p.Dir, name))
			if err != nil {
				return nil, nil, fmt.Errorf("stdlib: %w", err)
			}
			files = append(files, File{ID: p.ImportPath + "/" + name, Package: p.ImportPath, Name: name, Bytes: n})
		}
	}
	return packages, files, nil
}

func fileSize(path string) (int64, error) {
	info, err := os.Stat(path)
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}
