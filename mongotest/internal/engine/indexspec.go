package engine

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/args"
	"github.com/docmodel/docmodel/mongotest/internal/engine/query"
	"github.com/docmodel/docmodel/mongotest/internal/engine/store"
)

var indexFields = []string{
	"v", "key", "name", "unique", "sparse", "hidden", "background", "expireAfterSeconds", "partialFilterExpression",
	"collation", "2dsphereIndexVersion", "ns", "bits", "min", "max", "weights", "default_language",
	"language_override", "textIndexVersion", "wildcardProjection", "storageEngine", "bucketSize",
	"prepareUnique", "clustered",
}

// readIndex reads one index of a createIndexes command. It has its collection's collation unless it names one.
func readIndex(a *args.Reader, c *store.Collection) (*store.IndexSpec, error) {
	if err := a.CheckKnown(indexFields); err != nil {
		return nil, err
	}
	a.Require("key")
	clustered := a.Boolean("clustered", false)
	s := &store.IndexSpec{
		Name: a.Text("name"), Key: a.Document("key"),
		Unique: a.Boolean("unique", false), Prepare: a.Boolean("prepareUnique", false), Sparse: a.Boolean("sparse", false),
		Hidden:  a.Boolean("hidden", false),
		Partial: a.Document("partialFilterExpression"),
	}
	a.Boolean("background", false)
	a.Text("ns")
	a.Refuse("v", int32(1), int32(2))
	for _, name := range []string{"storageEngine", "bucketSize"} {
		a.Refuse(name)
	}
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
	if err := readKey(s); err != nil {
		return nil, err
	}
	if err := readWildcard(a, s); err != nil {
		return nil, err
	}
	if s.Name == "" {
		s.Name = indexName(s.Key)
	}
	if err := readText(a, s); err != nil {
		return nil, err
	}
	if err := readGeo(a, s); err != nil {
		return nil, err
	}
	if err := readExpiry(a, s); err != nil {
		return nil, err
	}
	if err := checkCollation(s); err != nil {
		return nil, err
	}
	return s, readPartial(s)
}

// checkCollation refuses the collation of an index that compares no strings by one. A collection's default collation
// counts too: name the simple one (https://www.mongodb.com/docs/manual/reference/collation/, "Collation and Unsupported
// Index Types").
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

// readKey reads the fields of an index's key.
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
				return mongoerr.New(mongoerr.CannotCreateIndex, "Index key contains an illegal field name: '%s'", e.Key)
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
			return mongoerr.New(mongoerr.CannotCreateIndex, "Only ordered indexes can be unique, not %s", store.Show(s.Key))
		}
	}
	return nil
}

func readKind(e bson.E) (kind store.Kind, desc bool, err error) {
	switch v := e.Value.(type) {
	case string:
		switch v {
		case "hashed":
			return store.Hashed, false, nil
		case "2dsphere":
			return store.Sphere, false, nil
		case "2d":
			return store.Plane, false, nil
		case "text":
			return store.Text, false, nil
		}
		return 0, false, mongoerr.New(mongoerr.CannotCreateIndex, "Unknown index plugin '%s'", v)
	case int32, int64, float64:
		c := bsonval.Compare(v, int32(0))
		if c == 0 || bsonval.IsNaN(v) {
			return 0, false, mongoerr.New(mongoerr.CannotCreateIndex, "Values in the index key pattern cannot be 0.")
		}
		return store.Ordered, c < 0, nil
	}
	return 0, false, mongoerr.New(mongoerr.CannotCreateIndex,
		"Values in v:2 index key pattern cannot be of type %s. Only numbers > 0, numbers < 0, and strings are allowed.",
		bsonval.TypeName(e.Value))
}

// indexName is the name that a server gives an index: a_1_b_-1.
func indexName(key bson.D) string {
	parts := make([]string, 0, 2*len(key))
	for _, e := range key {
		if n, ok := args.ReadWhole(e.Value); ok {
			parts = append(parts, e.Key, fmt.Sprint(n))
			continue
		}
		parts = append(parts, e.Key, fmt.Sprint(e.Value))
	}
	return strings.Join(parts, "_")
}

