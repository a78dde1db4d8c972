package versions

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/rawdoc"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// A change is the difference that turns a stored document into the newest form, without the fields that its types don't
// know. See the package page for raw, was and next. Keys of set, unset and absent are paths.
type change struct {
	set, unset bson.D
	absent     bson.D // fields of next that aren't stored, and that was has with the same value: see fillAbsent
	skip       string // the version's field
}

// compareDocuments adds the differences of the documents at a path, "" for the whole documents. old is the form of
// raw's type, now the form of the newest type. The _id never changes, and the caller sets the version's field.
func (c *change) compareDocuments(path string, raw, was, next bson.Raw, old, now *form) error {
	elements, err := next.Elements()
	if err != nil {
		return err
	}
	for _, e := range elements {
		if path == "" && (e.Key() == "_id" || e.Key() == c.skip) {
			continue
		}
		at := rawdoc.JoinPath(path, e.Key())
		stored, before := raw.Lookup(e.Key()), was.Lookup(e.Key())
		own, becomes := old.lookUp(e.Key()), now.lookUp(e.Key())
		switch {
		case stored.Type != 0 && !old.knows(e.Key()):
			// A step adds this field, but other code has stored something under its name, which would be overwritten.
			return fmt.Errorf("%s exists already, but isn't a field of the document's version", at)
		case stored.Type != 0 && before.Equal(e.Value()):
			// Unchanged: it stays as it is stored, with the fields that the types don't know.
		case stored.Type == 0 && before.Type != 0 && before.Equal(e.Value()):
			c.absent = append(c.absent, bson.E{Key: at, Value: e.Value()})
		case areDocuments(stored, before, e.Value()) && own.isStruct() && becomes.isStruct():
			// One $set for each field that differs, so that other fields of the embedded document aren't written.
			err := c.compareDocuments(at, stored.Document(), before.Document(), e.Value().Document(), own, becomes)
			if err != nil {
				return err
			}
		default:
			v, err := mergeUnknownFields(at, stored, before, e.Value(), own, becomes)
			if err != nil {
				return err
			}
			if err := core.CheckPath(at); err != nil {
				return err
			}
			c.set = append(c.set, bson.E{Key: at, Value: v})
		}
	}
	return c.removeMissing(path, raw, was, next, old, now)
}

// removeMissing removes the fields at a path that next doesn't have, as isRemoved says.
func (c *change) removeMissing(path string, raw, was, next bson.Raw, old, now *form) error {
	elements, err := raw.Elements()
	if err != nil {
		return err
	}
	for _, e := range elements {
		name := e.Key()
		if path == "" && (name == "_id" || name == c.skip) || !isRemoved(name, was, next, old, now) {
			continue
		}
		if err := c.remove(rawdoc.JoinPath(path, name), e.Value(), old.lookUp(name)); err != nil {
			return err
		}
	}
	return nil
}

// isRemoved reports whether a stored field goes: next doesn't have it, and raw's type knows it. If was doesn't have it
// either, raw's type reads the stored value, such as null, as empty. Then it stays if the newest type knows it.
func isRemoved(name string, was, next bson.Raw, old, now *form) bool {
	return next.Lookup(name).Type == 0 && old.knows(name) && (was.Lookup(name).Type != 0 || !now.knows(name))
}

// remove removes a value. If its type doesn't know all of its fields, it removes only the fields that the type knows.
func (c *change) remove(path string, v bson.RawValue, f *form) error {
	if err := core.CheckPath(path); err != nil {
		return err
	}
	if !f.losesFields(v) {
		c.unset = append(c.unset, bson.E{Key: path, Value: ""})
		return nil
	}
	if v.Type != bson.TypeEmbeddedDocument {
		return fmt.Errorf("%s would be removed, but has fields that aren't in the document's version", path)
	}
	elements, err := v.Document().Elements()
	if err != nil {
		return err
	}
	for _, e := range elements {
		if f.knows(e.Key()) {
			if err := c.remove(rawdoc.JoinPath(path, e.Key()), e.Value(), f.lookUp(e.Key())); err != nil {
				return err
			}
		}
	}
	return nil
}

// apply returns the stored document after the change, with the version. fillAbsent and upgradeDocument use it. Other
// changes are sent as an update.
func (c *change) apply(raw bson.Raw, version int) (bson.Raw, error) {
	var gone []string
	for _, e := range c.unset {
		gone = append(gone, e.Key)
	}
	left, err := rawdoc.RemoveFields(raw, gone...)
	if err != nil {
		return nil, err
	}
	return core.SetFields(left, append(c.set[:len(c.set):len(c.set)], bson.E{Key: c.skip, Value: int32(version)}))
}

