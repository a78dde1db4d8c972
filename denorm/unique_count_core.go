package denorm

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// maxRollups is how many periods one rollup fills.
const maxRollups = 120

// uniqueCount is what of a [UniqueCount] doesn't depend on its types.
type uniqueCount struct {
	name   string
	spec   UniqueSpec
	encode func(any) (any, error)
}

func declareUnique(name string, group, member any, spec []UniqueSpec, encode func(any) (any, error)) *uniqueCount {
	u := &uniqueCount{name: name, encode: encode}
	bad := func(problem, remedy string) {
		panic(&model.DeclarationError{Problem: problem, Place: "NewUniqueCount of " + name, Remedy: remedy})
	}
	if len(spec) > 1 {
		bad("more than one UniqueSpec", "give one")
	}
	if len(spec) == 1 {
		u.spec = spec[0]
	}
	s := u.spec
	least := map[Period]time.Duration{Daily: 24 * time.Hour, Monthly: 31 * 24 * time.Hour}
	switch {
	case s.Period > Monthly:
		bad(fmt.Sprintf("Period is %d", s.Period), "use denorm.NoPeriod, denorm.Daily or denorm.Monthly")
	case s.Period == NoPeriod && s.Location != nil:
		bad("a Location without a Period", "a Location says where a day begins: give a Period too")
	case s.Period == NoPeriod && s.For != 0:
		bad("For without a Period", "what is counted for ever is kept: give a Period too")
	case s.For != 0 && s.For < least[s.Period]:
		bad(fmt.Sprintf("For is %s, which is shorter than a period", s.For), "keep documents until their period is over")
	case !isKeyType(reflect.TypeOf(group)):
		bad(fmt.Sprintf("groups are a %T, which can't be written into an _id", group), "use a kind of string or integer, or bson.ObjectID")
	case !isKeyType(reflect.TypeOf(member)):
		bad(fmt.Sprintf("members are a %T, which can't be written into an _id", member), "use a kind of string or integer, or bson.ObjectID")
	}
	if u.spec.Location == nil {
		u.spec.Location = time.UTC
	}
	return u
}

func (u *uniqueCount) refused(field string, v any, reason string) error {
	return &model.ValueError{Collection: u.name, Field: field, Value: v, Reason: reason}
}

func byID() bson.D { return bson.D{{Key: "_id", Value: 1}} }

func (u *uniqueCount) period(field string, t time.Time) (string, error) {
	text, ok := u.spec.Period.text(t, u.spec.Location)
	if !ok || u.spec.Period != NoPeriod && t.IsZero() {
		return "", u.refused(field, t, "is no time of the years 0 to 9999, or none at all")
	}
	return text, nil
}

// A uniqueVisit is a document's _id and its other fields.
type uniqueVisit struct {
	id     string
	fields bson.D
}

func (u *uniqueCount) document(group, member any, at time.Time) (v uniqueVisit, err error) {
	g, ok := keyText(group)
	if !ok {
		return v, u.refused("group", nil, "the group is empty")
	}
	m, ok := keyText(member)
	if !ok {
		return v, u.refused("member", nil, "the member is empty")
	}
	p, err := u.period("at", at)
	if err != nil {
		return v, err
	}
	for _, f := range []struct {
		name  string
		value any
	}{{"group", group}, {"member", member}} {
		enc, err := u.encode(f.value)
		if err != nil {
			return v, u.refused(f.name, nil, err.Error())
		}
		v.fields = append(v.fields, bson.E{Key: f.name, Value: enc})
	}
	if p != "" {
		v.fields = append(v.fields, bson.E{Key: "period", Value: p}, bson.E{Key: "from", Value: u.spec.Period.start(at, u.spec.Location)})
		p = "#" + p
	}
	v.id = g + p + "#" + m
	return v, nil
}

func (u *uniqueCount) visit(group, member any, at time.Time) model.Write {
	v, err := u.document(group, member, at)
	if err != nil {
		return model.Refused(u.name, err)
	}
	return u.seen(v)
}

// seen is the upsert of a visit. Two at once can both find nothing, and one then meets the other's document: it was done.
func (u *uniqueCount) seen(v uniqueVisit) model.Write {
	upsert := true
	id := bson.D{{Key: "_id", Value: v.id}}
	return model.Write{Collection: u.name, Index: model.IDIndex, Done: id, Model: &mongo.UpdateOneModel{
		Filter: id, Update: bson.D{{Key: "$setOnInsert", Value: v.fields}}, Upsert: &upsert,
	}}
}

