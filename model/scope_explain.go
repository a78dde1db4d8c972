package model

import (
	"github.com/docmodel/docmodel/internal/core"
	"go.mongodb.org/mongo-driver/v2/bson"
)

func init() {
	core.UnderScopes = underScopes
	core.WithKeyIDs = func(filter, tenant bson.D) bson.D { return keyer{tenant: tenant}.filter(filter) }
}

// underScopes returns what is sent for a query or a write under the scopes of a database,
// and the fields that the scopes add to filters. Tests explain it. It returns false for a
// value that can't be scoped.
func underScopes(db core.DB, query any) (scoped any, fields []string, ok bool) {
	for _, s := range scopesOf(db) {
		for _, e := range s.filter {
			fields = append(fields, e.Key)
		}
	}
	switch q := query.(type) {
	case Write:
		for _, s := range scopesOf(db) {
			q = s.write(q)
		}
		return q, fields, true
	case scopable:
		return q.under(db), fields, true
	}
	return query, nil, false
}

// scopable is a query that scopes can be applied to.
type scopable interface {
	under(db DB) interface{ Command() bson.D }
}

func (q *Query) under(db DB) interface{ Command() bson.D } { return scopedQuery(db, q) }

func (a *Aggregation) under(db DB) interface{ Command() bson.D } { return scopedPipeline(db, a) }

func (m *FindAndModify) under(db DB) interface{ Command() bson.D } { return scopedModify(db, m) }
