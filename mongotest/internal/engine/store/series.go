package store

import (
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
)

// Series is what a time series collection is made of
// (https://www.mongodb.com/docs/manual/core/timeseries-collections/). Its documents have no unique _id, and neither
// they nor its indexes show in a change stream.
type Series struct {
	Time string // the field that holds the time of a measurement
	Meta string // the field that says what is measured; "" for none
}

// arrangeFields returns a measurement as it is read: its time first, and what was measured second.
func (s *Series) arrangeFields(doc bson.D) (bson.D, error) {
	at, ok := bsonval.Get(doc, s.Time)
	if _, isDate := at.(bson.DateTime); !ok || !isDate {
		return nil, mongoerr.New(mongoerr.BadValue,
			"'%s' must be present and contain a valid BSON UTC datetime value", s.Time)
	}
	out := append(make(bson.D, 0, len(doc)), bson.E{Key: s.Time, Value: at})
	if meta, ok := bsonval.Get(doc, s.Meta); ok && s.Meta != "" {
		out = append(out, bson.E{Key: s.Meta, Value: meta})
	}
	for _, e := range doc {
		if e.Key != s.Time && (e.Key != s.Meta || s.Meta == "") {
			out = append(out, e)
		}
	}
	return out, nil
}

// newSeriesID is the index on _id of a time series collection, for the store's own use.
func newSeriesID(now time.Time) *IndexSpec {
	s := newIDSpec(nil, now)
	s.Unique, s.Hidden, s.Internal = false, true, true
	return s
}

// SeriesTTL returns the spec of the index by which the measurements of a time series collection expire. A server
// expires buckets instead.
func (s *Series) SeriesTTL(after time.Duration) *IndexSpec {
	return &IndexSpec{
		Name: SeriesTTL, Key: bson.D{{Key: s.Time, Value: int32(1)}}, Fields: []Field{NewField(s.Time, Ordered, false)},
		Hidden: true, Internal: true, Expires: true, ExpireAfter: after,
	}
}

// SeriesTTL is the name of that index, which no client can give to an index.
const SeriesTTL = "$expireAfterSeconds"

// ListIndexes returns the indexes that listIndexes shows: all that aren't for the store's own use.
func (c *Collection) ListIndexes() []*Index {
	var list []*Index
	for _, x := range c.Indexes {
		if !x.Spec.Internal {
			list = append(list, x)
		}
	}
	return list
}
