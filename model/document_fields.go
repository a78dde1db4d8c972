package model

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/mql"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Documents with other values at paths, and the difference of two documents as paths.

// withFields returns a document with fields set by their paths. A value of type 0 removes
// the field.
func withFields(doc bson.Raw, set bson.D) (_ bson.Raw, err error) {
	var d bson.D
	if err = bson.Unmarshal(doc, &d); err != nil {
		return nil, err
	}
	for _, e := range set {
		v, ok := e.Value.(bson.RawValue)
		if !ok {
			if v, err = core.RawValue(e.Value); err != nil {
				return nil, err
			}
		}
		if err = checkIndexes(doc, e.Key); err != nil {
			return nil, err
		}
		d = withField(d, strings.Split(e.Key, "."), v)
	}
	return (*core.Codec)(nil).Document(d)
}

func withField(d bson.D, path []string, v bson.RawValue) bson.D {
	i := bsonval.Index(d, path[0])
	var list bson.A
	if i >= 0 && len(path) > 1 {
		list, _ = d[i].Value.(bson.A)
	}
	switch {
	case list != nil:
		d[i].Value = withElement(list, path[1:], v)
	case len(path) > 1:
		var inner bson.D
		if i >= 0 {
			inner, _ = d[i].Value.(bson.D)
		}
		if v.Type == 0 && inner == nil {
			return d
		}
		inner = withField(inner, path[1:], v)
		if i < 0 {
			return append(d, bson.E{Key: path[0], Value: inner})
		}
		d[i].Value = inner
	case v.Type == 0 && i >= 0:
		return slices.Delete(d, i, i+1)
	case v.Type == 0:
	case i < 0:
		return append(d, bson.E{Key: path[0], Value: v})
	default:
		d[i].Value = v
	}
	return d
}

// withElement sets a field in an element of an array. The path begins with the element's
// index. As on a server, null fills the array up to the index.
func withElement(list bson.A, path []string, v bson.RawValue) bson.A {
	n, err := strconv.Atoi(path[0])
	if err != nil || n < 0 || n >= len(list) && v.Type == 0 {
		return list // withFields has checked the index
	}
	for n >= len(list) {
		list = append(list, nil)
	}
	inner, isArray := list[n].(bson.A)
	switch {
	case len(path) == 1 && v.Type == 0:
		list[n] = nil
	case len(path) == 1:
		list[n] = v
	case isArray:
		list[n] = withElement(inner, path[1:], v)
	default:
		element, _ := list[n].(bson.D)
		list[n] = withField(element, path[1:], v)
	}
	return list
}

// checkIndexes refuses a path that goes through an array without an index.
func checkIndexes(doc bson.Raw, path string) error {
	at := bson.RawValue{Type: bson.TypeEmbeddedDocument, Value: doc}
	for part := range strings.SplitSeq(path, ".") {
		switch at.Type {
		case bson.TypeEmbeddedDocument:
			at = bson.Raw(at.Value).Lookup(part)
		case bson.TypeArray:
			n, err := strconv.ParseUint(part, 10, 16)
			if err != nil {
				return core.ValueError("", path, nil, fmt.Sprintf("is in an array: %q is no index of an element", part))
			}
			elements := core.Elements(at)
			at = bson.RawValue{}
			if n < uint64(len(elements)) {
				at = elements[n]
			}
		default:
			return nil
		}
	}
	return nil
}

// difference returns the fields that make a document equal another, by their paths. A
// value of type 0 removes the field. The order of fields doesn't count.
func difference(before, after bson.Raw) bson.D { return differenceBelow("", before, after) }

func differenceBelow(prefix string, before, after bson.Raw) (out bson.D) {
	was, _ := before.Elements()
	now, _ := after.Elements()
	for _, e := range now {
		old, v := before.Lookup(e.Key()), e.Value()
		a, isDoc := old.DocumentOK()
		b, staysDoc := v.DocumentOK()
		switch {
		case old.Type == v.Type && slices.Equal(old.Value, v.Value):
		case isDoc && staysDoc && hasPlainNames(a) && hasPlainNames(b) && len(b) > 5:
			out = append(out, differenceBelow(prefix+e.Key()+".", a, b)...)
		default:
			out = append(out, bson.E{Key: prefix + e.Key(), Value: v})
		}
	}
	for _, e := range was {
		if after.Lookup(e.Key()).Type == 0 {
			out = append(out, bson.E{Key: prefix + e.Key(), Value: bson.RawValue{}})
		}
	}
	return out
}

// hasPlainNames reports whether paths can name the fields of a document.
func hasPlainNames(doc bson.Raw) bool {
	elems, err := doc.Elements()
	return err == nil && !slices.ContainsFunc(elems, func(e bson.RawElement) bool { return core.CheckKey(e.Key()) != nil })
}

// setOperators returns the update that sets fields, and removes those of type 0.
func setOperators(set bson.D) (out bson.D) {
	var sets, unsets bson.D
	for _, e := range set {
		if v, ok := e.Value.(bson.RawValue); ok && v.Type == 0 {
			unsets = append(unsets, bson.E{Key: e.Key, Value: ""})
		} else {
			sets = append(sets, e)
		}
	}
	if len(sets) > 0 {
		out = append(out, bson.E{Key: "$set", Value: sets})
	}
	if len(unsets) > 0 {
		out = append(out, bson.E{Key: "$unset", Value: unsets})
	}
	return out
}

// holdFields returns the condition that fields have their values, or are missing if the
// value is of type 0.
func holdFields(set bson.D) (out bson.D) {
	for _, e := range set {
		if v, ok := e.Value.(bson.RawValue); ok && v.Type == 0 {
			out = append(out, bson.E{Key: e.Key, Value: bson.D{{Key: "$exists", Value: false}}})
		} else {
			out = append(out, bson.E{Key: e.Key, Value: mql.Eq(e.Value)})
		}
	}
	return out
}

func updateOne(filter, update bson.D) *mongo.UpdateOneModel {
	return &mongo.UpdateOneModel{Filter: filter, Update: update}
}

func changedPaths(before, after bson.Raw) (out []string) {
	if before == nil || after == nil {
		return nil
	}
	for _, e := range difference(before, after) {
		out = append(out, e.Key)
	}
	return out
}
