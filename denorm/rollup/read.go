package rollup

// This file has the queries of bins, and the pipeline that adds up bins of several units.

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/docmodel/docmodel/denorm/internal/keytext"
	"github.com/docmodel/docmodel/internal/mql"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// encodeGroup returns a group as the beginning of its bins' _ids, for [Rollup.findBins] and
// [Rollup.sumBins].
func (r *untypedRollup) encodeGroup(group any) (string, error) {
	if len(r.by) == 0 {
		return "", nil
	}
	if len(r.by) == 1 {
		text, ok := keytext.EncodeKey(group)
		if !ok {
			return "", r.bins.Refuse("group", nil, "the group is empty: give a value for each path of By")
		}
		return text, nil
	}
	raw, err := r.bins.Document(group)
	if err != nil {
		return "", r.bins.Refuse("group", nil, err.Error())
	}
	var texts []string
	for _, path := range r.by {
		text, ok := encodeText(raw.Lookup(flattenPath(path)))
		if !ok {
			return "",
				r.bins.Refuse("group."+flattenPath(path), nil, "the group is empty: give a value for each path of By")
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, "#"), nil
}

// matchBins matches the bins of a group that begin from ≤ t < to. A zero time means no
// bound.
func matchBins(key string, u binUnit, from, to time.Time) bson.D {
	at := makeBinPrefix(key, u)
	// "$" is the character after "#", and keytext leaves no "#" in a group.
	first, last := at+"#", at+"$"
	if !from.IsZero() {
		first += formatTime(from)
	}
	if !to.IsZero() {
		last = at + "#" + formatTime(to)
	}
	return keytext.MatchRange(first, last)
}

// findBins returns the filter of a group's bins of a unit.
func (r *untypedRollup) findBins(group any, u binUnit, from, to time.Time) (bson.D, error) {
	key, err := r.encodeGroup(group)
	switch {
	case err != nil:
		return nil, err
	case !slices.Contains(r.levels, u):
		return nil, r.bins.Refuse("unit", uint8(u), "isn't one of the spec's Bins")
	case !from.IsZero() && !to.IsZero() && !from.Before(to):
		return nil, r.bins.Refuse("end", to, "isn't after start: give a later time")
	}
	for i, t := range []time.Time{from, to} {
		if !t.IsZero() {
			if err := r.checkTime(r.bins.Refuse, []string{"start", "end"}[i], t); err != nil {
				return nil, err
			}
		}
	}
	return matchBins(key, u, roundUpToSecond(from), roundUpToSecond(to)), nil
}

// roundUpToSecond returns the next full second, because bins begin at one.
func roundUpToSecond(t time.Time) time.Time {
	if t.Nanosecond() == 0 {
		return t
	}
	return t.Truncate(time.Second).Add(time.Second)
}

// A span is a time that bins of a unit fill.
type span struct {
	unit     binUnit
	from, to time.Time
}

// coverWithBins divides a time into as few bins as possible: the coarsest that fit, and
// finer ones before and after. The levels are sorted, the finest first (declareBins). The
// time begins and ends where a finest bin begins (checkSpan).
func (r *untypedRollup) coverWithBins(level int, from, to time.Time) (out []span) {
	if !from.Before(to) {
		return nil
	}
	u := r.levels[level]
	if level == 0 {
		return []span{{u, from, to}}
	}
	first, last := u.findStart(from, r.zone), u.findStart(to, r.zone)
	if first.Before(from) {
		first = u.findNextStart(from, r.zone)
	}
	if !first.Before(last) {
		return r.coverWithBins(level-1, from, to)
	}
	return slices.Concat(r.coverWithBins(level-1, from, first), []span{{u, first, last}},
		r.coverWithBins(level-1, last, to))
}

// sumBins is the pipeline that adds up a group's bins of a span of time.
func (r *untypedRollup) sumBins(group any, from, to time.Time) (mongo.Pipeline, error) {
	key, err := r.encodeGroup(group)
	if err == nil {
		err = r.checkSpan(from, to)
	}
	if err != nil {
		return nil, err
	}
	// Each span is a range of _id.
	either := bson.A{}
	for _, s := range r.coverWithBins(len(r.levels)-1, from, to) {
		either = append(either, matchBins(key, s.unit, s.from, s.to))
	}
	match := bson.D{{Key: "$or", Value: either}}
	if len(either) == 1 {
		match = either[0].(bson.D)
	}
	sums, values := []bson.E{mql.E("n", mql.Op("$sum", "$n"))}, bson.D{}
	for i, s := range r.sources {
		part := bson.D{}
		add := func(name, op string, wanted bool) {
			if wanted {
				as := fmt.Sprint(name, i)
				sums = append(sums, mql.E(as, mql.Op(op, "$values."+s.flatName()+"."+name)))
				part = append(part, mql.E(name, "$"+as))
			}
		}
		add("n", "$sum", true)
		add("sum", "$sum", s.sum)
		add("min", "$min", s.min)
		add("max", "$max", s.max)
		values = append(values, mql.E(s.flatName(), part))
	}
	fields := []bson.E{mql.E("_id", 0), mql.E("n", 1)}
	if len(values) > 0 {
		fields = append(fields, mql.E("values", values))
	}
	return mongo.Pipeline{mql.Match(match...), mql.Group(nil, sums...), mql.Project(fields...)}, nil
}
