// Command licences compares docs/THIRD_PARTY.md with the licences of the modules that a program with docmodel contains.
// With -update it writes the table.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/licensecheck"
)

const (
	file  = "docs/THIRD_PARTY.md"
	begin = "<!-- licences: written by make licences UPDATE=-update -->\n"
	end   = "<!-- end of licences -->\n"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("licences: ")
	root := flag.String("root", "../../..", "the root of the main module")
	update := flag.Bool("update", false, "write the table")
	flag.Parse()
	if err := os.Chdir(*root); err != nil {
		log.Fatal(err)
	}
	table, err := licences()
	if err != nil {
		log.Fatal(err)
	}
	page, err := os.ReadFile(file)
	if err != nil {
		log.Fatal(err)
	}
	before, rest, begins := strings.Cut(string(page), begin)
	_, after, ends := strings.Cut(rest, end)
	if !begins || !ends {
		log.Fatalf("%s has no table between %q and %q", file, begin, end)
	}
	want := before + begin + table + end + after
	switch {
	case *update:
		err = os.WriteFile(file, []byte(want), 0o644)
	case want != string(page):
		err = fmt.Errorf("%s differs from the modules: make licences UPDATE=-update writes it", file)
	}
	if err != nil {
		log.Fatal(err)
	}
}

// licences returns the table of the modules that the packages of the library import, with their licences.
func licences() (string, error) {
	list := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}} {{.Dir}}{{end}}{{end}}",
		"./model/...", "./relate/...", "./denorm/...", "./paths/...", "./geohash/...")
	list.Stderr = os.Stderr
	out, err := list.Output()
	if err != nil {
		return "", fmt.Errorf("go list: %w", err)
	}
	modules := strings.Split(strings.TrimSpace(string(out)), "\n")
	slices.Sort(modules)
	var table bytes.Buffer
	table.WriteString("\n| module | version | licence |\n| --- | --- | --- |\n")
	for _, m := range slices.Compact(modules) {
		f := strings.Fields(m)
		if len(f) != 3 {
			continue // a package of the standard library
		}
		names, err := licencesIn(f[2])
		if err != nil {
			return "", fmt.Errorf("%s: %w", f[0], err)
		}
		fmt.Fprintf(&table, "| `%s` | %s | %s |\n", f[0], f[1], strings.Join(names, ", "))
	}
	table.WriteString("\n")
	return table.String(), nil
}

// licencesIn returns the SPDX names of the licences in the licence files of a module.
func licencesIn(dir string) (names []string, err error) {
	files, err := filepath.Glob(filepath.Join(dir, "LICEN[CS]E*"))
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			return nil, err
		}
		for _, match := range licensecheck.Scan(text).Match {
			names = append(names, match.ID)
		}
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("no known licence in %s", dir)
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}
