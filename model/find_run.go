package model

import (
	"context"
	"iter"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// All runs the query and returns every document. None is not an error.
func (f Find[D]) All(ctx context.Context, db *mongo.Database) ([]D, error) {
	return collect(f.Each(ctx, db))
}

// Each runs the query and yields its documents batch by batch, in bounded memory. An error ends the sequence. Each range
// over it runs the query anew. The cursor is closed when the loop ends, early too.
func (f Find[D]) Each(ctx context.Context, db *mongo.Database) iter.Seq2[D, error] {
	return each[D](ctx, f.Options, f.check(), func(ctx context.Context) (*mongo.Cursor, error) {
		o := options.Find()
		if len(f.Projection) > 0 {
			o.SetProjection(f.Projection)
		}
		if len(f.Sort) > 0 {
			o.SetSort(f.Sort)
		}
		if f.Skip != 0 {
			o.SetSkip(f.Skip)
		}
		if f.Limit != 0 {
			o.SetLimit(f.Limit)
		}
		if f.Options.Hint != nil {
			o.SetHint(f.Options.Hint)
		}
		if f.Options.Collation != nil {
			o.SetCollation(f.Options.Collation)
		}
		if f.Options.Comment != nil {
			o.SetComment(f.Options.Comment)
		}
		if len(f.Options.Let) > 0 {
			o.SetLet(f.Options.Let)
		}
		if f.Options.BatchSize != 0 {
			o.SetBatchSize(f.Options.BatchSize)
		}
		if f.Options.AllowDiskUse {
			o.SetAllowDiskUse(true)
		}
		return f.codec.collection(db, f.Collection, f.Options.collectionOptions()).Find(ctx, orEmpty(f.Filter), o)
	})
}

func (f Find[D]) check() error {
	if f.Err == nil && f.Collection == "" {
		return errNoCollection("a query")
	}
	return f.Err
}

// One runs the query and returns its first document, or [ErrNotFound].
func (f Find[D]) One(ctx context.Context, db *mongo.Database) (D, error) {
	f.Limit = 1
	for d, err := range f.Each(ctx, db) {
		return d, err
	}
	var zero D
	return zero, notFound(mongo.ErrNoDocuments, f.Collection, f.Filter)
}

// Count counts what the query would return, Skip and Limit included, exactly: one command, which reads every matching
// index key or document. Sort and projection don't matter.
func (f Find[D]) Count(ctx context.Context, db *mongo.Database) (int64, error) {
	if err := f.check(); err != nil {
		return 0, err
	}
	ctx, cancel := f.Options.context(ctx)
	defer cancel()
	o := options.Count()
	if f.Skip != 0 {
		o.SetSkip(f.Skip)
	}
	if f.Limit != 0 {
		o.SetLimit(f.Limit)
	}
	if f.Options.Hint != nil {
		o.SetHint(f.Options.Hint)
	}
	if f.Options.Collation != nil {
		o.SetCollation(f.Options.Collation)
	}
	if f.Options.Comment != nil {
		o.SetComment(f.Options.Comment)
	}
	if len(f.Options.Let) > 0 {
		return 0, &ValueError{Collection: f.Collection, Field: "Let", Reason: "Count takes no variables"}
	}
	return f.codec.collection(db, f.Collection, f.Options.collectionOptions()).CountDocuments(ctx, orEmpty(f.Filter), o)
}

// context applies MaxTime.
func (o ReadOptions) context(ctx context.Context) (context.Context, context.CancelFunc) {
	if o.MaxTime > 0 {
		return context.WithTimeout(ctx, o.MaxTime)
	}
	return ctx, func() {}
}

// each is the one loop over a cursor.
func each[R any](ctx context.Context, o ReadOptions, refused error, open func(context.Context) (*mongo.Cursor, error)) iter.Seq2[R, error] {
	return func(yield func(R, error) bool) {
		var zero R
		if refused != nil {
			yield(zero, refused)
			return
		}
		ctx, cancel := o.context(ctx)
		defer cancel()
		cur, err := open(ctx)
		if err != nil {
			yield(zero, err)
			return
		}
		defer func() { _ = cur.Close(context.WithoutCancel(ctx)) }()
		for cur.Next(ctx) {
			var r R
			if err := decode(cur, &r); err != nil {
				yield(zero, err)
				return
			}
			if !yield(r, nil) {
				return
			}
		}
		if err := cur.Err(); err != nil {
			yield(zero, err)
		}
	}
}

// decode decodes the cursor's document; raw ones are copied, since the cursor reuses its buffer.
func decode[R any](cur *mongo.Cursor, r *R) error {
	if raw, ok := any(r).(*bson.Raw); ok {
		*raw = append(bson.Raw(nil), cur.Current...)
		return nil
	}
	return cur.Decode(r)
}

func collect[R any](seq iter.Seq2[R, error]) ([]R, error) {
	var out []R
	for r, err := range seq {
		if err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, nil
}