func readExpiry(a *args.Reader, s *store.IndexSpec) error {
	v, ok := a.Get("expireAfterSeconds")
	if !ok {
		return nil
	}
	if len(s.Fields) > 1 || s.Fields[0].Name == "_id" || s.Fields[0].Kind != store.Ordered {
		return mongoerr.New(mongoerr.CannotCreateIndex,
			"TTL indexes are single-field indexes, compound indexes do not support TTL. Index spec: %s", store.Show(a.Doc))
	}
	after, err := expiry(v)
	s.Expires, s.ExpireAfter = true, after
	return err
}

// expiry reads a number of seconds.
func expiry(v any) (time.Duration, error) {
	if !bsonval.IsNumber(v) {
		return 0, mongoerr.New(mongoerr.TypeMismatch,
			"TTL index 'expireAfterSeconds' option must be numeric, but received a type of '%s'", bsonval.TypeName(v))
	}
	n, ok := args.ReadWhole(v)
	if f, isDouble := v.(float64); isDouble && !ok {
		n, ok = int64(f), !math.IsNaN(f)
	}
	if !ok || n < 0 || n > math.MaxInt32 {
		return 0, mongoerr.New(mongoerr.InvalidOptions,
			"TTL index 'expireAfterSeconds' option must be within an acceptable range, "+
				"try a different number than %s", store.Show(v))
	}
	return time.Duration(n) * time.Second, nil
}

// partialOperators are those that a partial index's filter may have.
var partialOperators = []string{"$eq", "$exists", "$gt", "$gte", "$lt", "$lte", "$type", "$and", "$or", "$in"}

func readPartial(s *store.IndexSpec) error {
	if s.Partial == nil {
		return nil
	}
	if s.Sparse {
		return mongoerr.New(mongoerr.CannotCreateIndex, "cannot mix \"partialFilterExpression\" and \"sparse\" options")
	}
	if err := checkPartial(s.Partial); err != nil {
		return err
	}
	m, err := query.Parse(s.Partial, query.Options{Collation: s.Collation})
	if err != nil {
		return err
	}
	s.Covers = m.Match
	return nil
}

func checkPartial(filter bson.D) error {
	for _, e := range filter {
		if strings.HasPrefix(e.Key, "$") && !slices.Contains(partialOperators, e.Key) ||
			e.Key == "$exists" && !bsonval.Equal(e.Value, true) {
			return mongoerr.New(mongoerr.CannotCreateIndex,
				"Expression not supported in partial index: %s", store.Show(bson.D{e}))
		}
		switch v := e.Value.(type) {
		case bson.D:
			if len(v) > 0 && strings.HasPrefix(v[0].Key, "$") {
				if err := checkPartial(v); err != nil {
					return err
				}
			}
		case bson.A:
			for _, x := range v {
				if d, ok := x.(bson.D); ok && (e.Key == "$and" || e.Key == "$or") {
					if err := checkPartial(d); err != nil {
						return err
					}
				}
			}
		}
	}
	return nil
}

// describeIndex is an index as listIndexes shows it.
func describeIndex(s *store.IndexSpec) bson.D {
	d := bson.D{{Key: "v", Value: int32(2)}, {Key: "key", Value: s.Key}, {Key: "name", Value: s.Name}}
	if s.Unique && (s.Name != store.IDIndex || s.Clustered) {
		d = append(d, bson.E{Key: "unique", Value: true})
	}
	if s.Clustered {
		return append(d, bson.E{Key: "clustered", Value: true})
	}
	if s.Prepare {
		d = append(d, bson.E{Key: "prepareUnique", Value: true})
	}
	if s.Sparse {
		d = append(d, bson.E{Key: "sparse", Value: true})
	}
	if s.Projection != nil {
		d = append(d, bson.E{Key: "wildcardProjection", Value: s.Projection})
	}
	if s.Hidden {
		d = append(d, bson.E{Key: "hidden", Value: true})
	}
	if s.Partial != nil {
		d = append(d, bson.E{Key: "partialFilterExpression", Value: s.Partial})
	}
	if s.Collation != nil {
		d = append(d, bson.E{Key: "collation", Value: s.Collation.Document()})
	}
	if s.Expires {
		d = append(d, bson.E{Key: "expireAfterSeconds", Value: int32(s.ExpireAfter / time.Second)})
	}
	return append(d, s.Extra...)
}
