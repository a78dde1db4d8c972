package model

import (
	"fmt"
	"strings"

	"github.com/docmodel/docmodel/internal/page"
)

// HTML returns a web page about the model. The page shows the [Model.Diagram] as a
// picture, and lists the relations and the [Model.Indexes]. It needs no network.
func (m *Model) HTML() string {
	m.mustExist("Model.HTML")
	p := page.New(m.name)
	p.Diagram(m.diagram().picture())
	set := m.Indexes()
	t := page.Table{Caption: "Indexes", Head: []string{"collection", "keys", "options", "serves"}, Columns: "lltt"}
	for _, x := range set.Needed {
		t.Rows = append(t.Rows, []string{x.Collection, Shell(x.Keys), x.optionsText(), x.Why})
	}
	for _, x := range set.Dropped {
		t.Rows = append(t.Rows, []string{x.Index.Collection, Shell(x.Index.Keys), "not needed", x.Why})
	}
	if len(t.Rows) > 0 {
		p.Table(t)
	}
	return p.String()
}

// optionsText lists the options of an index in words.
func (x Index) optionsText() string {
	var out []string
	if x.Unique {
		out = append(out, "unique")
	}
	if x.ExpireAfter != 0 {
		out = append(out, fmt.Sprintf("expires after %d s", x.seconds()))
	}
	if x.Partial != nil {
		out = append(out, "partial: "+Shell(x.Partial))
	}
	return strings.Join(out, "; ")
}

// picture is the diagram for a page.
func (d *diagram) picture() page.Diagram {
	ends := map[Cardinality]page.End{ZeroOrOne: page.ZeroOrOne, ExactlyOne: page.ExactlyOne, Many: page.Many}
	out := page.Diagram{Caption: "Collections and their relations"}
	for _, b := range d.boxes {
		box := page.Box{Name: b.name}
		for _, f := range b.fields {
			box.Fields = append(box.Fields, page.Field{Path: f.path, Type: b.typeOf(f.path), Keys: strings.Join(f.keys, " ")})
		}
		out.Boxes = append(out.Boxes, box)
	}
	for _, t := range d.ties {
		out.Ties = append(out.Ties, page.Tie{
			From: t.From, FromPath: t.FromPath, To: t.To, ToPath: t.ToPath, FromEnd: ends[t.FromEnd], ToEnd: ends[t.ToEnd],
			Name: strings.Join(t.labels, ", "),
		})
	}
	return out
}
