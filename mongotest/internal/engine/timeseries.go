package engine

import (
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/args"
	"github.com/docmodel/docmodel/mongotest/internal/engine/store"
)

// spans are how long a bucket of each granularity lasts, in seconds.
var spans = map[string]int64{"seconds": 3600, "minutes": 86400, "hours": 2592000}

// maxSpan is how long a bucket may last: a year.
const maxSpan = 31536000

// readSeries reads the options of a time series collection, as the collection shows them; nil if the command asks for
// none.
func readSeries(a *args.Reader) (*store.Series, bson.D) {
	d := a.Document("timeseries")
	if d == nil {
		if a.Has("expireAfterSeconds") && !a.Has("clusteredIndex") {
			a.Fail(mongoerr.New(mongoerr.InvalidOptions,
				"'expireAfterSeconds' is only supported on time-series collections or when the 'clusteredIndex' option is specified"))
		}
		return nil, nil
	}
	part := &args.Reader{Place: "create.timeseries", Doc: d}
	a.Fail(part.CheckKnown([]string{"timeField", "metaField", "granularity", "bucketMaxSpanSeconds", "bucketRoundingSeconds"}))
	part.Require("timeField")
	s := &store.Series{Time: part.Text("timeField"), Meta: part.Text("metaField")}
	shown := bson.D{{Key: "timeField", Value: s.Time}}
	switch {
	case part.Err != nil:
	case !topLevel(s.Time), part.Has("metaField") && !topLevel(s.Meta):
		part.Fail(mongoerr.New(mongoerr.InvalidOptions, "'timeField' and 'metaField' must be names of top-level fields"))
	case s.Meta == "_id", s.Meta == s.Time:
		part.Fail(mongoerr.New(mongoerr.InvalidOptions, "'metaField' cannot be '_id' or the same as 'timeField'"))
	case s.Meta != "":
		shown = append(shown, bson.E{Key: "metaField", Value: s.Meta})
	}
	shown = append(shown, readSpan(part)...)
	a.Fail(part.Err)
	return s, bson.D{{Key: "timeseries", Value: shown}}
}

func topLevel(name string) bool {
	return name != "" && !strings.Contains(name, ".") && !strings.HasPrefix(name, "$")
}

// readSpan reads how measurements are put in buckets. The engine has no buckets, so that it only shows it.
func readSpan(a *args.Reader) bson.D {
	granularity := a.Text("granularity")
	span, rounding := a.Integer("bucketMaxSpanSeconds", 0), a.Integer("bucketRoundingSeconds", 0)
	given := a.Has("bucketMaxSpanSeconds") || a.Has("bucketRoundingSeconds")
	switch {
	case a.Err != nil:
		return nil
	case given && (span < 1 || span > maxSpan || span != rounding):
		a.Fail(mongoerr.New(mongoerr.InvalidOptions,
			"'bucketMaxSpanSeconds' and 'bucketRoundingSeconds' must both be set, be equal, and be between 1 and %d", maxSpan))
	case given && granularity != "":
		a.Fail(mongoerr.New(mongoerr.InvalidOptions, "'granularity' cannot be set together with 'bucketMaxSpanSeconds'"))
	case given:
		return bson.D{
			{Key: "bucketRoundingSeconds", Value: int32(rounding)},
			{Key: "bucketMaxSpanSeconds", Value: int32(span)},
		}
	}
	if granularity == "" {
		granularity = "seconds"
	}
	if spans[granularity] == 0 {
		a.Fail(mongoerr.New(mongoerr.BadValue,
			"Enumeration value '%s' for field '%s.granularity' is not a valid value.", granularity, a.Place))
	}
	return bson.D{
		{Key: "granularity", Value: granularity},
		{Key: "bucketMaxSpanSeconds", Value: int32(spans[granularity])},
	}
}

