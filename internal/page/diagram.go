// The diagram of boxes and ties: its description by the caller, and what a page shows of it.

package page

import (
	"fmt"
	"strings"
)

// A Diagram has boxes of fields, and ties between fields: the collections of a model and their relations. Model.HTML
// makes it.
type Diagram struct {
	Caption string
	Boxes   []Box
	Ties    []Tie
}

// A Box is a collection. The name is unique in the diagram.
type Box struct {
	Name   string
	Fields []Field
}

// A Field is a row of a box.
type Field struct {
	Path string
	Type string
	Keys string // the field's roles as a key, such as "PK" or "FK UK"; "" for none
}

// A Tie leads from a field of a box to a field of a box. Package model calls it a relation. A tie whose field isn't in
// the diagram is left out of the picture, and is in the table.
type Tie struct {
	From, FromPath string // the name of a box and the path of its field
	To, ToPath     string
	FromEnd, ToEnd End    // how many documents of From belong to a document of To, and the reverse
	Name           string // what the tie is for, such as the technique; "" for none
}

// An End says how many documents are at an end of a tie, for a document at the other end.
type End uint8

// The ends of ties.
const (
	ZeroOrOne End = iota
	ExactlyOne
	Many
)

func (e End) String() string { return [...]string{"at most one", "one", "many"}[e] }

// Diagram adds the picture and a table of the ties, whose numbers are in the picture. The page has the picture twice,
// with two columns for wide screens and with one for narrow screens, and the styles show one of the two.
func (p *Page) Diagram(d Diagram) {
	caption := escapeText(d.Caption)
	fmt.Fprintf(&p.body, "<figure>\n<figcaption>%s</figcaption>\n"+
		"<div class=\"wide\" role=\"region\" tabindex=\"0\" aria-label=\"%s\">\n", caption, caption)
	newDrawing(d, 2).write(&p.body, "broad")
	newDrawing(d, 1).write(&p.body, "narrow")
	p.body.WriteString("</div>\n</figure>\n")
	if len(d.Ties) == 0 {
		return
	}
	t := Table{Caption: "Relations", Head: []string{"", "from", "to", "ends", "what"}, Columns: "rlllt"}
	for i, x := range d.Ties {
		t.Rows = append(t.Rows, []string{
			fmt.Sprint(i + 1), x.From + "." + x.FromPath, x.To + "." + x.ToPath,
			x.FromEnd.String() + " to " + x.ToEnd.String(), x.Name,
		})
	}
	p.Table(t)
}

// describe returns the content of the picture's desc element, for readers who can't see it: the boxes with their
// fields.
func (d Diagram) describe() string {
	var out strings.Builder
	for _, b := range d.Boxes {
		fmt.Fprintf(&out, "%s: ", b.Name)
		for i, f := range b.Fields {
			if i > 0 {
				out.WriteString(", ")
			}
			out.WriteString(f.Path)
		}
		out.WriteString(". ")
	}
	fmt.Fprintf(&out, "%d relations, which the table below lists.", len(d.Ties))
	return out.String()
}
