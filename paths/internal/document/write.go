package document

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/paths/internal/forest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// state is what a change of a [DocumentTree] reads: the owner's list, and its revision.
type state struct {
	List     bson.RawValue // type 0 if there is none
	Revision bson.RawValue // type 0 if there is none, or the tree has no Revision
}

// state reads an owner.
func (t *Tree) state(ctx context.Context, db model.DB, owner bson.RawValue) (state, error) {
	doc, err := t.lists(bson.D{{Key: "_id", Value: model.Eq(owner)}}, model.IDIndex).One(ctx, db)
	return t.stateOf(doc), err
}

// lists is the query of owners' lists.
func (t *Tree) lists(filter bson.D, index string) *model.Aggregate[bson.Raw] {
	return &model.Aggregate[bson.Raw]{Aggregation: model.Aggregation{Collection: t.Owners, Index: index, Pipeline: mongo.Pipeline{
		mql.Op("$match", filter), mql.Op("$project", t.needed()),
	}}}
}

// needed is the projection of what changes read.
func (t *Tree) needed() bson.D {
	fields := bson.D{{Key: t.Path, Value: 1}}
	if t.spec.Revision != "" {
		fields = append(fields, mql.E(t.spec.Revision, 1))
	}
	return fields
}

func (t *Tree) stateOf(doc bson.Raw) (s state) {
	s.List, _ = core.ValueAt(doc, t.Path)
	if t.spec.Revision != "" {
		s.Revision, _ = core.ValueAt(doc, t.spec.Revision)
	}
	return s
}

// change is a change of an owner's list.
func (t *Tree) change(owner bson.RawValue, err error, decide func(state) (model.Plan, error)) model.Change[any] {
	return changeOf(t, func(ctx context.Context, db model.DB) (state, error) { return t.state(ctx, db, owner) }, decide, err)
}

// changeOf is the change of a list whose state is of the type S. Callers see the state as any.
func changeOf[S any](
	t *Tree, read func(context.Context, model.DB) (S, error), decide func(S) (model.Plan, error), err error,
) model.Change[any] {
	return model.Change[any]{
		Name: "tree " + t.Owners + "." + t.Path,
		Read: func(ctx context.Context, db model.DB) (any, error) { return read(ctx, db) },
		Decide: func(state any) (model.Plan, error) {
			s, ok := state.(S)
			if !ok {
				return model.Plan{}, &model.ValueError{Field: "state", Value: state, Reason: "must be the result of the change's Read"}
			}
			return decide(s)
		},
		Err: err, Attempts: 64, MaxPause: 100 * time.Millisecond,
	}
}

// An edit is an update of one owner, and what it depends on.
type edit struct {
	owner   bson.RawValue
	filter  bson.D         // beside the _id
	update  bson.D         // operators
	af      []any          // arrayFilters
	done    bson.D         // beside the _id; nil for never
	grows   int            // by how many bytes
	more    int            // by how many nodes
	reasons []model.Reason // without the _id
}

// write is an edit as a write, within the bounds.
func (t *Tree) write(e edit) model.Write {
	id := bson.D{{Key: "_id", Value: model.Eq(e.owner)}}
	w := model.Write{Collection: t.Owners, Expect: model.One, Index: model.IDIndex, Once: true}
	if e.done != nil {
		w.Done = slices.Concat(id, e.done)
	}
	for _, r := range e.reasons {
		w.Reasons = append(w.Reasons, model.Reason{If: slices.Concat(id, r.If), Err: r.Err})
	}
	filter := slices.Concat(id, e.filter)
	full := func(reason string, fits, over bson.E) {
		w.Reasons = append(w.Reasons, model.Reason{If: append(slices.Clone(filter), over), Err: fmt.Errorf("%w: %s of %s %s has %s",
			model.ErrFull, t.Path, t.Owners, model.Shell(e.owner), reason)})
		filter = append(filter, fits)
	}
	if e.more > 0 && t.spec.Max > 0 {
		last := t.Path + "." + strconv.Itoa(t.spec.Max-e.more)
		full(fmt.Sprintf("%d nodes already, or would have more: no room", t.spec.Max), mql.E(last, mql.Exists(false)), mql.E(last, mql.Exists(true)))
	}
	if e.grows > 0 {
		size := func(op string) bson.E {
			return mql.E("$expr", bson.D{{Key: op, Value: bson.A{mql.Op("$bsonSize", "$$ROOT"), t.spec.MaxBytes - e.grows}}})
		}
		full(fmt.Sprintf("no room for the node below %d bytes: the change adds %d bytes", t.spec.MaxBytes, e.grows), size("$lte"), size("$gt"))
	}
	update := e.update
	if t.spec.Revision != "" {
		update = append(slices.Clone(update), mql.E("$inc", bson.D{{Key: t.spec.Revision, Value: int64(1)}}))
	}
	w.Model = &mongo.UpdateOneModel{Filter: filter, Update: update, ArrayFilters: e.af}
	return w
}

