package engine

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/forms"
	"github.com/docmodel/docmodel/mongotest/internal/engine/store"
)

// checkSeriesUpdate refuses updates that a time series collection doesn't take. readUpdate calls it. The collection
// takes updates with multi: true, whose filter and operators name only the metaField and fields in it. spec is the
// update as it was sent. https://www.mongodb.com/docs/manual/core/timeseries/timeseries-limitations/ has the rules. If
// the metaField is meta:
//
//	{q: {"meta.room": 6}, u: {$set: {"meta.room": 7}}, multi: true}    is allowed
//	{q: {temperature: 20}, u: {$set: {"meta.room": 7}}, multi: true}   is refused
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
	case !forms.HasOnlyConditionsOn(u.query.Filter, meta):
		return fails("an update when querying on a field that is not the metaField '" + meta + "'")
	}
	for _, op := range changes {
		fields, _ := op.Value.(bson.D)
		for _, f := range fields {
			// A $rename names two fields: {$rename: {"meta.a": "meta.b"}}.
			to, isText := f.Value.(string)
			if !forms.HasOnlyConditionsOn(bson.D{f}, meta) ||
				op.Key == "$rename" && isText && !forms.HasOnlyConditionsOn(bson.D{{Key: to}}, meta) {
				return fails("an update of a field that is not the metaField '" + meta + "'")
			}
		}
	}
	return nil
}
