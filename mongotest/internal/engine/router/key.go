package router

import (
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
)

// Key is a shard key: its fields in order.
type Key []field

type field struct {
	name   string
	hashed bool
}

// ParseKey reads a key as shardCollection takes it.
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
			return bad("Shard key can contain at most one 'hashed' field, and/or multiple numerical fields set to a value of 1. "+
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

// Hashed reports whether a field of the key is hashed.
func (k Key) Hashed() bool { return slices.ContainsFunc(k, func(f field) bool { return f.hashed }) }

// Same reports whether two keys are the same.
func (k Key) Same(other Key) bool { return slices.Equal(k, other) }

// Within reports whether all fields of the key are among these.
func (k Key) Within(fields []string) bool {
	return !slices.ContainsFunc(k, func(f field) bool { return !slices.Contains(fields, f.name) })
}

// Allows reports whether a unique index of this pattern can be kept when each shard looks at its
// own documents alone: it begins with the fields of the key, or with _id.
func (k Key) Allows(index bson.D) bool {
	if len(index) > 0 && index[0].Key == "_id" {
		return true
	}
	if len(index) < len(k) {
		return false
	}
	for i, f := range k {
		if index[i].Key != f.name {
			return false
		}
	}
	return true
}

// Serves reports whether an index of this pattern can serve the key: it begins with it.
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

// Values are the values that a document has in the fields of the key, null for a missing one. It
// returns false for an array, or below one.
func (k Key) Values(doc bson.D) ([]any, bool) {
	out := make([]any, len(k))
	for i, f := range k {
		v, ok := at(doc, f.name)
		if !ok {
			return nil, false
		}
		out[i] = v
	}
	return out, true
}

// at is what a document has at a path, null for nothing; false for an array.
func at(doc bson.D, path string) (any, bool) {
	var v any = doc
	for part := range strings.SplitSeq(path, ".") {
		if _, array := v.(bson.A); array {
			return nil, false
		}
		d, ok := v.(bson.D)
		if !ok {
			return nil, true
		}
		v, _ = bsonval.Get(d, part)
		if bsonval.IsMissing(v) {
			v = nil
		}
	}
	_, array := v.(bson.A)
	return v, !array
}

// place is where values of the fields are in the order of chunks: the hash in the place of what
// is hashed.
func (k Key) place(values []any) []any {
	out := slices.Clone(values)
	for i, f := range k {
		if f.hashed {
			out[i] = hash(values[i])
		}
	}
	return out
}

func hash(v any) int64 {
	raw, err := bsonval.Append(nil, bson.D{{Key: "", Value: v}})
	if err != nil {
		return 0 // what was decoded can be encoded
	}
	return bsonval.Hash64(bson.Raw(raw).Index(0).Value())
}

func compare(a, b []any) int {
	for i := range a {
		if c := bsonval.Compare(a[i], b[i]); c != 0 {
			return c
		}
	}
	return 0
}
