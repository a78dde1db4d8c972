package document

// The one update in which every change ends, and the writes that need no read.

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

// state is what a change reads of the owner.
type state struct {
	List     bson.RawValue // type 0 if there is none
	Revision bson.RawValue // type 0 if there is none, or the tree has no Revision
}

// readState reads an owner's list and counter.
func (t *Tree) readState(ctx context.Context, db model.DB, owner bson.RawValue) (state, error) {
	doc, err := t.findLists(bson.D{{Key: "_id", Value: mql.Eq(owner)}}, model.IDIndex).One(ctx, db)
	return t.decodeState(doc), err
}

// findLists is the query of owners' lists. An aggregation, so that the Go type, which can
// lack fields of nodes, isn't used.
func (t *Tree) findLists(filter bson.D, index string) *model.Aggregate[bson.Raw] {
	return &model.Aggregate[bson.Raw]{Aggregation: model.Aggregation{
		Collection: t.Owners, Index: index,
		Pipeline: mongo.Pipeline{mql.Op("$match", filter), mql.Op("$project", t.projectNeeded())},
	}}
}

// projectNeeded is the projection of what changes read.
func (t *Tree) projectNeeded() bson.D {
	fields := bson.D{{Key: t.Path, Value: 1}}
	if t.spec.Revision != "" {
		fields = append(fields, mql.E(t.spec.Revision, 1))
	}
	return fields
}

// decodeState takes the state from an owner's document.
func (t *Tree) decodeState(doc bson.Raw) (s state) {
	s.List, _ = core.ValueAt(doc, t.Path)
	if t.spec.Revision != "" {
		s.Revision, _ = core.ValueAt(doc, t.spec.Revision)
	}
	return s
}

// makeChange is a change of an owner's list.
func (t *Tree) makeChange(owner bson.RawValue, decide func(state) (model.Plan, error)) model.Change {
	return makeChangeOf(
		t, func(ctx context.Context, db model.DB) (state, error) { return t.readState(ctx, db, owner) }, decide,
	)
}

// RefuseChange is a change that gives an error of its arguments, and sends nothing.
func (t *Tree) RefuseChange(err error) model.Change {
	c := makeChangeOf[state](t, nil, nil)
	c.Err = err
	return c
}

// makeChangeOf is a change whose state has the type S.
// A popular owner has many writers, hence up to 64 attempts with pauses of up to 100 ms.
func makeChangeOf[S any](
	t *Tree, read func(context.Context, model.DB) (S, error), decide func(S) (model.Plan, error),
) model.Change {
	return model.ChangeOf[S]{
		Name: "tree " + t.Owners + "." + t.Path, Read: read, Decide: decide,
		Attempts: 64, MaxPause: 100 * time.Millisecond,
	}.Change()
}

// An edit is an update of one owner, and its conditions.
type edit struct {
	owner bson.RawValue
	// Conditions, without the _id. done is the condition that the update was applied
	// before; nil means that this can't be known.
	filter bson.D
	update bson.D // operators
	// arrayFilters
	af   []any
	done bson.D // beside the _id; nil for never
	// By how many bytes and nodes the owner grows: the update requires that there is
	// room.
	grows   int
	more    int            // by how many nodes
	reasons []model.Reason // without the _id
}

// makeWrite makes the write of an edit. The filter refuses an update that would make the
// list or the document too large. $bsonSize is the size of the whole document before the
// update.
func (t *Tree) makeWrite(e edit) model.Write {
	id := bson.D{{Key: "_id", Value: mql.Eq(e.owner)}}
	w := model.Write{Collection: t.Owners, Expect: model.One, Index: model.IDIndex, Idempotent: true}
	if e.done != nil {
		w.Done = slices.Concat(id, e.done)
	}
	for _, r := range e.reasons {
		w.Reasons = append(w.Reasons, model.Reason{If: slices.Concat(id, r.If), Err: r.Err})
	}
	filter := slices.Concat(id, e.filter)
	full := func(reason string, fits, over bson.E) {
		w.Reasons = append(w.Reasons, model.Reason{If: append(
			slices.Clone(filter), over,
		), Err: fmt.Errorf("%w: %s of %s %s has %s",
			model.ErrFull, t.Path, t.Owners, model.Shell(e.owner), reason)})
		filter = append(filter, fits)
	}
	if e.more > 0 && t.spec.Max > 0 {
		// The element at this index exists if the list has no room for all new nodes.
		last := t.Path + "." + strconv.Itoa(t.spec.Max-e.more)
		full(
			fmt.Sprintf("%d nodes already, or would have more: no room", t.spec.Max), mql.E(last, mql.Exists(false)),
			mql.E(last, mql.Exists(true)),
		)
	}
	if e.grows > 0 {
		size := func(op string) bson.E {
			return mql.E(
				"$expr", bson.D{{Key: op, Value: bson.A{mql.Op("$bsonSize", "$$ROOT"), t.spec.MaxBytes - e.grows}}},
			)
		}
		full(
			fmt.Sprintf("no room for the node below %d bytes: the change adds %d bytes", t.spec.MaxBytes, e.grows),
			size("$lte"), size("$gt"),
		)
	}
	update := e.update
	if t.spec.Revision != "" {
		// Push, Patch and Pull count too, so that a change that has read the list notices
		// them.
		update = append(slices.Clone(update), mql.E("$inc", bson.D{{Key: t.spec.Revision, Value: int64(1)}}))
	}
	w.Model = &mongo.UpdateOneModel{Filter: filter, Update: update, ArrayFilters: e.af}
	return w
}

