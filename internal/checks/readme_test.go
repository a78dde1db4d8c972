package checks

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The Markdown pages show code and output that are held equal to files and programs. A comment stands above each
// block, with a path from the root. -update writes the blocks.
//
//	<!-- file: examples/hello/main.go -->                    a file
//	<!-- file: examples/hello/main.go#Name,Type.Method -->   declarations of a file
//	<!-- output: examples/hello -->                          what a program prints
//	<!-- example: model/example_diagram_test.go -->          what the first Example of a file prints
func TestReadme(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds programs")
	}
	code := map[string]int{}
	for _, name := range markdownPages(t) {
		text, err := readFile(name)
		if err != nil {
			t.Fatal(err)
		}
		run := func(dir string) (string, error) { return goCommand("run", "./"+dir) }
		if *update {
			if text, err = renewed(text, run); err == nil {
				err = os.WriteFile(filepath.Join(root(), name), []byte(text), 0o644)
			}
			if err != nil {
				t.Error(err)
			}
		}
		for _, b := range blocksOf(text) {
			for _, problem := range b.check(readFile, run) {
				t.Errorf("%s:%d: %s", name, b.line, problem)
			}
			if b.language == "go" {
				code[name]++
			}
		}
	}
	for _, name := range []string{"README.md", "docs/GUIDE.md"} {
		if code[name] == 0 {
			t.Errorf("%s shows no Go code, or isn't there: a reader wants to see a program", name)
		}
	}
}

// docs/STATUS.md quotes the counts of PAIRS.md.
func TestStatusCountsPairs(t *testing.T) {
	text := func(name string) string {
		s, err := readFile(name)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Join(strings.Fields(s), " ")
	}
	status, pairs := text("docs/STATUS.md"), text("internal/compose/PAIRS.md")
	for _, counts := range []string{
		`\d+ are refused when the model is declared, .* hold together as they are`,
		`\d+ meetings, in \d+ orders`,
	} {
		if found := regexp.MustCompile(counts).FindString(pairs); found == "" || !strings.Contains(status, found) {
			t.Errorf("docs/STATUS.md lacks %q", found)
		}
	}
}

// checkPart compares the part of a page between two comments with what it has to be. -update writes it.
func checkPart(t *testing.T, page, begin, end, want string) {
	t.Helper()
	text, err := readFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, begins := strings.Cut(text, begin)
	part, after, ends := strings.Cut(rest, end)
	switch {
	case !begins || !ends:
		t.Fatalf("%s lacks the comments %q and %q", page, begin, end)
	case *update:
		err = os.WriteFile(filepath.Join(root(), page), []byte(before+begin+want+end+after), 0o644)
		if err != nil {
			t.Fatal(err)
		}
	case part != want:
		t.Errorf("%s isn't what the tests tell (-page +tests; -update writes it):\n%s", page, lineDiff(part, want))
	}
}

func readFile(name string) (string, error) {
	b, err := os.ReadFile(filepath.Join(root(), filepath.FromSlash(name)))
	return string(b), err
}

// block is a fenced block of a Markdown file.
type block struct {
	line         int
	language     string
	marker, name string // of the comment directly above: file or output, and its path
	body         string
}

var marker = regexp.MustCompile(`^<!--\s*(\w+):\s*(\S+)\s*-->$`)

func blocksOf(text string) (out []block) {
	lines := strings.SplitAfter(text, "\n")
	above := ""
	for i := 0; i < len(lines); i++ {
		line := strings.TrimSpace(lines[i])
		if !strings.HasPrefix(line, "```") {
			if line != "" {
				above = line
			}
			continue
		}
		b := block{line: i + 1, language: strings.TrimPrefix(line, "```")}
		if m := marker.FindStringSubmatch(above); m != nil {
			b.marker, b.name = m[1], m[2]
		}
		above = ""
		for i++; i < len(lines) && strings.TrimSpace(lines[i]) != "```"; i++ {
			b.body += lines[i]
		}
		out = append(out, b)
	}
	return out
}

// printed is what the first Example of a file prints.
func printed(file string) (string, error) {
	_, comment, ok := strings.Cut(file, "\t// Output:\n")
	if !ok {
		return "", errors.New("no Example prints anything there")
	}
	comment, _, _ = strings.Cut(comment, "\n}")
	var out strings.Builder
	for line := range strings.SplitSeq(comment, "\n") {
		out.WriteString(strings.TrimPrefix(strings.TrimPrefix(line, "\t//"), " ") + "\n")
	}
	return out.String(), nil
}

// wants is the text that a block's marker names.
func (b block) wants(read, run func(string) (string, error)) (want string, err error) {
	switch b.marker {
	case "file":
		return quoted(b.name, read)
	case "output":
		return run(b.name)
	case "example":
		if want, err = read(b.name); err == nil {
			want, err = printed(want)
		}
		return want, err
	}
	return b.body, nil
}

// renewed is a Markdown file with each block as its marker wants it.
func renewed(text string, run func(string) (string, error)) (string, error) {
	lines := strings.SplitAfter(text, "\n")
	done, out := 0, ""
	for _, b := range blocksOf(text) {
		want, err := b.wants(readFile, run)
		if err != nil {
			return "", fmt.Errorf("line %d: %w", b.line, err)
		}
		out += strings.Join(lines[done:b.line], "") + want
		done = b.line + strings.Count(b.body, "\n")
	}
	return out + strings.Join(lines[done:], ""), nil
}

// check says how a block differs from what its marker names.
func (b block) check(read, run func(string) (string, error)) []string {
	switch {
	case b.marker == "file" || b.marker == "output" || b.marker == "example":
	case b.marker != "":
		return []string{"the marker " + b.marker + " is not known: write file, output or example"}
	case b.language == "go":
		return []string{"a block of Go has no marker above it: write <!-- file: path/of/a/file.go -->"}
	default:
		return nil
	}
	want, err := b.wants(read, run)
	if err != nil {
		return []string{err.Error()}
	}
	if want != b.body {
		return []string{"differs from " + b.name + " (-shown +" + b.marker + "):\n" + lineDiff(b.body, want)}
	}
	return nil
}

// The blocks of a Markdown file are found and judged.
func TestBlocks(t *testing.T) {
	echo := func(name string) (string, error) { return "text of " + name + "\n", nil }
	tests := []struct {
		reason, text string
		problems     int
	}{
		{"the file's text", "<!-- file: a.go -->\n```go\ntext of a.go\n```\n", 0},
		{"another text", "<!-- file: a.go -->\n```go\ntext of b.go\n```\n", 1},
		{"a blank line between marker and block", "<!-- file: a.go -->\n\n```go\ntext of a.go\n```\n", 0},
		{"text between marker and block", "<!-- file: a.go -->\nSee:\n```go\ntext of a.go\n```\n", 1},
		{"Go without a marker", "```go\nx\n```\n", 1},
		{"another language without a marker", "```sh\ngo get\n```\n", 0},
		{"a program's output", "<!-- output: a -->\n```text\ntext of a\n```\n", 0},
		{"a marker holds for one block", "<!-- file: a.go -->\n```go\ntext of a.go\n```\n```go\nx\n```\n", 1},
		{"a marker that is not known", "<!-- code: a.go -->\n```go\ntext of a.go\n```\n", 1},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			var problems []string
			for _, b := range blocksOf(test.text) {
				problems = append(problems, b.check(echo, echo)...)
			}
			if len(problems) != test.problems {
				t.Errorf("problems: %q", problems)
			}
		})
	}
}
