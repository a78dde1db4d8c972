package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// costServices are the same service with more and more techniques.
var costServices = []struct {
	name       string
	techniques int
	everywhere bool
}{
	{"the driver alone", -1, false}, {"no technique", 0, false}, {"1 technique", 1, false}, {"5 techniques", 5, false},
	{"15 techniques", 15, false}, {"15 techniques on each type", 15, true},
}

// costFigures are what one service costs.
type costFigures struct {
	cold, warm         time.Duration // CPU
	size, stripped     int64
	packages, ours     int
	text, instantiated int64    // bytes of code: of the library, and of its generic functions' instances
	beyond             []string // packages that the driver doesn't have, of others than the library
}

// costTable builds services that use the library, in a directory of their own.
func costTable() (table, error) {
	dir, err := os.MkdirTemp("", "cost")
	if err != nil {
		return table{}, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	m, err := newCostModule(dir)
	if err != nil {
		return table{}, err
	}
	var b strings.Builder
	b.WriteString("| service | build, CPU s | after a change, CPU s | MB | stripped, MB | packages | beyond the driver's | library's code, KB | instances, KB (share) |\n")
	b.WriteString("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n")
	var last costFigures
	for _, s := range costServices {
		source, err := costService(s.techniques, s.everywhere)
		if err != nil {
			return table{}, fmt.Errorf("%s: %w", s.name, err)
		}
		f, err := m.measure(source)
		if err != nil {
			return table{}, fmt.Errorf("%s: %w", s.name, err)
		}
		share := 0.0
		if f.text > 0 {
			share = 100 * float64(f.instantiated) / float64(f.text)
		}
		fmt.Fprintf(&b, "| %s | %.1f | %.1f | %.1f | %.1f | %d | %d | %d | %d (%.0f %%) |\n", s.name, f.cold.Seconds(), f.warm.Seconds(),
			float64(f.size)/1e6, float64(f.stripped)/1e6, f.packages, f.ours, f.text/1000, f.instantiated/1000, share)
		last = f
	}
	return table{
		title: "What it costs to use the library",
		note: fmt.Sprintf("A service with %d types of documents, each stored, read and updated by a handler; further handlers use techniques, which lie on the\n"+
			"types in turn. The first build of the driver alone compiles everything it imports; the others find the driver compiled, and\n"+
			"compile the library. The change is to the service's one file. Stripped is with -ldflags='-s -w'. Instances are the functions\n"+
			"that Go makes of the library's generic ones for types of one shape. Packages beyond the driver's that aren't the library's own: %s.",
			costTypes, namesOf(last.beyond)),
		text: b.String(),
	}, nil
}

func namesOf(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

// A costModule is a module that is written anew for each service, with its own build
// caches.
type costModule struct {
	dir      string
	compiled string          // the cache after the first service, the driver's
	driver   map[string]bool // the packages of that
}

// newCostModule takes the versions of what the library requires from its go.mod.
func newCostModule(dir string) (*costModule, error) {
	m := &costModule{dir: filepath.Join(dir, "service")}
	checkout, err := output(".", nil, "go", "list", "-m", "-f", "{{.Dir}}", "github.com/docmodel/docmodel")
	if err != nil {
		return nil, err
	}
	library := strings.TrimSpace(string(checkout))
	mod, err := os.ReadFile(filepath.Join(library, "go.mod"))
	if err != nil {
		return nil, err
	}
	text := strings.Replace(string(mod), "module github.com/docmodel/docmodel", "module example.com/service", 1)
	text += "\nrequire github.com/docmodel/docmodel v0.0.0\n\nreplace github.com/docmodel/docmodel => " + strconv.Quote(library) + "\n"
	if err := os.Mkdir(m.dir, 0o755); err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(m.dir, "go.mod"), []byte(text), 0o644); err != nil {
		return nil, err
	}
	sum, err := os.ReadFile(filepath.Join(library, "go.sum"))
	if err != nil {
		return nil, err
	}
	return m, os.WriteFile(filepath.Join(m.dir, "go.sum"), sum, 0o644)
}

// measure builds a service in a copy of the cache that has the driver, and again after a
// change.
func (m *costModule) measure(source []byte) (f costFigures, err error) {
	cache, err := os.MkdirTemp(filepath.Dir(m.dir), "cache")
	if err != nil {
		return f, err
	}
	if m.compiled == "" {
		m.compiled = cache
	} else if err := linkFiles(m.compiled, cache); err != nil {
		return f, err
	}
	main, binary := filepath.Join(m.dir, "main.go"), filepath.Join(m.dir, "service")
	build := func(more string, flags ...string) (time.Duration, int64, error) {
		if err := os.WriteFile(main, append(source, more...), 0o644); err != nil {
			return 0, 0, err
		}
		cpu, err := m.run(cache, append([]string{"build", "-o", binary}, flags...)...)
		if err != nil {
			return 0, 0, err
		}
		at, err := os.Stat(binary)
		if err != nil {
			return 0, 0, err
		}
		return cpu, at.Size(), nil
	}
	if f.cold, _, err = build(""); err != nil {
		return f, err
	}
	if _, f.stripped, err = build("", "-ldflags=-s -w"); err != nil {
		return f, err
	}
	if f.warm, f.size, err = build("\nvar _ = \"changed\"\n"); err != nil {
		return f, err
	}
	if err := f.symbols(binary); err != nil {
		return f, err
	}
	return f, m.packages(&f)
}

// run runs the go command in the module and returns its CPU time, including child
// processes.
func (m *costModule) run(cache string, args ...string) (time.Duration, error) {
	cmd := exec.Command("go", args...)
	cmd.Dir = m.dir
	cmd.Env = append(os.Environ(), "GOCACHE="+cache, "GOFLAGS=-mod=mod -trimpath -buildvcs=false", "GOWORK=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		return 0, fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), nil
}

// linkFiles makes a second cache of the first one's files, which are never written again.
func linkFiles(from, to string) error {
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		if d.IsDir() {
			return os.MkdirAll(filepath.Join(to, rel), 0o755)
		}
		return os.Link(path, filepath.Join(to, rel))
	})
}