// matchAsRead is the condition that the list is as it was read: by the counter, if the
// tree has one. Comparing the whole list costs bytes in the command, but needs no
// counter.
func (t *Tree) matchAsRead(s state) bson.D {
	switch {
	case t.spec.Revision != "" && s.Revision.Type == 0:
		return bson.D{{Key: t.spec.Revision, Value: nil}}
	case t.spec.Revision != "":
		return bson.D{{Key: t.spec.Revision, Value: mql.Eq(s.Revision)}}
	case s.List.Type == 0:
		return bson.D{{Key: t.Path, Value: mql.Exists(false)}}
	}
	return t.matchList(s.List)
}

// matchList matches owners with exactly this list.
func (t *Tree) matchList(list bson.RawValue) bson.D {
	return bson.D{{Key: t.Path, Value: mql.Op("$eq", list)}}
}

// joinPath returns the path of a node's field.
func (t *Tree) joinPath(field string) string { return t.Path + "." + field }

// matchAbsent is the condition that no node has an id.
func matchAbsent(id bson.RawValue) bson.D { return mql.Op("$ne", id) }

// requireFlat refuses a nested tree for writes without a read.
func (t *Tree) requireFlat(instead string) error {
	if t.spec.Nested != "" {
		return t.Refuse(t.Path, nil, "is a nested tree, which must be read first: use "+instead)
	}
	return nil
}

