package model

import (
	"context"
	"iter"
	"reflect"
	"time"

	"github.com/docmodel/docmodel/internal/core"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// read is a query or pipeline that is ready to run. Its code works on pointers to
// documents and isn't generic, so it is compiled once. Only the short function each is
// compiled for each document type.
type read struct {
	ctx        context.Context
	db         DB
	kind       string // the operation's kind, for an observer
	index      string // the index of the read
	options    ReadOptions
	codec      *core.Codec
	refused    error
	collection string
	filter     bson.D
	open       func(context.Context) (*mongo.Cursor, error)
	then       []func(context.Context) (*mongo.Cursor, error) // further cursors, read after the first
	partial    bool                                           // a projection excludes fields
	keys       bson.D                                         // the tenant that the _ids of a keyed collection carry
	used       []use
}

// run opens the cursors one after another, and calls visit for each document until visit
// returns false.
func (r *read) run(ctx context.Context, visit func(*mongo.Cursor) (bool, error)) error {
	if r.refused != nil {
		return r.refused
	}
	ctx, cancel := r.options.context(ctx)
	defer cancel()
	if err := checkCollations(ctx, r.db, r.used); err != nil {
		return err
	}
	more, err := r.drain(ctx, r.open, visit)
	for i := 0; i < len(r.then) && more && err == nil; i++ {
		observationOf(ctx).sent(1)
		more, err = r.drain(ctx, r.then[i], visit)
	}
	return err
}

// drain reads one cursor. It returns what visit returned last.
func (r *read) drain(
	ctx context.Context, open func(context.Context) (*mongo.Cursor, error), visit func(*mongo.Cursor) (bool, error),
) (more bool, err error) {
	cur, err := open(ctx)
	if err != nil {
		return false, err
	}
	op := observationOf(ctx)
	defer func() {
		op.closed(cur)
		ctx, cancel := outlive(ctx, time.Second)
		defer cancel()
		_ = cur.Close(ctx)
	}()
	op.answered(cur)
	router := routerOf(ctx)
	for op.next(ctx, cur) {
		if router != nil && r.kind == "find" {
			router.saw(r.collection, cur.Current)
		}
		if len(r.keys) > 0 {
			cur.Current = core.WithoutTenant(cur.Current, r.keys)
		}
		if more, err := visit(cur); err != nil || !more {
			return false, err
		}
	}
	return true, cur.Err()
}

// begin begins the operation for an observer.
func (r *read) begin() (context.Context, *observation) {
	ctx, op := begin(r.ctx, r.db, r.kind, "", r.collection, 0)
	op.reads(r.index)
	return ctx, op
}

// decode decodes the cursor's document. Raw documents are copied, because the cursor
// reuses its buffer.
func (r *read) decode(cur *mongo.Cursor, into any) error {
	if raw, ok := into.(*bson.Raw); ok {
		*raw = append(bson.Raw(nil), cur.Current...)
		return nil
	}
	if r.codec.DecodesWhole(into) {
		if r.partial {
			return &ValueError{
				Collection: r.collection, Field: "Projection",
				Reason: "would leave fields out, but the type needs whole documents: use Project",
			}
		}
		return r.codec.Decode(cur.Current, into)
	}
	if r.codec == nil {
		// without a codec the driver's defaults apply, and no decoder is made for each document
		return bson.Unmarshal(cur.Current, into)
	}
	return cur.Decode(into)
}

// all reads every document into the slice at docs. After an error the slice is nil.
func (r *read) all(docs any) error {
	ctx, op := r.begin()
	defer op.end()
	out := reflect.ValueOf(docs).Elem()
	err := r.run(ctx, func(cur *mongo.Cursor) (bool, error) {
		n := out.Len()
		if n == out.Cap() {
			out.Grow(1)
		}
		out.SetLen(n + 1)
		return true, r.decode(cur, out.Index(n).Addr().Interface())
	})
	if err != nil {
		out.SetZero()
	}
	op.settle(err)
	return err
}

// one reads the first document into the value at doc. After an error the value is zero.
func (r *read) one(doc any) error {
	ctx, op := r.begin()
	defer op.end()
	err := r.first(ctx, doc)
	op.settle(err)
	return err
}

func (r *read) first(ctx context.Context, doc any) error {
	found := false
	err := r.run(ctx, func(cur *mongo.Cursor) (bool, error) {
		found = true
		return false, r.decode(cur, doc)
	})
	if err == nil && !found {
		err = notFound(mongo.ErrNoDocuments, r.collection, r.filter)
	}
	if err != nil {
		reflect.ValueOf(doc).Elem().SetZero()
	}
	return err
}

// each reads the documents one by one into the value at doc. It calls yield for each
// document until yield returns false.
func (r *read) each(doc any, yield func(error) bool) {
	ctx, op := r.begin()
	defer op.end()
	held := reflect.ValueOf(doc).Elem()
	err := r.run(ctx, func(cur *mongo.Cursor) (bool, error) {
		held.SetZero()
		if err := r.decode(cur, doc); err != nil {
			return false, err
		}
		return yield(nil), nil
	})
	op.settle(err)
	if err != nil {
		held.SetZero()
		yield(err)
	}
}

//go:noinline
func each[R any](r *read) iter.Seq2[R, error] {
	return func(yield func(R, error) bool) {
		var doc R
		r.each(&doc, func(err error) bool { return yield(doc, err) })
	}
}

// context applies MaxTime.
func (o ReadOptions) context(ctx context.Context) (context.Context, context.CancelFunc) {
	if o.MaxTime > 0 {
		return context.WithTimeout(ctx, o.MaxTime)
	}
	return ctx, func() {}
}
