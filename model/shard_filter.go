package model

import (
	"strings"

	"github.com/docmodel/docmodel/internal/bsondoc"
	"github.com/docmodel/docmodel/internal/core"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// conditionOn returns a filter's condition on a path, also within a top-level $and.
func conditionOn(filter bson.D, path string) (any, bool) {
	if core.CheckDepth(filter) != nil {
		return nil, false // refused when it is encoded
	}
	return conditionWithin(filter, path)
}

// conditionWithin is conditionOn for a filter of limited depth.
func conditionWithin(filter bson.D, path string) (any, bool) {
	for _, e := range filter {
		if e.Key == path {
			return e.Value, true
		}
		if e.Key != "$and" {
			continue
		}
		parts, _ := bsondoc.Pipeline(e.Value)
		for _, part := range parts {
			if v, ok := conditionWithin(part, path); ok {
				return v, true
			}
		}
	}
	return nil, false
}

// mentions reports whether a filter has a condition on a path.
func mentions(filter bson.D, path string) bool {
	_, ok := conditionOn(filter, path)
	return ok
}

// askedIDs returns the _ids that a filter selects by equality or $in.
func askedIDs(filter bson.D) ([]bson.RawValue, bool) {
	condition, ok := conditionOn(filter, "_id")
	if !ok {
		return nil, false
	}
	raw, err := (*core.Codec)(nil).Document(bson.D{{Key: "v", Value: condition}})
	if err != nil {
		return nil, false
	}
	v := raw.Lookup("v")
	if v.Type == bson.TypeRegex {
		return nil, false
	}
	doc, isDocument := v.DocumentOK()
	first, err := doc.IndexErr(0)
	if !isDocument || err != nil || !strings.HasPrefix(first.Key(), "$") {
		return []bson.RawValue{v}, true
	}
	if _, err := doc.IndexErr(1); err == nil {
		return nil, false
	}
	switch first.Key() {
	case "$eq":
		return []bson.RawValue{first.Value()}, true
	case "$in":
		list, _ := first.Value().ArrayOK()
		values, err := list.Values()
		for _, v := range values {
			if v.Type == bson.TypeRegex {
				return nil, false
			}
		}
		return values, err == nil && len(values) > 0
	}
	return nil, false
}

// withinID returns the value of a path that is part of the _id.
func withinID(id bson.RawValue, path string) (any, bool) {
	if path == "_id" {
		return id, true
	}
	rest, below := strings.CutPrefix(path, "_id.")
	doc, isDocument := id.DocumentOK()
	if !below || !isDocument {
		return nil, false
	}
	v, inArray := core.ValueAt(doc, rest)
	return v, v.Type != 0 && !inArray
}
