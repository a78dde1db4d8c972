package main

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"
)

// listOutput is go list's output for two packages, with an import that isn't in the list.
const listOutput = `{"ImportPath": "a", "Name": "a", "Doc": "Package a.", "Dir": "/src/a", "GoFiles": ["x.go", "y_unix_y.go"],
"Imports": ["b", "C"], "TestImports": ["b"], "Deps": ["C", "b"]}
{"ImportPath": "b", "Name": "b", "Dir": "/src/b", "GoFiles": ["z.go"], "XTestImports": ["b", "a"]}`

func TestDocuments(t *testing.T) {
	listed, err := decodeList(strings.NewReader(listOutput))
	if err != nil {
		t.Fatal(err)
	}
	std, err := documents(listed, func(path string) (int64, error) { return int64(len(path)), nil })
	if err != nil {
		t.Fatal(err)
	}
	want := &library{
		packages: []Package{{ID: "a", Name: "a", Doc: "Package a.", Imports: []string{"b"}}, {ID: "b", Name: "b"}},
		files: []File{
			{ID: "a/x.go", Package: "a", Name: "x.go", Words: []string{"x"}, Bytes: int64(len("/src/a/x.go"))},
			{ID: "a/y_unix_y.go", Package: "a", Name: "y_unix_y.go", Words: []string{"unix", "y"}, Bytes: int64(len("/src/a/y_unix_y.go"))},
			{ID: "b/z.go", Package: "b", Name: "z.go", Words: []string{"z"}, Bytes: int64(len("/src/b/z.go"))},
		},
		imports: []Import{
			{ID: "a b", From: "a", To: "b", Code: true, Tests: true},
			{ID: "b a", From: "b", To: "a", Tests: true},
		},
		deps: map[string][]string{"a": {"b"}, "b": nil},
	}
	if !reflect.DeepEqual(std, want) {
		t.Errorf("got %+v, want %+v", std, want)
	}
}

func TestDocumentsUnreadableFile(t *testing.T) {
	listed, _ := decodeList(strings.NewReader(listOutput))
	if _, err := documents(listed, func(string) (int64, error) { return 0, errors.New("gone") }); err == nil || !strings.Contains(err.Error(), "gone") {
		t.Errorf("want the file's error, got %v", err)
	}
}

func TestDecodeListBroken(t *testing.T) {
	if _, err := decodeList(strings.NewReader(`{"ImportPath": `)); err == nil || !strings.Contains(err.Error(), "go list") {
		t.Errorf("want an error that names go list, got %v", err)
	}
}

func TestNoGoCommand(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	if err := run(context.Background(), io.Discard, io.Discard, "", ""); !errors.Is(err, errNoGo) {
		t.Errorf("want %v, got %v", errNoGo, err)
	}
}

// The program without a server.
func TestRun(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	file := filepath.Join(t.TempDir(), "tour.html")
	if err := run(context.Background(), &out, io.Discard, "", file); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		" files of the standard library, on the engine in this process\n",
		"who imports unsafe\n    db.packages.find({imports: 'unsafe'})\n",
		"the file is in another package: errors", // the move from where it no longer is
		"\n6 representations gave the same answers",
		"packages → imported packages: child references\n",
		"packages → files: parent reference\n",
		"imports has no bound: an array without Items; 16 MB at ",
		"\noperation ", "\ntotal ", "\nNot here: ",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the tour lacks %q", want)
		}
	}
	checkPage(t, file)
	_, table, _ := strings.Cut(out.String(), "== What it cost")
	for line := range strings.Lines(strings.Split(table, notShown)[0]) {
		if n := utf8.RuneCountInString(line); n > 120 {
			t.Errorf("a row of %d columns: %s", n, line)
		}
	}
}
