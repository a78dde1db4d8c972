package model

import (
	"context"

	"github.com/docmodel/docmodel/internal/core"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// The two seams between commands and what changes them before they are sent: scopes and models
// ([rewriter]), shard keys ([router]). Commands know only these interfaces.

// A rewriter changes what is sent on a database: it is the database's scopes, the outermost
// first, and the model of [Model.On] (type scopes). Commands know it by this interface alone;
// only MoveKeys, isRouted and streams ask [scopesOf]. It refuses a command by the Err of
// the command.
type rewriter interface {
	query(q *Query)
	aggregation(a *Aggregation)
	findAndModify(m *FindAndModify)

	// write rewrites one write, and plan all steps of a plan.
	write(w Write) Write
	plan(p Plan) Plan

	// indexes also returns the collections in which the scopes compare a tenant.
	indexes(set IndexSet) (IndexSet, []use)
	validation(v Validation) Validation

	// scoping returns what the scopes do to the documents of a collection.
	scoping(collection string) core.Scoping

	// filterFields returns the fields that the scopes add to filters.
	filterFields() []string

	// router returns a new router for one operation, or nil without a sharded collection.
	router() router
}

// rewriterOf returns the rewriter of a database, or nil.
func rewriterOf(db DB) rewriter {
	if h, ok := core.EverywhereOf(db).(*handle); ok && h != nil {
		return h.rewrites
	}
	return nil // a nil handle is refused where the command would be sent
}

// A router adds the shard keys of a model to the filters of one operation (type routes). It
// knows the keys of the documents that the operation has read.
type router interface {
	// filter returns a read's filter with the known shard key.
	filter(collection string, filter bson.D, upsert bool) bson.D

	// projection adds the fields of the shard key to the projection of a read that decides a
	// write, so that the write can use them.
	projection(collection string, projection bson.D) bson.D

	// findAndModify adds the known shard key to a filter. An upsert needs the whole key.
	findAndModify(m *FindAndModify)

	// plan returns the plan with shard keys in its filters.
	plan(p Plan) Plan

	// saw remembers the key of a document that was read.
	saw(collection string, doc bson.Raw)

	// moves returns how often a document had a changed key.
	moves() int
}

type routerKey struct{}

// routerOf returns the router of an operation, or nil.
func routerOf(ctx context.Context) router {
	if ctx == nil {
		return nil
	}
	r, _ := ctx.Value(routerKey{}).(router)
	return r
}

// withRouter returns a context that remembers shard keys, if the database belongs to a
// model with sharded collections.
func withRouter(ctx context.Context, db DB) context.Context {
	if ctx == nil || routerOf(ctx) != nil {
		return ctx
	}
	if w := rewriterOf(db); w != nil {
		if r := w.router(); r != nil {
			return context.WithValue(ctx, routerKey{}, r)
		}
	}
	return ctx
}

// routed returns a read's filter with the known shard key.
func routed(ctx context.Context, db DB, collection string, filter bson.D) bson.D {
	if r := routerOf(withRouter(ctx, db)); r != nil {
		return r.filter(collection, filter, false)
	}
	return filter
}
