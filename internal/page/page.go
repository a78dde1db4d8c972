// Package page writes web pages that need no network. A page has its styles in itself, no script, and pictures as SVG.
// It follows the reader's choice of light or dark colours. It fits a screen of 360 pixels, where wide parts scroll
// within themselves.
//
//	p := page.New("Orders")
//	p.Section("Indexes")
//	p.Table(page.Table{Caption: "Indexes", Head: []string{"keys", "size"}, Columns: "lr", Rows: rows})
//	html := p.String()
//
// Model.HTML calls it for a model's diagram and indexes, package model/advise for its advice and the growth of
// documents, and model/design/designtest for reports of measured layouts. A page is a file that a user opens or
// attaches to a review.
//
// # Parts
//
// Each method of [Page] adds a part at the end of the page:
//
//   - page.go: sections, paragraphs, lists, code and tables.
//   - bars.go: a chart of bars, which is a table whose cells have the bars.
//   - lines.go: a chart of functions, and a table of their values.
//   - diagram.go, diagram_place.go and diagram_draw.go: boxes of fields with ties between them, which is a model's
//     diagram of collections and relations.
//   - page.css: the styles. A new class of elements needs a rule there.
//
// # Invariants
//
//   - The same calls give the same bytes, because pages are compared with golden files. So a part never depends on the
//     order of a map or on the time.
//   - All text of callers passes through escapeText. A new part must call it too: TestHostileTexts passes HTML as each
//     text.
//   - A picture's content is also in words: a table, or the picture's desc element. So a reader who can't see the
//     picture learns the same.
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

// A Page is a web page to which parts are added.
type Page struct {
	title string
	body  strings.Builder // HTML of the parts
}

// New returns a page with a title and no parts.
func New(title string) *Page { return &Page{title: title} }

// String returns the page as an HTML document. More parts can be added later.
func (p *Page) String() string {
	var b strings.Builder
	b.WriteString("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n")
	b.WriteString("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n")
	fmt.Fprintf(&b, "<title>%s</title>\n<style>\n%s</style>\n</head>\n<body>\n<h1>%s</h1>\n",
		escapeText(p.title), styles, escapeText(p.title))
	b.WriteString(bodyBegins + p.body.String() + bodyEnds + "</body>\n</html>\n")
	return b.String()
}

// Section begins a section: the parts that follow belong to it until the next section.
func (p *Page) Section(title string) { fmt.Fprintf(&p.body, "<h2>%s</h2>\n", escapeText(title)) }

// Text adds a paragraph.
func (p *Page) Text(s string) { fmt.Fprintf(&p.body, "<p>%s</p>\n", escapeText(s)) }

// Code adds text in which lines aren't joined or broken. The reader can scroll it with the keyboard, hence the
// tabindex.
func (p *Page) Code(s string) {
	fmt.Fprintf(&p.body, "<pre tabindex=\"0\">%s</pre>\n", escapeText(strings.TrimRight(s, "\n")))
}

// Details adds a summary. Its code is shown when the reader opens it.
func (p *Page) Details(summary, code string) {
	fmt.Fprintf(&p.body, "<details>\n<summary>%s</summary>\n", escapeText(summary))
	p.Code(code)
	p.body.WriteString("</details>\n")
}

// A Point is a point of a list. Below has the points of a list below it.
type Point struct {
	Text  string
	Below []string
}

// List adds a list. Without points it adds nothing, because HTML has no empty list.
func (p *Page) List(points ...Point) {
	if len(points) == 0 {
		return
	}
	p.body.WriteString("<ul>\n")
	for _, x := range points {
		fmt.Fprintf(&p.body, "<li>%s", escapeText(x.Text))
		if len(x.Below) > 0 {
			p.body.WriteString("\n<ul>\n")
			for _, line := range x.Below {
				fmt.Fprintf(&p.body, "<li>%s</li>\n", escapeText(line))
			}
			p.body.WriteString("</ul>\n")
		}
		p.body.WriteString("</li>\n")
	}
	p.body.WriteString("</ul>\n")
}

// Include adds a section with the parts of another page, as [Page.String] returned it. Sections of that page are one
// level lower.
func (p *Page) Include(title, document string) {
	p.Section(title)
	_, body, _ := strings.Cut(document, bodyBegins)
	body, _, _ = strings.Cut(body, bodyEnds)
	p.body.WriteString(lower.Replace(body))
}

// lower makes the headings of an included page one level lower. It changes tags alone, since escaped text has no "<". A
// Replacer doesn't replace its own results, so an h2 doesn't become an h4.
var lower = strings.NewReplacer("<h2>", "<h3>", "</h2>", "</h3>", "<h3>", "<h4>", "</h3>", "</h4>")

// A Table is a table of text. The first cell of each row names the row.
type Table struct {
	Caption string
	Head    []string // the names of the columns

	// Columns has a letter for each column: l for words on one line, t for text of several
	// lines, r for numbers.
	Columns string
	Rows    [][]string
}

// Table adds a table. It scrolls within itself if it is wider than the page.
func (p *Page) Table(t Table) {
	b := &p.body
	caption := escapeText(t.Caption)
	fmt.Fprintf(b, "<div class=\"wide\" role=\"region\" tabindex=\"0\" aria-label=\"%s\"><table>\n", caption)
	fmt.Fprintf(b, "<caption>%s</caption>\n<thead><tr>", caption)
	for i, h := range t.Head {
		fmt.Fprintf(b, "<th scope=\"col\" class=\"%c\">%s</th>", t.Columns[i], escapeText(h))
	}
	b.WriteString("</tr></thead>\n<tbody>\n")
	for _, row := range t.Rows {
		b.WriteString("<tr>")
		for i, cell := range row {
			if i == 0 {
				fmt.Fprintf(b, "<th scope=\"row\" class=\"%c\">%s</th>", t.Columns[i], escapeText(cell))
				continue
			}
			fmt.Fprintf(b, "<td class=\"%c\">%s</td>", t.Columns[i], escapeText(cell))
		}
		b.WriteString("</tr>\n")
	}
	b.WriteString("</tbody>\n</table></div>\n")
}

// escapeText escapes a text for HTML, in elements and in attributes with quotes. Control characters, which HTML doesn't
// allow, become U+FFFD. So do the characters that turn the direction of text around, because they could show a name as
// another one.
func escapeText(s string) string {
	return html.EscapeString(strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' || unicode.IsPrint(r) || unicode.Is(unicode.Zs, r) {
			return r
		}
		return unicode.ReplacementChar
	}, s))
}

// colours is the number of colours for series. page.css has the classes s0 to s5.
const colours = 6

// colourClass returns the class of the i-th series. The seventh has the first colour again.
func colourClass(i int) string { return fmt.Sprintf("s%d", i%colours) }
