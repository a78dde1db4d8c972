package model

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/docmodel/docmodel/internal/bsondoc"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/mql"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// plan returns the writes: the claims, the documents, the writes that follow from them, and
// the deletions of documents that weren't read.
func (s *store) plan(state storeState) Plan {
	plan := s.planRead(state)
	plan.Steps = append(slices.Clip(plan.Steps), s.unreadDeletions(state)...)
	return plan
}

// planRead returns the writes of documents that were read.
func (s *store) planRead(state storeState) Plan {
	switch {
	case state.applied:
		return Plan{Applied: true}
	case state.plain != nil:
		return NewPlan(*state.plain)
	case len(state.each) > 0:
		plans := make([]Plan, len(state.each))
		for i, one := range state.each {
			plans[i] = s.plan(one)
		}
		all := Concat(plans...)
		all.Leaves = plans[0].Leaves
		return all
	case !state.tx && state.follows():
		return s.stepsInTurn(state)
	}
	var plan, then, undo []Step
	for _, a := range state.answers {
		plan, then, undo = append(plan, a.First...), append(then, a.follow()...), append(undo, a.Undo...)
	}
	only := len(plan)+len(then) == 0 // the plan writes only documents
	for _, i := range state.order() {
		d := state.docs[i]
		if w, changed := s.write(d, state.tx); changed {
			if i >= state.own && state.tx { // the transaction has read the document
				w.Expect = Any
			}
			w.Idempotent = only && d.after == nil // a second run deletes the documents that are left
			switch {                              // a later run, or another client, may have written the same values
			case state.named && !state.tx && i < state.own && d.after != nil:
				w = s.rememberedWrite(w, d)
			case state.edits && i < state.own:
				w.Done = nil
			}
			if state.ensures && i == 0 {
				w.Reasons = []Reason{state.taken(d)}
			}
			plan = append(plan, w)
		} else if d.holds && state.tx {
			state.hold(heldDoc{Fetch: Fetch{Collection: d.collection, ID: d.id}, asked: d.asked})
		}
	}
	separate := NewPlan(append(slices.Clip(plan), then...)...)
	isWritten := slices.ContainsFunc(state.docs, func(d storedDoc) bool { return d.isWritten })
	if len(separate.Steps) == 0 && !isWritten || !state.tx {
		separate.IfStale = undo
		return separate
	}
	return s.addHolds(mergedAnswers(NewPlan(plan...), state.answers, separate), state)
}

// order returns the indexes of the documents in the order of their writes: the documents of
// reactions, the last first, and then the caller's.
func (s *storeState) order() (out []int) {
	for i := len(s.docs) - 1; i >= s.own; i-- {
		out = append(out, i)
	}
	for i := range s.own {
		out = append(out, i)
	}
	return out
}

// taken returns the reason of a taken _id. If a read can find the document, the next
// attempt reads whose it is. A document that was looked for by other fields can have another
// taken key.
func (s *storeState) taken(d storedDoc) Reason {
	if s.hidden {
		return Reason{Err: fmt.Errorf("%w (%s %s is stored already)", ErrTaken, d.collection, shell(d.id)), onID: true}
	}
	return Reason{Err: ErrStale, onID: !s.fields}
}

// mostMerged is the number of steps up to which updates of one document are looked for.
const mostMerged = 200

// mergedAnswers adds the writes that follow from a plan. Updates of one document become one
// update. If they can't, the plan is separate.
func mergedAnswers(plan Plan, answers []answered, separate Plan) Plan {
	if len(separate.Steps) > mostMerged {
		return separate
	}
	plans := []Plan{plan}
	for _, a := range answers {
		if then := a.follow(); len(then) > 0 {
			plans = append(plans, NewPlan(then...))
		}
	}
	if merged := MergePlans(plans...); merged.Err() == nil {
		return merged
	}
	return separate
}

// follow returns the writes after the document's write.
func (a Answer) follow() (out []Step) {
	out = slices.Clip(a.Then)
	for _, w := range a.Once {
		out = append(out, w)
	}
	return out
}

