package denorm

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

const (
	defaultProperties = 1000
	defaultDepth      = 127
	greatestDepth     = 200 // MongoDB stores no deeper document; some room is left for what encodes them
	defaultRefused    = ":`,;{}()=\n\t.$"
)

// columns is what of a [Columns] doesn't depend on its types.
type columns struct {
	docs, flat string // collections
	spec       ColumnsSpec
}

// A ColumnUse is a column that some flat documents have, as [Columns.Survey] counts it.
type ColumnUse struct {
	Name      string `bson:"name"`
	Type      string `bson:"type"` // of the values, as $type calls it
	Documents int64  `bson:"documents"`
}

// A columnsOrphan is a flat document without its document.
type columnsOrphan struct {
	ID bson.RawValue `bson:"_id"`
}

func (o columnsOrphan) Tell(f *model.Finding) { f.ID, f.Problem = o.ID, "its document is gone" }

func declareColumns(docs, flat string, spec []ColumnsSpec) *columns {
	fail := func(problem, remedy string) {
		panic(&model.DeclarationError{Problem: problem, Place: fmt.Sprintf("NewColumns of %s", docs), Remedy: remedy})
	}
	c := &columns{docs: docs, flat: flat}
	if len(spec) > 1 {
		fail("more than one ColumnsSpec", "give one")
	}
	if len(spec) == 1 {
		c.spec = spec[0]
	}
	s := &c.spec
	if s.Separator == "" {
		s.Separator = "/"
	}
	if s.MaxProperties == 0 {
		s.MaxProperties = defaultProperties
	}
	if s.MaxDepth == 0 {
		s.MaxDepth = defaultDepth
	}
	if s.Refuse == "" {
		s.Refuse = defaultRefused
	}
	switch {
	case docs == flat:
		fail("the flat documents have the documents' collection", "give them one of their own")
	case len(s.Separator) != 1 || !strings.Contains("\"&'()*+,-/:;<=>?@[\\]^_`{|}~", s.Separator):
		fail(fmt.Sprintf("Separator is %q", s.Separator), `give one character, as "/", "_" or "|"`)
	case strings.ContainsAny(s.Refuse, "%#!_") || strings.ContainsFunc(s.Refuse, isAlphanumeric):
		fail(fmt.Sprintf("Refuse is %q", s.Refuse), "leave out letters, digits and what names are written with: % # ! _")
	case s.MaxProperties < 0:
		fail(fmt.Sprintf("MaxProperties is %d", s.MaxProperties), "give 1 or more, or 0 for 1000")
	case s.MaxDepth < 0 || s.MaxDepth > greatestDepth:
		fail(fmt.Sprintf("MaxDepth is %d", s.MaxDepth), "give 1 to 200, or 0 for 127")
	}
	return c
}

func isAlphanumeric(r rune) bool {
	return '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
}

func (c *columns) refused(field string, v any, reason string) error {
	return &model.ValueError{Collection: c.docs, Field: field, Value: v, Reason: reason}
}

// name writes one name of a path.
func (c *columns) name(key string) (name string, refused bool) {
	if key == "" {
		return "%", false
	}
	var b strings.Builder
	for i, n := 0, 0; i < len(key); i += n {
		_, n = utf8.DecodeRuneInString(key[i:]) // what is no UTF-8 is kept byte by byte
		switch s := key[i : i+n]; {
		case s == "%", s == c.spec.Separator, s == "#" && i == 0:
			escapeColumn(&b, s)
		case strings.Contains(c.spec.Refuse, s):
			refused = true
			escapeColumn(&b, s)
		default:
			b.WriteString(s)
		}
	}
	return b.String(), refused && !c.spec.Escape
}

func escapeColumn(b *strings.Builder, s string) {
	for i := range len(s) {
		fmt.Fprintf(b, "%%%02X", s[i])
	}
}

func (c *columns) column(path []any) (string, error) {
	var parts []string
	if len(path) == 1 && path[0] == "_id" {
		return "_id", nil
	}
	for i, p := range path {
		switch p := p.(type) {
		case string:
			name, refused := c.name(p)
			if refused {
				return "", c.refused(p, nil, "the name has a character that columns can't have")
			}
			parts = append(parts, name)
			continue
		case int:
			if i > 0 && p >= 0 {
				parts = append(parts, "#"+strconv.Itoa(p))
				continue
			}
		}
		return "", c.refused("path", nil, model.Shell(p)+" is neither a field nor an element")
	}
	if len(parts) == 0 {
		return "", c.refused("path", nil, "is empty")
	}
	return strings.Join(parts, c.spec.Separator), nil
}

// A columnWalk goes through a document.
type columnWalk struct {
	*columns
	out        bson.D
	problems   []error
	properties int
}

// walk takes a document apart. What it returns is whole only if there are no problems.
func (c *columns) walk(doc bson.Raw) (bson.D, []error) {
	w := &columnWalk{columns: c, out: bson.D{}}
	w.document(doc, "", "", 1)
	if w.properties > c.spec.MaxProperties {
		w.problem("document", w.properties, fmt.Sprintf("has more properties than %d", c.spec.MaxProperties))
	}
	return w.out, w.problems
}

func (w *columnWalk) problem(path string, v any, reason string) {
	w.problems = append(w.problems, w.refused(path, v, reason))
}

