package paths

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// DocumentState is what a change of a [DocumentTree] reads: the owner's list, and its revision.
type DocumentState struct {
	List     bson.RawValue // type 0 if there is none
	Revision bson.RawValue // type 0 if there is none, or the tree has no Revision
}

// state reads an owner.
func (t *documentTree) state(ctx context.Context, db *mongo.Database, owner bson.RawValue) (DocumentState, error) {
	doc, err := t.lists(bson.D{{Key: "_id", Value: model.Eq(owner)}}, model.IDIndex).One(ctx, db)
	return t.stateOf(doc), err
}

// lists is the query of owners' lists.
func (t *documentTree) lists(filter bson.D, index string) model.Aggregate[bson.Raw] {
	return model.Aggregate[bson.Raw]{Aggregation: model.Aggregation{Collection: t.owners, Index: index, Pipeline: mongo.Pipeline{
		{{Key: "$match", Value: filter}}, {{Key: "$project", Value: t.needed()}},
	}}}
}

// needed is the projection of what changes read.
func (t *documentTree) needed() bson.D {
	fields := bson.D{{Key: t.path, Value: 1}}
	if t.spec.Revision != "" {
		fields = append(fields, bson.E{Key: t.spec.Revision, Value: 1})
	}
	return fields
}

func (t *documentTree) stateOf(doc bson.Raw) (s DocumentState) {
	s.List, _ = model.ValueAt(doc, t.path)
	if t.spec.Revision != "" {
		s.Revision, _ = model.ValueAt(doc, t.spec.Revision)
	}
	return s
}

