// This file reads and writes the files of cases in testdata.

package operators

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// labels are what each operator has a case of.
var labels = []string{"ok", "null", "missing", "wrong"}

// opCase is a line of a file of cases:
//
//	label input => outcome
//	label - why there is no such case
//	label input => outcome # what a server that isn't MongoDB does instead, where the case isn't compared
//
// "wrong" has a type that the operator doesn't take: its outcome is an error with its code and message, or what the
// operator makes of such a value when MongoDB lets it pass.
type opCase struct {
	line               int
	label, input, want string
	none, server       string
}

// section is the cases of one operator.
type section struct {
	name  string
	cases []opCase
}

func casesFile(k Kind) string { return filepath.Join("testdata", string(k)+".txt") }

// read parses the file of a kind.
func read(t *testing.T, k Kind) []section {
	t.Helper()
	text, err := os.ReadFile(casesFile(k))
	if err != nil {
		t.Fatal(err)
	}
	var out []section
	for i, line := range strings.Split(string(text), "\n") {
		line = strings.TrimSpace(line)
		if name, ok := strings.CutPrefix(line, "# "); ok {
			out = append(out, section{name: name})
			continue
		}
		if line == "" || strings.HasPrefix(line, "//") {
			continue
		}
		c, err := parseCase(line)
		if err != nil || len(out) == 0 {
			t.Fatalf("%s:%d: %v in %q", casesFile(k), i+1, err, line)
		}
		c.line = i + 1
		s := &out[len(out)-1]
		s.cases = append(s.cases, c)
	}
	return out
}

func parseCase(line string) (opCase, error) {
	label, rest, _ := strings.Cut(line, " ")
	c := opCase{label: label}
	rest = strings.TrimSpace(rest)
	if !slices.Contains(labels, label) {
		return c, fmt.Errorf("unknown label %s", label)
	}
	if why, ok := strings.CutPrefix(rest, "- "); ok {
		c.none = why
		return c, nil
	}
	c.input, c.want, _ = strings.Cut(rest, " => ")
	c.want, c.server, _ = strings.Cut(c.want, " # ")
	c.input, c.want = strings.TrimSuffix(c.input, " =>"), strings.TrimSpace(c.want)
	return c, nil
}

// write stores the file of a kind anew, with the outcomes in want.
func write(t *testing.T, k Kind, sections []section) {
	t.Helper()
	var b strings.Builder
	for i, s := range sections {
		if i > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "# %s\n", s.name)
		for _, c := range s.cases {
			switch {
			case c.none != "":
				fmt.Fprintf(&b, "%-7s - %s\n", c.label, c.none)
			case c.server != "":
				fmt.Fprintf(&b, "%-7s %s => %s # %s\n", c.label, c.input, c.want, c.server)
			default:
				fmt.Fprintf(&b, "%-7s %s => %s\n", c.label, c.input, c.want)
			}
		}
	}
	if err := os.WriteFile(casesFile(k), []byte(b.String()), 0o666); err != nil {
		t.Fatal(err)
	}
}