// asRead is the condition that the list is as it was read.
func (t *Tree) asRead(s state) bson.D {
	switch {
	case t.spec.Revision != "" && s.Revision.Type == 0:
		return bson.D{{Key: t.spec.Revision, Value: nil}}
	case t.spec.Revision != "":
		return bson.D{{Key: t.spec.Revision, Value: model.Eq(s.Revision)}}
	case s.List.Type == 0:
		return bson.D{{Key: t.Path, Value: mql.Exists(false)}}
	}
	return t.is(s.List)
}

// is the condition that the list is this one.
func (t *Tree) is(list bson.RawValue) bson.D {
	return bson.D{{Key: t.Path, Value: mql.Op("$eq", list)}}
}

// name is the path of a field of the nodes.
func (t *Tree) name(field string) string { return t.Path + "." + field }

// without is the condition that the list has no node of an id.
func without(id bson.RawValue) bson.D { return mql.Op("$ne", id) }

// onlyFlat refuses what needs no reading in the flat form alone.
func (t *Tree) onlyFlat(instead string) error {
	if t.spec.Nested != "" {
		return t.Refuse(t.Path, nil, "is a nested tree, which must be read first: use "+instead)
	}
	return nil
}

// Push is the write that adds a leaf at an end.
func (t *Tree) Push(owner bson.RawValue, node bson.Raw, at forest.Place[bson.RawValue], err error) model.Write {
	if err == nil {
		err = t.onlyFlat("Insert")
	}
	switch {
	case err != nil:
	case t.spec.Order != "":
		err = t.Refuse(t.name(t.spec.Order), nil, "is computed from the siblings' order keys, which must be read first: use Insert")
	case at.At == forest.Before || at.At == forest.After:
		err = t.Refuse("place", at.At.String(), "needs the list to be read first: use Insert")
	}
	if err != nil {
		return model.Refused(t.Owners, err)
	}
	index := -1
	if at.At == forest.FirstRoot || at.At == forest.FirstChild {
		index = 0
	}
	parent := forest.Null
	if !at.At.Root() {
		parent = at.Ref
	}
	return t.pushAt(owner, withFields(node, field{t.spec.Parent, parent}), index, nil)
}

// pushAt is the write that adds a leaf at a position, -1 for the end, if what is around it is still there.
func (t *Tree) pushAt(owner bson.RawValue, node bson.Raw, index int, around bson.D) model.Write {
	id, parent := node.Lookup(t.spec.ID), node.Lookup(t.spec.Parent)
	ids := t.name(t.spec.ID)
	guard := without(id)
	reasons := []model.Reason{{If: bson.D{{Key: ids, Value: model.Eq(id)}}, Err: t.fault(model.ErrTaken, id)}}
	if !forest.IsNull(parent) {
		guard = append(mql.Op("$eq", parent), guard...)
		reasons = append(reasons, model.Reason{If: bson.D{{Key: ids, Value: without(parent)}}, Err: t.fault(model.ErrNotFound, parent)})
	}
	var what any = forest.DocumentValue(node)
	if index >= 0 {
		what = bson.D{{Key: "$each", Value: bson.A{what}}, {Key: "$position", Value: index}}
	}
	return t.write(edit{
		owner: owner, filter: append(bson.D{{Key: ids, Value: guard}}, around...),
		update: mql.Op("$push", bson.D{{Key: t.Path, Value: what}}),
		done:   bson.D{{Key: t.Path, Value: mql.Op("$eq", forest.DocumentValue(node))}},
		grows:  len(node) + 8, more: 1, reasons: reasons,
	})
}

