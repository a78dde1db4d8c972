// Package rawdoc changes documents as they are stored.
package rawdoc

import (
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// Without is a document without what it holds at some paths.
func Without(doc bson.Raw, paths ...string) (bson.Raw, error) {
	var d bson.D
	if err := bson.Unmarshal(doc, &d); err != nil {
		return nil, err
	}
	for _, path := range paths {
		d = unset(d, strings.Split(path, "."))
	}
	return bson.Marshal(d)
}

func unset(d bson.D, path []string) bson.D {
	i := slices.IndexFunc(d, func(e bson.E) bool { return e.Key == path[0] })
	if i < 0 {
		return d
	}
	if len(path) == 1 {
		return slices.Delete(d, i, i+1)
	}
	if inner, ok := d[i].Value.(bson.D); ok {
		d[i].Value = unset(inner, path[1:])
	}
	return d
}

// Join is the path of a field of what is at a path, "" for the document itself.
func Join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// Of is a document that a write holds.
func Of(doc any) (bson.Raw, error) {
	if raw, ok := doc.(bson.Raw); ok {
		return raw, nil
	}
	return bson.Marshal(doc)
}
