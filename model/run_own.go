package model

import (
	"context"

	"github.com/docmodel/docmodel/internal/bsondoc"
	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/runctx"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/readpref"
)

// What is done if an insert of a plan meets its own document of an earlier, interrupted run.

// skipOwn handles a duplicate key error of an insert. It returns how many inserts, from
// this one on, were made before by the same write: an interrupted command leaves its
// first documents. It reads up to 1000 documents at once. In a transaction it returns the
// error, because the transaction is aborted and can't be queried.
func (r *runner) skipOwn(ctx context.Context, b batch, at int, dup error) (skipped int, _ error) {
	step := b.first + at
	w := r.plan.Steps[step].(Write)
	if runctx.InTransaction(ctx) {
		return 0, &StepError{Step: step, Err: dup}
	}
	if b.kind != insertKind || w.Done != nil || w.isNewIn(dup) {
		return 1, r.judge(ctx, step, w, dup)
	}
	models := b.models[at:min(at+1000, len(b.models))]
	ids := make(bson.A, 0, len(models))
	for i, m := range models {
		if shell(r.plan.Steps[step+i].(Write).scoping().tenant) != shell(w.scoping().tenant) {
			models = models[:i]
			break
		}
		if id := idOfInsert(m); id.Type != 0 {
			ids = append(ids, id)
		}
	}
	stored := map[string]bson.Raw{}
	find := &Find[bson.Raw]{Query{
		Collection: w.Collection,
		Filter: bsondoc.JoinFilters(bson.D{{Key: "_id", Value: bson.D{{Key: "$in", Value: ids}}}},
			w.scoping().tenant),
		Options: ReadOptions{ReadPreference: readpref.Primary()}, stored: true,
	}}
	for doc, err := range find.Each(ctx, unobserved(r.db)) {
		if err != nil {
			return 0, &StepError{Step: step, Err: err}
		}
		stored[bsonval.Key(doc.Lookup("_id"))] = doc
	}
	later := touchedAfter(r.plan.Steps[b.first+len(b.models):], w.Collection) // the batch itself only inserts
	for i, m := range models {
		doc, ok := stored[bsonval.Key(idOfInsert(m))]
		if i > 0 && !ok {
			return i, nil
		}
		mine := later.and(r.plan.Steps[step+i].(Write).changing())
		if !mine.same(doc, m.(*mongo.InsertOneModel).Document.(bson.Raw)) {
			if i > 0 {
				return i, nil // it is sent again and meets its own duplicate key
			}
			return 1, r.judge(ctx, step, w, dup)
		}
		r.result.Steps[step+i].Status = Already
	}
	return len(models), nil
}
