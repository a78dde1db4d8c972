package indexes_test

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/bsonval/valuetest"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/args"
	"github.com/docmodel/docmodel/mongotest/internal/engine/indexes"
	"github.com/docmodel/docmodel/mongotest/internal/engine/store"
)

// read reads an index of a collection that doesn't exist.
func read(spec string) (*store.IndexSpec, error) {
	return indexes.Read(&args.Reader{Place: "createIndexes.indexes", Doc: valuetest.Doc(spec)}, nil)
}

func TestReadAndDescribe(t *testing.T) {
	for spec, want := range map[string]string{
		"{key: {a: 1, b: -1}}":                      "{v: 2, key: {a: 1, b: -1}, name: 'a_1_b_-1'}",
		"{key: {a: 1}, name: 'x', unique: true}":    "{v: 2, key: {a: 1}, name: 'x', unique: true}",
		"{key: {a: 1}, sparse: true, hidden: true}": "{v: 2, key: {a: 1}, name: 'a_1', sparse: true, hidden: true}",
		"{key: {a: 1}, expireAfterSeconds: 60}":     "{v: 2, key: {a: 1}, name: 'a_1', expireAfterSeconds: 60}",
		"{key: {a: 'hashed'}}":                      "{v: 2, key: {a: 'hashed'}, name: 'a_hashed'}",
		"{key: {'$**': 1}, wildcardProjection: {a: 1}}": "{v: 2, key: {'$**': 1}, name: '$**_1', " +
			"wildcardProjection: {a: 1}}",
		"{key: {a: 1}, partialFilterExpression: {b: {$gt: 1}}}": "{v: 2, key: {a: 1}, name: 'a_1', " +
			"partialFilterExpression: {b: {$gt: 1}}}",
	} {
		s, err := read(spec)
		if err != nil {
			t.Errorf("%s gave %v", spec, err)
			continue
		}
		if got := indexes.Describe(s); !bsonval.Equal(got, valuetest.Doc(want)) {
			t.Errorf("%s was read as %s; want %s", spec, valuetest.Text(got), want)
		}
	}
}

func TestReadRefuses(t *testing.T) {
	for spec, code := range map[string]int32{
		"{name: 'x'}":                                           mongoerr.IDLFailedToParse,
		"{key: {}}":                                             mongoerr.CannotCreateIndex,
		"{key: {a: 0}}":                                         mongoerr.CannotCreateIndex,
		"{key: {a: 'other'}}":                                   mongoerr.CannotCreateIndex,
		"{key: {a: 1}, other: 1}":                               mongoerr.IDLUnknownField,
		"{key: {a: 1}, storageEngine: {}}":                      mongoerr.NotImplemented,
		"{key: {a: 1, b: 1}, expireAfterSeconds: 1}":            mongoerr.CannotCreateIndex,
		"{key: {a: 1}, expireAfterSeconds: -1}":                 mongoerr.InvalidOptions,
		"{key: {a: 1}, partialFilterExpression: {b: {$ne: 1}}}": mongoerr.CannotCreateIndex,
		"{key: {a: 1}, wildcardProjection: {a: 1}}":             mongoerr.BadValue,
		"{key: {a: 1}, clustered: true}":                        6100900,
	} {
		if _, err := read(spec); mongoerr.CodeOf(err) != code {
			t.Errorf("%s gave %v; want code %d", spec, err, code)
		}
	}
}

func TestReadTextKey(t *testing.T) {
	s, err := read("{key: {a: 'text', b: 'text', c: 1}, weights: {a: 5}}")
	if err != nil {
		t.Fatal(err)
	}
	if want := valuetest.Doc("{_fts: 'text', _ftsx: 1, c: 1}"); !bsonval.Equal(s.Key, want) {
		t.Errorf("the key is %s; want %s", valuetest.Text(s.Key), valuetest.Text(want))
	}
	if weights, _ := bsonval.Get(bson.D(s.Extra), "weights"); !bsonval.Equal(weights, valuetest.Doc("{a: 5, b: 1}")) {
		t.Errorf("the weights are %s", valuetest.Text(weights))
	}
}
