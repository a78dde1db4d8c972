package uniquecount

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/docmodel/docmodel/denorm/internal/keytext"
	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// formatPeriod returns the period of a time. field names the time in an error.
func (u *untypedCount) formatPeriod(field string, t time.Time) (string, error) {
	text, ok := u.period.FormatPeriod(t, u.spec.Location)
	if !ok || u.period != keytext.None && t.IsZero() {
		return "", u.docs.Refuse(field, t, "must be a non-zero time in the years 0 to 9999")
	}
	return text, nil
}

// A visit is a document's _id and its other fields.
type visit struct {
	id     string
	fields bson.D
}

// makeVisit encodes and checks a visit.
func (u *untypedCount) makeVisit(group, member any, at time.Time) (v visit, err error) {
	g, ok := keytext.EncodeKey(group)
	if !ok {
		return v, u.docs.Refuse("group", nil, "the group is empty: give the group to count")
	}
	m, ok := keytext.EncodeKey(member)
	if !ok {
		return v, u.docs.Refuse("member", nil, "the member is empty: give the member to count")
	}
	p, err := u.formatPeriod("t", at)
	if err != nil {
		return v, err
	}
	for _, f := range []struct {
		name  string
		value any
	}{{"group", group}, {"member", member}} {
		enc, err := u.docs.Encode(f.value)
		if err != nil {
			return v, u.docs.Refuse(f.name, nil, err.Error())
		}
		v.fields = append(v.fields, bson.E{Key: f.name, Value: enc})
	}
	if p != "" {
		v.fields = append(v.fields, bson.E{Key: "period", Value: p}, bson.E{
			Key: "from", Value: u.period.StartOf(at, u.spec.Location),
		})
		p = "#" + p
	}
	v.id = g + p + "#" + m
	return v, nil
}

// makeID returns the _id of a visit.
func (u *untypedCount) makeID(group, member any, at time.Time) (string, error) {
	v, err := u.makeVisit(group, member, at)
	return v.id, err
}

// visitMember is the upsert of a visit. If two upserts at the same time both find
// nothing, one of them meets the other's document: Done says that this is success.
func (u *untypedCount) visitMember(group, member any, at time.Time) model.Write {
	v, err := u.makeVisit(group, member, at)
	if err != nil {
		return model.Refused(u.docs.Name(), err)
	}
	id := bson.D{{Key: "_id", Value: v.id}}
	w := commands.UpsertOne(u.docs.Name(), id, mql.Op("$setOnInsert", v.fields))
	w.Done, w.Idempotent, w.Keyed = id, false, true
	return w
}

// visitMembers joins visits, each once, in the order of their _ids.
func (u *untypedCount) visitMembers(visits []model.Write) (p model.Plan) {
	// A visit's Done is its filter by _id.
	byID := map[string]model.Write{}
	for i, w := range visits {
		id, ok := "", false
		if w.Err == nil && w.Collection == u.docs.Name() && len(w.Done) == 1 {
			id, ok = w.Done[0].Value.(string)
		}
		if !ok {
			err := cmp.Or(w.Err,
				u.docs.Refuse(fmt.Sprintf("visits[%d]", i), nil, "isn't a visit: pass a result of Visit"))
			return model.NewPlan(model.Refused(u.docs.Name(), fmt.Errorf("docmodel: visit %d: %w", i, err)))
		}
		byID[id] = w
	}
	for _, id := range slices.Sorted(maps.Keys(byID)) {
		p.Steps = append(p.Steps, byID[id])
	}
	if len(p.Steps) > 1 {
		p.Leaves = "some visits counted, others not; sending them again is safe"
	}
	return p
}

// expirePeriods is the write that deletes the periods that ended before a time.
func (u *untypedCount) expirePeriods(before time.Time) model.Write {
	text, err := u.formatPeriod("cutoff", before)
	if u.period == keytext.None {
		err = u.docs.Refuse("cutoff", before, "Expire needs a Period: declare one")
	}
	if err != nil {
		return model.Refused(u.docs.Name(), err)
	}
	return model.Write{
		Collection: u.docs.Name(), Index: u.listIndexes()[0].Name, Final: true,
		Model: &mongo.DeleteManyModel{
			Filter: bson.D{{Key: "period", Value: bson.D{{Key: "$lt", Value: text}}}},
		},
	}
}
