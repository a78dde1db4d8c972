package model

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Holding returns the query of the parents that have an element of the key.
//
// Cost: one command, served by the first of [Embedded.Indexes], or by an index that begins with it, for which [Indexes] drops it.
func (e *Embedded[D, K, E]) Holding(key any) (f Find[D]) {
	e.m.holding(&f.Query, key)
	return f
}

// Having returns the query of the parents that have one element which fulfils all of the conditions: {city: "Anytown", cc:
// "USA"}. Names are those of an element; $and, $or and $nor of such conditions may stand beside them. It is $elemMatch: dotted
// paths in a filter of one's own ({"addresses.city": …, "addresses.cc": …}) are also fulfilled by two elements together.
//
// Cost: one command, served by an index of [Embedded.Indexes] whose first field has a condition, if there is one; else it reads
// every parent.
func (e *Embedded[D, K, E]) Having(conditions bson.D) (f Find[D]) {
	e.m.having(&f.Query, conditions)
	return f
}

// With returns the query of one parent with the element of the key alone in its array, and its _id: the positional projection.
// Other fields of D are not read: don't save what it returns.
//
// Cost: one command, one document, found by _id.
func (e *Embedded[D, K, E]) With(parent K, key any) (f Find[D]) {
	e.m.with(&f.Query, parent, key)
	return f
}

// Element returns the query of one element by its parent and key; None is [ErrNotFound].
//
// Cost: one command, one document, found by _id.
func (e *Embedded[D, K, E]) Element(parent K, key any) (a Aggregate[ElementOf[K, E]]) {
	e.m.element(&a.Aggregation, parent, key)
	return a
}

// ElementsOf returns the query of one parent's elements that fulfil the conditions of [Embedded.Having], in an order by fields of
// theirs. Nil conditions are fulfilled by all, and a nil order is that of the array.
//
// Cost: one command, one document, found by _id.
func (e *Embedded[D, K, E]) ElementsOf(parent K, conditions, order bson.D) (a Aggregate[ElementOf[K, E]]) {
	byID, err := e.m.byParent(parent)
	e.m.list(&a.Aggregation, byID, conditions, order)
	if a.Index = IDIndex; err != nil {
		a.Err = err
	}
	return a
}

// Elements returns the query of the elements of all parents that fulfil the conditions of [Embedded.Having], each with its
// parent's _id, in an order by fields of theirs: the tasks that are due tomorrow, by time. Equals follow their parents' _ids, and
// their places there; nil conditions are fulfilled by all.
//
// Cost: one command. The server reads whole each parent that has such an element, by an index of the spec whose first field has a
// condition ({due: 1}), else every parent there is; takes all of them apart; and sorts in memory, for no index has the elements
// in their order. Where that is asked often, elements are better documents of their own.
func (e *Embedded[D, K, E]) Elements(conditions, order bson.D) (a Aggregate[ElementOf[K, E]]) {
	e.m.list(&a.Aggregation, nil, conditions, order)
	return a
}

//go:noinline
func (m *embedding) holding(q *Query, key any) {
	m.decl.query(q, nil)
	k, err := m.elementKey(key)
	if q.Index, q.Err = m.serving(bson.D{{Key: m.key}}), err; err == nil {
		q.Filter = m.holds(k)
	}
}

//go:noinline
func (m *embedding) having(q *Query, cond bson.D) {
	m.decl.query(q, nil)
	c, err := m.decl.conditions(m.path, cond)
	if err == nil && len(c) == 0 {
		err = m.refused(m.path, nil, "no condition was given")
	}
	if q.Err = err; err == nil {
		q.Filter, q.Index = m.matching(c), m.serving(c)
	}
}

// matching is the condition that one element fulfils all others.
func (m *embedding) matching(c bson.D) bson.D {
	return bson.D{{Key: m.path, Value: bson.D{{Key: "$elemMatch", Value: c}}}}
}

//go:noinline
func (m *embedding) with(q *Query, parent, key any) {
	m.decl.queryByID(q, parent)
	k, err := m.elementKey(key)
	if q.Err == nil {
		q.Err = err
	}
	if q.Err == nil {
		q.Filter = And(q.Filter, m.matching(bson.D{{Key: m.key, Value: Eq(k)}}))
		q.Projection = bson.D{{Key: m.path + ".$", Value: 1}}
	}
}

//go:noinline
func (m *embedding) element(a *Aggregation, parent, key any) {
	byID, err := m.byParent(parent)
	k, keyErr := m.elementKey(key)
	if err == nil {
		err = keyErr
	}
	m.list(a, byID, bson.D{{Key: m.key, Value: Eq(k)}}, nil)
	if a.Index = IDIndex; err != nil {
		a.Err = err
	}
}

// list takes arrays apart: those of parents that match, in an order by fields of the elements.
//
//go:noinline
func (m *embedding) list(a *Aggregation, parents, cond, order bson.D) {
	m.decl.aggregation(a, nil)
	c, err := m.decl.conditions(m.path, cond)
	if err != nil {
		a.Err = err
		return
	}
	sort, err := m.order(order)
	if err != nil {
		a.Err = err
		return
	}
	first := slices.Clone(parents)
	if len(c) > 0 {
		first = append(first, m.matching(c)...)
	}
	if len(first) > 0 {
		a.Pipeline = mongo.Pipeline{{{Key: "$match", Value: first}}}
	}
	at, place := any(1), "at"
	if Overlap("at", m.path) { // the index would be written over the array
		at, place = "$place", "place"
	}
	a.Pipeline = append(a.Pipeline, bson.D{{Key: "$unwind", Value: bson.D{{Key: "path", Value: "$" + m.path}, {Key: "includeArrayIndex", Value: place}}}})
	if len(c) > 0 {
		a.Pipeline = append(a.Pipeline, bson.D{{Key: "$match", Value: prefixed(m.path, c)}})
	}
	a.Pipeline = append(a.Pipeline,
		bson.D{{Key: "$project", Value: bson.D{
			{Key: "_id", Value: 0}, {Key: "parent", Value: "$_id"}, {Key: "at", Value: at}, {Key: "element", Value: "$" + m.path},
		}}},
		bson.D{{Key: "$sort", Value: sort}},
	)
	a.Index = m.serving(c)
}

// order is a sort by fields of the elements, made total.
func (m *embedding) order(by bson.D) (bson.D, error) {
	out := make(bson.D, 0, len(by)+2)
	for i, e := range by {
		if _, err := m.decl.field(m.path + "." + e.Key); err != nil {
			return nil, m.refused(m.path, e.Key, err.Error())
		}
		if _, _, ok := directed(e.Value); !ok || hasKey(by[:i], e.Key) {
			return nil, m.refused(m.path+"."+e.Key, nil, "is sorted by once, by 1 or -1")
		}
		out = append(out, bson.E{Key: "element." + e.Key, Value: e.Value})
	}
	return append(out, bson.E{Key: "parent", Value: 1}, bson.E{Key: "at", Value: 1}), nil
}