// symbols adds up the code of the library in a binary.
func (f *costFigures) symbols(binary string) error {
	out, err := output(".", nil, "go", "tool", "nm", "-size", binary)
	if err != nil {
		return err
	}
	for s := bufio.NewScanner(bytes.NewReader(out)); s.Scan(); {
		parts := strings.Fields(s.Text())
		if len(parts) < 4 || parts[2] != "T" && parts[2] != "t" || !strings.HasPrefix(parts[3], "github.com/docmodel/docmodel/") {
			continue
		}
		size, err := strconv.ParseInt(parts[1], 10, 64)
		if err != nil {
			return err
		}
		f.text += size
		if strings.Contains(parts[3], "[go.shape") {
			f.instantiated += size
		}
	}
	return nil
}

// packages counts what a service imports; the first one's are the driver's.
func (m *costModule) packages(f *costFigures) error {
	out, err := output(m.dir, []string{"GOFLAGS=-mod=mod", "GOWORK=off"}, "go", "list", "-deps", ".")
	if err != nil {
		return err
	}
	all := strings.Fields(string(out))
	if m.driver == nil {
		m.driver = map[string]bool{}
		for _, p := range all {
			m.driver[p] = true
		}
	}
	f.packages = len(all)
	for _, p := range all {
		if m.driver[p] {
			continue
		}
		f.ours++
		if !strings.HasPrefix(p, "github.com/docmodel/docmodel/") {
			f.beyond = append(f.beyond, p)
		}
	}
	slices.Sort(f.beyond)
	return nil
}

func output(dir string, env []string, name string, args ...string) ([]byte, error) {
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	var failed bytes.Buffer
	cmd.Stderr = &failed
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, &failed)
	}
	return out, nil
}
