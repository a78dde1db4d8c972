// Package indexes reads, shows, builds and finds the indexes of collections.
//
// The engine's commands createIndexes, create, collMod, dropIndexes, listIndexes and shardCollection call it, and
// package changestream, which shows indexes in events.
//
// # From a command to an index
//
//  1. [Read] reads one document of createIndexes into a store.IndexSpec. It reads the key first (key.go, wildcard.go),
//     because the key decides which options the index may have. Then each kind reads its options: text.go, geo.go,
//     expiry.go (TTL), partial.go.
//  2. A text or geospatial spec gets a function Derive, with which the store derives the index's keys from a document.
//     A partial index gets a function Covers.
//  3. [BuildAll] compares each spec with the collection's indexes, and adds it unless the same index exists. An index
//     with the same name or key and other options is an error.
//  4. [Describe] shows a spec as listIndexes does. Change events show it too.
//  5. [FindNames] finds the indexes that dropIndexes or collMod names, by name or by key.
//
// In a spec, Key is the key as it is shown, and Fields are its parts as the store uses them: path, kind, direction.
// What listIndexes shows of three specs:
//
//	{v: 2, key: {a: 1, "b.c": -1}, name: "a_1_b.c_-1", unique: true}
//	{v: 2, key: {t: 1}, name: "t_1", partialFilterExpression: {open: true}, expireAfterSeconds: 60}
//	{v: 2, key: {_fts: "text", _ftsx: 1}, name: "title_text", weights: {title: 1}, default_language: "english",
//	 language_override: "language", textIndexVersion: 3}
//
// # Kinds
//
//	key                       kind in the store  options of its own
//	{a: 1, b: -1}             Ordered            unique, prepareUnique, sparse, expireAfterSeconds
//	{a: "hashed"}             Hashed             sparse
//	{a: "2dsphere"}           Sphere             sparse, 2dsphereIndexVersion
//	{a: "2d"}                 Plane              sparse, bits, min, max
//	{a: "text"}               Text               sparse, weights, default_language, language_override,
//	                                             textIndexVersion
//	{"$**": 1}, {"a.$**": 1}  Ordered, and Wild  wildcardProjection
//
// Each kind can have a name, and a partialFilterExpression: then only documents that match are in the index. A hidden
// index is kept up to date, and no query uses it. prepareUnique is a step on the way to unique: new documents must have
// keys of their own, while stored duplicates stay
// (https://www.mongodb.com/docs/manual/core/index-unique/convert-to-unique/).
//
// # Rules
//
// Package store keeps indexes up to date and package plan chooses one for a query. This package only decides which
// indexes can exist. Errors have MongoDB's codes. An option that MongoDB has and the engine hasn't is refused as
// NotImplemented, unless it only affects a server's speed.
package indexes

import (
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/args"
	"github.com/docmodel/docmodel/mongotest/internal/engine/store"
)

// indexFields are the options that MongoDB has for any kind of index
// (https://www.mongodb.com/docs/manual/reference/command/createIndexes/). Any other field is refused.
var indexFields = []string{
	"v", "key", "name", "unique", "sparse", "hidden", "background", "expireAfterSeconds", "partialFilterExpression",
	"collation", "2dsphereIndexVersion", "ns", "bits", "min", "max", "weights", "default_language",
	"language_override", "textIndexVersion", "wildcardProjection", "storageEngine", "bucketSize",
	"prepareUnique", "clustered",
}

