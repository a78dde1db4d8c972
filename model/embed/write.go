package embed

import (
	"fmt"
	"math"
	"slices"

	"github.com/docmodel/docmodel/internal/bsondoc"
	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Add appends elements to a parent's array, all or none. If the array already contains
// all these elements, Add does nothing. If the array contains only some of the elements,
// or a different element with the same key, Add gives [model.ErrTaken]. An array that
// would exceed EmbeddedSpec.Max gives [model.ErrFull].
//
// Cost: see [Embedded].
func (e *Embedded[D, K, E]) Add(parent K, elements ...E) model.Write {
	list := make([]any, len(elements))
	for i := range elements {
		list[i] = elements[i]
	}
	return e.m.add(parent, list)
}

// Put stores the given element in place of the stored element with the same key. If there
// is none, Put adds the element at the end, and a full array gives [model.ErrFull]. Put
// is idempotent.
//
// Cost: see [Embedded]. [model.Merge] can't merge this write with other updates.
func (e *Embedded[D, K, E]) Put(parent K, element E) model.Write { return e.m.put(parent, element) }

// Replace stores the given element in place of the stored element with the same key. A
// missing element gives [ErrNoElement]. Replace overwrites changes by other clients. To
// write only some fields, use [Embedded.Update]. Replace is idempotent.
//
// Cost: see [Embedded].
func (e *Embedded[D, K, E]) Replace(parent K, element E) model.Write {
	return e.m.replace(parent, element)
}

// Update applies update operators to the element with this key: {$set: {city: "Anytown"},
// $inc: {visits: 1}}. Field names are paths within the element. A missing element gives
// [ErrNoElement]. $rename, $setOnInsert or a change of the key gives a
// [*model.ValueError]. $set is idempotent. $inc and $push aren't.
//
// Cost: see [Embedded].
func (e *Embedded[D, K, E]) Update(parent K, key any, update bson.D) model.Write {
	return e.m.update(parent, key, update)
}

// Remove removes the elements with these keys. It ignores keys that don't exist, and is
// idempotent.
//
// Cost: see [Embedded].
func (e *Embedded[D, K, E]) Remove(parent K, keys ...any) model.Write {
	return e.m.remove(parent, keys)
}

// Reorder moves the elements with these keys to one place, in the order of keys. index is
// the first element's new position, from 0. A negative or too large index means the
// array's end. A missing element gives [ErrNoElement]. No key, or a repeated key, gives a
// [*model.ValueError]. A retry is safe. [model.Merge] can't merge this write.
//
// Cost: see [Embedded].
func (e *Embedded[D, K, E]) Reorder(parent K, index int, keys ...any) model.Write {
	return e.m.reorder(parent, index, keys)
}

// Move returns the plan that moves an element from oldParent to newParent. The plan gives
// the errors of [Embedded.Add], and
//
//   - [model.ErrTaken] if newParent has the element's key, as in a retry after success
//   - [model.ErrStale] if oldParent has no equal element
//
// Cost: two commands, two documents, by _id.
//
// Consistency: transactional. Use RunTx. Run needs Options.AllowPartial. A crash of Run
// can leave the element in both parents: call [Embedded.Remove] for oldParent.
func (e *Embedded[D, K, E]) Move(oldParent, newParent K, element E) model.Plan {
	return e.m.move(oldParent, newParent, element)
}

func (m *embedding) byParent(parent any) (bson.D, error) { return m.docs.ByID(parent) }

func (m *embedding) add(parent any, list []any) model.Write {
	byID, err := m.byParent(parent)
	if err != nil {
		return model.Refused(m.docs.Name(), err)
	}
	elems, keys, err := m.elements(list)
	if err != nil {
		return model.Refused(m.docs.Name(), err)
	}
	if m.max > 0 && len(elems) > m.max {
		return model.Refused(m.docs.Name(), m.tooMany(len(elems)))
	}
	keyPath := m.path + "." + m.key
	w := model.Write{
		Collection: m.docs.Name(), Expect: model.One, Idempotent: true, Index: model.IDIndex,
		Done: byID,
		Reasons: []model.Reason{{
			If:  bsondoc.JoinFilters(byID, bson.D{{Key: keyPath, Value: bson.D{{Key: "$in", Value: keys}}}}),
			Err: errElementExists,
		}},
	}
	filter := bsondoc.JoinFilters(byID, bson.D{{Key: keyPath, Value: noneOf(keys)}})
	if m.max > 0 {
		filter = bsondoc.JoinFilters(filter, m.beyond(m.max-len(elems), false))
		full := bsondoc.JoinFilters(byID, m.beyond(m.max-len(elems), true))
		w.Reasons = append(w.Reasons, model.Reason{If: full, Err: errArrayFull})
	}
	for _, v := range elems {
		w.Done = bsondoc.JoinFilters(w.Done, bson.D{{Key: m.path, Value: mql.Eq(v)}})
	}
	w.Model = &mongo.UpdateOneModel{
		Filter: filter,
		Update: bson.D{{Key: "$push", Value: bson.D{{Key: m.path, Value: pushed(elems)}}}},
	}
	return w
}

func (m *embedding) tooMany(n int) error {
	return m.docs.Refuse(m.path, n, fmt.Sprintf("are more elements than the Max of the array, %d", m.max))
}

// noneOf is the condition that no element of an array has one of the keys.
func noneOf(keys bson.A) bson.D {
	if len(keys) == 1 {
		return bson.D{{Key: "$ne", Value: keys[0]}}
	}
	return bson.D{{Key: "$nin", Value: keys}}
}

func pushed(elems bson.A) any {
	if len(elems) == 1 {
		return elems[0]
	}
	return bson.D{{Key: "$each", Value: elems}}
}

// beyond is the condition that the array has, or doesn't have, more than n elements.
func (m *embedding) beyond(n int, has bool) bson.D { return beyond(m.path, n, has) }

func beyond(path string, n int, has bool) bson.D {
	return bson.D{{Key: fmt.Sprintf("%s.%d", path, n), Value: bson.D{{Key: "$exists", Value: has}}}}
}

func (m *embedding) put(parent, element any) model.Write {
	byID, err := m.byParent(parent)
	if err != nil {
		return model.Refused(m.docs.Name(), err)
	}
	elems, keys, err := m.elements([]any{element})
	if err != nil {
		return model.Refused(m.docs.Name(), err)
	}
	quote := func(v any) bson.D { return bson.D{{Key: "$literal", Value: v}} }
	orNone := func(v any) bson.D { return bson.D{{Key: "$ifNull", Value: bson.A{v, bson.A{}}}} }
	list := bson.D{{Key: "$cond", Value: bson.A{
		bson.D{{Key: "$in", Value: bson.A{quote(keys[0]), orNone("$" + m.path + "." + m.key)}}},
		bson.D{{
			Key: "$map",
			Value: bson.D{{Key: "input", Value: "$" + m.path}, {Key: "in", Value: bson.D{{Key: "$cond", Value: bson.A{
				bson.D{{Key: "$eq", Value: bson.A{"$$this." + m.key, quote(keys[0])}}}, quote(elems[0]), "$$this",
			}}}}},
		}},
		bson.D{{Key: "$concatArrays", Value: bson.A{orNone("$" + m.path), bson.A{quote(elems[0])}}}},
	}}}
	w := model.Write{Collection: m.docs.Name(), Expect: model.One, Idempotent: true, Index: model.IDIndex}
	filter := byID
	if m.max > 0 {
		filter = bsondoc.JoinFilters(byID, bson.D{{
			Key:   "$or",
			Value: bson.A{m.holds(keys[0].(bson.RawValue)), m.beyond(m.max-1, false)},
		}})
		w.Reasons = []model.Reason{{If: byID, Err: errArrayFull}}
	}
	w.Model = &mongo.UpdateOneModel{
		Filter: filter,
		Update: mongo.Pipeline{{{Key: "$set", Value: bson.D{{Key: m.path, Value: list}}}}},
	}
	return w
}

// holds is the condition that the array has an element with this key.
func (m *embedding) holds(key bson.RawValue) bson.D {
	return bson.D{{Key: m.path + "." + m.key, Value: mql.Eq(key)}}
}

func (m *embedding) replace(parent, element any) model.Write {
	elems, keys, err := m.elements([]any{element})
	if err != nil {
		return model.Refused(m.docs.Name(), err)
	}
	return m.toElement(parent, keys[0].(bson.RawValue),
		bson.D{{Key: "$set", Value: bson.D{{Key: m.path + ".$[e]", Value: elems[0]}}}}, true)
}

func (m *embedding) update(parent, key any, update bson.D) model.Write {
	k, err := m.elementKey(key)
	if err != nil {
		return model.Refused(m.docs.Name(), err)
	}
	u, err := operators(m.docs, update, m.path, 1, m.path+".$[e]", m.key)
	if err != nil {
		return model.Refused(m.docs.Name(), err)
	}
	return m.toElement(parent, k, u, mql.IsIdempotent(u))
}

// toElement updates the element e with this key.
func (m *embedding) toElement(parent any, key bson.RawValue, update bson.D, once bool) model.Write {
	byID, err := m.byParent(parent)
	if err != nil {
		return model.Refused(m.docs.Name(), err)
	}
	return model.Write{
		Collection: m.docs.Name(), Expect: model.One, Idempotent: once, Index: model.IDIndex,
		Reasons: []model.Reason{{If: byID, Err: ErrNoElement}},
		Model: &mongo.UpdateOneModel{
			Filter: bsondoc.JoinFilters(byID, m.holds(key)), Update: update,
			ArrayFilters: []any{bson.D{{Key: "e." + m.key, Value: mql.Eq(key)}}},
		},
	}
}

// elementKeys encodes keys. It refuses an empty list.
func (m *embedding) elementKeys(keys []any) (bson.A, error) {
	if len(keys) == 0 {
		return nil, m.docs.Refuse(m.path, nil, "no key was given: give at least one")
	}
	out := make(bson.A, len(keys))
	for i, k := range keys {
		v, err := m.elementKey(k)
		if err != nil {
			return nil, err
		}
		out[i] = v
	}
	return out, nil
}

func (m *embedding) reorder(parent any, at int, keys []any) model.Write {
	byID, err := m.byParent(parent)
	if err != nil {
		return model.Refused(m.docs.Name(), err)
	}
	in, err := m.elementKeys(keys)
	if err != nil {
		return model.Refused(m.docs.Name(), err)
	}
	op := func(name string, args ...any) bson.D { return bson.D{{Key: name, Value: bson.A(args)}} }
	only := func(cond bson.D) bson.D {
		return bson.D{{Key: "$filter", Value: bson.D{{Key: "input", Value: "$" + m.path}, {Key: "cond", Value: cond}}}}
	}
	held := bson.A{}
	named, quoted := bson.A{}, bson.A{}
	for i, k := range in {
		if slices.ContainsFunc(in[:i], func(x any) bool { return bsonval.EqualRaw(x.(bson.RawValue), k.(bson.RawValue)) }) {
			return model.Refused(m.docs.Name(), m.docs.Refuse(m.path+"."+m.key, k, "is given twice: give it once"))
		}
		q := bson.D{{Key: "$literal", Value: k}}
		held, quoted = append(held, m.holds(k.(bson.RawValue))), append(quoted, q)
		named = append(named, only(op("$eq", "$$this."+m.key, q)))
	}
	rest := only(op("$not", op("$in", "$$this."+m.key, quoted)))
	list := op("$concatArrays", append(bson.A{rest}, named...)...)
	switch {
	case at == 0:
		list = op("$concatArrays", append(named, rest)...)
	case at > 0:
		at = min(at, math.MaxInt32)
		after := op("$slice", "$$rest", at, op("$max", 1, op("$size", "$$rest")))
		whole := op("$concatArrays", append(append(bson.A{op("$slice", "$$rest", at)}, named...), after)...)
		list = bson.D{{
			Key:   "$let",
			Value: bson.D{{Key: "vars", Value: bson.D{{Key: "rest", Value: rest}}}, {Key: "in", Value: whole}},
		}}
	}
	filter := bsondoc.JoinFilters(byID, held[0].(bson.D))
	if len(held) > 1 {
		filter = bsondoc.JoinFilters(byID, bson.D{{Key: "$and", Value: held}})
	}
	return model.Write{
		Collection: m.docs.Name(), Expect: model.One, Idempotent: true, Index: model.IDIndex,
		Reasons: []model.Reason{{If: byID, Err: ErrNoElement}},
		Model: &mongo.UpdateOneModel{
			Filter: filter, Update: mongo.Pipeline{{{Key: "$set", Value: bson.D{{Key: m.path, Value: list}}}}},
		},
	}
}

func (m *embedding) remove(parent any, keys []any) model.Write {
	in, err := m.elementKeys(keys)
	if err != nil {
		return model.Refused(m.docs.Name(), err)
	}
	return toParent(m.docs, parent, bson.D{{Key: "$pull", Value: bson.D{
		{Key: m.path, Value: bson.D{{Key: m.key, Value: bson.D{{Key: "$in", Value: in}}}}},
	}}})
}

func (m *embedding) move(from, to, element any) model.Plan {
	there := m.add(to, []any{element})
	byID, err := m.byParent(from)
	if err == nil {
		err = there.Err
	}
	target, _ := m.byParent(to) // its error is in there.Err
	if err == nil && m.sameID(from, to) {
		err = m.docs.Refuse("newParent", to, "is the same document: move the element to another parent")
	}
	if err != nil {
		return model.NewPlan(model.Refused(m.docs.Name(), err))
	}
	elems, _, err := m.elements([]any{element})
	if err != nil {
		return model.NewPlan(model.Refused(m.docs.Name(), err))
	}
	there.Done, there.Idempotent = nil, false // an equal element may come from another move, or may be older
	held := bson.D{{Key: m.path, Value: mql.Eq(elems[0])}}
	take := bson.D{{Key: "$pullAll", Value: bson.D{{Key: m.path, Value: elems}}}}
	p := model.NewPlan(there, model.Write{
		Collection: m.docs.Name(), Expect: model.One, Index: model.IDIndex,
		Model: &mongo.UpdateOneModel{Filter: bsondoc.JoinFilters(byID, held), Update: take},
	})
	p.IfStale = []model.Step{
		model.Write{
			Collection: m.docs.Name(), Index: model.IDIndex,
			Model: &mongo.UpdateOneModel{Filter: target, Update: take},
		},
	}
	p.Transactional = true
	p.Leaves = "the element in both parents: Remove it from the old one"
	return p
}

func (m *embedding) sameID(a, b any) bool {
	x, _ := m.docs.RawID("_id", a)
	y, _ := m.docs.RawID("_id", b)
	return bsonval.EqualRaw(x, y)
}