// listDiffering returns the fields of list whose values in two documents differ.
func listDiffering(list bson.D, a, b bson.Raw) (out bson.D) {
	for _, e := range list {
		x, _ := core.ValueAt(a, e.Key)
		if y, _ := core.ValueAt(b, e.Key); !x.Equal(y) {
			out = append(out, e)
		}
	}
	return out
}

// areDocuments reports whether all values are embedded documents.
func areDocuments(values ...bson.RawValue) bool {
	return !slices.ContainsFunc(values, func(v bson.RawValue) bool { return v.Type != bson.TypeEmbeddedDocument })
}

// mergeUnknownFields returns the value that replaces the stored value at a path: next, with the fields of stored that
// its type doesn't know. If the type of the elements of phones doesn't know ext:
//
//	stored  [{number: "1", ext: 7}]
//	was     [{number: "1"}]
//	next    [{number: "2"}]
//	result  [{number: "2", ext: 7}]
//
// It fails if it can't tell where these fields belong.
func mergeUnknownFields(path string, stored, was, next bson.RawValue, old, now *form) (bson.RawValue, error) {
	switch {
	case stored.Type != 0 && was.Equal(next):
		return stored, nil
	case stored.Type == 0, !old.losesFields(stored):
		return next, nil
	case areDocuments(stored, was, next):
		return mergeDocument(path, stored.Document(), was.Document(), next.Document(), old, now)
	case stored.Type == bson.TypeArray && was.Type == bson.TypeArray && next.Type == bson.TypeArray:
		return mergeArray(path, stored, was, next, old, now)
	}
	return next, fmt.Errorf("%s would be replaced, but has fields that aren't in the document's version", path)
}

// mergeDocument is mergeUnknownFields for embedded documents. It isn't split into paths as compareDocuments does,
// because the document is in an array or a map, or isn't a struct in both versions.
func mergeDocument(path string, raw, was, next bson.Raw, old, now *form) (bson.RawValue, error) {
	var d bson.D
	elements, err := raw.Elements()
	if err != nil {
		return bson.RawValue{}, err
	}
	for _, e := range elements {
		name, v := e.Key(), e.Value()
		if value := next.Lookup(name); value.Type != 0 {
			if !old.knows(name) {
				return bson.RawValue{}, fmt.Errorf("%s exists already, but isn't a field of the document's version",
					rawdoc.JoinPath(path, name))
			}
			at := rawdoc.JoinPath(path, name)
			v, err = mergeUnknownFields(at, v, was.Lookup(name), value, old.lookUp(name), now.lookUp(name))
			if err != nil {
				return v, err
			}
		} else if isRemoved(name, was, next, old, now) {
			if old.lookUp(name).losesFields(v) {
				return v, fmt.Errorf("%s would be removed, but has fields that aren't in the document's version",
					rawdoc.JoinPath(path, name))
			}
			continue
		}
		d = append(d, bson.E{Key: name, Value: v})
	}
	added, err := next.Elements() // behind the stored fields, which keep their order
	if err != nil {
		return bson.RawValue{}, err
	}
	for _, e := range added {
		if raw.Lookup(e.Key()).Type == 0 {
			d = append(d, bson.E{Key: e.Key(), Value: e.Value()})
		}
	}
	return encodeValue(d)
}

// mergeArray is mergeUnknownFields for arrays. An element has no name, so elements are paired by their positions. If
// the number of elements changes, nobody knows which element became which, and unknown fields would be lost.
func mergeArray(path string, stored, was, next bson.RawValue, old, now *form) (bson.RawValue, error) {
	a, errA := stored.Array().Values()
	b, errB := was.Array().Values()
	c, errC := next.Array().Values()
	switch {
	case errA != nil || errB != nil || errC != nil:
		return next, errors.Join(errA, errB, errC)
	case len(a) != len(b) || len(b) != len(c):
		return next, fmt.Errorf(
			"%s would get more or fewer elements, but these have fields that aren't in the document's version", path)
	}
	var inner *form
	if now != nil {
		inner = now.elem
	}
	out := make(bson.A, len(a))
	for i := range a {
		v, err := mergeUnknownFields(rawdoc.JoinPath(path, strconv.Itoa(i)), a[i], b[i], c[i], old.elem, inner)
		if err != nil {
			return v, err
		}
		out[i] = v
	}
	return encodeValue(out)
}

// encodeValue encodes a bson.D or bson.A.
func encodeValue(v any) (bson.RawValue, error) {
	raw, err := bson.Marshal(bson.D{{Key: "v", Value: v}})
	if err != nil {
		return bson.RawValue{}, err
	}
	held := bson.Raw(raw).Lookup("v")
	return bsonval.Clone(held), nil
}