// PushNode is the write that adds a leaf as the first or last child, without a read.
func (t *Tree) PushNode(owner bson.RawValue, node bson.Raw, at forest.Place[bson.RawValue]) model.Write {
	err := t.requireFlat("Insert")
	switch {
	case err != nil:
	case t.spec.Order != "":
		err = t.Refuse(
			t.joinPath(t.spec.Order), nil,
			"is computed from the siblings' order keys, which must be read first: use Insert",
		)
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
	if !at.At.IsRoot() {
		parent = at.Ref
	}
	return t.writePush(owner, setFields(node, field{t.spec.Parent, parent}), index, nil)
}

// writePush adds a leaf at an index, -1 for the end, if the list has its parent and not
// its id. around are conditions on the elements near the index.
func (t *Tree) writePush(owner bson.RawValue, node bson.Raw, index int, around bson.D) model.Write {
	id, parent := node.Lookup(t.spec.ID), node.Lookup(t.spec.Parent)
	ids := t.joinPath(t.spec.ID)
	// The parent must be there and the node must not: both in one condition on the ids.
	guard := matchAbsent(id)
	reasons := []model.Reason{{If: bson.D{{Key: ids, Value: mql.Eq(id)}}, Err: t.newNodeError(model.ErrTaken, id)}}
	if !forest.IsNull(parent) {
		guard = append(mql.Op("$eq", parent), guard...)
		reasons = append(
			reasons,
			model.Reason{
				If: bson.D{{Key: ids, Value: matchAbsent(parent)}}, Err: t.newNodeError(model.ErrNotFound, parent),
			},
		)
	}
	var what any = forest.EncodeDocument(node)
	// $push without $position appends:
	// https://www.mongodb.com/docs/manual/reference/operator/update/position/.
	if index >= 0 {
		what = bson.D{{Key: "$each", Value: bson.A{what}}, {Key: "$position", Value: index}}
	}
	return t.makeWrite(edit{
		owner: owner, filter: append(bson.D{{Key: ids, Value: guard}}, around...),
		update: mql.Op("$push", bson.D{{Key: t.Path, Value: what}}),
		done:   bson.D{{Key: t.Path, Value: mql.Op("$eq", forest.EncodeDocument(node))}},
		grows:  len(node) + 8, more: 1, reasons: reasons,
	})
}

// writePatch sets fields of a node, wherever it is in the list: the array filter finds
// it. grows is -1 if it isn't known: then the fields count as new.
func (t *Tree) writePatch(owner, id bson.RawValue, set []field, grows int) model.Write {
	if err := t.requireFlat("Set"); err != nil {
		return model.Refused(t.Owners, err)
	}
	if grows < 0 {
		grows = 0
		for _, f := range set {
			grows += len(f.name) + 2 + len(f.value.Value)
		}
	}
	ids := t.joinPath(t.spec.ID)
	return t.makeWrite(edit{
		owner: owner, filter: bson.D{{Key: ids, Value: mql.Eq(id)}}, update: t.setAtPath(t.Path+".$[n]", set),
		grows: grows,
		af:    []any{bson.D{{Key: "n." + t.spec.ID, Value: mql.Eq(id)}}},
		reasons: []model.Reason{
			{If: bson.D{{Key: ids, Value: matchAbsent(id)}}, Err: t.newNodeError(model.ErrNotFound, id)},
		},
	})
}

// setAtPath is the update that sets fields of the node at a path.
func (t *Tree) setAtPath(at string, set []field) bson.D {
	d := make(bson.D, len(set))
	for i, f := range set {
		d[i] = mql.E(at+"."+f.name, f.value)
	}
	return mql.Op("$set", d)
}

// LoadTree is the write that stores a whole tree in an owner without nodes.
func (t *Tree) LoadTree(owner bson.RawValue, nodes any) model.Write {
	w, err := t.writeLoad(owner, nodes)
	if err != nil {
		return model.Refused(t.Owners, err)
	}
	return w
}

// writeLoad checks a list of the caller's, gives its nodes order keys, and makes the
// write.
func (t *Tree) writeLoad(owner bson.RawValue, nodes any) (model.Write, error) {
	list, err := t.encodeValue(t.Path, nodes)
	if err != nil {
		return model.Write{}, err
	}
	if forest.IsNull(list) {
		list = encodeArray(nil)
	}
	if path, err := core.CheckNames(list, t.Path); err != nil {
		return model.Write{}, t.Refuse(path, nil, err.Error())
	}
	g, err := t.readGrove(list)
	if err == nil {
		err = t.checkLoadable(owner, list)
	}
	if err == nil {
		err = t.checkMax(0, len(g.all))
	}
	if err == nil {
		err = t.checkDepth(g)
	}
	if err != nil {
		return model.Write{}, err
	}
	if t.spec.Order != "" {
		t.respreadKeys(g.all)
		list = encodeList(g.all)
	}
	// nil also matches a missing list.
	none := bson.A{nil, bson.A{}}
	return t.makeWrite(edit{
		owner: owner, filter: bson.D{{Key: t.Path, Value: mql.Op("$in", none)}}, done: t.matchList(list),
		grows:  len(list.Value),
		update: mql.Op("$set", bson.D{{Key: t.Path, Value: list}}),
		reasons: []model.Reason{{
			If:  bson.D{{Key: t.Path, Value: mql.Op("$nin", none)}},
			Err: fmt.Errorf("%w: %s of %s %s has nodes already", model.ErrTaken, t.Path, t.Owners, model.Shell(owner)),
		}},
	}), nil
}

// checkLoadable returns an error for a damaged list. Order keys may be missing.
func (t *Tree) checkLoadable(owner, list bson.RawValue) error {
	for _, p := range t.listProblems(owner, list) {
		switch p.Kind {
		case forest.BadOrder:
		case forest.DuplicateID:
			return t.newNodeError(model.ErrTaken, p.Node)
		case forest.Orphan:
			return fmt.Errorf("%w: the parent of %s doesn't exist", model.ErrNotFound, model.Shell(p.Node))
		case forest.Cycle:
			return t.newNodeError(forest.ErrCycle, p.Node)
		default:
			return t.Refuse(p.At, nil, p.Kind.String())
		}
	}
	return nil
}

// PullNode is the write that deletes a leaf without a read. It has no Done: a missing
// node may be another writer's work.
func (t *Tree) PullNode(owner, id bson.RawValue) model.Write {
	if err := t.requireFlat("Delete"); err != nil {
		return model.Refused(t.Owners, err)
	}
	return t.writePull(owner, id)
}

// writePull deletes a node that no node has as its parent.
func (t *Tree) writePull(owner, id bson.RawValue) model.Write {
	ids, parents := t.joinPath(t.spec.ID), t.joinPath(t.spec.Parent)
	return t.makeWrite(edit{
		owner: owner, filter: bson.D{{Key: ids, Value: mql.Eq(id)}, {Key: parents, Value: matchAbsent(id)}},
		update: mql.Op("$pull", bson.D{{Key: t.Path, Value: bson.D{{Key: t.spec.ID, Value: mql.Eq(id)}}}}),
		reasons: []model.Reason{
			{If: bson.D{{Key: parents, Value: mql.Eq(id)}}, Err: t.newNodeError(forest.ErrHasChildren, id)},
			{If: bson.D{{Key: ids, Value: matchAbsent(id)}}, Err: t.newNodeError(model.ErrNotFound, id)},
		},
	})
}
