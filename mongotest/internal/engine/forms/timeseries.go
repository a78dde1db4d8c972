package forms

import (
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/args"
	"github.com/docmodel/docmodel/mongotest/internal/engine/store"
)

// spans are the seconds of a bucket by granularity.
var spans = map[string]int64{"seconds": 3600, "minutes": 86400, "hours": 2592000}

// maxSpan is the longest bucket in seconds, a year.
const maxSpan = 31536000

// ReadSeries reads the options of a time series collection. It returns the fields with the time and the metadata, and
// the options as listCollections shows them. Both are nil if the command doesn't ask for a time series collection.
func ReadSeries(a *args.Reader) (*store.Series, bson.D) {
	d := a.Document("timeseries")
	if d == nil {
		if a.HasField("expireAfterSeconds") && !a.HasField("clusteredIndex") {
			a.Fail(mongoerr.New(mongoerr.InvalidOptions, "'expireAfterSeconds' is only supported on time-series "+
				"collections or when the 'clusteredIndex' option is specified"))
		}
		return nil, nil
	}
	part := &args.Reader{Place: "create.timeseries", Doc: d}
	a.Fail(part.CheckKnown([]string{
		"timeField", "metaField", "granularity", "bucketMaxSpanSeconds", "bucketRoundingSeconds",
	}))
	part.Require("timeField")
	s := &store.Series{Time: part.Text("timeField"), Meta: part.Text("metaField")}
	shown := bson.D{{Key: "timeField", Value: s.Time}}
	switch {
	case part.Err != nil:
	case !isTopLevel(s.Time), part.HasField("metaField") && !isTopLevel(s.Meta):
		part.Fail(mongoerr.New(mongoerr.InvalidOptions,
			"'timeField' and 'metaField' must be names of top-level fields"))
	case s.Meta == "_id", s.Meta == s.Time:
		part.Fail(mongoerr.New(mongoerr.InvalidOptions, "'metaField' cannot be '_id' or the same as 'timeField'"))
	case s.Meta != "":
		shown = append(shown, bson.E{Key: "metaField", Value: s.Meta})
	}
	shown = append(shown, readSpan(part)...)
	a.Fail(part.Err)
	return s, bson.D{{Key: "timeseries", Value: shown}}
}

// isTopLevel reports whether a name can be of a field at the top of a document.
func isTopLevel(name string) bool {
	return name != "" && !strings.Contains(name, ".") && !strings.HasPrefix(name, "$")
}

// readSpan reads and returns the options for buckets, with their defaults. The engine has no buckets.
func readSpan(a *args.Reader) bson.D {
	granularity := a.Text("granularity")
	span, rounding := a.Integer("bucketMaxSpanSeconds", 0), a.Integer("bucketRoundingSeconds", 0)
	given := a.HasField("bucketMaxSpanSeconds") || a.HasField("bucketRoundingSeconds")
	switch {
	case a.Err != nil:
		return nil
	case given && (span < 1 || span > maxSpan || span != rounding):
		a.Fail(mongoerr.New(mongoerr.InvalidOptions,
			"'bucketMaxSpanSeconds' and 'bucketRoundingSeconds' must both be set, be equal, and be between 1 and %d",
			maxSpan))
	case given && granularity != "":
		a.Fail(mongoerr.New(mongoerr.InvalidOptions,
			"'granularity' cannot be set together with 'bucketMaxSpanSeconds'"))
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

// HasOnlyMetaConditions reports whether a filter has conditions, all of them on the metaField or within it. The partial
// filter of a TTL index must be such a filter. meta is "" without a metaField.
func HasOnlyMetaConditions(filter bson.D, meta string) bool {
	return len(filter) > 0 && meta != "" && HasOnlyConditionsOn(filter, meta)
}

// HasOnlyConditionsOn reports whether all conditions of a filter are on a field or within it.
func HasOnlyConditionsOn(filter bson.D, field string) bool {
	for _, e := range filter {
		switch e.Key {
		case "$and", "$or", "$nor":
			list, _ := e.Value.(bson.A)
			for _, v := range list {
				if d, ok := v.(bson.D); !ok || !HasOnlyConditionsOn(d, field) {
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

// RefuseOnSeries returns the error of an operation that isn't supported on a time series collection.
func RefuseOnSeries(ns store.Namespace, what string) error {
	return mongoerr.New(mongoerr.NotImplemented, "%s is not supported on time-series collections: %s", what, ns)
}
