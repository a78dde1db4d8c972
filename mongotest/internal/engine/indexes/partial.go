package indexes

import (
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/query"
	"github.com/docmodel/docmodel/mongotest/internal/engine/store"
)

// partialOperators are the operators that a partial index's filter may have
// (https://www.mongodb.com/docs/manual/core/index-partial/). $exists must be true.
var partialOperators = []string{"$eq", "$exists", "$gt", "$gte", "$lt", "$lte", "$type", "$and", "$or", "$in"}

// readPartial checks the filter of a partial index, and parses it: s.Covers reports whether a document is in the index.
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

// checkPartial refuses operators that a partial index's filter can't have. filter is a filter, or the conditions on one
// field, such as {$gt: 0}: the operators of both are in the same list. A document without operators is a value to
// compare with, and isn't looked into.
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
