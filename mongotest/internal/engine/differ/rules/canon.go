package rules

import (
	"bytes"
	"cmp"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/mongotest/internal/engine/differ/tree"
)

// sortFields orders the fields of documents by name.
func sortFields(v any) any {
	if doc, ok := v.(bson.D); ok {
		slices.SortStableFunc(doc, func(x, y bson.E) int { return cmp.Compare(x.Key, y.Key) })
	}
	return v
}

// sortElements orders the elements of arrays by their bytes.
func sortElements(v any) any {
	if list, ok := v.(bson.A); ok {
		slices.SortFunc(list, func(x, y any) int { return bytes.Compare(tree.Encode(x), tree.Encode(y)) })
	}
	return v
}

// sortChanged is sortFields without the reply's count of changed documents.
func sortChanged(v any) any {
	if doc, ok := v.(bson.D); ok {
		v = dropField(doc, "nModified")
	}
	return sortFields(v)
}

// dropField returns a copy of a document without one of its fields.
func dropField(doc bson.D, key string) bson.D {
	return slices.DeleteFunc(slices.Clone(doc), func(e bson.E) bool { return e.Key == key })
}

// dropNullFields removes fields that are null.
func dropNullFields(v any) any {
	doc, ok := v.(bson.D)
	if !ok {
		return v
	}
	return slices.DeleteFunc(doc, func(e bson.E) bool { return e.Value == nil })
}

// dropNullID removes an _id that is null.
func dropNullID(v any) any {
	doc, ok := v.(bson.D)
	if !ok {
		return v
	}
	return slices.DeleteFunc(doc, func(e bson.E) bool { return e.Key == "_id" && e.Value == nil })
}

// dropNullElements removes elements that are null.
//
//	[1, null, 2]
//	[1, 2]
func dropNullElements(v any) any {
	list, ok := v.(bson.A)
	if !ok {
		return v
	}
	return slices.DeleteFunc(list, func(v any) bool { return v == nil })
}

// dropEmptyDocs removes fields that are empty documents.
//
//	{a: {}, b: 5}
//	{b: 5}
func dropEmptyDocs(v any) any {
	doc, ok := v.(bson.D)
	if !ok {
		return v
	}
	return slices.DeleteFunc(doc, func(e bson.E) bool {
		inner, ok := e.Value.(bson.D)
		return ok && len(inner) == 0
	})
}

// dropEmptyDocuments removes elements of arrays that are empty documents. The documents of a reply are such elements.
//
//	[{}, {a: 5}]
//	[{a: 5}]
func dropEmptyDocuments(v any) any {
	list, ok := v.(bson.A)
	if !ok {
		return v
	}
	return slices.DeleteFunc(list, func(v any) bool {
		return isEmptyDocument(v)
	})
}

// dropEmptyArrays removes fields that are empty arrays or documents, and the reply's count of changed documents.
func dropEmptyArrays(v any) any {
	doc, ok := v.(bson.D)
	if !ok {
		return v
	}
	return slices.DeleteFunc(doc, func(e bson.E) bool {
		inner, _ := e.Value.(bson.D)
		return tree.IsEmptyArray(e.Value) || inner != nil && len(inner) == 0 || e.Key == "nModified"
	})
}

// dropArrays makes null of all arrays in fields, such as the joined documents of $lookup.
//
//	{a: [1, 2], b: 5}
//	{a: null, b: 5}
func dropArrays(v any) any {
	doc, ok := v.(bson.D)
	if !ok {
		return v
	}
	for i, e := range doc {
		if _, isArray := e.Value.(bson.A); isArray && e.Key != "batch" && e.Key != "firstBatch" {
			doc[i].Value = nil
		}
	}
	return doc
}

// dropElements makes null of all arrays that contain no documents.
//
//	{a: [1, 2], b: [{c: 1}]}
//	{a: null, b: [{c: 1}]}
func dropElements(v any) any {
	list, ok := v.(bson.A)
	if ok && !slices.ContainsFunc(list, func(v any) bool { _, isDocument := v.(bson.D); return isDocument }) {
		return nil
	}
	return v
}

// dropCreated is for paths that an update created, and left empty.
func dropCreated(v any) any { return sortFields(dropEmptyDocs(v)) }

// dropPadding removes null elements, with which an update fills an array up to an index, and the count of changed
// documents.
func dropPadding(v any) any {
	if doc, ok := v.(bson.D); ok {
		return dropField(doc, "nModified")
	}
	return dropNullElements(v)
}

// dropFound removes everything that tells whether an update added an array: empty arrays, the nulls before them, and
// counts.
func dropFound(v any) any {
	if doc, ok := v.(bson.D); ok {
		return dropEmptyArrays(dropField(dropField(doc, "lastErrorObject"), "nModified"))
	}
	list, ok := v.(bson.A)
	if !ok {
		return v
	}
	return slices.DeleteFunc(list, func(v any) bool { return v == nil || tree.IsEmptyArray(v) })
}

// dropZeroCounts removes the documents that begin with a count of 0. No stored document does, because the _id comes
// first.
//
//	[{n: 0}, {_id: 1, n: 0}]
//	[{_id: 1, n: 0}]
func dropZeroCounts(v any) any {
	list, ok := v.(bson.A)
	if !ok {
		return v
	}
	return slices.DeleteFunc(list, func(v any) bool {
		doc, ok := v.(bson.D)
		return ok && len(doc) > 0 && doc[0].Value == int32(0) &&
			(len(doc) == 1 || doc[0].Key == "n" || doc[0].Key == "count")
	})
}

// dropCountKeys removes the groups whose key is a count of zero.
//
//	[{_id: {n: 0}, s: 1}, {_id: {n: 2}, s: 1}]
//	[{_id: {n: 2}, s: 1}]
func dropCountKeys(v any) any {
	list, ok := v.(bson.A)
	if !ok {
		return v
	}
	return slices.DeleteFunc(list, func(v any) bool {
		key, _ := tree.Lookup(v, "_id").(bson.D)
		return len(key) == 1 && key[0].Value == int32(0)
	})
}

// dropEmptyMatches removes the empty matches of $regexFindAll.
//
//	[{match: "", idx: 0, captures: []}, {match: "a", idx: 1, captures: []}]
//	[{match: "a", idx: 1, captures: []}]
func dropEmptyMatches(v any) any {
	list, ok := v.(bson.A)
	if !ok {
		return v
	}
	return slices.DeleteFunc(list, func(v any) bool { return tree.Lookup(v, "match") == "" })
}

// simplifyUpdate removes from a document everything in which the server's updates are known to differ: the order of new
// fields, empty documents that operators left, the zeros at the end of decimals, the sign of zero.
func simplifyUpdate(v any) any {
	if doc, ok := v.(bson.D); ok {
		return sortFields(dropEmptyDocs(dropField(doc, "nModified")))
	}
	return simplifyZeros(simplifyDecimals(v))
}
