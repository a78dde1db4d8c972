package model

import (
	"cmp"

	"github.com/docmodel/docmodel/internal/bsondoc"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/keyed"
)

// query adds the scope's filter.
func (s *scope) query(q *Query) {
	if q.Err = cmp.Or(q.Err, s.knows(q.Collection)); q.Err == nil && !q.stored {
		q.Err = s.admits(q.Collection, q.Keyed)
	}
	if !s.holds(q.Collection) || q.Err != nil {
		return
	}
	q.Err = cmp.Or(s.allows(q.Collection, q.Filter), nothingHidden(q.Collection, q.Projection),
		nothingHidden(q.Collection, q.Options.Let))
	if q.Err == nil && !q.stored && s.keys(q.Collection, q.Keyed) {
		k := keyed.Keyer{Tenant: s.tenant, Before: q.keys}
		q.Filter, q.Sort, q.Projection = k.Filter(q.Filter), k.Paths(q.Sort), k.Projection(q.Projection)
		q.keys = core.JoinTenants(q.keys, s.tenant)
	}
	narrow(q, s.exactly(q.Options.Collation, s.shown(q.Deleted)))
	q.used = s.withUse(q.used, q.Collection)
}

// aggregation adds the scope's filter for every collection that the pipeline reads.
func (s *scope) aggregation(a *Aggregation) {
	pipeline, err := s.collect(&a.used).withKeyed(a.Keyed).matchExactly(a.Options.Collation).
		pipeline(a.Collection, a.Pipeline)
	if a.Options.Collation == nil {
		a.used = alsoFirst(a.used, a.Collection)
	}
	a.Pipeline = pipeline
	a.Err = cmp.Or(a.Err, err, nothingHidden(a.Collection, a.Options.Let))
}

// findAndModify adds the scope's filter and fields. It refuses a Remove if the scope only
// marks documents as deleted.
func (s *scope) findAndModify(m *FindAndModify) {
	if m.Err == nil {
		m.Err = cmp.Or(s.knows(m.Collection), s.passingModify(m), s.admits(m.Collection, m.Keyed))
	}
	if !s.holds(m.Collection) || m.Err != nil || m.Filter == nil { // checkModify refuses a nil filter
		return
	}
	if m.Remove && s.mark != nil {
		m.Err = &ConflictError{
			Collection: m.Collection,
			Reason:     "can't run under a scope that marks deletions: use an Update",
		}
		return
	}
	if m.Err = cmp.Or(s.allows(m.Collection, m.Filter), nothingHidden(m.Collection, m.Projection),
		nothingHidden(m.Collection, m.Options.Let)); m.Err != nil {
		return
	}
	if s.keys(m.Collection, m.Keyed) {
		k := keyed.Keyer{Tenant: s.tenant, Before: m.keys}
		m.Filter, m.Sort, m.Projection, m.Update = k.Filter(m.Filter), k.Paths(m.Sort),
			k.Projection(m.Projection), k.Update(m.Update)
		m.keys = core.JoinTenants(m.keys, s.tenant)
		if m.Err = keyed.CheckUpsertID(m.Collection, m.Filter, m.Update, m.Upsert); m.Err != nil {
			return
		}
	}
	m.Filter = orEmpty(bsondoc.JoinFilters(m.Filter, s.exactly(m.Options.Collation, s.filter)))
	m.used = s.withUse(m.used, m.Collection)
	if !m.Remove {
		m.Update, m.Err = s.update(m.Collection, m.Update, m.Upsert)
	}
}