// Read reads one index of a createIndexes command. The index has its collection's collation unless it names one. c is
// nil if the collection doesn't exist. Nothing is built yet: BuildAll does that.
func Read(a *args.Reader, c *store.Collection) (*store.IndexSpec, error) {
	if err := a.CheckKnown(indexFields); err != nil {
		return nil, err
	}
	a.Require("key")
	clustered := a.Boolean("clustered", false)
	s := &store.IndexSpec{
		Name:    a.Text("name"),
		Key:     a.Document("key"),
		Unique:  a.Boolean("unique", false),
		Prepare: a.Boolean("prepareUnique", false),
		Sparse:  a.Boolean("sparse", false),
		Hidden:  a.Boolean("hidden", false),
		Partial: a.Document("partialFilterExpression"),
	}
	// Fields of older drivers, which only need the right type.
	a.Boolean("background", false)
	a.Text("ns")
	a.Refuse("v", int32(1), int32(2))
	for _, name := range []string{"storageEngine", "bucketSize"} {
		a.Refuse(name)
	}
	// a.Collation takes an empty document for none, as other commands do.
	if d, ok := a.Get("collation"); ok && bsonval.Equal(d, bson.D{}) {
		a.Fail(mongoerr.New(mongoerr.BadValue, "The field 'collation' cannot be an empty object."))
	}
	s.Collation = a.Collation(c)
	if a.Err != nil {
		return nil, a.Err
	}
	if clustered {
		if err := checkClusteredKey(c, s.Key); err != nil {
			return nil, err
		}
	}
	// The order matters: the key decides which options are allowed, and readText rewrites the key after it has given
	// the index its name.
	if err := readKey(s); err != nil {
		return nil, err
	}
	if err := readWildcard(a, s); err != nil {
		return nil, err
	}
	if s.Name == "" {
		s.Name = MakeName(s.Key)
	}
	if err := readText(a, s); err != nil {
		return nil, err
	}
	if err := readGeo(a, s); err != nil {
		return nil, err
	}
	if err := readExpiryOption(a, s); err != nil {
		return nil, err
	}
	if err := checkCollation(s); err != nil {
		return nil, err
	}
	// The partial filter is parsed under the index's collation, so it comes last.
	return s, readPartial(s)
}

// checkCollation refuses a collation for an index whose kind can't use it. A collection's default collation counts too:
// a client must name the simple collation (https://www.mongodb.com/docs/manual/reference/collation/, "Collation and
// Unsupported Index Types").
func checkCollation(s *store.IndexSpec) error {
	switch {
	case s.Collation == nil:
		return nil
	case s.Wild != nil:
		return mongoerr.New(mongoerr.NotImplemented,
			"the collation of a wildcard index isn't implemented by the embedded engine")
	case s.Text != nil:
		return mongoerr.New(mongoerr.CannotCreateIndex, "Index type 'text' does not support collation: %s",
			store.Show(s.Collation.Document()))
	case s.Field(store.Plane) != nil:
		return mongoerr.New(mongoerr.CannotCreateIndex, "Index type '2d' does not support collation: %s",
			store.Show(s.Collation.Document()))
	}
	return nil
}

// readKey reads the fields of an index's key into s.Fields. A key with a wildcard is read by readWildcardKey, except
// that {"$**": "text"} is a text index on all fields.
func readKey(s *store.IndexSpec) error {
	if len(s.Key) == 0 || len(s.Key) > 32 {
		return mongoerr.New(mongoerr.CannotCreateIndex, "Index keys must have between 1 and 32 fields")
	}
	for i, e := range s.Key {
		if bsonval.Index(s.Key, e.Key) != i {
			return mongoerr.New(mongoerr.CannotCreateIndex, "The field '%s' appears twice in the index key", e.Key)
		}
		if isWildcard(e.Key) && (e.Key != everyField || e.Value != "text") {
			return readWildcardKey(s, e)
		}
		for _, part := range strings.Split(e.Key, ".") {
			if part == "" || strings.HasPrefix(part, "$") && e.Key != everyField {
				return mongoerr.New(mongoerr.CannotCreateIndex,
					"Index key contains an illegal field name: '%s'", e.Key)
			}
		}
		kind, desc, err := readKind(e)
		if err != nil {
			return err
		}
		s.Fields = append(s.Fields, store.NewField(e.Key, kind, desc))
	}
	for _, f := range s.Fields {
		if s.Guards() && f.Kind != store.Ordered {
			return mongoerr.New(mongoerr.CannotCreateIndex,
				"Only ordered indexes can be unique, not %s", store.Show(s.Key))
		}
	}
	return nil
}
