package subset

import (
	"fmt"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// mostRemoved is the greatest number of children of one parent that an action can remove
// from the first Max children and the children that follow. A greater number reads more
// children for each removal.
const mostRemoved = 10

// windowSize is the number of children that a removal reads: enough to fill up after
// mostRemoved removals.
func (s *untypedSubset) windowSize() int { return s.max + mostRemoved }

// A removal removes a child from its parent's array, which the next children fill up.
// Other children of the parent may be written by the same action. So the steps are
// completed when all its writes are known: model.Answer.Check then says which children
// the action deletes. If the child is moved, its removal also looks at the other children
// as the action leaves them, to find which of them it moves. Deletions of children and
// moves of others can't be joined.
type removal struct {
	s      *untypedSubset
	parent bson.RawValue
	window []bson.Raw // the first children of the parent, as they are stored before the action
	moved  []bool     // of each child of the window: it leaves its place, and isn't deleted
	moves  bool       // the removal is of a child that isn't deleted
	at     int        // the child's index in the window

	pull, push *mongo.UpdateOneModel
	hold       *mongo.UpdateManyModel // of the children that fill up: they must still be as they were read at commit
}

// planRemoval returns the steps that remove a child from a parent's array, and the check
// that completes them.
func (s *untypedSubset) planRemoval(w model.StoreWrite, parent bson.RawValue) (a model.Answer) {
	r := &removal{s: s, parent: parent, window: w.FoundAll(0), moves: !isDeletion(w), at: -1}
	r.moved = make([]bool, len(r.window))
	for i, doc := range r.window {
		if bsonval.EqualRaw(doc.Lookup("_id"), w.Before.Lookup("_id")) {
			r.at, r.moved[i] = i, r.moves
		}
	}
	if r.at < 0 || !r.moves && r.at >= s.max { // a removal of another child knows that this one is deleted
		return a
	}
	if r.moves {
		a.Writes = r.lookAtOthers()
	}
	pull := commands.UpdateIf(s.parents.Name(), commands.MatchID(parent), bson.D{})
	r.pull = pull.Model.(*mongo.UpdateOneModel)
	a.First, a.Check = []model.Step{pull}, r.completeSteps
	if len(r.window) > s.max {
		push := commands.UpdateIf(s.parents.Name(), commands.MatchID(parent), bson.D{})
		r.push, r.hold = push.Model.(*mongo.UpdateOneModel), &mongo.UpdateManyModel{}
		push.Idempotent = false
		a.First = append(a.First, push)
		a.Then = []model.Step{model.Write{
			Collection: s.docs.Name(), Index: model.IDIndex, Keyed: s.docs.IsKeyed(), Model: r.hold,
		}}
	}
	return a
}

// lookAtOthers returns writes of the other children that change nothing. A child counts
// as moved unless its write finds it in its place.
func (r *removal) lookAtOthers() (writes []model.StoreWrite) {
	for i, doc := range r.window {
		if i == r.at {
			continue
		}
		r.moved[i] = true
		look := func(now bson.Raw) (bson.D, error) {
			t, err := r.s.readTransition(model.StoreWrite{Before: doc, After: now})
			r.moved[i] = t.leaves
			return nil, err
		}
		writes = append(writes, model.StoreWrite{Collection: r.s.docs.Name(), Before: doc, Change: look})
	}
	return writes
}

// completeSteps decides which children fill up the array. It refuses to guess if the
// window is too small.
func (r *removal) completeSteps(deleted func(collection string, id bson.RawValue) bool) error {
	if deleted(r.s.parents.Name(), r.parent) {
		return r.setUpdates(nil)
	}
	var fill []bson.Raw
	kept := 0
	for i, doc := range r.window {
		gone := deleted(r.s.docs.Name(), doc.Lookup("_id"))
		switch {
		case gone && r.moves && i != r.at:
			return r.s.docs.Refuse(r.s.ref, r.parent,
				"names a parent of which one action deletes children and moves others: use two actions")
		case gone || r.moved[i]:
		case i < r.s.max:
			kept++
		case kept+len(fill) < r.s.max:
			fill = append(fill, doc)
		}
	}
	if len(r.window) == r.s.windowSize() && kept+len(fill) < r.s.max {
		return r.s.docs.Refuse(r.s.ref, r.parent, fmt.Sprintf(
			"names a parent of which one action removes more than %d children: use several actions",
			mostRemoved))
	}
	return r.setUpdates(fill)
}

// setUpdates sets the updates of the array. Another removal may have added the same
// children, so they are pulled first.
func (r *removal) setUpdates(fill []bson.Raw) error {
	out := bson.A{bsonval.Clone(r.window[r.at].Lookup("_id"))}
	ids, list := bson.A{}, bson.A{}
	for _, doc := range fill {
		element, err := r.s.makeElement(doc)
		if err != nil {
			return err
		}
		ids = append(ids, bsonval.Clone(doc.Lookup("_id")))
		list = append(list,
			r.s.placeElement(element, core.PlaceUpdated(r.s.docs.Name(), r.s.docs.StoreField().RemoveFrom(doc), nil)))
	}
	gone := bson.D{{Key: "_id", Value: mql.Op("$in", append(out, ids...))}}
	r.pull.Update = mql.Op("$pull", bson.D{{Key: r.s.path, Value: gone}})
	if r.push != nil {
		r.push.Update = r.s.pushElements(list)
		r.hold.Filter = commands.MatchIDs(ids)
		r.hold.Update = r.s.docs.StoreField().HoldUpdate()
	}
	return nil
}

// newReferenceError is the error for a parent that doesn't exist.
func (s *untypedSubset) newReferenceError(id bson.RawValue) error {
	return &model.ReferenceError{Collection: s.docs.Name(), Path: s.ref, To: s.parents.Name(), Value: bsonval.Clone(id)}
}
