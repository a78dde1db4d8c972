package model

import (
	"cmp"
	"context"

	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/runctx"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// readOne returns a read of one document of the query.
//
//go:noinline
func readOne(ctx context.Context, db DB, q *Query) *read {
	own := *q
	own.Limit = 1
	return readQuery(ctx, db, &own)
}

// readQuery returns a read of the query.
//
//go:noinline
func readQuery(ctx context.Context, db DB, q *Query) *read {
	q = scopedQuery(db, q)
	return &read{
		ctx: ctx, db: db, kind: "find", index: q.Index, options: q.Options, codec: q.codec,
		refused: cmp.Or(checkQuery(q), core.CheckRun(ctx, db)), collection: q.Collection, filter: q.Filter,
		open: func(ctx context.Context) (*mongo.Cursor, error) {
			o := withReadOptions(options.Find(), q.Options)
			if len(q.Projection) > 0 {
				projection := q.Projection
				if r := routerOf(ctx); r != nil && runctx.Decides(ctx) {
					projection = r.projection(q.Collection, projection)
				}
				o.SetProjection(projection)
			}
			if len(q.Sort) > 0 {
				o.SetSort(q.Sort)
			}
			if q.Skip != 0 {
				o.SetSkip(q.Skip)
			}
			if q.Limit != 0 {
				o.SetLimit(q.Limit)
			}
			return collectionOf(ctx, db, q.codec, q.Collection, q.Options.collectionOptions()).
				Find(ctx, orEmpty(routed(ctx, db, q.Collection, q.Filter)), o)
		},
		then: nil, partial: len(q.Projection) > 0, keys: q.keys, used: q.used,
	}
}

// scopedQuery returns the query under the database's scopes.
func scopedQuery(db DB, q *Query) *Query {
	own := *q
	if w := rewriterOf(db); w != nil {
		w.query(&own)
	}
	return &own
}

func checkQuery(q *Query) error {
	switch {
	case q.Err != nil:
		return q.Err
	case q.Collection == "":
		return errNoCollection("a query")
	}
	return cmp.Or(core.CheckDepth(q.Filter), core.CheckDepth(q.Projection), core.CheckDepth(q.Sort),
		q.Options.shared().check())
}

// Count counts the documents that the query would return. Skip and Limit apply.
// Options.Let gives a [*ValueError]. Cost: one command, which reads every matching index
// key or document. Without an index, the command reads the whole collection. A Limit ends
// the command after Skip + Limit matches.
func (q *Query) Count(ctx context.Context, db DB) (int64, error) {
	ctx, op := begin(ctx, db, "count", "", q.Collection, 0)
	defer op.end()
	op.reads(q.Index)
	n, err := q.count(ctx, db)
	op.returned(int(min(n, 1)))
	op.settle(err)
	return n, err
}

func (q *Query) count(ctx context.Context, db DB) (int64, error) {
	q = scopedQuery(db, q)
	if err := cmp.Or(checkQuery(q), core.CheckRun(ctx, db)); err != nil {
		return 0, err
	}
	ctx, cancel := q.Options.context(ctx)
	defer cancel()
	o := withOptions(options.Count(), q.Options.shared())
	if q.Skip != 0 {
		o.SetSkip(q.Skip)
	}
	if q.Limit != 0 {
		o.SetLimit(q.Limit)
	}
	if len(q.Options.Let) > 0 {
		return 0, &ValueError{Collection: q.Collection, Field: "Let", Reason: "Count takes no variables"}
	}
	if err := checkCollations(ctx, db, q.used); err != nil {
		return 0, err
	}
	return collectionOf(ctx, db, q.codec, q.Collection, q.Options.collectionOptions()).
		CountDocuments(ctx, orEmpty(routed(ctx, db, q.Collection, q.Filter)), o)
}

func (q *Query) rewriteFor(db DB) interface{ Command() bson.D } { return scopedQuery(db, q) }
