package model

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/docmodel/docmodel/internal/core"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Diagram returns a Mermaid entity relationship diagram of the model. A relation has its
// cardinalities, path and label. A collection has its _id (PK), references (FK) and
// unique fields (UK). An [Entity] adds a collection's other top-level fields. Without an
// Entity, a collection that has no relation and no unique field is left out.
//
// Source: https://mermaid.js.org/syntax/entityRelationshipDiagram.html.
func (m *Model) Diagram() string {
	m.mustExist("Model.Diagram")
	return m.diagram().String()
}

func (m *Model) diagram() *diagram {
	var d diagram
	for _, t := range m.techniques {
		if e, ok := t.(entity); ok {
			d.describe(e)
		}
	}
	for _, t := range m.techniques {
		for _, r := range t.Relations() {
			d.relate(r)
		}
		for _, x := range t.Indexes() {
			if x.Unique && len(x.Keys) == 1 {
				d.field(x.Collection, x.Keys[0].Key, "UK")
			}
		}
	}
	return &d
}

// diagram is a diagram under construction.
type diagram struct {
	boxes []box
	ties  []tie
}

// A box is a collection of a diagram.
type box struct {
	name   string
	fields []drawn
	typeOf func(path string) string
}

// drawn is a field of a box.
type drawn struct {
	path string
	keys []string
}

func (d *diagram) at(collection string) *box {
	i := slices.IndexFunc(d.boxes, func(b box) bool { return b.name == collection })
	if i < 0 {
		i = len(d.boxes)
		d.boxes = append(d.boxes, box{
			name: collection, fields: []drawn{{"_id", []string{"PK"}}}, typeOf: func(string) string { return "" },
		})
	}
	return &d.boxes[i]
}

func (d *diagram) describe(e entity) {
	d.at(e.c.Name()).typeOf = func(path string) string {
		f, err := e.c.Lookup(path)
		if err != nil {
			return ""
		}
		return typeName(f)
	}
	if e.c.Layout() == nil {
		return
	}
	for _, name := range e.c.Layout().Names {
		d.field(e.c.Name(), name, "")
	}
}

// field adds a field, and the key that it is part of.
func (d *diagram) field(collection, path, key string) {
	if path == "_id" {
		key = "PK" // the box has it already
	}
	b := d.at(collection)
	i := slices.IndexFunc(b.fields, func(f drawn) bool { return f.path == path })
	if i < 0 {
		i = len(b.fields)
		b.fields = append(b.fields, drawn{path: path})
	}
	if f := &b.fields[i]; key != "" && !slices.Contains(f.keys, key) {
		f.keys = append(f.keys, key)
	}
}

func (d *diagram) relate(r Relation) {
	d.field(r.To, r.ToPath, "")
	d.field(r.From, r.FromPath, "FK")
	label := r.Label
	r.Label = ""
	i := slices.IndexFunc(d.ties, func(t tie) bool { return t.Relation == r })
	if i < 0 {
		i = len(d.ties)
		d.ties = append(d.ties, tie{Relation: r})
	}
	if t := &d.ties[i]; label != "" && label != r.FromPath && !slices.Contains(t.labels, label) {
		t.labels = append(t.labels, label)
	}
}

// A tie is a relation and its labels.
type tie struct {
	Relation
	labels []string
}

func (t tie) String() string {
	left := map[Cardinality]string{ZeroOrOne: "|o", ExactlyOne: "||", Many: "}o"}[t.FromEnd]
	right := map[Cardinality]string{ZeroOrOne: "o|", ExactlyOne: "||", Many: "o{"}[t.ToEnd]
	what := t.FromPath
	if len(t.labels) > 0 {
		what += ": " + strings.Join(t.labels, ", ")
	}
	return fmt.Sprintf("    %s %s--%s %s : %s\n", quoted(t.From), left, right, quoted(t.To), quoted(what))
}

func (d *diagram) String() string {
	var b strings.Builder
	b.WriteString("erDiagram\n")
	for _, x := range d.boxes {
		fmt.Fprintf(&b, "    %s {\n", quoted(x.name))
		for _, f := range x.fields {
			name, typ := word(f.path), x.typeOf(f.path)
			if typ == "" {
				typ = "any"
			}
			fmt.Fprintf(&b, "        %s %s", typ, name)
			if len(f.keys) > 0 {
				b.WriteString(" " + strings.Join(f.keys, ", "))
			}
			if name != f.path {
				b.WriteString(" " + quoted(f.path))
			}
			b.WriteByte('\n')
		}
		b.WriteString("    }\n")
	}
	for _, t := range d.ties {
		b.WriteString(t.String())
	}
	return b.String()
}

// quoted returns a text in quotes. Mermaid has no escapes, so some characters are
// replaced.
func quoted(s string) string {
	return `"` + strings.Map(func(r rune) rune {
		if r < ' ' || strings.ContainsRune(`"\%`, r) {
			return '_'
		}
		return r
	}, s) + `"`
}

// word returns a path as a field name.
func word(path string) string {
	s := strings.Map(func(r rune) rune {
		if r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '_'
	}, path)
	if s == "" || s[0] >= '0' && s[0] <= '9' {
		return "_" + s
	}
	return s
}

// typeName returns a field's type by its MongoDB alias: document for a struct, any for an
// open type.
func typeName(f core.Field) string {
	name := "any"
	if !f.Untyped && f.Type != nil {
		name = bsonName(f.Type)
	}
	if f.IsArray() {
		return name + "[]"
	}
	return name
}

func bsonName(t reflect.Type) string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t {
	case reflect.TypeFor[bson.ObjectID]():
		return "objectId"
	case reflect.TypeFor[time.Time](), reflect.TypeFor[bson.DateTime]():
		return "date"
	case reflect.TypeFor[bson.Decimal128]():
		return "decimal"
	case reflect.TypeFor[bson.Binary](), reflect.TypeFor[[]byte]():
		return "binData"
	}
	switch (core.Shape{}).As(t).Kind {
	case core.OpenShape, core.MapShape:
		return "any"
	case core.DocumentShape:
		return "document"
	}
	switch t.Kind() {
	case reflect.String:
		return "string"
	case reflect.Bool:
		return "bool"
	case reflect.Float32, reflect.Float64:
		return "double"
	case reflect.Int8, reflect.Int16, reflect.Int32, reflect.Uint8, reflect.Uint16:
		return "int"
	case reflect.Int, reflect.Uint, reflect.Uint32, reflect.Int64, reflect.Uint64:
		return "long"
	}
	return "any"
}
