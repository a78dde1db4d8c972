package indexes

import (
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/mongotest/internal/engine/store"
)

// Describe returns an index as listIndexes shows it: the key as it was given, and of the options those that aren't the
// default. Options of text and geospatial indexes are in Extra.
func Describe(s *store.IndexSpec) bson.D {
	// 2 is the version of the index format, MongoDB's only one.
	d := bson.D{{Key: "v", Value: int32(2)}, {Key: "key", Value: s.Key}, {Key: "name", Value: s.Name}}
	// The index on _id is unique and doesn't say so, unless the collection is clustered by it.
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
