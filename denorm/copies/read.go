package copies

// This file reads sources (decodeSource).

import (
	"math"

	"github.com/docmodel/docmodel/denorm/internal/stored"
	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/core"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// A source is the part of a source document on which copies depend. A value of type 0 is
// missing. version is the number 0 if the source has no version yet; read is the version
// as it is stored.
type source struct {
	id      bson.RawValue
	values  []bson.RawValue // of the fields, in their order
	version bson.RawValue
	read    bson.RawValue   // the version as the source holds it
	listed  []bson.RawValue // the documents that the source lists
}

// readSource decodes a document that the caller read. doc points to it.
func (c *untypedCopy) readSource(doc any) (source, error) {
	raw, err := stored.EncodeReadDocument(c.docs, doc)
	if err != nil {
		return source{}, err
	}
	return c.decodeSource(raw)
}

// decodeSource reads a source. Its values point into doc: they are valid as long as doc
// is.
func (c *untypedCopy) decodeSource(doc bson.Raw) (s source, err error) {
	s.id = doc.Lookup("_id")
	if s.id.Type == 0 {
		return s, c.docs.Refuse("_id", nil, "the document has none")
	}
	s.values = make([]bson.RawValue, 0, len(c.fields))
	for _, f := range c.fields {
		v, err := stored.ValueAt(c.docs, doc, f.From)
		if err != nil {
			return s, err
		}
		if path, err := core.CheckNames(v, f.From); err != nil {
			return s, c.docs.Refuse(path, nil, err.Error())
		}
		s.values = append(s.values, v)
	}
	if c.version != "" {
		v, err := stored.ValueAt(c.docs, doc, c.spec.Version)
		if err != nil {
			return s, err
		}
		s.read = v
		if s.version, err = c.readVersion(v); err != nil {
			return s, err
		}
	}
	if c.spec.Listed != "" {
		v, err := stored.ValueAt(c.docs, doc, c.spec.Listed)
		if err != nil {
			return s, err
		}
		s.listed, err = c.readListedIDs(v)
		return s, err
	}
	return s, nil
}

// readVersion returns the version of a source. A missing number counts as 0.
func (c *untypedCopy) readVersion(v bson.RawValue) (bson.RawValue, error) {
	switch {
	case c.counts && (v.Type == 0 || v.Type == bson.TypeNull):
		return core.MustRawValue(int64(0)), nil
	case c.counts && (v.Type == bson.TypeInt32 || v.Type == bson.TypeInt64):
	case c.times && (v.Type == bson.TypeDateTime || v.Type == bson.TypeTimestamp):
	default:
		return v, c.docs.Refuse(c.spec.Version, v, "the version is neither a whole number nor a time")
	}
	return v, nil
}

// readListedIDs returns the distinct _ids in a list. A single value is a list of one.
func (c *untypedCopy) readListedIDs(v bson.RawValue) (out []bson.RawValue, _ error) {
	list := []bson.RawValue{v}
	if v.Type == bson.TypeArray {
		var err error
		if list, err = bson.RawArray(v.Value).Values(); err != nil {
			return nil, c.docs.Refuse(c.spec.Listed, nil, err.Error())
		}
	}
	seen := map[string]bool{}
	for _, id := range list {
		switch id.Type {
		case 0, bson.TypeNull:
			continue
		case bson.TypeArray, bson.TypeRegex, bson.TypeUndefined:
			return nil, c.docs.Refuse(c.spec.Listed, id, "can't be an _id")
		}
		if k := string(id.Type) + string(id.Value); !seen[k] {
			seen[k] = true
			out = append(out, id)
		}
	}
	return out, nil
}

// listCopyPaths returns the paths of a copy, relative to base: the key if there is one,
// the fields, the version.
func (c *untypedCopy) listCopyPaths() (paths []string) {
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

// chooseNextVersion returns the version after a change. A number is increased by 1. A
// time must be given, and be later than the stored one.
func (c *untypedCopy) chooseNextVersion(was, given bson.RawValue) (bson.RawValue, error) {
	switch was.Type {
	case bson.TypeInt32, bson.TypeInt64:
		n := was.AsInt64()
		switch {
		case given.Type != 0:
			return given, c.docs.Refuse(c.spec.Version, given, "can't be set: the store increases the version itself")
		case n == math.MaxInt64:
			return given,
				c.docs.Refuse(c.spec.Version, was, "the version is the largest int64, so it can't be increased")
		case was.Type == bson.TypeInt32 && n < math.MaxInt32:
			return core.MustRawValue(int32(n + 1)), nil
		}
		return core.MustRawValue(n + 1), nil
	}
	switch {
	case given.Type != was.Type:
		return given, c.docs.Refuse(c.spec.Version, nil, "is missing: give the time of the change among the fields")
	case bsonval.CompareRaw(given, was) <= 0:
		return given, c.docs.Refuse(c.spec.Version, given, "isn't later than the time that was read: check the clock")
	}
	return given, nil
}