func (u *uniqueCount) visitAll(n int, visit func(int) (group, member any, at time.Time)) model.Plan {
	visits := make([]uniqueVisit, n)
	for i := range n {
		v, err := u.document(visit(i))
		if err != nil {
			return model.RefusedPlan(u.name, fmt.Errorf("docmodel: visit %d: %w", i, err))
		}
		visits[i] = v
	}
	// In one order, so that no two plans block each other.
	slices.SortStableFunc(visits, func(a, b uniqueVisit) int { return strings.Compare(a.id, b.id) })
	var p model.Plan
	for i, v := range visits {
		if i == 0 || v.id != visits[i-1].id {
			p.Steps = append(p.Steps, u.seen(v))
		}
	}
	if len(p.Steps) > 1 {
		p.Leaves = "some visits counted, others not yet"
	}
	return p
}

// span is the first and the last period of a query; "" is no bound.
func (u *uniqueCount) span(from, to time.Time) (first, last string, err error) {
	switch {
	case u.spec.Period == NoPeriod && !(from.IsZero() && to.IsZero()):
		return "", "", u.refused("from", nil, "without a Period there are no times to ask for: pass zero times")
	case !from.IsZero() && !to.IsZero() && !from.Before(to):
		return "", "", u.refused("to", to, "is not after from")
	}
	if !from.IsZero() {
		if first, err = u.period("from", from); err != nil {
			return "", "", err
		}
	}
	if !to.IsZero() {
		last, err = u.period("to", to.Add(-time.Nanosecond))
	}
	return first, last, err
}

// once reports whether a member of a group has no more than one document in these periods.
func (u *uniqueCount) once(first, last string) bool {
	return u.spec.Period == NoPeriod || first != "" && first == last
}

func (u *uniqueCount) ofGroup(group any, from, to time.Time) (bson.D, error) {
	text, ok := keyText(group)
	if !ok {
		return nil, u.refused("group", nil, "the group is empty")
	}
	first, last, err := u.span(from, to)
	return periodRange(text, first, last), err
}

func grouped(id any, more ...bson.E) bson.D {
	return bson.D{{Key: "$group", Value: append(bson.D{{Key: "_id", Value: id}}, more...)}}
}

func number1() bson.E { return bson.E{Key: "n", Value: bson.D{{Key: "$sum", Value: 1}}} }

func (u *uniqueCount) count(group any, from, to time.Time) (mongo.Pipeline, error) {
	filter, err := u.ofGroup(group, from, to)
	if err != nil {
		return nil, err
	}
	first, last, err := u.span(from, to)
	p := mongo.Pipeline{{{Key: "$match", Value: filter}}}
	if !u.once(first, last) {
		p = append(p, grouped("$member"))
	}
	return append(p, oneTotal()...), err
}

// oneTotal counts what comes, in one result, which is 0 where nothing does.
func oneTotal() mongo.Pipeline {
	return mongo.Pipeline{
		grouped(nil, number1()),
		{{Key: "$facet", Value: bson.D{{Key: "found", Value: mongo.Pipeline{{{Key: "$limit", Value: 1}}}}}}},
		{{Key: "$project", Value: bson.D{{Key: "n", Value: mql.IfNull(mql.Op("$arrayElemAt", "$found.n", 0), 0)}}}},
	}
}

func (u *uniqueCount) perPeriod(group any, from, to time.Time) (mongo.Pipeline, error) {
	filter, err := u.ofGroup(group, from, to)
	if u.spec.Period == NoPeriod {
		err = u.refused("period", nil, "there is no Period to count by")
	}
	return mongo.Pipeline{
		{{Key: "$match", Value: filter}},
		grouped("$period", number1()),
		{{Key: "$sort", Value: byID()}},
		{{Key: "$project", Value: bson.D{{Key: "_id", Value: 0}, {Key: "period", Value: "$_id"}, {Key: "n", Value: 1}}}},
	}, err
}

// ofPeriods matches the documents of all groups from one period to another.
func ofPeriods(first, last string) bson.D {
	bounds := bson.D{}
	if first != "" {
		bounds = append(bounds, bson.E{Key: "$gte", Value: first})
	}
	if last != "" {
		bounds = append(bounds, bson.E{Key: "$lte", Value: last})
	}
	return bson.D{{Key: "period", Value: bounds}}
}

func (u *uniqueCount) counts(from, to time.Time) (p mongo.Pipeline, index string, err error) {
	first, last, err := u.span(from, to)
	if first != "" || last != "" {
		p = append(p, bson.D{{Key: "$match", Value: ofPeriods(first, last)}})
		index = u.indexes()[0].Name
	}
	if u.once(first, last) {
		p = append(p, grouped("$group", number1()))
	} else {
		p = append(p, grouped(bson.D{{Key: "group", Value: "$group"}, {Key: "member", Value: "$member"}}), grouped("$_id.group", number1()))
	}
	return append(p,
		bson.D{{Key: "$sort", Value: byID()}},
		bson.D{{Key: "$project", Value: bson.D{{Key: "_id", Value: 0}, {Key: "group", Value: "$_id"}, {Key: "n", Value: 1}}}},
	), index, err
}

