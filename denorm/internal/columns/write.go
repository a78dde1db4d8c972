package columns

import (
	"errors"
	"fmt"

	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A walker goes through a document.
type walker struct {
	*Columns
	out        bson.D
	problems   []error
	properties int
}

func (w *walker) problem(path string, v any, reason string) {
	w.problems = append(w.problems, w.docs.Refuse(path, v, reason))
}

// document takes a document within apart: prefix is its columns' names', path its own for errors.
func (w *walker) document(doc bson.Raw, prefix, path string, depth int) {
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
			w.problem(at, nil, "the name contains a character of ColumnsSpec.Refuse: rename the field, or set Escape")
		case seen[e.Key()]:
			w.problem(at, nil, "occurs twice in its document")
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
func (w *walker) value(v bson.RawValue, name, path string, depth int) {
	w.properties++
	inner := bson.Raw(v.Value)
	switch {
	case depth > w.spec.MaxDepth:
		w.problem(path, nil, fmt.Sprintf("is nested deeper than %d levels", w.spec.MaxDepth))
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

func (w *walker) leaf(name string, v bson.RawValue) {
	if w.spec.Typed && name != "_id" {
		name += "!" + typeName(v.Type)
	}
	w.out = append(w.out, bson.E{Key: name, Value: v})
}

// Flatten takes a document apart. Its error joins all that keeps the document from being flattened.
func (c *Columns) Flatten(doc bson.Raw) (bson.Raw, error) {
	w := &walker{Columns: c, out: bson.D{}}
	w.document(doc, "", "", 1)
	if w.properties > c.spec.MaxProperties {
		w.problem("document", w.properties,
			fmt.Sprintf("has more than %d properties, the MaxProperties of the spec", c.spec.MaxProperties))
	}
	if len(w.problems) == 1 {
		return nil, w.problems[0]
	}
	if len(w.problems) > 0 {
		return nil, errors.Join(w.problems...)
	}
	return bson.Marshal(w.out)
}

// Store is the write that stores a document as columns.
func (c *Columns) Store(doc bson.Raw) model.Write {
	flat, err := c.Flatten(doc)
	if err == nil {
		var path string
		if path, err = core.CheckNames(flat, ""); err != nil {
			err = c.docs.Refuse(path, nil, err.Error())
		}
	}
	if err != nil {
		return model.Refused(c.flat, err)
	}
	upsert := true
	return model.Write{Collection: c.flat, Index: model.IDIndex, Model: &mongo.ReplaceOneModel{
		Filter: commands.MatchID(doc.Lookup("_id")), Replacement: flat, Upsert: &upsert,
	}}
}

// Fill is the step of a job for one document.
func (c *Columns) Fill(doc bson.Raw) ([]model.Step, error) {
	w := c.Store(doc)
	return []model.Step{w}, w.Err
}
