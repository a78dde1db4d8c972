package model

import (
	"context"

	"github.com/docmodel/docmodel/internal/core"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// How a findAndModify is run.

// Run runs the command. It returns [ErrNotFound] if no document matches. An upsert that
// inserts a document returns ErrNotFound too, unless [FindAndModify].After is set.
func (m *Modify[D]) Run(ctx context.Context, db DB) (D, error) {
	var doc D
	err := runModify(ctx, db, &m.FindAndModify, &doc)
	return doc, err
}

// scopedModify returns the findAndModify under the database's scopes.
func scopedModify(db DB, m *FindAndModify) *FindAndModify {
	own := *m
	if w := rewriterOf(db); w != nil {
		w.findAndModify(&own)
	}
	return &own
}

//go:noinline
func runModify(ctx context.Context, db DB, m *FindAndModify, doc any) error {
	ctx, op := begin(ctx, db, "modify", "", m.Collection, 0)
	defer op.end()
	op.priced(m.Cost())
	err := sendModify(ctx, db, m, doc)
	op.settle(err)
	return err
}

func sendModify(ctx context.Context, db DB, m *FindAndModify, doc any) error {
	if err := core.CheckRun(ctx, db); err != nil {
		return err
	}
	m = scopedModify(db, m)
	if r := routerOf(withRouter(ctx, db)); r != nil && m.Err == nil {
		r.findAndModify(m)
	}
	if err := checkModify(m); err != nil {
		return err
	}
	if err := checkCollations(ctx, db, m.used); err != nil {
		return err
	}
	coll := collectionOf(ctx, db, m.codec, m.Collection)
	var res *mongo.SingleResult
	if m.Remove {
		res = coll.FindOneAndDelete(ctx, orEmpty(m.Filter), withModifyOptions(options.FindOneAndDelete(), m))
	} else {
		res = coll.FindOneAndUpdate(ctx, orEmpty(m.Filter), m.Update, updateOptions(m))
	}
	observationOf(ctx).modified(m, res.Err())
	res = withoutKeys(res, m.keys, m.codec)
	if m.codec.DecodesWhole(doc) {
		raw, err := res.Raw()
		if err == nil {
			err = m.codec.Decode(raw, doc)
		}
		return notFound(err, m.Collection, m.Filter)
	}
	return notFound(res.Decode(doc), m.Collection, m.Filter)
}

// withoutKeys returns the result with the _id without the tenant.
func withoutKeys(res *mongo.SingleResult, tenant bson.D, c *core.Codec) *mongo.SingleResult {
	if len(tenant) == 0 {
		return res
	}
	raw, err := res.Raw()
	if err != nil {
		return res
	}
	return mongo.NewSingleResultFromDocument(core.WithoutTenant(raw, tenant), nil, c.Registry())
}

// A modifyBuilder builds the driver's options of a findAndModify command.
type modifyBuilder[B any] interface {
	optionsBuilder[B]
	SetSort(any) B
	SetProjection(any) B
}

// withModifyOptions is withOptions for findAndModify commands.
func withModifyOptions[B modifyBuilder[B]](b B, m *FindAndModify) B {
	if len(m.Sort) > 0 {
		b.SetSort(m.Sort)
	}
	if len(m.Projection) > 0 {
		b.SetProjection(m.Projection)
	}
	return withOptions(b, m.Options)
}

func updateOptions(m *FindAndModify) *options.FindOneAndUpdateOptionsBuilder {
	o := withModifyOptions(options.FindOneAndUpdate(), m)
	if m.Upsert {
		o.SetUpsert(true)
	}
	if m.After {
		o.SetReturnDocument(options.After)
	}
	if len(m.ArrayFilters) > 0 {
		o.SetArrayFilters(m.ArrayFilters)
	}
	return o
}

func (m *FindAndModify) rewriteFor(db DB) interface{ Command() bson.D } { return scopedModify(db, m) }
