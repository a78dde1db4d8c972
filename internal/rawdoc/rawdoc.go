// Package rawdoc changes encoded documents, and joins the names of their paths. Package model/schema and the
// techniques of package denorm call it where a document that was read is written back without some of its fields.
package rawdoc

import (
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// RemoveFields returns a document without the fields at some paths. It doesn't enter arrays: a path that leads into
// an array removes nothing.
func RemoveFields(doc bson.Raw, paths ...string) (bson.Raw, error) {
	var d bson.D
	if err := bson.Unmarshal(doc, &d); err != nil {
		return nil, err
	}
	for _, path := range paths {
		d = removeField(d, strings.Split(path, "."))
	}
	return bson.Marshal(d)
}

func removeField(d bson.D, path []string) bson.D {
	i := slices.IndexFunc(d, func(e bson.E) bool { return e.Key == path[0] })
	if i < 0 {
		return d
	}
	if len(path) == 1 {
		return slices.Delete(d, i, i+1)
	}
	if inner, ok := d[i].Value.(bson.D); ok {
		d[i].Value = removeField(inner, path[1:])
	}
	return d
}

// JoinPath returns the path of a field. path is that of its document, "" for the whole document.
func JoinPath(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// EncodeDocument returns the document of a write's model, which can be encoded already.
func EncodeDocument(doc any) (bson.Raw, error) {
	if raw, ok := doc.(bson.Raw); ok {
		return raw, nil
	}
	return bson.Marshal(doc)
}