// createSeries makes a time series collection, with the index on meta and time that each has.
func createSeries(w *store.Writer, ns store.Namespace, x *creation) error {
	s := x.form.Series
	if err := w.CreateAs(ns, x.options, x.form); err != nil {
		return err
	}
	if s.Meta != "" {
		key := bson.D{{Key: s.Meta, Value: int32(1)}, {Key: s.Time, Value: int32(1)}}
		spec := &store.IndexSpec{Name: indexName(key), Key: key,
			Fields: []store.Field{store.NewField(s.Meta, store.Ordered, false), store.NewField(s.Time, store.Ordered, false)}}
		if err := w.AddIndex(ns, spec); err != nil {
			return err
		}
	}
	if x.expires {
		return w.AddIndex(ns, s.SeriesTTL(x.after))
	}
	return nil
}

// checkSeriesIndex refuses the indexes that a time series collection can't have.
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
	case s.Expires && (s.Fields[0].Name != c.Series.Time || !aboutMeta(s.Partial, c.Series.Meta)):
		return mongoerr.New(mongoerr.InvalidOptions,
			"TTL indexes on time-series collections are on the time field, with a partialFilterExpression on the metaField")
	case !s.Ordered() || s.Wild != nil:
		return mongoerr.New(mongoerr.NotImplemented,
			"this kind of index is not supported on time-series collections: %s", store.Show(s.Key))
	}
	return nil
}

// aboutMeta reports whether a filter has conditions, and all of them on the field that says what is measured.
func aboutMeta(filter bson.D, meta string) bool {
	return len(filter) > 0 && meta != "" && onlyOn(filter, meta)
}

// onlyOn reports whether all conditions of a filter are on a field or within it.
func onlyOn(filter bson.D, field string) bool {
	for _, e := range filter {
		switch e.Key {
		case "$and", "$or", "$nor":
			list, _ := e.Value.(bson.A)
			for _, v := range list {
				if d, ok := v.(bson.D); !ok || !onlyOn(d, field) {
					return false
				}
			}
		case "$comment":
		default:
			if e.Key != field && !strings.HasPrefix(e.Key, field+".") {
				return false
			}
		}
	}
	return true
}

// checkSeriesUpdate refuses the updates that a time series collection doesn't take: it takes those of many documents
// that ask for what is measured, and change that alone
// (https://www.mongodb.com/docs/manual/core/timeseries/timeseries-limitations/).
func checkSeriesUpdate(c *store.Collection, u *updater, spec any) error {
	if c == nil || c.Series == nil {
		return nil
	}
	meta := c.Series.Meta
	changes, isOperators := spec.(bson.D)
	isOperators = isOperators && !u.update.IsReplacement()
	fails := func(what string) error {
		return mongoerr.New(mongoerr.InvalidOptions, "Cannot perform %s on a time-series collection", what)
	}
	switch {
	case !u.multi:
		return fails("a non-multi update")
	case u.upsert:
		return fails("an upsert")
	case meta == "":
		return fails("an update without a metaField")
	case !isOperators:
		return fails("a replacement or a pipeline-style update")
	case !onlyOn(u.query.Filter, meta):
		return fails("an update when querying on a field that is not the metaField '" + meta + "'")
	}
	for _, op := range changes {
		fields, _ := op.Value.(bson.D)
		for _, f := range fields {
			to, isText := f.Value.(string)
			if !onlyOn(bson.D{f}, meta) || op.Key == "$rename" && isText && !onlyOn(bson.D{{Key: to}}, meta) {
				return fails("an update of a field that is not the metaField '" + meta + "'")
			}
		}
	}
	return nil
}

// notOnSeries is the error of what a time series collection can't do, in this engine or in any.
func notOnSeries(ns store.Namespace, what string) error {
	return mongoerr.New(mongoerr.NotImplemented, "%s is not supported on time-series collections: %s", what, ns)
}

// describeSeries is a time series collection as listCollections shows it.
func describeSeries(c *store.Collection) bson.D {
	return bson.D{
		{Key: "name", Value: c.NS.Coll}, {Key: "type", Value: "timeseries"}, {Key: "options", Value: slices.Clone(c.Options)},
		{Key: "info", Value: bson.D{{Key: "readOnly", Value: false}}},
	}
}