// patch is the write that sets fields of a node, wherever in the list it stands. grows is by how much, or -1 where that isn't known.
func (t *Tree) patch(owner, id bson.RawValue, set []field, grows int) model.Write {
	if err := t.onlyFlat("Set"); err != nil {
		return model.Refused(t.Owners, err)
	}
	if grows < 0 {
		grows = 0
		for _, f := range set {
			grows += len(f.name) + 2 + len(f.value.Value)
		}
	}
	ids := t.name(t.spec.ID)
	return t.write(edit{
		owner: owner, filter: bson.D{{Key: ids, Value: model.Eq(id)}}, update: t.setting(t.Path+".$[n]", set), grows: grows,
		af:      []any{bson.D{{Key: "n." + t.spec.ID, Value: model.Eq(id)}}},
		reasons: []model.Reason{{If: bson.D{{Key: ids, Value: without(id)}}, Err: t.fault(model.ErrNotFound, id)}},
	})
}

// setting is the update that sets fields of the node at a path.
func (t *Tree) setting(at string, set []field) bson.D {
	d := make(bson.D, len(set))
	for i, f := range set {
		d[i] = mql.E(at+"."+f.name, f.value)
	}
	return mql.Op("$set", d)
}

// Load is the write that stores a whole tree.
func (t *Tree) Load(owner bson.RawValue, nodes any, err error) model.Write {
	var w model.Write
	if err == nil {
		w, err = t.load(owner, nodes)
	}
	if err != nil {
		return model.Refused(t.Owners, err)
	}
	return w
}

func (t *Tree) load(owner bson.RawValue, nodes any) (model.Write, error) {
	list, err := t.value(t.Path, nodes)
	if err != nil {
		return model.Write{}, err
	}
	if forest.IsNull(list) {
		list = arrayOf(nil)
	}
	if path, err := core.CheckNames(list, t.Path); err != nil {
		return model.Write{}, t.Refuse(path, nil, err.Error())
	}
	g, err := t.grove(list)
	if err == nil {
		err = t.loadable(owner, list)
	}
	if err == nil {
		err = t.bounded(0, len(g.all))
	}
	if err == nil {
		err = t.shallow(g)
	}
	if err != nil {
		return model.Write{}, err
	}
	if t.spec.Order != "" {
		t.spreadAgain(g.all)
		list = listOf(g.all)
	}
	none := bson.A{nil, bson.A{}}
	return t.write(edit{
		owner: owner, filter: bson.D{{Key: t.Path, Value: mql.Op("$in", none)}}, done: t.is(list), grows: len(list.Value),
		update: mql.Op("$set", bson.D{{Key: t.Path, Value: list}}),
		reasons: []model.Reason{{
			If: bson.D{{Key: t.Path, Value: mql.Op("$nin", none)}}, Err: fmt.Errorf("%w: %s of %s %s has nodes already", model.ErrTaken, t.Path, t.Owners, model.Shell(owner)),
		}},
	}), nil
}

// loadable says what is wrong with a list of the caller's. Order keys may be missing: they are given.
func (t *Tree) loadable(owner, list bson.RawValue) error {
	for _, p := range t.problems(owner, list) {
		switch p.Kind {
		case forest.BadOrder:
		case forest.DuplicateID:
			return t.fault(model.ErrTaken, p.Node)
		case forest.Orphan:
			return fmt.Errorf("%w: the parent of %s doesn't exist", model.ErrNotFound, model.Shell(p.Node))
		case forest.Cycle:
			return t.fault(forest.ErrCycle, p.Node)
		default:
			return t.Refuse(p.At, nil, p.Kind.String())
		}
	}
	return nil
}

// Pull is the write that deletes a leaf. A node that isn't there may have been deleted by anybody: it doesn't count as done.
func (t *Tree) Pull(owner, id bson.RawValue, err error) model.Write {
	if err == nil {
		err = t.onlyFlat("Delete")
	}
	if err != nil {
		return model.Refused(t.Owners, err)
	}
	return t.pull(owner, id)
}

func (t *Tree) pull(owner, id bson.RawValue) model.Write {
	ids, parents := t.name(t.spec.ID), t.name(t.spec.Parent)
	return t.write(edit{
		owner: owner, filter: bson.D{{Key: ids, Value: model.Eq(id)}, {Key: parents, Value: without(id)}},
		update: mql.Op("$pull", bson.D{{Key: t.Path, Value: bson.D{{Key: t.spec.ID, Value: model.Eq(id)}}}}),
		reasons: []model.Reason{
			{If: bson.D{{Key: parents, Value: model.Eq(id)}}, Err: t.fault(forest.ErrHasChildren, id)},
			{If: bson.D{{Key: ids, Value: without(id)}}, Err: t.fault(model.ErrNotFound, id)},
		},
	})
}