// document takes a document within apart: prefix is its columns' names', path its own for errors.
func (w *columnWalk) document(doc bson.Raw, prefix, path string, depth int) {
	elems, err := doc.Elements()
	if err != nil {
		w.problem(path, nil, err.Error())
		return
	}
	seen := make(map[string]bool, len(elems))
	for _, e := range elems {
		at := path + e.Key()
		name, refused := w.name(e.Key())
		switch {
		case refused:
			w.problem(at, nil, "the name has a character that columns can't have")
		case seen[e.Key()]:
			w.problem(at, nil, "stands twice in its document")
		}
		seen[e.Key()] = true
		if at == "_id" {
			w.properties++
			w.leaf("_id", e.Value())
			continue
		}
		w.value(e.Value(), prefix+name, at, depth)
	}
}

// value is one property: a column, or what has columns.
func (w *columnWalk) value(v bson.RawValue, name, path string, depth int) {
	w.properties++
	inner := bson.Raw(v.Value)
	switch {
	case depth > w.spec.MaxDepth:
		w.problem(path, nil, fmt.Sprintf("lies deeper than %d levels", w.spec.MaxDepth))
	case v.Type == bson.TypeEmbeddedDocument && len(inner) > 5:
		w.document(inner, name+w.spec.Separator, path+".", depth+1)
	case v.Type == bson.TypeArray && len(inner) > 5 && !w.spec.WholeArrays:
		values, err := bson.RawArray(inner).Values()
		if err != nil {
			w.problem(path, nil, err.Error())
		}
		for i, e := range values {
			w.value(e, fmt.Sprintf("%s%s#%d", name, w.spec.Separator, i), fmt.Sprintf("%s[%d]", path, i), depth+1)
		}
	default:
		w.leaf(name, v)
	}
}

func (w *columnWalk) leaf(name string, v bson.RawValue) {
	if w.spec.Typed && name != "_id" {
		name += "!" + typeName(v.Type)
	}
	w.out = append(w.out, bson.E{Key: name, Value: v})
}

func (c *columns) flatten(doc bson.Raw) (bson.Raw, error) {
	out, problems := c.walk(doc)
	if len(problems) > 0 {
		return nil, problems[0]
	}
	return bson.Marshal(out)
}

func (c *columns) store(doc bson.Raw) model.Write {
	flat, err := c.flatten(doc)
	if err == nil {
		var path string
		if path, err = model.CheckNames(flat, ""); err != nil {
			err = c.refused(path, nil, err.Error())
		}
	}
	if err != nil {
		return model.Refused(c.flat, err)
	}
	upsert := true
	return model.Write{Collection: c.flat, Index: model.IDIndex, Model: &mongo.ReplaceOneModel{
		Filter: bson.D{{Key: "_id", Value: model.Eq(doc.Lookup("_id"))}}, Replacement: flat, Upsert: &upsert,
	}}
}

func (c *columns) fill(docs []bson.Raw) (model.Plan, error) {
	var p model.Plan
	for _, doc := range docs {
		doc = slices.Clone(doc)
		w := c.store(doc)
		if w.Err != nil {
			return model.Plan{}, fmt.Errorf("document %s: %w", cut(model.Shell(doc.Lookup("_id"))), w.Err)
		}
		p.Steps = append(p.Steps, w)
	}
	return p, nil
}

func (c *columns) survey() mongo.Pipeline {
	return mongo.Pipeline{
		{{Key: "$project", Value: bson.D{{Key: "_id", Value: 0}, {Key: "column", Value: mql.Op("$objectToArray", "$$ROOT")}}}},
		{{Key: "$unwind", Value: "$column"}},
		{{Key: "$group", Value: bson.D{
			{Key: "_id", Value: bson.D{{Key: "name", Value: "$column.k"}, {Key: "type", Value: mql.Op("$type", "$column.v")}}},
			{Key: "documents", Value: bson.D{{Key: "$sum", Value: 1}}},
		}}},
		{{Key: "$sort", Value: bson.D{{Key: "_id.name", Value: 1}, {Key: "_id.type", Value: 1}}}},
		{{Key: "$project", Value: bson.D{
			{Key: "_id", Value: 0}, {Key: "name", Value: "$_id.name"}, {Key: "type", Value: "$_id.type"}, {Key: "documents", Value: 1},
		}}},
	}
}

// surplusOf finds what leads, by a path, to no document of a collection.
func surplusOf(docs, path string) mongo.Pipeline {
	return mongo.Pipeline{
		{{Key: "$project", Value: bson.D{{Key: "_id", Value: 1}}}},
		mql.Lookup(docs, path, "_id", "source"),
		{{Key: "$match", Value: bson.D{{Key: "source", Value: bson.D{{Key: "$size", Value: 0}}}}}},
		{{Key: "$sort", Value: bson.D{{Key: "_id", Value: 1}}}},
		{{Key: "$project", Value: bson.D{{Key: "_id", Value: 1}}}},
	}
}

func (c *columns) checks() []model.Check {
	name := c.flat + ": columns of no document"
	return []model.Check{{
		Name: name, Collection: c.flat, Rule: "a flat document has its document in " + c.docs,
		Pipeline: surplusOf(c.docs, "_id"), Tell: core.Tells[columnsOrphan](), Mend: core.Mends(name, c.flat, c.prune),
	}}
}

func (c *columns) prune(found []columnsOrphan) (p model.Plan) {
	for i, s := range found {
		if s.ID.Type == 0 {
			return noID(c.flat, i)
		}
		p.Steps = append(p.Steps, deleteByID(c.flat, s.ID))
	}
	return p
}

func deleteByID(collection string, id bson.RawValue) model.Write {
	return model.Write{Collection: collection, Index: model.IDIndex, Final: true, Model: &mongo.DeleteOneModel{
		Filter: bson.D{{Key: "_id", Value: model.Eq(clone(id))}},
	}}
}
