package indexes

import (
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/args"
	"github.com/docmodel/docmodel/mongotest/internal/engine/store"
)

// readWildcardKey reads the key of a wildcard index: {"$**": 1} has all fields, {"a.$**": 1} those within a
// (https://www.mongodb.com/docs/manual/core/indexes/index-types/index-wildcard/). The store's Wildcard says the same as
// a list of paths that are in, or with Excludes of paths that are out.
func readWildcardKey(s *store.IndexSpec, e bson.E) error {
	if len(s.Key) > 1 {
		return mongoerr.New(mongoerr.NotImplemented,
			"compound wildcard indexes are not supported: %s", store.Show(s.Key))
	}
	path := strings.TrimSuffix(strings.TrimSuffix(e.Key, "$**"), ".")
	for _, part := range strings.Split(path, ".") {
		if path != "" && (part == "" || strings.HasPrefix(part, "$")) {
			return mongoerr.New(mongoerr.CannotCreateIndex, "Index key contains an illegal field name: '%s'", e.Key)
		}
	}
	kind, desc, err := readKind(e)
	if err != nil {
		return err
	}
	if kind != store.Ordered {
		return mongoerr.New(mongoerr.CannotCreateIndex,
			"A numeric value is required for the key of a wildcard index, not %s", store.Show(e.Value))
	}
	s.Fields, s.Wild = store.WildcardFields(desc), &store.Wildcard{Excludes: path == ""}
	// Without a path the index has all fields but _id: no path is out.
	if path != "" {
		s.Wild.Paths, s.Wild.ID = []string{path}, path == "_id" || strings.HasPrefix(path, "_id.")
	}
	return nil
}

// readWildcard reads the projection of a wildcard index, and refuses the options that such an index can't have.
func readWildcard(a *args.Reader, s *store.IndexSpec) error {
	fields := a.Document("wildcardProjection")
	switch {
	case a.Err != nil:
		return a.Err
	// A key {"a.$**": 1} says itself which paths are in.
	case s.Wild == nil && a.HasField("wildcardProjection"), s.Wild != nil && len(s.Wild.Paths) > 0 &&
		a.HasField("wildcardProjection"):
		return mongoerr.New(mongoerr.BadValue,
			`The field 'wildcardProjection' is only allowed when 'key' is {"$**": ±1}`)
	case s.Wild == nil:
		return nil
	case s.Guards(), s.Sparse:
		return mongoerr.New(mongoerr.CannotCreateIndex,
			"Index type 'wildcard' does not support the unique and sparse options")
	case a.HasField("expireAfterSeconds"):
		return mongoerr.New(mongoerr.CannotCreateIndex, "Index type 'wildcard' cannot be a TTL index")
	case !a.HasField("wildcardProjection"):
		return nil
	case len(fields) == 0:
		return mongoerr.New(mongoerr.FailedToParse, "The 'wildcardProjection' field can't be an empty object")
	}
	// The projection is shown as it was given, and read into s.Wild for the store.
	s.Projection = fields
	return readWildcardProjection(s.Wild, "", fields)
}

// readWildcardProjection reads which fields are in ({a: 1}), or which are out ({a: 0}). A projection can't do both,
// except that _id is in or out by itself. at is the path of the document fields with a point at its end, "" at the top.
func readWildcardProjection(w *store.Wildcard, at string, fields bson.D) error {
	for _, e := range fields {
		path := at + e.Key
		// {a: {b: 1}} is another way to write {"a.b": 1}.
		if d, ok := e.Value.(bson.D); ok && len(d) > 0 && !strings.HasPrefix(d[0].Key, "$") {
			if err := readWildcardProjection(w, path+".", d); err != nil {
				return err
			}
			continue
		}
		in := false // whether the projection includes the path
		switch v := e.Value.(type) {
		case bool:
			in = v
		case int32, int64, float64, bson.Decimal128:
			in = bsonval.Compare(v, int32(0)) != 0
		default:
			return mongoerr.New(mongoerr.FailedToParse,
				"a wildcardProjection can only include and exclude fields, not have %s", store.Show(bson.D{e}))
		}
		if slices.Contains(strings.Split(path, "."), "") || strings.Contains(path, "$") {
			return mongoerr.New(mongoerr.FailedToParse, "'%s' isn't a path for a wildcardProjection", path)
		}
		switch {
		case path == "_id": // alone it decides nothing about other fields, except in {_id: 1}
			w.ID = in
			if in && len(w.Paths) == 0 && len(fields) == 1 {
				w.Excludes = false
			}
			continue
		// The first path decides whether the projection includes or excludes.
		case len(w.Paths) > 0 && w.Excludes == in:
			return mongoerr.New(31254, "Cannot do %s on field %s in %s projection", nameMode(in), path, nameMode(!in))
		}
		w.Excludes = !in
		w.Paths = append(w.Paths, path)
	}
	return nil
}

// nameMode returns the word for a mode of a projection, for an error.
func nameMode(in bool) string {
	if in {
		return "inclusion"
	}
	return "exclusion"
}
