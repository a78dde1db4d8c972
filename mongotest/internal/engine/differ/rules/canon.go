package rules

import (
	"bytes"
	"cmp"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/mongotest/internal/engine/differ/tree"
)

func sortFields(v any) any {
	if doc, ok := v.(bson.D); ok {
		slices.SortStableFunc(doc, func(x, y bson.E) int { return cmp.Compare(x.Key, y.Key) })
	}
	return v
}

// sortElements puts the elements of a list in one order.
func sortElements(v any) any {
	if list, ok := v.(bson.A); ok {
		slices.SortFunc(list, func(x, y any) int { return bytes.Compare(tree.Encode(x), tree.Encode(y)) })
	}
	return v
}

// sortChanged is sortFields without the count of what changed.
func sortChanged(v any) any {
	if doc, ok := v.(bson.D); ok {
		v = dropField(doc, "nModified")
	}
	return sortFields(v)
}

// without is a document without one of its fields.
func dropField(doc bson.D, key string) bson.D {
	return slices.DeleteFunc(slices.Clone(doc), func(e bson.E) bool { return e.Key == key })
}

func dropNullFields(v any) any {
	doc, ok := v.(bson.D)
	if !ok {
		return v
	}
	return slices.DeleteFunc(doc, func(e bson.E) bool { return e.Value == nil })
}

func dropNullID(v any) any {
	doc, ok := v.(bson.D)
	if !ok {
		return v
	}
	return slices.DeleteFunc(doc, func(e bson.E) bool { return e.Key == "_id" && e.Value == nil })
}

func dropNullElements(v any) any {
	list, ok := v.(bson.A)
	if !ok {
		return v
	}
	return slices.DeleteFunc(list, func(v any) bool { return v == nil })
}

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

func dropEmptyDocuments(v any) any {
	list, ok := v.(bson.A)
	if !ok {
		return v
	}
	return slices.DeleteFunc(list, func(v any) bool {
		return isEmptyDocument(v)
	})
}

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

// dropArrays makes all arrays below documents equal.
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

// dropElements makes all arrays equal that hold no documents.
func dropElements(v any) any {
	list, ok := v.(bson.A)
	if ok && !slices.ContainsFunc(list, func(v any) bool { _, isDocument := v.(bson.D); return isDocument }) {
		return nil
	}
	return v
}

func dropCreated(v any) any { return sortFields(dropEmptyDocs(v)) }

func dropPadding(v any) any {
	if doc, ok := v.(bson.D); ok {
		return dropField(doc, "nModified")
	}
	return dropNullElements(v)
}

// dropFound removes what tells whether an array was added: empty arrays, the nulls before them, and the counts.
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

// dropZeroCounts removes the documents that begin with a count of zero, which no stored document does.
func dropZeroCounts(v any) any {
	list, ok := v.(bson.A)
	if !ok {
		return v
	}
	return slices.DeleteFunc(list, func(v any) bool {
		doc, ok := v.(bson.D)
		return ok && len(doc) > 0 && doc[0].Value == int32(0) && (len(doc) == 1 || doc[0].Key == "n" || doc[0].Key == "count")
	})
}

// dropCountKeys removes the groups whose key is a count of zero.
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

func dropEmptyMatches(v any) any {
	list, ok := v.(bson.A)
	if !ok {
		return v
	}
	return slices.DeleteFunc(list, func(v any) bool { return tree.Lookup(v, "match") == "" })
}

// plainUpdate removes from a document what the server's updates are known to do otherwise: the order of new
// fields, empty paths that operators left, the digits of decimals, the sign of zero.
func simplifyUpdate(v any) any {
	if doc, ok := v.(bson.D); ok {
		return sortFields(dropEmptyDocs(dropField(doc, "nModified")))
	}
	return simplifyZeros(simplifyDecimals(v))
}
