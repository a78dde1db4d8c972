package subset

import (
	"fmt"
	"slices"

	"github.com/docmodel/docmodel/denorm/internal/stored"
	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Outside transactions, each write of an array is an update that the parent remembers:
// model.Answer.Once. It comes after the child's. A child that comes to a parent is
// pushed, and an element that changes in its place is set, whatever else the array holds.
// A child that leaves its place makes the array be set anew by the parent's children: see
// [rewrite].

// updateArraysOutsideTx returns the writes of the arrays outside transactions. Without a
// parent (Found(0) is nil), no array must change.
func (s *untypedSubset) updateArraysOutsideTx(w model.StoreWrite, t transition) (a model.Answer, err error) {
	var value any
	if t.enters || t.replaces {
		if value, err = s.encodeElement(w, t); err != nil {
			return a, err
		}
	}
	if t.leaves && w.Found(0) != nil {
		r := &rewrite{s: s, t: t, id: w.Before.Lookup("_id"), value: value, parent: w.Found(0), window: w.FoundAll(1)}
		write, err := r.prepareUpdate()
		if err != nil {
			return a, err
		}
		a.Once, a.Check = []model.Write{write}, r.completeUpdate
	}
	switch {
	case t.enters && !t.staysInParent():
		a.Once = append(a.Once,
			commands.UpdateIf(s.parents.Name(), commands.MatchID(t.to), s.pushElements(bson.A{value})))
	case t.replaces:
		a.Once = append(a.Once, s.replaceElement(t, value))
	}
	return a, nil
}

// replaceElement sets an element in its place. The array filter changes nothing if the
// element isn't in the array. On a missing array an update with array filters would fail,
// so the filter requires an element.
func (s *untypedSubset) replaceElement(t transition, value any) model.Write {
	w := commands.UpdateIf(s.parents.Name(),
		append(commands.MatchID(t.to), mql.E(s.path+".0", mql.Exists(true))), mql.Set(mql.E(s.path+".$[child]", value)))
	id := t.now.Document().Lookup("_id")
	w.Model.(*mongo.UpdateOneModel).ArrayFilters = []any{bson.D{{Key: "child._id", Value: mql.Eq(bsonval.Clone(id))}}}
	return w
}

// queryWindow reads the first children of a parent, and their unfinished actions. A child
// that an unfinished action deletes doesn't count.
func (s *untypedSubset) queryWindow(parent bson.RawValue) (*model.Query, error) {
	q := model.Query{Limit: int64(s.windowSize()), Keyed: s.docs.IsKeyed(), Collection: s.docs.Name()}
	s.findChildren(&q, parent)
	q.Filter = append(q.Filter, mql.E(s.docs.StoreField().Deletes(), mql.Exists(false)))
	if !s.whole {
		q.Projection = commands.ProjectFields(append([]string{s.docs.StoreField().Action()}, s.copies...)...)
	}
	return &q, q.Err
}

// queryTokens reads the tokens of the actions that have changed a parent.
func (s *untypedSubset) queryTokens(parent bson.RawValue) *model.Query {
	return &model.Query{
		Collection: s.parents.Name(), Filter: commands.MatchID(parent), Index: model.IDIndex, Limit: 1,
		Keyed:      s.parents.IsKeyed(),
		Projection: commands.ProjectFields(s.parents.StoreField().Tokens()),
	}
}

// A rewrite sets the array of a parent by its first children, which were read after the
// parent's tokens. It requires that no action has changed the parent since.
type rewrite struct {
	s        *untypedSubset
	t        transition      // of the child that leaves its place
	id       bson.RawValue   // of this child; of type 0 for none
	value    any             // the child's new element, if it stays in the array
	parent   bson.Raw        // its tokens
	window   []bson.Raw      // the first children, as they are stored
	elements []bson.RawValue // of these
	update   *mongo.UpdateOneModel
}

// prepareUpdate returns the update. It doesn't know yet which other children the action
// deletes: completeUpdate does.
func (r *rewrite) prepareUpdate() (w model.Write, err error) {
	for _, doc := range r.window {
		element, err := r.s.makeElement(doc)
		if err != nil {
			return w, err
		}
		r.elements = append(r.elements, bsonval.Clone(element))
	}
	list := r.listElements(nil)
	if !r.hasEnoughChildren(list) {
		return w, fmt.Errorf("%w (%s %s: many actions on its children in %s are unfinished)",
			model.ErrStale, r.s.parents.Name(), model.Shell(r.t.from), r.s.docs.Name())
	}
	filter := append(commands.MatchID(bsonval.Clone(r.t.from)), r.matchTokens())
	w = commands.UpdateIf(r.s.parents.Name(), filter, mql.Set(mql.E(r.s.path, list)))
	r.update, w.Expect = w.Model.(*mongo.UpdateOneModel), model.One
	return w, nil
}

// matchTokens is the condition that no action has changed the parent since its tokens
// were read.
func (r *rewrite) matchTokens() bson.E {
	field := r.s.parents.StoreField()
	return stored.MatchValueAt(field.Tokens(), bsonval.Clone(field.TokensIn(r.parent)))
}

// completeUpdate leaves out all children that the action deletes. The updates that follow
// for the others then find the array as they set it themselves. So the filter accepts
// this array too.
func (r *rewrite) completeUpdate(deleted func(collection string, id bson.RawValue) bool) error {
	others := 0
	gone := func(id bson.RawValue) bool {
		is := deleted(r.s.docs.Name(), id)
		if is && !bsonval.EqualRaw(id, r.id) {
			others++
		}
		return is
	}
	list := r.listElements(gone)
	if others == 0 || !r.hasEnoughChildren(list) { // then each update waits for those before it
		return nil
	}
	either := bson.A{bson.D{r.matchTokens()}, bson.D{{Key: r.s.path, Value: mql.Op("$eq", list)}}}
	r.update.Filter = append(commands.MatchID(bsonval.Clone(r.t.from)), bson.E{Key: "$or", Value: either})
	r.update.Update = mql.Set(mql.E(r.s.path, list))
	return nil
}

// hasEnoughChildren reports whether the children that were read are enough to know the
// first ones.
func (r *rewrite) hasEnoughChildren(list bson.A) bool {
	return len(r.window) < r.s.windowSize() || len(list) >= r.s.max
}

// listElements returns the elements of the parent's first children, without deleted
// children, and without children that an unfinished action will push itself.
func (r *rewrite) listElements(gone func(id bson.RawValue) bool) bson.A {
	list, own := bson.A{}, r.t.staysInParent()
	for i, doc := range r.window {
		id := doc.Lookup("_id")
		if bsonval.EqualRaw(id, r.id) || r.isComing(doc) || gone != nil && gone(id) {
			continue
		}
		if own && r.s.comesBefore(r.t.now.Document(), doc) {
			list, own = append(list, r.value), false
		}
		list = append(list, r.elements[i])
	}
	if own && len(r.window) < r.s.windowSize() {
		list = append(list, r.value)
	}
	return list[:min(len(list), r.s.max)]
}

// isComing reports whether an unfinished action has yet to push a child: it names this
// parent, and the parent doesn't have its token. The action is an insert, or a change of
// the reference.
func (r *rewrite) isComing(doc bson.Raw) bool {
	op, is := r.s.docs.StoreField().ActionIn(doc)
	if !is || !stored.Contains(core.Elements(op.Lookup("to")), r.t.from) ||
		stored.Contains(core.Elements(r.s.parents.StoreField().TokensIn(r.parent)), op.Lookup("id")) {
		return false
	}
	return op.Lookup("new").Type != 0 ||
		slices.ContainsFunc(core.Elements(op.Lookup("was")), func(v bson.RawValue) bool {
			return core.Overlap(v.Document().Lookup("p").StringValue(), r.s.ref)
		})
}

// comesBefore reports whether a child comes before another one in the order of By.
func (s *untypedSubset) comesBefore(child, other bson.Raw) bool {
	for _, e := range s.by {
		x, _ := stored.ValueAt(s.docs, child, e.Key)
		y, _ := stored.ValueAt(s.docs, other, e.Key)
		if n := bsonval.CompareRaw(x, y) * int(e.Value.(int32)); n != 0 {
			return n < 0
		}
	}
	return false
}
