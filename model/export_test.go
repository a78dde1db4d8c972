package model

import (
	"context"
	"reflect"
)

// Scoped is a value as it is sent under a scope: a step, a plan, a query, a pipeline or a findAndModify.
func Scoped[T any](s Scope, v T) T {
	own, err := s.compiled()
	if err != nil {
		panic(err)
	}
	switch step := any(v).(type) {
	case Plan:
		return any(own.plan(step)).(T)
	case Write:
		return any(own.write(step)).(T)
	case MergeInto:
		return any(own.merge(step)).(T)
	}
	next := reflect.New(reflect.TypeOf(v).Elem())
	next.Elem().Set(reflect.ValueOf(v).Elem())
	next.Interface().(interface{ hold(*scope) }).hold(own)
	return next.Interface().(T)
}

func (q *Query) hold(s *scope)         { s.query(q) }
func (a *Aggregation) hold(s *scope)   { s.aggregation(a) }
func (m *FindAndModify) hold(s *scope) { s.findAndModify(m) }

// Unobserved does for an operation all that is done for its observers.
func Unobserved(ctx context.Context, db DB) {
	ctx, op := begin(ctx, db, "plan", "", "", 0)
	defer op.end()
	op.priced(Cost{})
	op.reads("")
	op.tried()
	observationOf(ctx).sent(1)
	op.wrote(BatchResult{})
	op.returned(1)
	op.beginTx().ended(false)
	op.ran(Result{}, nil)
}

// StoredPlan stores a plan as a lease's intent does, and reads it again.
func StoredPlan(p Plan) (Plan, error) {
	data, err := encodePlan(p)
	if err != nil {
		return p, err
	}
	return decodePlan(data)
}

// Apart returns the database of a transaction without bulkWrite for several collections.
func Apart(db DB) DB {
	h := handleOf(db)
	h.Together = false
	return h
}