// change is a change of an owner's list.
func (t *documentTree) change(owner bson.RawValue, err error, decide func(DocumentState) (model.Plan, error)) model.Change[DocumentState] {
	return model.Change[DocumentState]{
		Read:   func(ctx context.Context, db *mongo.Database) (DocumentState, error) { return t.state(ctx, db, owner) },
		Decide: decide, Err: err, Attempts: 64, MaxPause: 100 * time.Millisecond,
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
func (t *documentTree) write(e edit) model.Write {
	id := bson.D{{Key: "_id", Value: model.Eq(e.owner)}}
	w := model.Write{Collection: t.owners, Expect: model.One, Index: model.IDIndex, Once: true}
	if e.done != nil {
		w.Done = slices.Concat(id, e.done)
	}
	for _, r := range e.reasons {
		w.Reasons = append(w.Reasons, model.Reason{If: slices.Concat(id, r.If), Err: r.Err})
	}
	filter := slices.Concat(id, e.filter)
	full := func(reason string, fits, over bson.E) {
		w.Reasons = append(w.Reasons, model.Reason{If: append(slices.Clone(filter), over), Err: fmt.Errorf("%w: %s of %s %s has %s",
			ErrFull, t.path, t.owners, text(e.owner), reason)})
		filter = append(filter, fits)
	}
	if e.more > 0 && t.spec.Max > 0 {
		last := t.path + "." + strconv.Itoa(t.spec.Max-e.more)
		full(fmt.Sprintf("%d nodes, or would have more", t.spec.Max), bson.E{Key: last, Value: mql.Exists(false)}, bson.E{Key: last, Value: mql.Exists(true)})
	}
	if e.grows > 0 {
		size := func(op string) bson.E {
			return bson.E{Key: "$expr", Value: bson.D{{Key: op, Value: bson.A{bson.D{{Key: "$bsonSize", Value: "$$ROOT"}}, t.spec.MaxBytes - e.grows}}}}
		}
		full(fmt.Sprintf("no room below %d bytes for %d more", t.spec.MaxBytes, e.grows), size("$lte"), size("$gt"))
	}
	update := e.update
	if t.spec.Revision != "" {
		update = append(slices.Clone(update), bson.E{Key: "$inc", Value: bson.D{{Key: t.spec.Revision, Value: int64(1)}}})
	}
	w.Model = &mongo.UpdateOneModel{Filter: filter, Update: update, ArrayFilters: e.af}
	return w
}

// asRead is the condition that the list is as it was read.
func (t *documentTree) asRead(s DocumentState) bson.D {
	switch {
	case t.spec.Revision != "" && s.Revision.Type == 0:
		return bson.D{{Key: t.spec.Revision, Value: nil}}
	case t.spec.Revision != "":
		return bson.D{{Key: t.spec.Revision, Value: model.Eq(s.Revision)}}
	case s.List.Type == 0:
		return bson.D{{Key: t.path, Value: mql.Exists(false)}}
	}
	return t.is(s.List)
}

// is the condition that the list is this one.
func (t *documentTree) is(list bson.RawValue) bson.D {
	return bson.D{{Key: t.path, Value: bson.D{{Key: "$eq", Value: list}}}}
}

// name is the path of a field of the nodes.
func (t *documentTree) name(field string) string { return t.path + "." + field }

// without is the condition that the list has no node of an id.
func without(id bson.RawValue) bson.D { return bson.D{{Key: "$ne", Value: id}} }

// onlyFlat refuses what needs no reading in the flat form alone.
func (t *documentTree) onlyFlat(instead string) error {
	if t.spec.Nested != "" {
		return t.refused(t.path, nil, "is a nested tree, which has to be read: use "+instead)
	}
	return nil
}

// push is the write that adds a leaf at an end.
func (t *documentTree) push(owner bson.RawValue, node bson.Raw, at place) model.Write {
	err := t.onlyFlat("Insert")
	switch {
	case err != nil:
	case t.spec.Order != "":
		err = t.refused(t.name(t.spec.Order), nil, "is made from the siblings' keys, which have to be read: use Insert")
	case at.at == before || at.at == after:
		err = t.refused("place", at.at.String(), "is found by reading the list: use Insert")
	}
	if err != nil {
		return model.Refused(t.owners, err)
	}
	index := -1
	if at.at == firstRoot || at.at == firstChild {
		index = 0
	}
	parent := null
	if !at.at.root() {
		parent = at.ref
	}
	return t.pushAt(owner, withFields(node, field{t.spec.Parent, parent}), index, nil)
}

// pushAt is the write that adds a leaf at a position, -1 for the end, if what is around it is still there.
func (t *documentTree) pushAt(owner bson.RawValue, node bson.Raw, index int, around bson.D) model.Write {
	id, parent := node.Lookup(t.spec.ID), node.Lookup(t.spec.Parent)
	ids := t.name(t.spec.ID)
	guard := without(id)
	reasons := []model.Reason{{If: bson.D{{Key: ids, Value: model.Eq(id)}}, Err: t.fault(ErrExists, id)}}
	if !isNull(parent) {
		guard = append(bson.D{{Key: "$eq", Value: parent}}, guard...)
		reasons = append(reasons, model.Reason{If: bson.D{{Key: ids, Value: without(parent)}}, Err: t.fault(ErrNoNode, parent)})
	}
	var what any = documentValue(node)
	if index >= 0 {
		what = bson.D{{Key: "$each", Value: bson.A{what}}, {Key: "$position", Value: index}}
	}
	return t.write(edit{
		owner: owner, filter: append(bson.D{{Key: ids, Value: guard}}, around...),
		update: bson.D{{Key: "$push", Value: bson.D{{Key: t.path, Value: what}}}},
		done:   bson.D{{Key: t.path, Value: bson.D{{Key: "$eq", Value: documentValue(node)}}}},
		grows:  len(node) + 8, more: 1, reasons: reasons,
	})
}

// patch is the write that sets fields of a node, wherever in the list it stands. grows is by how much, or -1 where that isn't known.
func (t *documentTree) patch(owner, id bson.RawValue, set []field, grows int) model.Write {
	if err := t.onlyFlat("Set"); err != nil {
		return model.Refused(t.owners, err)
	}
	if grows < 0 {
		grows = 0
		for _, f := range set {
			grows += len(f.name) + 2 + len(f.value.Value)
		}
	}
	ids := t.name(t.spec.ID)
	return t.write(edit{
		owner: owner, filter: bson.D{{Key: ids, Value: model.Eq(id)}}, update: t.setting(t.path+".$[n]", set), grows: grows,
		af:      []any{bson.D{{Key: "n." + t.spec.ID, Value: model.Eq(id)}}},
		reasons: []model.Reason{{If: bson.D{{Key: ids, Value: without(id)}}, Err: t.fault(ErrNoNode, id)}},
	})
}

// setting is the update that sets fields of the node at a path.
func (t *documentTree) setting(at string, set []field) bson.D {
	d := make(bson.D, len(set))
	for i, f := range set {
		d[i] = bson.E{Key: at + "." + f.name, Value: f.value}
	}
	return bson.D{{Key: "$set", Value: d}}
}

// load is the write that stores a whole tree.
func (t *documentTree) load(owner bson.RawValue, nodes any) (model.Write, error) {
	list, err := t.value(t.path, nodes)
	if err != nil {
		return model.Write{}, err
	}
	if isNull(list) {
		list = arrayOf(nil)
	}
	if path, err := model.CheckNames(list, t.path); err != nil {
		return model.Write{}, t.refused(path, nil, err.Error())
	}
	g, err := t.grove(list)
	if err == nil {
		err = t.whole(owner, list)
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
		owner: owner, filter: bson.D{{Key: t.path, Value: bson.D{{Key: "$in", Value: none}}}}, done: t.is(list), grows: len(list.Value),
		update: bson.D{{Key: "$set", Value: bson.D{{Key: t.path, Value: list}}}},
		reasons: []model.Reason{{
			If: bson.D{{Key: t.path, Value: bson.D{{Key: "$nin", Value: none}}}}, Err: fmt.Errorf("%w: %s of %s %s has nodes", ErrExists, t.path, t.owners, text(owner)),
		}},
	}), nil
}

// whole says what is wrong with a list of the caller's. Order keys may be missing: they are given.
func (t *documentTree) whole(owner, list bson.RawValue) error {
	for _, p := range t.problems(owner, list) {
		switch p.Kind {
		case badOrder:
		case duplicateID:
			return t.fault(ErrExists, p.Node)
		case orphan:
			return fmt.Errorf("%w: the parent of %s", ErrNoNode, text(p.Node))
		case cycle:
			return t.fault(ErrCycle, p.Node)
		default:
			return t.refused(p.At, nil, p.Kind.String())
		}
	}
	return nil
}

// pull is the write that deletes a leaf. A node that isn't there may have been deleted by anybody: it doesn't count as done.
func (t *documentTree) pull(owner, id bson.RawValue) model.Write {
	if err := t.onlyFlat("Delete"); err != nil {
		return model.Refused(t.owners, err)
	}
	ids, parents := t.name(t.spec.ID), t.name(t.spec.Parent)
	return t.write(edit{
		owner: owner, filter: bson.D{{Key: ids, Value: model.Eq(id)}, {Key: parents, Value: without(id)}},
		update: bson.D{{Key: "$pull", Value: bson.D{{Key: t.path, Value: bson.D{{Key: t.spec.ID, Value: model.Eq(id)}}}}}},
		reasons: []model.Reason{
			{If: bson.D{{Key: parents, Value: model.Eq(id)}}, Err: t.fault(ErrHasChildren, id)},
			{If: bson.D{{Key: ids, Value: without(id)}}, Err: t.fault(ErrNoNode, id)},
		},
	})
}