// addHolds adds the writes of the documents that the plan relies on.
func (s *store) addHolds(plan Plan, state storeState) Plan {
	for _, h := range state.held {
		if h.isHeld || state.writes(s, h.Fetch) || plan.conflicts(h.Fetch) {
			continue
		}
		merged := MergePlans(plan, NewPlan(s.hold(h)))
		if merged.Err() != nil { // a pipeline can't be merged
			merged = Concat(plan, NewPlan(s.hold(h)))
		}
		plan = merged
	}
	return plan
}

// writes reports whether the action changes or inserts a document.
func (s *storeState) writes(in *store, f Fetch) bool {
	i := s.index(f.Collection, f.ID)
	if i < 0 || s.docs[i].after == nil {
		return false
	}
	_, changed := in.write(s.docs[i], s.tx)
	return changed || s.docs[i].isWritten
}

// names reports whether both name the same document.
func (f Fetch) names(g Fetch) bool {
	return f.Collection == g.Collection && bsondoc.SameValue(f.ID, g.ID)
}

// hold returns the write that makes a transaction conflict with others that change or
// delete a document.
func (s *store) hold(f heldDoc) Write {
	return Write{
		Collection: f.Collection, Expect: One, Index: IDIndex, Keyed: s.keyed[f.Collection],
		asked:   f.asked,
		Model:   updateOne(bson.D{{Key: "_id", Value: mql.Eq(f.ID)}}, s.fieldOf(f.Collection).HoldUpdate()),
		Reasons: []Reason{{Err: cmp.Or(f.Missing, fmt.Errorf("%w: %s %s", ErrNotFound, f.Collection, shell(f.ID)))}},
	}
}

// write returns the write of a document. changed is false if there is nothing to write.
func (s *store) write(d storedDoc, tx bool) (w Write, changed bool) {
	w = Write{Collection: d.collection, Index: IDIndex, Keyed: s.keyed[d.collection], ofStore: true, asked: d.asked}
	switch {
	case d.before == nil && d.after == nil, d.isWritten && d.written == nil:
		return w, false
	case d.inserts():
		w.Model, w.transient = &mongo.InsertOneModel{Document: d.after}, s.transient[d.collection]
		return w, true
	}
	id := bson.D{{Key: "_id", Value: mql.Eq(d.id)}}
	filter := id
	if !tx {
		filter = core.AsRead(d.read)
	}
	w.Expect = One
	if d.after == nil {
		w.Model = &mongo.DeleteOneModel{Filter: filter}
		return w, true
	}
	set := difference(pick(d.isWritten, d.written, d.was()), d.after)
	w.Deleted = d.hidden != nil
	w.Model, w.Done = updateOne(filter, setOperators(set)), append(id, holdFields(set)...)
	return w, len(set) > 0
}

// actsAlone reports whether an action of this kind writes nothing but its document, and needs
// no other document. Then it needs no transaction.
func (s *store) actsAlone(kind Occasion) bool {
	return !slices.ContainsFunc(s.reactions, func(r Reaction) bool {
		return r.Collection == s.docs.Name() && r.On.includes(kind) && r.reachesOthers()
	})
}

// concernedBy returns the reactions that are called for an update of these paths.
func (s *store) concernedBy(set bson.D) (out []Reaction) {
	paths := make([]string, len(set))
	for i, e := range set {
		paths[i] = e.Key
	}
	some := StoreWrite{Collection: s.docs.Name(), Before: bson.Raw{}, After: bson.Raw{}}
	for _, r := range s.reactions {
		if r.On.includes(OnUpdate) && r.concerns(some, paths) {
			out = append(out, r)
		}
	}
	return out
}

// plainly returns the state of an action that needs no read: a deletion, or an update of
// fields.
func (s *store) plainly(of storeTarget, set bson.D) storeState {
	w := Write{
		Collection: s.docs.Name(), Expect: One, Index: of.index(), Keyed: s.docs.IsKeyed(),
		Idempotent: set != nil, ofStore: true, returning: &returning{before: set == nil},
	}
	if set == nil {
		w.Model = &mongo.DeleteOneModel{Filter: of.filter}
	} else {
		w.Model = updateOne(of.filter, setOperators(set))
	}
	if len(of.filter) > 1 || of.id.Type == 0 { // a filter of other fields doesn't tell whether the document exists
		w.Reasons = []Reason{{Err: of.missing(s.docs.Name())}}
	}
	return storeState{plain: &w}
}
