package engine

// This file opens tailable cursors, by find with tailable: true on a capped collection
// (https://www.mongodb.com/docs/manual/core/tailable-cursors/). cursor.Tail reads the documents, cmd_getmore.go waits.

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/args"
	"github.com/docmodel/docmodel/mongotest/internal/engine/cursor"
	"github.com/docmodel/docmodel/mongotest/internal/engine/plan"
)

// findTail opens a tailable cursor for a find command. await is its awaitData: a getMore waits for a document. The
// cursor of a collection that doesn't exist is closed at once.
func findTail(r *request, f *finder, await bool) (reply, error) {
	q := f.plan.Query()
	c := r.state().Collection(f.ns)
	switch {
	case r.txn != nil:
		return nil, mongoerr.New(mongoerr.OperationNotSupportedInTransaction,
			"tailable cursors cannot be used in a transaction")
	case r.snapshot.asked:
		return nil, mongoerr.New(mongoerr.InvalidOptions,
			"tailable cursors cannot be used with a 'snapshot' read concern level")
	case c == nil:
		return r.openSource(f.ns, cursor.NewDocuments(nil), f.batch, false)
	case c.Capped == nil:
		return nil, mongoerr.New(mongoerr.BadValue,
			"error processing query: ns=%s: tailable cursor requested on non capped collection", f.ns)
	}
	t := cursor.NewTail(r.engine.store, c, q, f.Shape, r.watch)
	return r.openCursor(&cursor.Cursor{Namespace: f.ns, Source: t, Tail: t, Await: await}, f.batch, false)
}

// checkTail refuses options that a tailable cursor can't have. readFind calls it while it reads, and so it first
// returns an earlier error.
func checkTail(a *args.Reader, tailable, await, single bool, q plan.Query) error {
	// {$natural: 1} as a hint or a sort changes nothing: a tailable cursor reads in this order.
	natural := bson.D{{Key: "$natural", Value: int32(1)}}
	switch {
	case a.Err != nil:
		return a.Err
	case await && !tailable:
		return mongoerr.New(mongoerr.FailedToParse, "Cannot set 'awaitData' without also setting 'tailable'")
	case !tailable:
		return nil
	// The order of insertion is the only one in which later documents come last.
	case len(q.Sort) > 0 &&
		(len(q.Sort) != 1 || q.Sort[0].Key != "$natural" || bsonval.Compare(q.Sort[0].Value, int32(1)) != 0):
		return mongoerr.New(mongoerr.BadValue, "cannot use tailable option with a sort other than {$natural: 1}")
	case single:
		return mongoerr.New(mongoerr.BadValue, "cannot use tailable option with the 'singleBatch' option")
	case q.Hint != nil && !bsonval.Equal(q.Hint, natural) && !bsonval.Equal(q.Hint, bson.D{}):
		return mongoerr.New(mongoerr.NotImplemented, "a tailable cursor takes no hint but {$natural: 1}")
	}
	return nil
}
