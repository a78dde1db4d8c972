// Canonical forms of documents and arrays. Rules pass these functions to sameAfter and sameOutside, which call them for
// each value of both outcomes, the inner values first. So a function sees one value at a time and may change it. An
// outcome's reply is a document as well: {batch: […]} of a find, {n: 1, nModified: 1} of an update.

package rules

import (
	"bytes"
	"cmp"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/mongotest/internal/engine/differ/tree"
)

// sortFields orders the fields of documents by name. {b: 1, a: 2} becomes {a: 2, b: 1}. It is the form of most rules,
// because an update and a $project of the server also place fields in another order.
func sortFields(v any) any {
	if doc, ok := v.(bson.D); ok {
		slices.SortStableFunc(doc, func(x, y bson.E) int { return cmp.Compare(x.Key, y.Key) })
	}
	return v
}

// sortElements orders the elements of arrays by their bytes. [2, 1] becomes [1, 2]. The documents of a batch are
// elements too, so their order goes as well.
func sortElements(v any) any {
	if list, ok := v.(bson.A); ok {
		slices.SortFunc(list, func(x, y any) int { return bytes.Compare(tree.Encode(x), tree.Encode(y)) })
	}
	return v
}

// sortChanged is sortFields without the reply's count of changed documents. It is for updates by a pipeline, where
// another order of fields may be a change on one side only.
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

// dropNullFields removes fields that are null. {a: null, b: 1} becomes {b: 1}. It serves rules where one side has null
// and the other no field.
func dropNullFields(v any) any {
	doc, ok := v.(bson.D)
	if !ok {
		return v
	}
	return slices.DeleteFunc(doc, func(e bson.E) bool { return e.Value == nil })
}

// dropNullID removes an _id that is null. It serves $group, whose documents have no _id on the server where MongoDB has
// _id: null.
func dropNullID(v any) any {
	doc, ok := v.(bson.D)
	if !ok {
		return v
	}
	return slices.DeleteFunc(doc, func(e bson.E) bool { return e.Key == "_id" && e.Value == nil })
}

// dropNullElements removes elements that are null. [1, null] becomes [1].
func dropNullElements(v any) any {
	list, ok := v.(bson.A)
	if !ok {
		return v
	}
	return slices.DeleteFunc(list, func(v any) bool { return v == nil })
}

// dropEmptyFields removes fields that are empty documents. {a: {}, b: 1} becomes {b: 1}. dropEmptyDocuments is for
// elements of arrays.
func dropEmptyFields(v any) any {
	doc, ok := v.(bson.D)
	if !ok {
		return v
	}
	return slices.DeleteFunc(doc, func(e bson.E) bool { return isEmptyDocument(e.Value) })
}

// dropEmptyDocuments removes elements of arrays that are empty documents. The documents of a reply are such elements.
// So {batch: [{}, {a: 1}]} becomes {batch: [{a: 1}]}.
func dropEmptyDocuments(v any) any {
	list, ok := v.(bson.A)
	if !ok {
		return v
	}
	return slices.DeleteFunc(list, isEmptyDocument)
}

// dropEmptyArrays removes fields that are empty arrays or documents, and the reply's count of changed documents:
//
//	{a: [], b: {}, c: 1}  becomes  {c: 1}
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

// dropArrays makes null of all arrays in fields, such as the joined documents of $lookup. The list of the reply's
// documents stays.
//
//	{_id: 1, x: [{b: 2}]}  becomes  {_id: 1, x: null}
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

// dropElements makes null of all arrays that contain no documents. [1, 1.5] becomes null, [{a: 1}] stays.
func dropElements(v any) any {
	list, ok := v.(bson.A)
	if ok && !slices.ContainsFunc(list, func(v any) bool { _, isDocument := v.(bson.D); return isDocument }) {
		return nil
	}
	return v
}

// dropCreated is for paths that an update created, and left empty. {a: {b: {}}} becomes {}, because the inner values go
// first.
func dropCreated(v any) any { return sortFields(dropEmptyFields(v)) }

// dropPadding removes null elements, with which an update fills an array up to an index, and the count of changed
// documents. [null, null, 5] becomes [5].
func dropPadding(v any) any {
	if doc, ok := v.(bson.D); ok {
		return dropField(doc, "nModified")
	}
	return dropNullElements(v)
}

// dropFound removes everything that tells whether an update added an array: empty arrays, the nulls before them, and
// counts. {a: [null, []], lastErrorObject: {…}} becomes {}.
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
// first. So {batch: [{n: 0}]} becomes {batch: []}. A document of several fields must begin with n or count, the names
// that the grammar gives to counts.
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

// dropCountKeys removes the groups whose key is a count of zero. {_id: {n: 0}, …} is such a group, of a $count that
// returned 0.
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

// dropEmptyMatches removes the empty matches of $regexFindAll. A match is {match: "", idx: 0, captures: []}.
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
		return sortFields(dropEmptyFields(dropField(doc, "nModified")))
	}
	return simplifyZeros(simplifyDecimals(v))
}
