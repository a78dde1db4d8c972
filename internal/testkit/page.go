package testkit

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
)

// PageShape checks a web page: its elements are closed in order, and it has no script, no
// handler and nothing that is loaded. It returns the elements without their text, so that the
// pages of different names can be compared.
func PageShape(t testing.TB, html string) []string {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(html))
	d.AutoClose, d.Entity = xml.HTMLAutoClose, xml.HTMLEntity
	d.Strict = false
	var out, open []string
	for {
		token, err := d.Token()
		switch {
		case errors.Is(err, io.EOF):
			if len(open) > 0 {
				t.Errorf("the page ends within %q", open)
			}
			return out
		case err != nil:
			t.Errorf("the page is not well formed: %v", err)
			return out
		}
		switch x := token.(type) {
		case xml.StartElement:
			open = append(open, x.Name.Local)
			out = append(out, "<"+x.Name.Local+attributes(t, x)+">")
		case xml.EndElement:
			if n := len(open); n == 0 || open[n-1] != x.Name.Local {
				t.Errorf("</%s> within %q", x.Name.Local, open)
				return out
			}
			open = open[:len(open)-1]
		case xml.Comment, xml.ProcInst:
			t.Errorf("the page has %v", x)
		}
	}
}

// attributes are the names of an element's attributes, and its class.
func attributes(t testing.TB, x xml.StartElement) (out string) {
	t.Helper()
	if slices.Contains([]string{
		"script", "link", "img", "iframe", "object", "a", "form", "base", "use", "foreignObject",
	}, x.Name.Local) {
		t.Errorf("the page has <%s>", x.Name.Local)
	}
	for _, a := range x.Attr {
		name := a.Name.Local
		if strings.HasPrefix(name, "on") || name == "src" || name == "href" {
			t.Errorf("<%s> has %s=%q", x.Name.Local, name, a.Value)
		}
		if name == "class" {
			name = fmt.Sprintf("class=%q", a.Value)
		}
		out += " " + name
	}
	return out
}

// HostileTexts are texts that would do something in a page that doesn't escape them.
var HostileTexts = []string{
	"</title><script>alert(1)</script>", `"><img src=x onerror=alert(1)>`, `' onload='alert(1)`, "</svg></style><b>",
	"<!-- ", "]]>", "&lt;b&gt; & &amp;", "</main>\n<main>\n", "\x00\x1b[1m\x7f\u0085", "\xff\xfe", "\u202eabc",
	"集合の名前", "", strings.Repeat("long", 200), "javascript:alert(1)",
}