func (u *uniqueCount) expire(before time.Time) model.Write {
	text, err := u.period("before", before)
	if u.spec.Period == NoPeriod {
		err = u.refused("before", before, "there is no Period to be over")
	}
	if err != nil {
		return model.Refused(u.name, err)
	}
	return model.Write{Collection: u.name, Index: u.indexes()[0].Name, Final: true, Model: &mongo.DeleteManyModel{
		Filter: bson.D{{Key: "period", Value: bson.D{{Key: "$lt", Value: text}}}},
	}}
}

func (u *uniqueCount) indexes() []model.Index {
	if u.spec.Period == NoPeriod {
		return nil
	}
	x := model.NewIndex(u.name, bson.D{{Key: "period", Value: 1}, {Key: "group", Value: 1}, {Key: "member", Value: 1}})
	x.Why = "counts of all groups by period"
	out := []model.Index{x}
	if u.spec.For > 0 {
		x := model.NewIndex(u.name, bson.D{{Key: "from", Value: 1}})
		x.ExpireAfter, x.Why = u.spec.For, "deletes periods that are old"
		out = append(out, x)
	}
	return out
}

// rollup fills the periods of another collection.
func (u *uniqueCount) rollup(into *uniqueCount, from, to time.Time) model.Plan {
	refuse := func(field string, v any, reason string) model.Plan {
		return model.RefusedPlan(u.name, u.refused(field, v, reason))
	}
	switch {
	case u.spec.Period == NoPeriod || into.spec.Period != NoPeriod && into.spec.Period <= u.spec.Period:
		return refuse("into", nil, "has no longer periods than these")
	case into.name == u.name:
		return refuse("into", nil, "is the same collection")
	case into.spec.Period != NoPeriod && into.spec.Location.String() != u.spec.Location.String():
		return refuse("into", nil, "its days begin at another place's midnight")
	case from.IsZero() || to.IsZero():
		return refuse("from", nil, "a rollup needs both times")
	}
	if _, _, err := u.span(from, to); err != nil {
		return model.RefusedPlan(u.name, err)
	}
	var p model.Plan
	for at := from; at.Before(to); {
		end := to
		if into.spec.Period != NoPeriod {
			if next := into.spec.Period.next(at, into.spec.Location); next.Before(to) {
				end = next
			}
		}
		if len(p.Steps) == maxRollups {
			return refuse("to", to, fmt.Sprintf("a rollup fills at most %d periods", maxRollups))
		}
		p.Steps = append(p.Steps, u.rollupTo(into, at, end))
		at = end
	}
	if len(p.Steps) > 1 {
		p.Leaves = "some periods filled, others not yet"
	}
	return p
}

// rollupTo fills one period of another collection, or the whole of one without periods.
func (u *uniqueCount) rollupTo(into *uniqueCount, from, to time.Time) model.Step {
	first, last, err := u.span(from, to)
	id := bson.A{mql.Op("$arrayElemAt", "$key", 0), "#", mql.Op("$arrayElemAt", "$key", 2)}
	set := bson.D{}
	if into.spec.Period != NoPeriod {
		text, _ := into.spec.Period.text(from, into.spec.Location)
		id[1] = "#" + text + "#"
		set = bson.D{{Key: "period", Value: text}, {Key: "from", Value: into.spec.Period.start(from, into.spec.Location)}}
	}
	p := mongo.Pipeline{
		{{Key: "$match", Value: ofPeriods(first, last)}},
		{{Key: "$project", Value: bson.D{{Key: "group", Value: 1}, {Key: "member", Value: 1}, {Key: "key", Value: mql.Op("$split", "$_id", "#")}}}},
		grouped(mql.Op("$concat", id...),
			bson.E{Key: "group", Value: mql.Op("$first", "$group")}, bson.E{Key: "member", Value: mql.Op("$first", "$member")}),
	}
	if len(set) > 0 {
		p = append(p, bson.D{{Key: "$set", Value: set}})
	}
	p = append(p, bson.D{{Key: "$merge", Value: bson.D{
		{Key: "into", Value: into.name}, {Key: "on", Value: "_id"}, {Key: "whenMatched", Value: "keepExisting"}, {Key: "whenNotMatched", Value: "insert"},
	}}})
	return model.MergeInto{Collection: u.name, Pipeline: p, Once: true, Err: err}
}
