package model

import (
	"fmt"
	"math"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Add returns the write that appends elements to a parent's array, all or none. Running it gives [ErrElementExists] when the
// array holds one of the keys, [ErrArrayFull] when there would be more than Max, and [ErrStale] when there is no parent. An array
// that holds these very elements counts as written before.
//
// Bad input, refused: no element, one that has no key, two with one key, more than Max, a field name that can't be stored.
//
// Cost: one command, one document, found by _id; up to three reads more when nothing matched. Consistency: one atomic update;
// keys and bound are in its filter, so that no race exceeds them.
func (e *Embedded[D, K, E]) Add(parent K, elements ...E) Write {
	list := make([]any, len(elements))
	for i := range elements {
		list[i] = elements[i]
	}
	return e.m.add(parent, list)
}

// Put returns the write that replaces the element with this one's key where it stands, or appends it. Running it gives
// [ErrArrayFull] when it would have to be appended and there is no room, [ErrStale] when there is no parent. It is idempotent.
//
// Cost: one command, one document, found by _id; an update by a pipeline, which can't be merged with others.
func (e *Embedded[D, K, E]) Put(parent K, element E) Write { return e.m.put(parent, element) }

// Replace returns the write that replaces the element with this one's key, where it stands. Running it gives
// [ErrElementMissing] when the parent holds none, [ErrStale] when there is no parent. It overwrites whatever changed in the
// element since it was read; where that matters, use Set. It is idempotent.
//
// Cost: one command, one document, found by _id; one read more when nothing matched.
func (e *Embedded[D, K, E]) Replace(parent K, element E) Write { return e.m.replace(parent, element) }

// Set returns the write that gives fields of the element with the key new values, without reading it: {city: "Anytown"}. Names
// are those of an element, and may be dotted; the key itself can't be set. Running it gives [ErrElementMissing] when the parent
// holds none, [ErrStale] when there is no parent. It is idempotent.
//
// Cost: one command, one document, found by _id; one read more when nothing matched.
func (e *Embedded[D, K, E]) Set(parent K, key any, fields bson.D) Write {
	return e.m.update(parent, key, bson.D{{Key: "$set", Value: fields}})
}

// Update returns the write that applies update operators to the element with the key: {$inc: {visits: 1}, $unset: {note: 1}}.
// Names are those of an element; $rename and $setOnInsert are refused. Running it gives [ErrElementMissing] when the parent holds
// no such element, [ErrStale] when there is no parent. With operators such as $inc and $push it is not idempotent.
//
// Cost: one command, one document, found by _id; one read more when nothing matched. Consistency: one atomic update of the parent.
func (e *Embedded[D, K, E]) Update(parent K, key any, update bson.D) Write {
	return e.m.update(parent, key, update)
}

// Remove returns the write that takes elements out by their keys; keys that the array doesn't hold are passed over. The parent
// must exist: else running it gives [ErrStale]. It is idempotent.
//
// Cost: one command, one document, found by _id.
func (e *Embedded[D, K, E]) Remove(parent K, keys ...any) Write { return e.m.remove(parent, keys) }

// Reorder returns the write that puts the elements with the keys at a place of the array, counted from 0, in the order of the keys. All
// other elements keep their order. So one key moves one element, and all keys give the array an order. A place below 0, or beyond the
// end, is the end. Running it gives [ErrElementMissing] when the parent doesn't hold every key, and [ErrStale] when there is no parent.
// It is idempotent, and changes nothing where the elements stand so already.
//
// Bad input, refused: no key, a key twice.
//
// Cost: one command, one document, found by _id; an update by a pipeline, which can't be merged with others; one read more when nothing
// matched. Consistency: one atomic update, computed by the server from what is stored.
func (e *Embedded[D, K, E]) Reorder(parent K, at int, keys ...any) Write {
	return e.m.reorder(parent, at, keys)
}

// Clear returns the write that empties a parent's array. It is idempotent.
//
// Cost: one command, one document, found by _id.
func (e *Embedded[D, K, E]) Clear(parent K) (w Write) {
	e.m.decl.update(&w, parent, bson.D{{Key: "$set", Value: bson.D{{Key: e.m.path, Value: bson.A{}}}}})
	return w
}

// Move returns the plan that moves an element, as it was read, to another parent: it is added there, with the errors of
// [Embedded.Add], but an equal element that is there already is [ErrElementExists] too; then it is taken out here. Running the plan
// gives [ErrStale] when there is no such parent, or the element is not here as it was read; what was added is taken back then. Run
// again after it was done, it gives ErrElementExists, and changes nothing.
//
// Cost: two commands, two documents, found by _id. Consistency: transactional; run it by RunTx. With Options.AllowPartial it
// runs without: then readers can find the element in both parents for a while, and a cut leaves it so; running the plan again gives
// ErrElementExists, and [Embedded.Remove] from one of them ends it. Whoever else moves the element at the same time, to another parent
// or back, it is not lost: each takes one away only after adding one.
func (e *Embedded[D, K, E]) Move(from, to K, element E) Plan { return e.m.move(from, to, element) }

// byParent is the filter on a parent's _id.
func (m *embedding) byParent(parent any) (bson.D, error) { return m.decl.idFilter(parent) }

func (m *embedding) add(parent any, list []any) Write {
	byID, err := m.byParent(parent)
	if err != nil {
		return Refused(m.decl.name, err)
	}
	elems, keys, err := m.elements(list)
	if err != nil {
		return Refused(m.decl.name, err)
	}
	if m.max > 0 && len(elems) > m.max {
		return m.refuse(m.path, len(elems), fmt.Sprintf("are more elements than the %d that the array may have", m.max))
	}
	keyPath := m.path + "." + m.key
	w := Write{
		Collection: m.decl.name, Expect: One, Once: true, Index: IDIndex,
		Done:    byID,
		Reasons: []Reason{{If: And(byID, bson.D{{Key: keyPath, Value: bson.D{{Key: "$in", Value: keys}}}}), Err: ErrElementExists}},
	}
	filter := And(byID, bson.D{{Key: keyPath, Value: noneOf(keys)}})
	if m.max > 0 {
		filter = And(filter, m.beyond(m.max-len(elems), false))
		w.Reasons = append(w.Reasons, Reason{If: And(byID, m.beyond(m.max-len(elems), true)), Err: ErrArrayFull})
	}
	for _, v := range elems {
		w.Done = And(w.Done, bson.D{{Key: m.path, Value: Eq(v)}})
	}
	w.Model = &mongo.UpdateOneModel{Filter: filter, Update: bson.D{{Key: "$push", Value: bson.D{{Key: m.path, Value: pushed(elems)}}}}}
	return w
}

// noneOf is the condition that an array's elements have none of the keys.
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

// beyond is the condition that the array has, or hasn't, more than n elements.
func (m *embedding) beyond(n int, has bool) bson.D { return beyond(m.path, n, has) }

func beyond(path string, n int, has bool) bson.D {
	return bson.D{{Key: fmt.Sprintf("%s.%d", path, n), Value: bson.D{{Key: "$exists", Value: has}}}}
}

func (m *embedding) put(parent, element any) Write {
	byID, err := m.byParent(parent)
	if err != nil {
		return Refused(m.decl.name, err)
	}
	elems, keys, err := m.elements([]any{element})
	if err != nil {
		return Refused(m.decl.name, err)
	}
	quote := func(v any) bson.D { return bson.D{{Key: "$literal", Value: v}} }
	orNone := func(v any) bson.D { return bson.D{{Key: "$ifNull", Value: bson.A{v, bson.A{}}}} }
	list := bson.D{{Key: "$cond", Value: bson.A{
		bson.D{{Key: "$in", Value: bson.A{quote(keys[0]), orNone("$" + m.path + "." + m.key)}}},
		bson.D{{Key: "$map", Value: bson.D{{Key: "input", Value: "$" + m.path}, {Key: "in", Value: bson.D{{Key: "$cond", Value: bson.A{
			bson.D{{Key: "$eq", Value: bson.A{"$$this." + m.key, quote(keys[0])}}}, quote(elems[0]), "$$this",
		}}}}}}},
		bson.D{{Key: "$concatArrays", Value: bson.A{orNone("$" + m.path), bson.A{quote(elems[0])}}}},
	}}}
	w := Write{Collection: m.decl.name, Expect: One, Once: true, Index: IDIndex}
	filter := byID
	if m.max > 0 {
		filter = And(byID, bson.D{{Key: "$or", Value: bson.A{m.holds(keys[0].(bson.RawValue)), m.beyond(m.max-1, false)}}})
		w.Reasons = []Reason{{If: byID, Err: ErrArrayFull}}
	}
	w.Model = &mongo.UpdateOneModel{Filter: filter, Update: mongo.Pipeline{{{Key: "$set", Value: bson.D{{Key: m.path, Value: list}}}}}}
	return w
}

// holds is the condition that the array has an element of the key.
func (m *embedding) holds(key bson.RawValue) bson.D {
	return bson.D{{Key: m.path + "." + m.key, Value: Eq(key)}}
}

func (m *embedding) replace(parent, element any) Write {
	elems, keys, err := m.elements([]any{element})
	if err != nil {
		return Refused(m.decl.name, err)
	}
	return m.toElement(parent, keys[0].(bson.RawValue), bson.D{{Key: "$set", Value: bson.D{{Key: m.path + ".$[e]", Value: elems[0]}}}}, true)
}

func (m *embedding) update(parent, key any, update bson.D) Write {
	k, err := m.elementKey(key)
	if err != nil {
		return Refused(m.decl.name, err)
	}
	u, err := m.decl.operators(update, m.path, 1, m.path+".$[e]", m.key)
	if err != nil {
		return Refused(m.decl.name, err)
	}
	return m.toElement(parent, k, u, idempotent(u))
}

// toElement updates the element e of the key.
func (m *embedding) toElement(parent any, key bson.RawValue, update bson.D, once bool) Write {
	byID, err := m.byParent(parent)
	if err != nil {
		return Refused(m.decl.name, err)
	}
	return Write{
		Collection: m.decl.name, Expect: One, Once: once, Index: IDIndex,
		Reasons: []Reason{{If: byID, Err: ErrElementMissing}},
		Model: &mongo.UpdateOneModel{
			Filter: And(byID, m.holds(key)), Update: update, ArrayFilters: []any{bson.D{{Key: "e." + m.key, Value: Eq(key)}}},
		},
	}
}

// elementKeys encodes keys; there must be one.
func (m *embedding) elementKeys(keys []any) (bson.A, error) {
	if len(keys) == 0 {
		return nil, m.refused(m.path, nil, "no key was given")
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

func (m *embedding) reorder(parent any, at int, keys []any) Write {
	byID, err := m.byParent(parent)
	if err != nil {
		return Refused(m.decl.name, err)
	}
	in, err := m.elementKeys(keys)
	if err != nil {
		return Refused(m.decl.name, err)
	}
	op := func(name string, args ...any) bson.D { return bson.D{{Key: name, Value: bson.A(args)}} }
	only := func(cond bson.D) bson.D {
		return bson.D{{Key: "$filter", Value: bson.D{{Key: "input", Value: "$" + m.path}, {Key: "cond", Value: cond}}}}
	}
	held := bson.A{}
	named, quoted := bson.A{}, bson.A{}
	for i, k := range in {
		if slices.ContainsFunc(in[:i], func(x any) bool { return sameValue(x, k) }) {
			return m.refuse(m.path+"."+m.key, k, "is given twice")
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
		list = bson.D{{Key: "$let", Value: bson.D{{Key: "vars", Value: bson.D{{Key: "rest", Value: rest}}}, {Key: "in", Value: whole}}}}
	}
	filter := And(byID, held[0].(bson.D))
	if len(held) > 1 {
		filter = And(byID, bson.D{{Key: "$and", Value: held}})
	}
	return Write{
		Collection: m.decl.name, Expect: One, Once: true, Index: IDIndex,
		Reasons: []Reason{{If: byID, Err: ErrElementMissing}},
		Model: &mongo.UpdateOneModel{
			Filter: filter, Update: mongo.Pipeline{{{Key: "$set", Value: bson.D{{Key: m.path, Value: list}}}}},
		},
	}
}

func (m *embedding) remove(parent any, keys []any) (w Write) {
	in, err := m.elementKeys(keys)
	if err != nil {
		return Refused(m.decl.name, err)
	}
	m.decl.update(&w, parent, bson.D{{Key: "$pull", Value: bson.D{
		{Key: m.path, Value: bson.D{{Key: m.key, Value: bson.D{{Key: "$in", Value: in}}}}},
	}}})
	return w
}

func (m *embedding) move(from, to, element any) Plan {
	there := m.add(to, []any{element})
	byID, err := m.byParent(from)
	if err == nil {
		err = there.Err
	}
	target, _ := m.byParent(to) // or there.Err
	if err == nil && sameValue(byID[0].Value, target[0].Value) {
		err = m.refused("to", to, "is the parent that the element is moved from")
	}
	if err != nil {
		return RefusedPlan(m.decl.name, err)
	}
	elems, _, err := m.elements([]any{element})
	if err != nil {
		return RefusedPlan(m.decl.name, err)
	}
	there.Done, there.Once = nil, false // an equal element there may be another move's, or have been there before
	held := bson.D{{Key: m.path, Value: Eq(elems[0])}}
	take := bson.D{{Key: "$pullAll", Value: bson.D{{Key: m.path, Value: elems}}}}
	p := NewPlan(there, Write{
		Collection: m.decl.name, Expect: One, Index: IDIndex, Model: &mongo.UpdateOneModel{Filter: And(byID, held), Update: take},
	})
	p.IfStale = []Step{Write{Collection: m.decl.name, Index: IDIndex, Model: &mongo.UpdateOneModel{Filter: target, Update: take}}}
	p.Transactional = true
	p.Leaves = "the element in both parents, until it is removed from one"
	return p
}
