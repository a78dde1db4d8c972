package model

import (
	"context"
	"slices"

	"github.com/docmodel/docmodel/internal/core"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A handle is a database with everything that the commands on it are subject to.
type handle struct {
	core.HandleSettings
	rewrites  rewriter // nil without scopes
	observers []Observer
}

// handleOf returns a new handle with everything that db has. Its Err is the result of
// [core.CheckDB].
func handleOf(db DB) *handle {
	own := &handle{}
	switch h := core.EverywhereOf(db).(type) {
	case *handle:
		if h != nil {
			*own = *h
			own.observers = slices.Clip(h.observers)
		}
	case nil:
		own.Database, _ = db.(*mongo.Database)
	default:
		if s := h.Settings(); s != nil {
			own.HandleSettings = *s
		}
	}
	own.Err = core.CheckDB(db)
	return own
}

// Name returns the database's name.
func (h *handle) Name() string {
	if h == nil || h.Database == nil {
		return ""
	}
	return h.Database.Name()
}

// Client returns the database's client.
func (h *handle) Client() *mongo.Client {
	if h == nil || h.Database == nil {
		return nil
	}
	return h.Database.Client()
}

// bare returns the database without scopes and transactions. Use it for the library's
// internal documents, and for writes that already have the scopes applied.
func bare(db DB) DB {
	if rewriterOf(db) == nil && !core.Transacts(db) {
		return db
	}
	h := handleOf(db)
	h.rewrites, h.Scoped, h.Tx = nil, false, false
	return h
}

// withoutTx returns the database without automatic transactions.
func withoutTx(db DB) DB {
	if !core.Transacts(db) {
		return db
	}
	h := handleOf(db)
	h.Tx = false
	return h
}

// tenantName returns the tenant's own name of an internal document, for example a place
// or a checkpoint.
func tenantName(db DB, name string) string {
	if t := core.Tenant(db); t != "" {
		return name + " " + t
	}
	return name
}

// tenantID is [tenantName] for an _id of any type.
func tenantID(db DB, id any) any {
	t := core.Tenant(db)
	if t == "" {
		return id
	}
	if name, ok := id.(string); ok {
		return tenantName(db, name)
	}
	return bson.D{{Key: "of", Value: id}, {Key: "tenant", Value: t}}
}

// Settings returns the settings of the handle: see [core.Handle].
func (h *handle) Settings() *core.HandleSettings {
	if h == nil {
		return nil
	}
	return &h.HandleSettings
}

// Scoping returns what the scopes do to the documents of a collection.
func (h *handle) Scoping(collection string) core.Scoping {
	if h.rewrites == nil {
		return core.Scoping{}
	}
	return h.rewrites.scoping(collection)
}

// CheckTenantNames refuses a collection of the library's own documents if their names
// carry a string tenant and the collection's default collation isn't simple.
func (h *handle) CheckTenantNames(ctx context.Context, collection string) error {
	if h.TextTenant == "" {
		return nil
	}
	return checkCollations(ctx, h, []use{{collection, h.TextTenant}})
}

// UnderScopes returns a query or a write as the handle sends it: see [core.Handle].
func (h *handle) UnderScopes(query any) (scoped any, fields []string, ok bool) {
	if h.rewrites != nil {
		fields = h.rewrites.filterFields()
	}
	switch q := query.(type) {
	case Write:
		if h.rewrites != nil {
			q = h.rewrites.write(q)
		}
		return q, fields, true
	case scopable:
		return q.rewriteFor(h), fields, true
	}
	return query, nil, false
}

// scopable is a query that scopes can be applied to.
type scopable interface {
	rewriteFor(db DB) interface{ Command() bson.D }
}
