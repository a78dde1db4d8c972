// Package page writes web pages that need no network. A page has its styles in itself, no
// script, and pictures as SVG. It follows the reader's choice of light or dark colours, and
// fits a screen of 360 pixels: wide parts scroll within themselves.
//
// The same calls give the same bytes. All text is escaped.
package page

import (
	_ "embed" // the styles
	"fmt"
	"html"
	"strings"
	"unicode"
)

//go:embed page.css
var styles string

const (
	bodyBegins = "<main>\n"
	bodyEnds   = "</main>\n"
)

// A Page is a document in the making.
type Page struct {
	title string
	body  strings.Builder
}

// New begins a page.
func New(title string) *Page { return &Page{title: title} }

// String returns the whole document.
func (p *Page) String() string {
	var b strings.Builder
	b.WriteString("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n")
	b.WriteString("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n")
	fmt.Fprintf(&b, "<title>%s</title>\n<style>\n%s</style>\n</head>\n<body>\n<h1>%s</h1>\n",
		text(p.title), styles, text(p.title))
	b.WriteString(bodyBegins + p.body.String() + bodyEnds + "</body>\n</html>\n")
	return b.String()
}

// Section begins a section.
func (p *Page) Section(title string) { fmt.Fprintf(&p.body, "<h2>%s</h2>\n", text(title)) }

// Text adds a paragraph.
func (p *Page) Text(s string) { fmt.Fprintf(&p.body, "<p>%s</p>\n", text(s)) }

// Code adds text of which each line stays a line.
func (p *Page) Code(s string) {
	fmt.Fprintf(&p.body, "<pre tabindex=\"0\">%s</pre>\n", text(strings.TrimRight(s, "\n")))
}

// Details adds text that is shown when the reader opens it.
func (p *Page) Details(summary, code string) {
	fmt.Fprintf(&p.body, "<details>\n<summary>%s</summary>\n", text(summary))
	p.Code(code)
	p.body.WriteString("</details>\n")
}

// A Point is a point of a list, with a list of its own below it.
type Point struct {
	Text  string
	Below []string
}

// List adds a list.
func (p *Page) List(points ...Point) {
	if len(points) == 0 {
		return
	}
	p.body.WriteString("<ul>\n")
	for _, x := range points {
		fmt.Fprintf(&p.body, "<li>%s", text(x.Text))
		if len(x.Below) > 0 {
			p.body.WriteString("\n<ul>\n")
			for _, line := range x.Below {
				fmt.Fprintf(&p.body, "<li>%s</li>\n", text(line))
			}
			p.body.WriteString("</ul>\n")
		}
		p.body.WriteString("</li>\n")
	}
	p.body.WriteString("</ul>\n")
}

// Include adds the body of another document of this package as a section. The sections of
// that document are one level lower.
func (p *Page) Include(title, document string) {
	p.Section(title)
	_, body, _ := strings.Cut(document, bodyBegins)
	body, _, _ = strings.Cut(body, bodyEnds)
	p.body.WriteString(lower.Replace(body))
}

// lower changes tags alone, since text has no "<".
var lower = strings.NewReplacer("<h2>", "<h3>", "</h2>", "</h3>", "<h3>", "<h4>", "</h3>", "</h4>")

// A Table has a row of names above its rows.
type Table struct {
	Caption string
	Head    []string

	// Columns has a letter for each column: l for words on one line, t for text of several
	// lines, r for numbers.
	Columns string
	Rows    [][]string
}

// Table adds a table. It scrolls within itself if it is wider than the page.
func (p *Page) Table(t Table) {
	b := &p.body
	fmt.Fprintf(b, "<div class=\"wide\" role=\"region\" tabindex=\"0\" aria-label=\"%s\"><table>\n", text(t.Caption))
	fmt.Fprintf(b, "<caption>%s</caption>\n<thead><tr>", text(t.Caption))
	for i, h := range t.Head {
		fmt.Fprintf(b, "<th scope=\"col\" class=\"%c\">%s</th>", t.Columns[i], text(h))
	}
	b.WriteString("</tr></thead>\n<tbody>\n")
	for _, row := range t.Rows {
		b.WriteString("<tr>")
		for i, cell := range row {
			if i == 0 {
				fmt.Fprintf(b, "<th scope=\"row\" class=\"%c\">%s</th>", t.Columns[i], text(cell))
				continue
			}
			fmt.Fprintf(b, "<td class=\"%c\">%s</td>", t.Columns[i], text(cell))
		}
		b.WriteString("</tr>\n")
	}
	b.WriteString("</tbody>\n</table></div>\n")
}

// text escapes s. Control characters, which HTML doesn't allow, become U+FFFD.
func text(s string) string {
	return html.EscapeString(strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' || unicode.IsPrint(r) || unicode.Is(unicode.Zs, r) {
			return r
		}
		return unicode.ReplacementChar
	}, s))
}

// colours is how many colours of series there are.
const colours = 6

// colour is the class of the i-th series.
func colour(i int) string { return fmt.Sprintf("s%d", i%colours) }
