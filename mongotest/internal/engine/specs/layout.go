package main

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

const (
	// The module whose tests run, and the two older versions of it that lend files and tests.
	driverModule  = "go.mongodb.org/mongo-driver/v2"
	filesVersion  = "v2.2.0" // the last that has the specifications' files
	legacyVersion = "v2.1.0" // the last that runs those in the older format
)

// layOut makes folder/driver, the driver's module with the specifications' files where its tests look for them, and
// folder/legacy, an older module that has its own. The copies are needed because the module cache can't be written
// to, and because go test needs the module as its main one.
func layOut(folder, checkout string, suites []suite) error {
	driver, err := moduleFolder(driverModule)
	if err != nil {
		return err
	}
	to := filepath.Join(folder, "driver")
	if err := copyFolder(to, driver, true); err != nil {
		return err
	}
	from := func(s suite) string { return filepath.Join(checkout, "source", s.folder) }
	if checkout == "" {
		old, err := moduleFolder(driverModule + "@" + legacyVersion)
		if err != nil {
			return err
		}
		if err := copyFolder(filepath.Join(folder, "legacy"), old, true); err != nil {
			return err
		}
		if old, err = moduleFolder(driverModule + "@" + filesVersion); err != nil {
			return err
		}
		from = func(s suite) string { return filepath.Join(old, "testdata", s.files) }
	}
	source := filepath.Join(to, "testdata", "specifications", "source")
	for _, s := range suites {
		if s.legacy {
			continue
		}
		if err := copyFolder(filepath.Join(source, s.folder), from(s), false); err != nil {
			return err
		}
	}
	return nil
}

// moduleFolder returns where the module cache has a module, in the version that go.mod names unless there is one. It
// downloads what the cache lacks.
func moduleFolder(module string) (string, error) {
	out, err := exec.Command("go", "mod", "download", "-json", module).Output()
	if err != nil {
		return "", fmt.Errorf("go mod download %s: %w\n%s", module, err, out)
	}
	var m struct{ Dir string }
	if err := json.Unmarshal(out, &m); err != nil {
		return "", err
	}
	return m.Dir, nil
}

// copyFolder copies the files of a folder, and of those in it if deep. Everything may be written to, as nothing in
// the module cache may.
func copyFolder(to, from string, deep bool) error {
	copyEntry := func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rest, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		switch {
		case d.IsDir() && rest != "." && !deep:
			return filepath.SkipDir
		case d.IsDir():
			return os.MkdirAll(filepath.Join(to, rest), 0o777)
		case !deep && !strings.HasSuffix(rest, ".json"):
			return nil
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, rest), content, 0o666)
	}
	return filepath.WalkDir(from, copyEntry)
}
