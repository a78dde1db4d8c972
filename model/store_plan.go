package model

import (
	"fmt"
	"slices"

	"github.com/docmodel/docmodel/internal/core"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// holdField is the field that a store increments in documents which another write of the
// same transaction relies on: see [Answer].Hold.
const holdField = "_m.hold"

// plan returns the writes: the claims, the documents, the writes that follow from them.
func (s *store) plan(state storeState) Plan {
	if state.applied {
		return Plan{Applied: true}
	}
	var plan []Step
	for _, a := range state.answers {
		plan = append(plan, a.First...)
	}
	for i := range state.docs {
		if w, changed := s.write(state.docs[len(state.docs)-1-i], state.tx); changed {
			plan = append(plan, w)
		}
	}
	for _, a := range state.answers {
		plan = append(plan, a.Then...)
	}
	if len(plan) == 0 || !state.tx {
		return NewPlan(plan...)
	}
	return s.held(NewPlan(plan...), state)
}

// held adds the writes of the documents that the plan relies on.
func (s *store) held(plan Plan, state storeState) Plan {
	var held []Fetch
	for _, a := range state.answers {
		for _, h := range a.Hold {
			written := slices.ContainsFunc(state.docs, func(d storedDoc) bool { return d.collection == h.Collection && sameValue(d.id, h.ID) && d.after != nil })
			if !written && !slices.ContainsFunc(held, func(g Fetch) bool { return g.Collection == h.Collection && sameValue(g.ID, h.ID) }) {
				plan, held = MergePlans(plan, NewPlan(s.hold(h))), append(held, h)
			}
		}
	}
	return plan
}

// hold returns the write that makes a transaction conflict with others that change or
// delete a document.
func (s *store) hold(f Fetch) Write {
	return Write{
		Collection: f.Collection, Expect: One, Index: IDIndex, Keyed: s.keyed[f.Collection],
		Model:   updateOne(bson.D{{Key: "_id", Value: Eq(f.ID)}}, bson.D{{Key: "$inc", Value: bson.D{{Key: holdField, Value: int64(1)}}}}),
		Reasons: []Reason{{Err: fmt.Errorf("%w: %s %s", ErrNotFound, f.Collection, shell(f.ID))}},
	}
}

// write returns the write of a document. changed is false if there is nothing to write.
func (s *store) write(d storedDoc, tx bool) (w Write, changed bool) {
	w = Write{Collection: d.collection, Index: IDIndex, Keyed: s.keyed[d.collection]}
	switch {
	case d.before == nil && d.after == nil:
		return w, false
	case d.before == nil:
		w.Model = &mongo.InsertOneModel{Document: d.after}
		return w, true
	}
	id := bson.D{{Key: "_id", Value: Eq(d.id)}}
	filter := id
	if !tx {
		filter = core.AsRead(d.before)
	}
	w.Expect = One
	if d.after == nil {
		w.Model = &mongo.DeleteOneModel{Filter: filter}
		return w, true
	}
	set := difference(d.before, d.after)
	w.Model, w.Done = updateOne(filter, setOperators(set)), append(id, holdFields(set)...)
	return w, len(set) > 0
}
