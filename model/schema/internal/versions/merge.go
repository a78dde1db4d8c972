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

// A change is what turns a stored document into another without touching what its types don't know. Three documents
// meet: raw, as it is stored; was, what its own type made of it; and next, what the newest type makes of it now. What
// is equal in was and next stays as it is stored.
type change struct {
	set, unset bson.D
	absent     bson.D // what isn't stored, and is encoded as it was before the change: empty
	skip       string // the version's field, which is seen to elsewhere
}

// document compares the documents at a path.
func (c *change) document(path string, raw, was, next bson.Raw, old, now *form) error {
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
		own, becomes := old.field(e.Key()), now.field(e.Key())
		switch {
		case stored.Type != 0 && !old.has(e.Key()):
			return fmt.Errorf("%s exists already, but isn't a field of the document's version", at)
		case stored.Type != 0 && before.Equal(e.Value()):
		case stored.Type == 0 && before.Type != 0 && before.Equal(e.Value()):
			c.absent = append(c.absent, bson.E{Key: at, Value: e.Value()})
		case areDocuments(stored, before, e.Value()) && own.isStruct() && becomes.isStruct():
			if err := c.document(at, stored.Document(), before.Document(), e.Value().Document(), own, becomes); err != nil {
				return err
			}
		default:
			v, err := merged(at, stored, before, e.Value(), own, becomes)
			if err != nil {
				return err
			}
			if err := core.CheckPath(at); err != nil {
				return err
			}
			c.set = append(c.set, bson.E{Key: at, Value: v})
		}
	}
	return c.without(path, raw, was, next, old, now)
}

// without takes away the fields that the old type knows and the newest document hasn't.
func (c *change) without(path string, raw, was, next bson.Raw, old, now *form) error {
	elements, err := raw.Elements()
	if err != nil {
		return err
	}
	for _, e := range elements {
		name := e.Key()
		if path == "" && (name == "_id" || name == c.skip) || !goes(name, was, next, old, now) {
			continue
		}
		if err := c.remove(rawdoc.JoinPath(path, name), e.Value(), old.field(name)); err != nil {
			return err
		}
	}
	return nil
}

// goes reports whether a stored field is to be taken away.
func goes(name string, was, next bson.Raw, old, now *form) bool {
	return next.Lookup(name).Type == 0 && old.has(name) && (was.Lookup(name).Type != 0 || !now.has(name))
}

// remove takes a value away, but for what its type doesn't know.
func (c *change) remove(path string, v bson.RawValue, f *form) error {
	if err := core.CheckPath(path); err != nil {
		return err
	}
	if !f.drops(v) {
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
		if f.has(e.Key()) {
			if err := c.remove(rawdoc.JoinPath(path, e.Key()), e.Value(), f.field(e.Key())); err != nil {
				return err
			}
		}
	}
	return nil
}

// applied is the stored document after the change.
func (c *change) applied(raw bson.Raw, version int) (bson.Raw, error) {
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

// differing are the fields of list that two documents don't hold alike.
func differing(list bson.D, a, b bson.Raw) (out bson.D) {
	for _, e := range list {
		x, _ := core.ValueAt(a, e.Key)
		if y, _ := core.ValueAt(b, e.Key); !x.Equal(y) {
			out = append(out, e)
		}
	}
	return out
}

func areDocuments(values ...bson.RawValue) bool {
	return !slices.ContainsFunc(values, func(v bson.RawValue) bool { return v.Type != bson.TypeEmbeddedDocument })
}

// merged is the value that is stored in the place of another: the next one, and of the stored one what its type doesn't
// know.
func merged(path string, stored, was, next bson.RawValue, old, now *form) (bson.RawValue, error) {
	switch {
	case stored.Type != 0 && was.Equal(next):
		return stored, nil
	case stored.Type == 0, !old.drops(stored):
		return next, nil
	case areDocuments(stored, was, next):
		return mergedDocument(path, stored.Document(), was.Document(), next.Document(), old, now)
	case stored.Type == bson.TypeArray && was.Type == bson.TypeArray && next.Type == bson.TypeArray:
		return mergedArray(path, stored, was, next, old, now)
	}
	return next, fmt.Errorf("%s would be replaced, but has fields that aren't in the document's version", path)
}

func mergedDocument(path string, raw, was, next bson.Raw, old, now *form) (bson.RawValue, error) {
	var d bson.D
	elements, err := raw.Elements()
	if err != nil {
		return bson.RawValue{}, err
	}
	for _, e := range elements {
		name, v := e.Key(), e.Value()
		if new := next.Lookup(name); new.Type != 0 {
			if !old.has(name) {
				return bson.RawValue{}, fmt.Errorf("%s exists already, but isn't a field of the document's version",
					rawdoc.JoinPath(path, name))
			}
			if v, err = merged(rawdoc.JoinPath(path, name), v, was.Lookup(name), new, old.field(name), now.field(name)); err != nil {
				return v, err
			}
		} else if goes(name, was, next, old, now) {
			if old.field(name).drops(v) {
				return v, fmt.Errorf("%s would be removed, but has fields that aren't in the document's version",
					rawdoc.JoinPath(path, name))
			}
			continue
		}
		d = append(d, bson.E{Key: name, Value: v})
	}
	fresh, err := next.Elements()
	if err != nil {
		return bson.RawValue{}, err
	}
	for _, e := range fresh {
		if raw.Lookup(e.Key()).Type == 0 {
			d = append(d, bson.E{Key: e.Key(), Value: e.Value()})
		}
	}
	return encoded(d)
}

// mergedArray goes by positions, which say which element became which only while their number stays.
func mergedArray(path string, stored, was, next bson.RawValue, old, now *form) (bson.RawValue, error) {
	a, errA := stored.Array().Values()
	b, errB := was.Array().Values()
	c, errC := next.Array().Values()
	switch {
	case errA != nil || errB != nil || errC != nil:
		return next, errors.Join(errA, errB, errC)
	case len(a) != len(b) || len(b) != len(c):
		return next,
			fmt.Errorf("%s would get more or fewer elements, but these have fields that aren't in the document's version", path)
	}
	var inner *form
	if now != nil {
		inner = now.elem
	}
	out := make(bson.A, len(a))
	for i := range a {
		v, err := merged(rawdoc.JoinPath(path, strconv.Itoa(i)), a[i], b[i], c[i], old.elem, inner)
		if err != nil {
			return v, err
		}
		out[i] = v
	}
	return encoded(out)
}

func encoded(v any) (bson.RawValue, error) {
	raw, err := bson.Marshal(bson.D{{Key: "v", Value: v}})
	if err != nil {
		return bson.RawValue{}, err
	}
	held := bson.Raw(raw).Lookup("v")
	return bsonval.Clone(held), nil
}
