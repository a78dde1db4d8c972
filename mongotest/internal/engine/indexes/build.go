package indexes

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/collation"
	"github.com/docmodel/docmodel/mongotest/internal/engine/forms"
	"github.com/docmodel/docmodel/mongotest/internal/engine/store"
)

// BuildAll builds the indexes of a createIndexes command, on a new collection if there is none. It returns the numbers
// of indexes before and after, which the reply has as numIndexesBefore and numIndexesAfter. If one index fails, the
// caller drops the whole write.
func BuildAll(w *store.Writer, ns store.Namespace, specs []*store.IndexSpec) (before, after int, err error) {
	if w.Collection(ns) == nil {
		if err := w.Create(ns, nil); err != nil {
			return 0, 0, err
		}
	}
	c := w.Collection(ns)
	if c.View != nil {
		return 0, 0, store.NewOnView(ns)
	}
	var added []*store.IndexSpec
	for _, s := range specs {
		if err := checkSeriesIndex(c, s); err != nil {
			return 0, 0, err
		}
		// An index of the same command counts as one that exists.
		isNew, err := Build(w, ns, s)
		if err != nil {
			return 0, 0, err
		}
		if isNew {
			added = append(added, s)
		}
	}
	w.NoteIndexes(ns, added) // for change streams
	return len(c.ListIndexes()), len(w.Collection(ns).ListIndexes()), nil
}

// Build builds an index, and reports whether it was missing. An index with the same name, or with the same key and
// collation, but with other options is an error: IndexKeySpecsConflict (86) if the names are the same,
// IndexOptionsConflict (85) if only the names differ. Two indexes with one key and different collations or partial
// filters can exist side by side.
func Build(w *store.Writer, ns store.Namespace, s *store.IndexSpec) (bool, error) {
	if err := refuseSecondText(w.Collection(ns), s); err != nil {
		return false, err
	}
	for _, x := range w.Collection(ns).Indexes {
		old := x.Spec
		equal := bsonval.Equal(old.Key, s.Key) || isSameKey(old.Key, s.Key)
		sameKey := equal && collation.IsSame(old.Collation, s.Collation)
		switch same := hasSameOptions(old, s); {
		// The index on _id exists always, under any name. A request for it changes nothing, but can't change its
		// collation.
		case sameKey && (old.Name == store.IDIndex || old.Clustered):
			return false, nil
		case equal && (old.Name == store.IDIndex || old.Clustered):
			return false, mongoerr.New(mongoerr.BadValue,
				"The _id index must have the same collation as the collection. "+
					"Index collation: %s, collection collation: %s",
				store.Show(s.Collation.Document()), store.Show(old.Collation.Document()))
		// The very same index.
		case old.Name == s.Name && sameKey && same:
			return false, nil
		// The name with other options, or with another key.
		case old.Name == s.Name && sameKey:
			return false, mongoerr.New(mongoerr.IndexKeySpecsConflict,
				"An existing index has the same name as the requested index. When index names are not specified, they "+
					"are auto generated and can cause conflicts. Please refer to our documentation. "+
					"Requested index: %s, existing index: %s", store.Show(Describe(s)), store.Show(Describe(old)))
		case old.Name == s.Name:
			return false, mongoerr.New(mongoerr.IndexKeySpecsConflict,
				"An existing index has the same name as the requested index. "+
					"Requested index: %s, existing index: %s", store.Show(Describe(s)), store.Show(Describe(old)))
		// The same index under another name.
		case sameKey && bsonval.Equal(old.Partial, s.Partial):
			return false, mongoerr.New(mongoerr.IndexOptionsConflict,
				"Index already exists with a different name: %s", old.Name)
		}
	}
	return true, w.AddIndex(ns, s)
}

// isSameKey compares keys, whose order of fields matters. 1 and 1.0 are the same direction, 1 and 2 are two keys, as in
// MongoDB.
func isSameKey(a, b bson.D) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i].Key != b[i].Key || bsonval.Compare(a[i].Value, b[i].Value) != 0 {
			return false
		}
	}
	return true
}

// hasSameOptions compares all but name, key, collation and hidden. MongoDB doesn't compare
// hidden either, because collMod changes it.
func hasSameOptions(a, b *store.IndexSpec) bool {
	return a.Unique == b.Unique && a.Prepare == b.Prepare && a.Sparse == b.Sparse &&
		bsonval.Equal(a.Partial, b.Partial) && bsonval.Equal(a.Projection, b.Projection) &&
		bsonval.Equal(a.Extra, b.Extra) && a.Expires == b.Expires && a.ExpireAfter == b.ExpireAfter
}

// refuseSecondText refuses a second text index of a collection, because $text doesn't say which index it means
// (https://www.mongodb.com/docs/manual/core/indexes/index-types/index-text/text-index-restrictions/).
func refuseSecondText(c *store.Collection, s *store.IndexSpec) error {
	if s.Text == nil {
		return nil
	}
	for _, x := range c.Indexes {
		if x.Spec.Text != nil && !(x.Spec.Name == s.Name && isSameKey(x.Spec.Key, s.Key) && hasSameOptions(x.Spec, s)) {
			return newIndexError("only one text index per collection allowed, found existing text index \"%s\"",
				x.Spec.Name)
		}
	}
	return nil
}

// checkSeriesIndex refuses the indexes that a time series collection can't have
// (https://www.mongodb.com/docs/manual/core/timeseries/timeseries-secondary-index/). MongoDB indexes buckets there, not
// documents.
func checkSeriesIndex(c *store.Collection, s *store.IndexSpec) error {
	if c.Series == nil {
		return nil
	}
	switch {
	case s.Guards(), s.Sparse:
		return mongoerr.New(mongoerr.InvalidOptions,
			"Unique and sparse indexes are not supported on time-series collections: %s", store.Show(s.Key))
	case bsonval.Index(s.Key, "_id") >= 0:
		return mongoerr.New(mongoerr.CannotCreateIndex, "Invalid index spec for time-series collection: index on _id")
	// A measurement expires by its time, and a partial filter must be decidable for a whole bucket.
	case s.Expires && (s.Fields[0].Name != c.Series.Time ||
		!forms.HasOnlyMetaConditions(s.Partial, c.Series.Meta)):
		return mongoerr.New(mongoerr.InvalidOptions, "TTL indexes on time-series collections are on the time field, "+
			"with a partialFilterExpression on the metaField")
	case !s.IsOrdered() || s.Wild != nil:
		return mongoerr.New(mongoerr.NotImplemented,
			"this kind of index is not supported on time-series collections: %s", store.Show(s.Key))
	}
	return nil
}

// checkClusteredKey refuses an index with the option clustered, unless it is the one that the collection has. Only
// create makes a clustered collection. c is nil if there is no collection.
func checkClusteredKey(c *store.Collection, key bson.D) error {
	switch {
	case c == nil:
		return mongoerr.New(6100900, "Cannot implicitly create a new collection with createIndex 'clustered' option")
	case c.Clustered == nil || !forms.IsClusterKey(key):
		return mongoerr.New(6243700,
			"Cannot create index with option 'clustered' on a collection that isn't clustered by it: %s",
			store.Show(key))
	}
	return nil
}
