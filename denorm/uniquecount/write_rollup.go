package uniquecount

import (
	"fmt"
	"time"

	"github.com/docmodel/docmodel/denorm/internal/keytext"
	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// maxRollups is the maximum number of periods that a rollup fills.
const maxRollups = 120

// planRollup fills the periods of another collection, which must be longer.
func (u *untypedCount) planRollup(into *untypedCount, from, to time.Time) model.Plan {
	refuse := func(field string, v any, reason string) model.Plan {
		return model.NewPlan(model.Refused(u.docs.Name(), u.docs.Refuse(field, v, reason)))
	}
	switch {
	case u.period == keytext.None || into.period != keytext.None && into.period <= u.period:
		return refuse("target", nil, "must have a longer Period")
	case into.docs.Name() == u.docs.Name():
		return refuse("target", nil, "must be another collection")
	case into.period != keytext.None && into.spec.Location.String() != u.spec.Location.String():
		return refuse("target", nil, "has another Location")
	case from.IsZero() || to.IsZero():
		return refuse("start", nil, "or end is the zero time: give both times")
	}
	if _, _, err := u.formatSpan(from, to); err != nil {
		return model.NewPlan(model.Refused(u.docs.Name(), err))
	}
	var steps []model.Step
	for at := from; at.Before(to); {
		end := to
		if into.period != keytext.None {
			if next := into.period.StartOfNext(at, into.spec.Location); next.Before(to) {
				end = next
			}
		}
		if len(steps) == maxRollups {
			return refuse("end", to,
				fmt.Sprintf("is too far from the start: one rollup fills at most %d periods", maxRollups))
		}
		steps = append(steps, u.fillPeriod(into, at, end))
		at = end
	}
	return commands.PlanLeaving("some periods filled; run the plan again for the others", steps...)
}

// fillPeriod fills one period of another collection, or a collection without periods. It
// makes the _id from the parts of the old _id: keys contain no "#".
func (u *untypedCount) fillPeriod(into *untypedCount, from, to time.Time) model.Step {
	first, last, err := u.formatSpan(from, to)
	id := bson.A{mql.Op("$arrayElemAt", "$key", 0), "#", mql.Op("$arrayElemAt", "$key", 2)}
	set := bson.D{}
	if into.period != keytext.None {
		text, _ := into.period.FormatPeriod(from, into.spec.Location)
		id[1] = "#" + text + "#"
		set = bson.D{
			{Key: "period", Value: text},
			{Key: "from", Value: into.period.StartOf(from, into.spec.Location)},
		}
	}
	p := mongo.Pipeline{
		mql.Match(matchPeriods(first, last)...),
		mql.Project(mql.E("group", 1), mql.E("member", 1), mql.E("key", mql.Op("$split", "$_id", "#"))),
		mql.Group(mql.Op("$concat", id...),
			bson.E{Key: "group", Value: mql.Op("$first", "$group")}, bson.E{
				Key: "member", Value: mql.Op("$first", "$member"),
			}),
	}
	if len(set) > 0 {
		p = append(p, mql.Set(set...))
	}
	p = append(p, bson.D{{Key: "$merge", Value: bson.D{
		{Key: "into", Value: into.docs.Name()}, {Key: "on", Value: "_id"}, {Key: "whenMatched", Value: "keepExisting"},
		{Key: "whenNotMatched", Value: "insert"},
	}}})
	return model.MergeInto{
		Collection: u.docs.Name(), Pipeline: p, Idempotent: true,
		Keyed: []string{u.docs.Name(), into.docs.Name()}, Err: err,
	}
}
