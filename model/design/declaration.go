package design

import (
	"fmt"
	"go/format"
	"strconv"
	"strings"
	"unicode"

	"github.com/docmodel/docmodel/denorm/counter"
	"github.com/docmodel/docmodel/model/embed"
)

// Declaration returns Go source that declares the document types, collections and
// techniques of p's layout. The source has no package clause.
func (p Prices) Declaration() string {
	s := p.store
	if s == nil {
		return ""
	}
	var b strings.Builder
	for i := range s.Entities {
		e := s.entities[s.Entities[i].Name]
		b.WriteString(s.structOf(e))
		for _, r := range e.parents {
			b.WriteString(s.copyStruct(r))
		}
	}
	b.WriteString("var (\n")
	for i := range s.Entities {
		e := s.entities[s.Entities[i].Name]
		if s.pages[s.home[e]] != nil {
			fmt.Fprintf(&b, "%s = model.NewCollection[bucket.Doc[bson.ObjectID, %s], string](%q)\n", variable(e.Name),
				typeName(e.Name), e.Name)
		}
		if s.home[e] == nil {
			fmt.Fprintf(&b, "%s = model.NewCollection[%s, bson.ObjectID](%q)\n", variable(e.Name), typeName(e.Name), e.Name)
		}
	}
	b.WriteByte('\n')
	names := s.techniqueLines(&b)
	fmt.Fprintf(&b, "\n%sModel = model.New(%q,\n%s,\n)\n", variable(s.model.Name()), s.model.Name(),
		strings.Join(names, ",\n"))
	for _, e := range s.storable() {
		fmt.Fprintf(&b, "%sStore = model.NewStore(%sModel, %s)\n", variable(e.Name),
			variable(s.model.Name()), variable(e.Name))
	}
	b.WriteString(")\n")
	source := imports(b.String()) + b.String()
	out, err := format.Source([]byte(source))
	if err != nil {
		return source
	}
	return string(out)
}

// storable returns the entities with a collection of their own, whose documents a store can
// write.
func (s *store) storable() (out []*entity) {
	for i := range s.Entities {
		if e := s.entities[s.Entities[i].Name]; s.home[e] == nil {
			out = append(out, e)
		}
	}
	return out
}

// declarationImports are the packages of the library that a declaration can name.
var declarationImports = []string{
	"denorm/bounded", "denorm/bucket", "denorm/copies", "denorm/counter", "denorm/subset", "model", "model/embed",
	"relate/childrefs", "relate/parentref",
}

// packageName is the last part of an import's path.
func packageName(at string) string { return at[strings.LastIndex(at, "/")+1:] }

// imports returns the imports of a declaration.
func imports(source string) string {
	out := "import (\n"
	for _, at := range declarationImports {
		if strings.Contains(source, packageName(at)+".") {
			out += strconv.Quote("github.com/docmodel/docmodel/"+at) + "\n"
		}
	}
	return out + "\"go.mongodb.org/mongo-driver/v2/bson\"\n)\n\n"
}

// structOf returns the type of an entity's documents.
func (s *store) structOf(e *entity) string {
	var b strings.Builder
	fmt.Fprintf(&b, "type %s struct {\nID bson.ObjectID `bson:\"_id\"`\n", typeName(e.Name))
	for _, f := range e.Fields {
		kind := "int64"
		if f.Text > 0 {
			kind = "string"
		}
		fmt.Fprintf(&b, "%s %s `bson:%q`\n", exported(f.Name), kind, f.Name)
	}
	for _, r := range e.parents {
		switch {
		case r == s.home[e] || s.listed(r):
		case r.many() && len(s.storage(r).Copy) > 0:
			fmt.Fprintf(&b, "%s []%s `bson:\"%s,omitempty\"`\n", exported(r.Field), copyType(r), r.Field)
		case r.many():
			fmt.Fprintf(&b, "%s []bson.ObjectID `bson:\"%s,omitempty\"`\n", exported(r.Field), r.Field)
		case len(s.storage(r).Copy) > 0:
			fmt.Fprintf(&b, "%s %s `bson:%q`\n", exported(r.Field), copyType(r), r.Field)
		default:
			fmt.Fprintf(&b, "%s bson.ObjectID `bson:%q`\n", exported(r.Field), r.Field)
		}
	}
	for _, r := range e.children {
		st := s.storage(r)
		switch {
		case s.listed(r):
			fmt.Fprintf(&b, "%s []bson.ObjectID `bson:\"%s,omitempty\"`\n", exported(r.List), r.List)
		case st.As == Embedded || st.Newest > 0:
			fmt.Fprintf(&b, "%s []%s `bson:\"%s,omitempty\"`\n", exported(r.List), typeName(r.Child), r.List)
		}
		if st.Totals {
			for _, t := range s.totals(r) {
				kind := "int64"
				if t.op == "min" || t.op == "max" {
					kind = "*int64" // nil for a parent without children
				}
				fmt.Fprintf(&b, "%s %s `bson:%q`\n", exported(t.path()), kind, t.path())
			}
		}
	}
	b.WriteString("}\n\n")
	return b.String()
}

