package spread

import (
	"context"
	"fmt"
	"iter"

	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/found"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A misplaced is a document that isn't in its part.
type misplaced struct {
	ID   bson.RawValue `bson:"_id"`
	Key  bson.RawValue `bson:"key,omitempty"`  // as it is stored
	By   bson.RawValue `bson:"by,omitempty"`   // what it is spread by
	Want string        `bson:"want,omitempty"` // its key; "" where it can't be told
}

// Checks finds documents that aren't in their part.
func (k *Keys) Checks() []model.Check {
	name := fmt.Sprintf("%s.%s: documents in the wrong part", k.docs.Name(), k.path)
	return []model.Check{{
		Name: name, Collection: k.docs.Name(),
		Rule:    fmt.Sprintf("%s holds a value and the document's part, one of %d", k.path, k.spec.Parts),
		Queries: []*model.Aggregate[bson.Raw]{k.scan(nil)},
		Read: func(ctx context.Context, db model.DB, filter bson.D) iter.Seq2[model.Finding, error] {
			return func(yield func(model.Finding, error) bool) {
				for row, err := range k.scan(filter).Each(ctx, db) {
					if err != nil {
						yield(model.Finding{}, err)
						return
					}
					f, wrong := k.look(name, row)
					if wrong && !yield(f, nil) {
						return
					}
				}
			}
		},
		Mend: found.MendRows(name, k.docs.Name(), k.repair),
	}}
}

// scan reads the key of every document, and what it is spread by.
func (k *Keys) scan(filter bson.D) *model.Aggregate[bson.Raw] {
	fields := bson.D{mql.E("key", "$"+k.path)}
	if k.spec.By != "" {
		fields = append(fields, mql.E("by", "$"+k.spec.By))
	}
	p := mongo.Pipeline{mql.SortID(), mql.Project(fields...)}
	if len(filter) > 0 {
		p = append(mongo.Pipeline{mql.Match(filter...)}, p...)
	}
	return &model.Aggregate[bson.Raw]{
		Aggregation: model.Aggregation{Collection: k.docs.Name(), Pipeline: p, Index: model.IDIndex},
	}
}

// look says whether a document isn't in its part.
func (k *Keys) look(check string, row bson.Raw) (f model.Finding, wrong bool) {
	d := misplaced{ID: row.Lookup("_id"), Key: row.Lookup("key"), By: row.Lookup("by")}
	text, isText := d.Key.StringValueOK()
	value, at := split(text)
	problem := ""
	number, err := k.number(d)
	switch {
	case d.Key.Type == 0 || d.Key.Type == bson.TypeNull: // it belongs to no value
		return f, false
	case !isText || value == "":
		problem = fmt.Sprintf("%s isn't a value with a part", model.Shell(d.Key))
	case err != nil:
		problem = fmt.Sprintf("has no %s, which chooses its part", k.spec.By)
	case k.spec.By == "" && at >= 0 && at < k.spec.Parts:
		return f, false
	default:
		if d.Want = key(value, part(number, k.spec.Parts)); d.Want == text {
			return f, false
		}
		problem = fmt.Sprintf("is under %s, but belongs under %s", model.Shell(d.Key), model.Shell(d.Want))
	}
	detail := bson.Raw(core.MustRawValue(d).Value)
	return model.Finding{Check: check, Collection: k.docs.Name(), ID: d.ID, Problem: problem, Detail: detail}, true
}

// number is what decides about a document's part: without By, its _id, so that a document moves once.
func (k *Keys) number(d misplaced) (uint64, error) {
	if k.spec.By == "" {
		return k.hashedRaw(d.ID)
	}
	return k.hashedRaw(d.By)
}

// repair brings documents into their parts. One of which the part can't be told is left.
func (k *Keys) repair(rows []misplaced) model.Plan {
	var steps []model.Step
	for i, d := range rows {
		switch {
		case d.ID.Type == 0:
			return model.NewPlan(found.RefuseFinding(k.docs.Name(), i, "_id"))
		case d.Want != "":
			steps = append(steps, k.moved(d))
		}
	}
	return commands.PlanLeaving("some documents moved; the next check finds the others", steps...)
}
