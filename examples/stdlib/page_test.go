package main

import (
	"os"
	"strings"
	"testing"
)

// checkPage looks for the parts of the page in a file.
func checkPage(t *testing.T, file string) {
	t.Helper()
	html, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"<title>A tour of docmodel</title>", `<svg class="diagram broad"`, "documents returned", "<summary>Child references: ",
		"who imports unsafe", "16 MB, the largest document", "importedBy, no bound", "most today: ",
	} {
		if !strings.Contains(string(html), want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	for _, bad := range []string{"<script", "src=", "<link", "http://", "https://"} {
		if strings.Contains(string(html), bad) {
			t.Errorf("the page has %q", bad)
		}
	}
}
