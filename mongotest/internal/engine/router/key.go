package router

// This file has the shard key: how it is written, what a document has in its fields, and which indexes fit it.

import (
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
)

// Key is a shard key: its fields in order.
type Key []field

// field is one field of a key.
type field struct {
	name   string
	hashed bool
}

// ParseKey reads a key as shardCollection takes it: fields with 1, and one at most with "hashed".
func ParseKey(d bson.D) (Key, error) {
	bad := func(format string, args ...any) (Key, error) {
		return nil, mongoerr.New(mongoerr.BadValue, format, args...)
	}
	var key Key
	if len(d) == 0 {
		return bad("Shard key is empty")
	}
	hashed := false
	for _, e := range d {
		for part := range strings.SplitSeq(e.Key, ".") {
			switch {
			case part == "":
				return bad("Field '%s' contains empty parts", e.Key)
			case strings.HasPrefix(part, "$"):
				return bad("Field '%s' contains parts that start with '$'", e.Key)
			}
		}
		f := field{name: e.Key, hashed: e.Value == "hashed"}
		if !f.hashed && bsonval.Compare(e.Value, int32(1)) != 0 {
			return bad("Field %s can only be 1 or 'hashed'", e.Key)
		}
		if f.hashed && hashed {
			return bad("Shard key can contain at most one 'hashed' field, and/or multiple numerical fields set to "+
				"a value of 1. "+
				"Failed to parse field %s", e.Key)
		}
		for _, g := range key {
			if g.name == f.name || strings.HasPrefix(f.name, g.name+".") || strings.HasPrefix(g.name, f.name+".") {
				return bad("Field '%s' appears twice in the shard key, or below another field", e.Key)
			}
		}
		hashed = hashed || f.hashed
		key = append(key, f)
	}
	return key, nil
}

// Document is the key as commands have it.
func (k Key) Document() bson.D {
	d := make(bson.D, len(k))
	for i, f := range k {
		d[i] = bson.E{Key: f.name, Value: int32(1)}
		if f.hashed {
			d[i].Value = "hashed"
		}
	}
	return d
}

// HasHashed reports whether a field of the key is hashed.
func (k Key) HasHashed() bool { return slices.ContainsFunc(k, func(f field) bool { return f.hashed }) }

// IsSame reports whether two keys are the same.
func (k Key) IsSame(other Key) bool { return slices.Equal(k, other) }

// IsWithin reports whether all fields of the key are among these.
func (k Key) IsWithin(fields []string) bool {
	return !slices.ContainsFunc(k, func(f field) bool { return !slices.Contains(fields, f.name) })
}

// Allows reports whether a unique index of this pattern can be kept when each shard looks at its own documents alone:
// it begins with the fields of the key, or with _id. The manual says the former
// (https://www.mongodb.com/docs/manual/core/sharding-shard-key/).
func (k Key) Allows(index bson.D) bool {
	if len(index) > 0 && index[0].Key == "_id" {
		return true
	}
	if len(index) < len(k) {
		return false
	}
	for i, f := range k {
		// Each shard can only tell that a key is unique among the documents that it has itself.
		if index[i].Key != f.name {
			return false
		}
	}
	return true
}

// Serves reports whether an index of this pattern can serve the key: it begins with it, field by field and with the
// same kinds.
func (k Key) Serves(index bson.D) bool {
	if len(index) < len(k) {
		return false
	}
	for i, f := range k {
		want := any(int32(1))
		if f.hashed {
			want = "hashed"
		}
		if index[i].Key != f.name || bsonval.Compare(index[i].Value, want) != 0 {
			return false
		}
	}
	return true
}

// Values are the values that a document has in the fields of the key, null for a missing one. It returns false for an
// array, or below one: such a document can't be stored in a sharded collection.
func (k Key) Values(doc bson.D) ([]any, bool) {
	out := make([]any, len(k))
	for i, f := range k {
		v, ok := valueAt(doc, f.name)
		if !ok {
			return nil, false
		}
		out[i] = v
	}
	return out, true
}

// valueAt is what a document has at a path, null for nothing; false for an array.
func valueAt(doc bson.D, path string) (any, bool) {
	var v any = doc
	for part := range strings.SplitSeq(path, ".") {
		if _, array := v.(bson.A); array {
			return nil, false
		}
		d, ok := v.(bson.D)
		if !ok {
			return nil, true
		}
		// A missing field is null to the router, as it is to chunks.
		v, _ = bsonval.Get(d, part)
		if bsonval.IsMissing(v) {
			v = nil
		}
	}
	_, array := v.(bson.A)
	return v, !array
}

// placeOf is where values of the fields are in the order of chunks: the hash in the place of what
// is hashed.
func (k Key) placeOf(values []any) []any {
	out := slices.Clone(values)
	for i, f := range k {
		if f.hashed {
			out[i] = hashValue(values[i])
		}
	}
	return out
}

// hashValue is MongoDB's hash of a value, as hashed indexes have it.
func hashValue(v any) int64 {
	raw, err := bsonval.Append(nil, bson.D{{Key: "", Value: v}})
	if err != nil {
		return 0 // what was decoded can be encoded
	}
	return bsonval.Hash64(bson.Raw(raw).Index(0).Value())
}

// compareKeys orders keys field by field, in BSON's order.
func compareKeys(a, b []any) int {
	for i := range a {
		if c := bsonval.Compare(a[i], b[i]); c != 0 {
			return c
		}
	}
	return 0
}
