package denorm

import (
	"fmt"
	"slices"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// indexTable is what of an [IndexTable] doesn't depend on its types. Documents come to it encoded.
type indexTable struct {
	stored         // the documents
	entries string // their collection
	path    string
	field   model.Field
	unique  bool
	copies  []string
}

func (t *indexTable) declare(spec []IndexTableSpec, mustField func(string) model.Field) {
	fail := func(problem, remedy string) {
		panic(&model.DeclarationError{Problem: problem, Place: fmt.Sprintf("NewIndexTable of %s.%s", t.docs, t.path), Remedy: remedy})
	}
	switch {
	case model.Overlap(t.path, "_id"):
		fail(fmt.Sprintf("path %q is within _id", t.path), "documents are found by _id already")
	case t.field.Arrays > 1 || t.field.Array != "" && t.field.Array != t.path:
		fail(fmt.Sprintf("path %q lies inside an array", t.path), "keep the values in an array field of the document itself, and name that")
	case t.entries == t.docs:
		fail("the entries have the documents' collection", "give them one of their own")
	case len(spec) > 1:
		fail("more than one IndexTableSpec", "give one")
	case len(spec) == 0:
		return
	}
	t.unique, t.copies = spec[0].Unique, slices.Clone(spec[0].Copies)
	for i, p := range t.copies {
		f := mustField(p)
		switch {
		case f.Array != "" && f.Array != p:
			fail(fmt.Sprintf("the copied path %q lies inside an array", p), "copy the array whole")
		case model.Overlap(p, "_id") || model.Overlap(p, t.path):
			fail(fmt.Sprintf("the copied path %q is in the entry already", p), "leave it out of Copies")
		}
		for _, other := range t.copies[:i] {
			if model.Overlap(p, other) {
				fail(fmt.Sprintf("the copied paths %q and %q overlap", other, p), "copy each field once")
			}
		}
	}
}

// values returns the distinct values that have an entry when the path holds v.
func (t *indexTable) values(v bson.RawValue) (out []bson.RawValue, _ error) {
	list := []bson.RawValue{v}
	if v.Type == bson.TypeArray {
		var err error
		if list, err = bson.RawArray(v.Value).Values(); err != nil {
			return nil, t.refused(t.path, nil, err.Error())
		}
	}
	seen := make(map[string]bool, len(list))
	for _, e := range list {
		switch e.Type {
		case 0, bson.TypeNull:
			continue
		case bson.TypeArray, bson.TypeRegex, bson.TypeUndefined:
			return nil, t.refused(t.path, e, "an array within an array, a regular expression or undefined can't be looked up")
		}
		if path, err := model.CheckNames(e, t.path); err != nil {
			return nil, t.refused(path, nil, err.Error())
		}
		if key := bsonval.Key(e); !seen[key] {
			seen[key] = true
			out = append(out, e)
		}
	}
	return out, nil
}

func contains(list []bson.RawValue, v bson.RawValue) bool {
	return slices.ContainsFunc(list, func(x bson.RawValue) bool { return bsonval.EqualRaw(x, v) })
}

// without returns the values of a that b doesn't hold.
func without(a, b []bson.RawValue) (out []bson.RawValue) {
	held := make(map[string]bool, len(b))
	for _, v := range b {
		held[bsonval.Key(v)] = true
	}
	for _, v := range a {
		if !held[bsonval.Key(v)] {
			out = append(out, v)
		}
	}
	return out
}

// copied makes the document of copied fields from what each path holds.
func (t *indexTable) copied(at func(path string) bson.RawValue) bson.D {
	return shapeOf(t.copies).build(func(path string) (any, bool) {
		v := at(path)
		return v, v.Type != 0
	})
}
