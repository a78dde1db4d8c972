// Package rawdoc removes fields of encoded documents, and joins the names of their paths:
//
//	rawdoc.RemoveFields(doc, "v", "address.zip")
//	{_id: 1, v: 3, address: {zip: "1", city: "x"}}   →   {_id: 1, address: {city: "x"}}
//
// Its callers:
//
//   - Two documents are compared without a field of the library's own, such as the version of a pair
//     (model/schema/internal/versions and expiry).
//   - A stored document keeps fields that the newest Go type doesn't have, but not those that the type dropped
//     (model/schema/internal/versions).
//   - A history erases personal data from its old revisions (denorm/internal/history).
//   - A document is written under another _id (denorm/internal/slots).
//   - Package model/schema names the place of a value in a document by [JoinPath].
//
// # Rules
//
//   - The other fields keep their order, so that two documents can be compared byte by byte afterwards.
//   - A path that isn't there, or leads into an array, removes nothing.
//   - The document that is passed in never changes.
//   - An embedded document stays, also if its last field is removed.
//
// internal/bsondoc is for documents in which callers write filters and updates, which have many Go types. The functions
// here are for stored documents.
package rawdoc

import (
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// RemoveFields returns a document without the fields at some paths.
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

// removeField removes the field at a path from a document that nobody else has.
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

// EncodeDocument returns the document of a write's model. A model's document can be encoded already, or be a Go value.
func EncodeDocument(doc any) (bson.Raw, error) {
	if raw, ok := doc.(bson.Raw); ok {
		return raw, nil
	}
	return bson.Marshal(doc)
}
