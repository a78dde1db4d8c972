package uniquecount

import (
	"time"

	"github.com/docmodel/docmodel/denorm/internal/keytext"
	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/mql"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// formatSpan returns the first and the last period of a query. "" is no bound.
func (u *untypedCount) formatSpan(from, to time.Time) (first, last string, err error) {
	switch {
	case u.period == keytext.None && !(from.IsZero() && to.IsZero()):
		return "", "", u.docs.Refuse("start", nil, "the spec has no Period: pass zero times")
	case !from.IsZero() && !to.IsZero() && !from.Before(to):
		return "", "", u.docs.Refuse("end", to, "isn't after start: give a later time")
	}
	if !from.IsZero() {
		if first, err = u.formatPeriod("start", from); err != nil {
			return "", "", err
		}
	}
	if !to.IsZero() {
		last, err = u.formatPeriod("end", to.Add(-time.Nanosecond))
	}
	return first, last, err
}

// isDistinct reports whether a member of a group has at most one document in these
// periods. Then the documents can be counted without grouping.
func (u *untypedCount) isDistinct(first, last string) bool {
	return u.period == keytext.None || first != "" && first == last
}

// matchGroup matches a group's documents in a range of periods.
func (u *untypedCount) matchGroup(group any, from, to time.Time) (bson.D, error) {
	text, ok := keytext.EncodeKey(group)
	if !ok {
		return nil, u.docs.Refuse("group", nil, "the group is empty: give the group to count")
	}
	first, last, err := u.formatSpan(from, to)
	return keytext.MatchPeriods(text, first, last), err
}

// countGroup is the pipeline that counts the members of a group.
func (u *untypedCount) countGroup(group any, from, to time.Time) (mongo.Pipeline, error) {
	filter, err := u.matchGroup(group, from, to)
	if err != nil {
		return nil, err
	}
	first, last, err := u.formatSpan(from, to)
	p := mongo.Pipeline{mql.Match(filter...)}
	if !u.isDistinct(first, last) {
		p = append(p, mql.Group("$member"))
	}
	return append(p, commands.CountDocuments()...), err
}

// countPerPeriod is the pipeline that counts the members of a group in each period.
func (u *untypedCount) countPerPeriod(group any, from, to time.Time) (mongo.Pipeline, error) {
	filter, err := u.matchGroup(group, from, to)
	if u.period == keytext.None {
		err = u.docs.Refuse("period", nil, "PerPeriod needs a Period: declare one")
	}
	return append(mongo.Pipeline{mql.Match(filter...), mql.Group("$period", commands.CountEach())},
		commands.SortByValue()...), err
}

// matchPeriods matches the documents of all groups from one period to another, both
// included.
func matchPeriods(first, last string) bson.D {
	bounds := bson.D{}
	if first != "" {
		bounds = append(bounds, bson.E{Key: "$gte", Value: first})
	}
	if last != "" {
		bounds = append(bounds, bson.E{Key: "$lte", Value: last})
	}
	return bson.D{{Key: "period", Value: bounds}}
}

// countGroups is the pipeline that counts the members of each group, and the index that
// serves it.
func (u *untypedCount) countGroups(from, to time.Time) (p mongo.Pipeline, index string, err error) {
	first, last, err := u.formatSpan(from, to)
	if first != "" || last != "" {
		p = append(p, mql.Match(matchPeriods(first, last)...))
		index = u.listIndexes()[0].Name
	}
	if u.isDistinct(first, last) {
		p = append(p, mql.Group("$group", commands.CountEach()))
	} else {
		both := bson.D{{Key: "group", Value: "$group"}, {Key: "member", Value: "$member"}}
		p = append(p, mql.Group(both), mql.Group("$_id.group", commands.CountEach()))
	}
	return append(p, commands.SortByValue()...), index, err
}
