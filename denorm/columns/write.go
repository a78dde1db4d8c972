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

// A walker collects the columns of a document.
type walker struct {
	*untypedColumns
	out        bson.D
	problems   []error
	properties int
}

// addProblem notes a problem. The walk goes on, so that one error names all problems.
func (w *walker) addProblem(path string, v any, reason string) {
	w.problems = append(w.problems, w.docs.Refuse(path, v, reason))
}

// addDocument adds the columns of an inner document. prefix begins their names, and path
// their places in errors.
func (w *walker) addDocument(doc bson.Raw, prefix, path string, depth int) {
	elems, err := doc.Elements()
	if err != nil {
		w.addProblem(path, nil, err.Error())
		return
	}
	seen := make(map[string]bool, len(elems))
	for _, e := range elems {
		at := path + e.Key()
		name, refused := w.encodeName(e.Key())
		switch {
		case refused:
			w.addProblem(at, nil,
				"the name contains a character of columns.Spec.Refuse: rename the field, or set Escape")
		case seen[e.Key()]:
			w.addProblem(at, nil, "occurs twice in its document")
		}
		seen[e.Key()] = true
		// The _id stays whole, so that both documents have the same _id.
		if at == "_id" {
			w.properties++
			w.addColumn("_id", e.Value())
			continue
		}
		w.addProperty(e.Value(), prefix+name, at, depth)
	}
}

// addProperty adds a property: one column, or the columns of its fields or elements. Five
// bytes are an empty document.
func (w *walker) addProperty(v bson.RawValue, name, path string, depth int) {
	w.properties++
	inner := bson.Raw(v.Value)
	switch {
	case depth > w.spec.MaxDepth:
		w.addProblem(path, nil, fmt.Sprintf("is nested deeper than %d levels", w.spec.MaxDepth))
	case v.Type == bson.TypeEmbeddedDocument && len(inner) > 5:
		w.addDocument(inner, name+w.spec.Separator, path+".", depth+1)
	case v.Type == bson.TypeArray && len(inner) > 5 && !w.spec.WholeArrays:
		values, err := bson.RawArray(inner).Values()
		if err != nil {
			w.addProblem(path, nil, err.Error())
		}
		for i, e := range values {
			w.addProperty(e, fmt.Sprintf("%s%s#%d", name, w.spec.Separator, i), fmt.Sprintf("%s[%d]", path, i), depth+1)
		}
	default:
		w.addColumn(name, v)
	}
}

// addColumn adds a column.
func (w *walker) addColumn(name string, v bson.RawValue) {
	if w.spec.Typed && name != "_id" {
		name += "!" + typeName(v.Type)
	}
	w.out = append(w.out, bson.E{Key: name, Value: v})
}

// flattenDocument returns a document's flat document. Its error joins all problems.
func (c *untypedColumns) flattenDocument(doc bson.Raw) (bson.Raw, error) {
	w := &walker{untypedColumns: c, out: bson.D{}}
	w.addDocument(doc, "", "", 1)
	if w.properties > c.spec.MaxProperties {
		w.addProblem("document", w.properties,
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

// storeDocument is the write that stores a document's flat document.
func (c *untypedColumns) storeDocument(doc bson.Raw) model.Write {
	flat, err := c.flattenDocument(doc)
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

// fillDocument is the step of the rebuilding job for one document.
func (c *untypedColumns) fillDocument(doc bson.Raw) ([]model.Step, error) {
	w := c.storeDocument(doc)
	return []model.Step{w}, w.Err
}
