package denorm

import (
	"math"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// A copyState is what of a source its copies depend on. A value of type 0 is not there.
type copyState struct {
	id      bson.RawValue
	values  []bson.RawValue // of the fields, in their order
	version bson.RawValue
	guard   bson.E          // the condition that the version is as it was read
	listed  []bson.RawValue // the documents that the source lists
}

// state reads a source.
func (c *copying) state(doc bson.Raw) (s copyState, err error) {
	s.id = clone(doc.Lookup("_id"))
	if s.id.Type == 0 {
		return s, c.refused("_id", nil, "the document has none")
	}
	for _, f := range c.fields {
		v, err := c.at(doc, f.From)
		if err != nil {
			return s, err
		}
		if path, err := model.CheckNames(v, f.From); err != nil {
			return s, c.refused(path, nil, err.Error())
		}
		s.values = append(s.values, clone(v))
	}
	if c.version != "" {
		v, err := c.at(doc, c.spec.Version)
		if err != nil {
			return s, err
		}
		s.guard = holdsAt(c.spec.Version, clone(v))
		if s.version, err = c.versionIs(v); err != nil {
			return s, err
		}
	}
	if c.spec.Listed != "" {
		v, err := c.at(doc, c.spec.Listed)
		if err != nil {
			return s, err
		}
		s.listed, err = c.listedIn(v)
		return s, err
	}
	return s, nil
}

// versionIs is the version of a source that holds v. A whole number that is not there is 0.
func (c *copying) versionIs(v bson.RawValue) (bson.RawValue, error) {
	switch {
	case c.counts && (v.Type == 0 || v.Type == bson.TypeNull):
		return raw(int64(0))
	case c.counts && (v.Type == bson.TypeInt32 || v.Type == bson.TypeInt64):
	case c.times && (v.Type == bson.TypeDateTime || v.Type == bson.TypeTimestamp):
	default:
		return v, c.refused(c.spec.Version, v, "the version is neither a whole number nor a time, as it was declared")
	}
	return clone(v), nil
}

// listedIn are the distinct _ids of a list, or of what is one.
func (c *copying) listedIn(v bson.RawValue) (out []bson.RawValue, _ error) {
	list := []bson.RawValue{v}
	if v.Type == bson.TypeArray {
		var err error
		if list, err = bson.RawArray(v.Value).Values(); err != nil {
			return nil, c.refused(c.spec.Listed, nil, err.Error())
		}
	}
	seen := map[string]bool{}
	for _, id := range list {
		switch id.Type {
		case 0, bson.TypeNull:
			continue
		case bson.TypeArray, bson.TypeRegex, bson.TypeUndefined:
			return nil, c.refused(c.spec.Listed, id, "no _id can be this")
		}
		if k := string(id.Type) + string(id.Value); !seen[k] {
			seen[k] = true
			out = append(out, clone(id))
		}
	}
	return out, nil
}

// snapshot is the copy itself.
func (c *copying) snapshot(s copyState) bson.D {
	if s.id.Type == 0 {
		return nil
	}
	held := c.held(s)
	return shapeOf(c.places()).build(func(path string) (any, bool) {
		v := held[path]
		return v, v.Type != 0
	})
}

// asFields is the copy by the paths of the document that holds it.
func (c *copying) asFields(s copyState) (fields bson.D, _ error) {
	if len(c.arrays) > 0 {
		return nil, c.to.refused(c.spec.KeyPath, nil, "lies in an array, whose elements have no paths of their own: push Snapshot")
	}
	held := c.held(s)
	for _, path := range c.places() {
		fields = append(fields, bson.E{Key: path, Value: held[path]})
	}
	return fields, nil
}

// places are the paths of a copy, below the base.
func (c *copying) places() (paths []string) {
	if c.key != "" {
		paths = append(paths, c.key)
	}
	for _, f := range c.fields {
		paths = append(paths, f.To)
	}
	if c.version != "" {
		paths = append(paths, c.version)
	}
	return paths
}

// held is what each path of a copy holds.
func (c *copying) held(s copyState) map[string]bson.RawValue {
	held := map[string]bson.RawValue{c.key: s.id}
	for i, f := range c.fields {
		held[f.To] = s.values[i]
	}
	if c.version != "" {
		held[c.version] = s.version
	}
	return held
}

// next is the version after a change; given is that of the change, if it has one.
func (c *copying) next(was, given bson.RawValue) (bson.RawValue, error) {
	switch was.Type {
	case bson.TypeInt32, bson.TypeInt64:
		n := was.AsInt64()
		switch {
		case given.Type != 0:
			return given, c.refused(c.spec.Version, given, "Set counts the version up by itself")
		case n == math.MaxInt64:
			return given, c.refused(c.spec.Version, was, "the version can't be counted further up")
		case was.Type == bson.TypeInt32 && n < math.MaxInt32:
			return raw(int32(n + 1))
		}
		return raw(n + 1)
	}
	switch {
	case given.Type != was.Type:
		return given, c.refused(c.spec.Version, nil, "give the time of the change among the fields")
	case bsonval.CompareRaw(given, was) <= 0:
		return given, c.refused(c.spec.Version, given, "is not later than the time that was read")
	}
	return given, nil
}
