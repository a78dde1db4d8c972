package embed

import (
	"slices"

	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Having returns the query of parents with an element that matches all conditions, such
// as {city: "Anytown", cc: "USA"}. Paths begin at the element. $and, $or and $nor are
// allowed.
//
// Cost: one command. An index serves it if the conditions contain the index's first
// field. Without an index, it reads all parents.
func (e *Embedded[D, K, E]) Having(conditions bson.D) (f *model.Find[D]) {
	f = e.docs.Find(nil)
	e.m.having(&f.Query, conditions)
	return f
}

// Elements returns the query of elements, each with its parent's _id. The parameters are:
//
//   - conditions: see [Embedded.Having]; nil matches all elements
//   - order: paths within an element to sort by, such as {due: 1}
//   - parents: the parents' _ids; nothing means all parents
//
// Cost: one command, which sorts in memory. Without parents, it reads all documents,
// unless the conditions contain an index's first field.
func (e *Embedded[D, K, E]) Elements(conditions, order bson.D, parents ...K) (a *model.Aggregate[ElementOf[K, E]]) {
	a = model.AggregateAs[ElementOf[K, E]](e.docs, nil)
	ids := make([]any, len(parents))
	for i, id := range parents {
		ids[i] = id
	}
	e.m.elementsOf(&a.Aggregation, ids, conditions, order)
	return a
}

//go:noinline
func (m *embedding) having(q *model.Query, cond bson.D) {
	c, err := conditions(m.docs, m.path, cond)
	if err == nil && len(c) == 0 {
		err = m.docs.Refuse(m.path, nil, "no condition was given: give at least one")
	}
	if q.Err = err; err == nil {
		q.Filter, q.Index = m.matching(c), m.serving(c)
	}
}

// matching is the condition that one element matches all conditions.
func (m *embedding) matching(c bson.D) bson.D {
	return bson.D{{Key: m.path, Value: bson.D{{Key: "$elemMatch", Value: c}}}}
}

//go:noinline
func (m *embedding) elementsOf(a *model.Aggregation, parents []any, cond, order bson.D) {
	var byID bson.D
	var err error
	switch len(parents) {
	case 0:
	case 1:
		byID, err = m.byParent(parents[0])
	default:
		ids := make(bson.A, len(parents))
		for i, id := range parents {
			if ids[i], err = m.docs.RawID("_id", id); err != nil {
				break
			}
		}
		byID = bson.D{{Key: "_id", Value: bson.D{{Key: "$in", Value: ids}}}}
	}
	if m.list(a, byID, cond, order); len(parents) > 0 {
		a.Index = model.IDIndex
	}
	if err != nil {
		a.Err = err
	}
}

// list unwinds the arrays of matching parents, ordered by fields of the elements.
//
//go:noinline
func (m *embedding) list(a *model.Aggregation, parents, cond, order bson.D) {
	c, err := conditions(m.docs, m.path, cond)
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
	if core.Overlap("at", m.path) { // the index would overwrite the array
		at, place = "$place", "place"
	}
	a.Pipeline = append(a.Pipeline, bson.D{{
		Key:   "$unwind",
		Value: bson.D{{Key: "path", Value: "$" + m.path}, {Key: "includeArrayIndex", Value: place}},
	}})
	if len(c) > 0 {
		a.Pipeline = append(a.Pipeline, bson.D{{Key: "$match", Value: prefixed(m.path, c)}})
	}
	a.Pipeline = append(a.Pipeline,
		bson.D{{Key: "$project", Value: bson.D{
			{Key: "_id", Value: 0}, {Key: "parent", Value: "$_id"}, {Key: "at", Value: at},
			{Key: "element", Value: "$" + m.path},
		}}},
		bson.D{{Key: "$sort", Value: sort}},
	)
	a.Index = m.serving(c)
}

// order is a sort by fields of the elements, made total by _id and position.
func (m *embedding) order(by bson.D) (bson.D, error) {
	out := make(bson.D, 0, len(by)+2)
	for i, e := range by {
		if _, err := m.docs.Lookup(m.path + "." + e.Key); err != nil {
			return nil, m.docs.Refuse(m.path, e.Key, err.Error())
		}
		if !ordersOnce(by, i) {
			return nil, m.docs.Refuse(m.path+"."+e.Key, nil,
				"is given twice or with a value other than 1 and -1: sort by each field once")
		}
		out = append(out, bson.E{Key: "element." + e.Key, Value: e.Value})
	}
	return append(out, bson.E{Key: "parent", Value: 1}, bson.E{Key: "at", Value: 1}), nil
}