// copyStruct returns the type of a reference with copies.
func (s *store) copyStruct(r *relation) string {
	if len(s.storage(r).Copy) == 0 {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "type %s struct {\nID bson.ObjectID `bson:\"_id\"`\n", copyType(r))
	for _, name := range s.storage(r).Copy {
		kind := "int64"
		if f := r.parent.field(name); f == nil {
			kind = "bson.ObjectID"
		} else if f.Text > 0 {
			kind = "string"
		}
		fmt.Fprintf(&b, "%s %s `bson:%q`\n", exported(name), kind, name)
	}
	b.WriteString("}\n\n")
	return b.String()
}

// techniqueLines writes the techniques' variables, and returns the parts of the model.
func (s *store) techniqueLines(b *strings.Builder) (names []string) {
	add := func(name, format string, args ...any) {
		fmt.Fprintf(b, "%s = %s\n", name, fmt.Sprintf(format, args...))
		names = append(names, name)
	}
	for _, name := range s.relationNames() {
		r := s.relations[name]
		child, parent := variable(s.host(r.child).Name), variable(s.host(r.parent).Name)
		if s.orders[r] != nil {
			add(variable(r.Parent)+exported(r.List), "childrefs.New(%s, %q, %s)", parent, r.List, child)
		}
		if s.links[r] != nil {
			add(variable(r.Child)+exported(r.Field), "childrefs.New(%s, %q, %s)", child, s.key(r), parent)
		}
		if s.refs[r] != nil {
			spec := ""
			if by := s.orderOf[r]; by != "" {
				spec = fmt.Sprintf("By: %q", by)
			}
			add(variable(r.Child)+exported(r.Field), "parentref.New(%s, %q, %s, parentref.Spec{%s})",
				child, s.key(r), parent, spec)
		}
		if s.lists[r] != nil && r.many() {
			add(variable(r.Child)+exported(r.Field), "embed.NewEmbedded[%s](%s, %q, embed.EmbeddedSpec{%s})", copyType(r),
				child, r.Field, s.listSpec[r])
		} else if s.lists[r] != nil {
			add(variable(r.Parent)+exported(r.List), "embed.NewEmbedded[%s](%s, %q, embed.EmbeddedSpec{%s})", typeName(r.Child),
				parent, r.List, s.listSpec[r])
		}
		if st := s.storage(r); st.As == Paged {
			add(variable(r.Parent)+exported(r.List), "bucket.New(%s, bucket.Spec{Max: %d})", child, st.Page)
			if st.Newest > 0 {
				add(variable(r.Parent)+"Newest"+exported(r.List),
					"bounded.New(%s, %q, bounded.Spec{Max: %d, First: true, By: bson.D{{Key: %q, Value: -1}, {Key: \"_id\", Value: -1}}, Key: \"_id\"})",
					parent, r.List, st.Newest, st.By)
			}
		} else if st.Newest > 0 {
			add(variable(r.Parent)+"Newest"+exported(r.List),
				"subset.New(%s, %q, %s, %q, subset.Spec{Max: %d, By: bson.D{{Key: %q, Value: -1}}, Fields: %#v})",
				child, s.key(r), parent, r.List, st.Newest, st.By, s.inSubset(r))
		}
		if s.counts[r] != nil {
			add(variable(r.Parent)+exported(r.List)+"Totals", "counter.New(%s, %q, %s, counter.Spec{%s})", child,
				s.key(r), parent, counterText(s.counterSpec(r)))
		}
		if s.copies[r] != nil {
			var fields []string
			for _, f := range s.storage(r).Copy {
				fields = append(fields, fmt.Sprintf("{From: %q, To: %q}", s.source(r.parent, f), s.prefix(r.child)+s.copied(r, f)))
			}
			add(variable(r.Child)+exported(r.Field)+"Copy",
				"copies.New(%s, %s, copies.Spec{KeyPath: %q, Fields: []copies.Field{%s}})",
				parent, child, s.prefix(r.child)+s.key(r), strings.Join(fields, ", "))
		}
	}
	return append(names, s.entityLines()...)
}

