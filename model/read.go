package model

import (
	"context"
	"iter"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// read is a query or a pipeline, ready to run. What doesn't depend on the type of its documents is done here; all, each
// and one, which are compiled for every such type, are kept short, and out of line.
type read struct {
	ctx        context.Context
	options    ReadOptions
	codec      *codec
	refused    error
	collection string
	filter     bson.D
	open       func(context.Context) (*mongo.Cursor, error)
}

// run opens the cursor and calls visit at each document until that returns false.
func (r *read) run(visit func(*mongo.Cursor) (bool, error)) error {
	if r.refused != nil {
		return r.refused
	}
	ctx, cancel := r.options.context(r.ctx)
	defer cancel()
	cur, err := r.open(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = cur.Close(context.WithoutCancel(ctx)) }()
	for cur.Next(ctx) {
		if more, err := visit(cur); err != nil || !more {
			return err
		}
	}
	return cur.Err()
}

// decode decodes the cursor's document; raw ones are copied, since the cursor reuses its buffer.
func (r *read) decode(cur *mongo.Cursor, into any) error {
	if raw, ok := into.(*bson.Raw); ok {
		*raw = append(bson.Raw(nil), cur.Current...)
		return nil
	}
	if r.codec == nil {
		return bson.Unmarshal(cur.Current, into) // the driver's defaults, as the declaration says, without a decoder for each document
	}
	return cur.Decode(into)
}

//go:noinline
func all[R any](r *read) ([]R, error) {
	var out []R
	err := r.run(func(cur *mongo.Cursor) (bool, error) {
		var zero R
		out = append(out, zero)
		return true, r.decode(cur, &out[len(out)-1])
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

//go:noinline
func each[R any](r *read) iter.Seq2[R, error] {
	return func(yield func(R, error) bool) {
		var doc, zero R
		err := r.run(func(cur *mongo.Cursor) (bool, error) {
			doc = zero
			if err := r.decode(cur, &doc); err != nil {
				return false, err
			}
			return yield(doc, nil), nil
		})
		if err != nil {
			yield(zero, err)
		}
	}
}

//go:noinline
func one[R any](r *read) (R, error) {
	var doc, zero R
	found := false
	err := r.run(func(cur *mongo.Cursor) (bool, error) {
		found = true
		return false, r.decode(cur, &doc)
	})
	if err == nil && !found {
		err = notFound(mongo.ErrNoDocuments, r.collection, r.filter)
	}
	if err != nil {
		return zero, err
	}
	return doc, nil
}

// context applies MaxTime.
func (o ReadOptions) context(ctx context.Context) (context.Context, context.CancelFunc) {
	if o.MaxTime > 0 {
		return context.WithTimeout(ctx, o.MaxTime)
	}
	return ctx, func() {}
}
