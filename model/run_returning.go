package model

import (
	"context"
	"errors"

	"github.com/docmodel/docmodel/internal/core"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// sendReturning sends a write that returns its document.
func (r *runner) sendReturning(ctx context.Context, b batch, w Write) error {
	coll := collectionOf(ctx, r.db, nil, b.collection, r.plan.Options.collectionOptions())
	res := &mongo.BulkWriteResult{Acknowledged: true}
	var found *mongo.SingleResult
	comment := ModifyOptions{Comment: r.plan.Options.Comment}
	switch m := w.Model.(type) {
	case *mongo.DeleteOneModel:
		found, res.DeletedCount = coll.FindOneAndDelete(ctx, m.Filter, withOptions(options.FindOneAndDelete(), comment)), 1
	case *mongo.UpdateOneModel:
		o := withOptions(options.FindOneAndUpdate(), comment)
		if !w.returning.before {
			o.SetReturnDocument(options.After)
		}
		found, res.MatchedCount, res.ModifiedCount = coll.FindOneAndUpdate(ctx, m.Filter, m.Update, o), 1, 1
	}
	doc, err := found.Raw()
	switch {
	case errors.Is(err, mongo.ErrNoDocuments):
		res = &mongo.BulkWriteResult{Acknowledged: true}
	case err == nil:
		w.returning.doc = core.WithoutTenant(doc, w.scoping().keys)
		observationOf(ctx).returned(1)
	default:
		if !wroteNothing(ctx, err) {
			r.result.mark(b.first, b.count(), Unknown)
		}
		if mongo.IsDuplicateKeyError(err) {
			return r.because(ctx, b.first, w, err)
		}
		return &StepError{Step: b.first, Err: err}
	}
	return r.answered(ctx, b, res)
}