// entityLines returns the collections with indexes that no technique declares.
func (s *store) entityLines() (out []string) {
	for i := range s.Entities {
		e := s.entities[s.Entities[i].Name]
		if home := s.home[e]; home != nil && !s.paged(home) {
			continue
		}
		line := "model.Entity(" + variable(e.Name)
		for _, x := range s.more[e.Name] {
			line += fmt.Sprintf(",\nmodel.NewIndex(%q, %s)", e.Name, keysText(x.Keys))
		}
		if len(s.more[e.Name]) > 0 {
			line += ",\n"
		}
		out = append(out, line+")")
	}
	return out
}

// listSpecText returns the spec of an embedded list in Go.
func listSpecText(spec embed.EmbeddedSpec) string {
	out := fmt.Sprintf("Key: %q", spec.Key)
	if spec.Max > 0 {
		out += fmt.Sprintf(", Max: %d", spec.Max)
	}
	if len(spec.Indexes) > 0 {
		keys := make([]string, len(spec.Indexes))
		for i, x := range spec.Indexes {
			keys[i] = strings.TrimPrefix(keysText(x), "bson.D")
		}
		out += ", Indexes: []bson.D{" + strings.Join(keys, ", ") + "}"
	}
	return out
}

// counterText returns the spec of a counter in Go.
func counterText(spec counter.Spec) string {
	var parts []string
	if spec.Count != "" {
		parts = append(parts, fmt.Sprintf("Count: %q", spec.Count))
	}
	for _, list := range []struct {
		name   string
		fields []counter.Field
	}{{"Sums", spec.Sums}, {"Mins", spec.Mins}, {"Maxs", spec.Maxs}} {
		var fields []string
		for _, f := range list.fields {
			fields = append(fields, fmt.Sprintf("{From: %q, To: %q}", f.From, f.To))
		}
		if len(fields) > 0 {
			parts = append(parts, list.name+": []counter.Field{"+strings.Join(fields, ", ")+"}")
		}
	}
	return strings.Join(parts, ", ")
}

func keysText(keys doc) string {
	parts := make([]string, len(keys))
	for i, k := range keys {
		parts[i] = fmt.Sprintf("{Key: %q, Value: %v}", k.Key, k.Value)
	}
	return "bson.D{" + strings.Join(parts, ", ") + "}"
}

// exported converts a name to a Go field: "endDate" is EndDate.
func exported(name string) string {
	out := []rune(clean(name))
	out[0] = unicode.ToUpper(out[0])
	return string(out)
}

// variable converts a name to a Go variable. It isn't the name of an imported package.
func variable(name string) string {
	out := []rune(clean(name))
	out[0] = unicode.ToLower(out[0])
	for _, at := range append([]string{"bson"}, declarationImports...) {
		if packageName(at) == string(out) {
			return string(out) + "Docs"
		}
	}
	return string(out)
}

// clean removes characters that a Go name can't have.
func clean(name string) string {
	out := strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return -1
	}, name)
	if out == "" || unicode.IsDigit([]rune(out)[0]) {
		out = "x" + out
	}
	return out
}

// typeName returns the Go type of an entity: "items" is Item.
func typeName(entity string) string {
	out := exported(entity)
	switch {
	case strings.HasSuffix(out, "ies"):
		return strings.TrimSuffix(out, "ies") + "y"
	case strings.HasSuffix(out, "s") && !strings.HasSuffix(out, "ss") && len(out) > 1:
		return strings.TrimSuffix(out, "s")
	}
	return out + "Doc"
}

func copyType(r *relation) string { return typeName(r.Child) + exported(r.Field) }
