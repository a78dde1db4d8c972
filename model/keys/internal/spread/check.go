package spread

import (
	"context"
	"fmt"
	"iter"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/found"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A misplacedDoc is a document that isn't in its part. It is the Detail of a finding, so that the repair can compare
// with what the check read.
type misplacedDoc struct {
	ID   bson.RawValue `bson:"_id"`
	Key  bson.RawValue `bson:"key,omitempty"`  // as it is stored, of any type
	By   bson.RawValue `bson:"by,omitempty"`   // the stored value of By; type 0 without By
	Want string        `bson:"want,omitempty"` // the right key; "" if the document has no value, or no By
}

// ListChecks returns the check of documents that aren't in their part. It has a Read instead of a Pipeline, because
// older servers can't compute the hash of By.
func (k *Keys) ListChecks() []model.Check {
	name := fmt.Sprintf("%s.%s: documents in the wrong part", k.docs.Name(), k.path)
	return []model.Check{{
		Name: name, Collection: k.docs.Name(),
		Rule:    fmt.Sprintf("%s holds a value and the document's part, one of %d", k.path, k.spec.Parts),
		Queries: []*model.Aggregate[bson.Raw]{k.queryKeys(nil)},
		Read: func(ctx context.Context, db model.DB, filter bson.D) iter.Seq2[model.Finding, error] {
			return k.readFindings(ctx, db, name, filter)
		},
		Mend: found.MendRows(name, k.docs.Name(), k.planMoves),
	}}
}

// readFindings reads the documents that match filter, and yields a finding for each that is in a wrong part. check is
// the check's name.
func (k *Keys) readFindings(ctx context.Context, db model.DB, check string, filter bson.D) iter.Seq2[model.Finding,
	error] {
	return func(yield func(model.Finding, error) bool) {
		for row, err := range k.queryKeys(filter).Each(ctx, db) {
			if err != nil {
				yield(model.Finding{}, err)
				return
			}
			f, wrong := k.judgeRow(check, row)
			if wrong && !yield(f, nil) {
				return
			}
		}
	}
}

// queryKeys reads the key and By of every document, as rows {_id, key, by}.
func (k *Keys) queryKeys(filter bson.D) *model.Aggregate[bson.Raw] {
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

// judgeRow returns the finding of a row of queryKeys, if its document isn't in its part. A document without a key is
// right: it belongs to no value.
func (k *Keys) judgeRow(check string, row bson.Raw) (f model.Finding, wrong bool) {
	d := misplacedDoc{ID: row.Lookup("_id"), Key: row.Lookup("key"), By: row.Lookup("by")}
	text, isText := d.Key.StringValueOK()
	value, part := splitKey(text)
	problem := ""
	number, err := k.numberDocument(d)
	switch {
	case d.Key.Type == 0 || d.Key.Type == bson.TypeNull:
		return f, false
	case !isText || value == "":
		problem = fmt.Sprintf("%s isn't a value with a part", model.Shell(d.Key))
	case err != nil:
		problem = fmt.Sprintf("has no %s, which chooses its part", k.spec.By)
	case k.spec.By == "" && part >= 0 && part < k.spec.Parts:
		// Any part is right without By, because a caller may have chosen it.
		return f, false
	default:
		if d.Want = formatKey(value, choosePart(number, k.spec.Parts)); d.Want == text {
			return f, false
		}
		problem = fmt.Sprintf("is under %s, but belongs under %s", model.Shell(d.Key), model.Shell(d.Want))
	}
	detail := bson.Raw(core.MustRawValue(d).Value)
	return model.Finding{Check: check, Collection: k.docs.Name(), ID: d.ID, Problem: problem, Detail: detail}, true
}

// numberDocument returns the number that chooses a document's part: the hash of By. Without By it is the hash of the
// _id, so that every run of the repair chooses the same part.
func (k *Keys) numberDocument(d misplacedDoc) (uint64, error) {
	if k.spec.By == "" {
		return k.hashRaw(d.ID)
	}
	return k.hashRaw(d.By)
}

// planMoves is the check's Mend: it moves documents into their parts, one update for each. It skips a document whose
// part is unknown.
func (k *Keys) planMoves(rows []misplacedDoc) model.Plan {
	var steps []model.Step
	for i, d := range rows {
		switch {
		case d.ID.Type == 0:
			return model.NewPlan(found.RefuseFinding(k.docs.Name(), i, "_id"))
		case d.Want != "":
			steps = append(steps, k.planMove(d))
		}
	}
	return commands.PlanLeaving("some documents moved; the next check finds the others", steps...)
}

// planMove stores the right key in a document whose key and By are still as the check read them:
//
//	{_id: "a", day: "d#999", user: "u"}  {$set: {day: "d#000"}}
//
// An _id never changes, so a By of _id isn't compared again.
func (k *Keys) planMove(d misplacedDoc) model.Write {
	// The values are copied, because they point into the caller's findings.
	asRead := bson.D{{Key: "_id", Value: mql.Eq(bsonval.Clone(d.ID))},
		{Key: k.path, Value: mql.Eq(bsonval.Clone(d.Key))}}
	if k.spec.By != "" && k.spec.By != "_id" {
		asRead = append(asRead, mql.E(k.spec.By, mql.Eq(bsonval.Clone(d.By))))
	}
	update := &mongo.UpdateOneModel{Filter: asRead, Update: mql.Set(mql.E(k.path, d.Want))}
	return model.Write{Collection: k.docs.Name(), Index: model.IDIndex, Idempotent: true, Model: update}
}
