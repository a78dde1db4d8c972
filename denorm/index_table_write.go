package denorm

import (
	"slices"

	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

const noToken = "the operation's token is empty: pass bson.NewObjectID()"

// indexTables are tables of the same documents, which one plan keeps: what is said of an [IndexTable] holds of each. There is
// at least one.
type indexTables []*indexTable

// insert is the plan around the insert of a document.
func (ts indexTables) insert(w model.Write, op bson.ObjectID) model.Plan {
	docs := ts[0].docs
	if op.IsZero() {
		return model.RefusedPlan(docs, ts[0].refused("op", nil, noToken))
	}
	states, err := ts.states(w.Model.(*mongo.InsertOneModel).Document.(bson.Raw))
	if err != nil {
		return model.RefusedPlan(docs, err)
	}
	id := states[0].id
	taken := model.Reason{If: bson.D{{Key: "_id", Value: model.Eq(id)}}, Err: &TakenError{Collection: docs, Value: id}}
	var p model.Plan
	var held bson.A
	var keep []model.Step
	for i, t := range ts {
		for _, v := range states[i].values {
			p.Steps = append(p.Steps, t.enter(v, id, states[i].copies, op))
			held = append(held, bson.D{{Key: t.path, Value: model.Eq(v)}})
			keep = append(keep, t.update(t.key(v, id), bson.D{{Key: "$set", Value: bson.D{{Key: "sure", Value: true}}}, {Key: "$pull", Value: bson.D{{Key: "ops", Value: op}}}}))
		}
		p.IfStale = append(p.IfStale, t.takeBack(states[i].values, id, op)...)
	}
	if len(p.Steps) > 0 {
		p.Leaves = "entries without their document, or not confirmed"
		// The document may be this one, stored by a first run that was cut, and changed since: then its entries are right.
		has := model.Reason{If: model.And(taken.If, bson.D{{Key: "$or", Value: held}}), Err: taken.Err, Instead: keep}
		w.Reasons = append(w.Reasons, has)
	}
	w.Reasons = append(w.Reasons, taken)
	p.Steps = append(p.Steps, w)
	for i, t := range ts {
		for _, v := range states[i].values {
			p.Steps = append(p.Steps, t.confirm(t.key(v, id), states[i].copies, op))
		}
	}
	return p
}

// states are what of a document each table depends on.
func (ts indexTables) states(doc bson.Raw) ([]indexState, error) {
	out := make([]indexState, len(ts))
	for i, t := range ts {
		var err error
		if out[i], err = t.state(doc); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// An indexState is what of a document the table depends on.
type indexState struct {
	id     bson.RawValue
	at     bson.RawValue // what the path holds
	values []bson.RawValue
	held   map[string]bson.RawValue // what the copied paths hold
	copies bson.D
}

func (t *indexTable) state(doc bson.Raw) (s indexState, err error) {
	s.id = doc.Lookup("_id")
	if s.at, err = t.at(doc, t.path); err != nil {
		return s, err
	}
	if s.values, err = t.values(s.at); err != nil {
		return s, err
	}
	s.held = map[string]bson.RawValue{}
	for _, path := range t.copies {
		if s.held[path], err = t.at(doc, path); err != nil {
			return s, err
		}
	}
	s.copies = t.copied(func(path string) bson.RawValue { return s.held[path] })
	return s, nil
}

// set is the plan that sets fields of a document that was read.
func (ts indexTables) set(doc bson.Raw, fields bson.D, op bson.ObjectID) model.Plan {
	refuse := func(err error) model.Plan { return model.RefusedPlan(ts[0].docs, err) }
	if op.IsZero() {
		return refuse(ts[0].refused("op", nil, noToken))
	}
	set, err := ts[0].fields(fields, ts.held())
	if err != nil {
		return refuse(err)
	}
	was, err := ts.states(doc)
	if err != nil {
		return refuse(err)
	}
	now := make([]indexState, len(ts))
	var p model.Plan
	var leaves, after, removes []model.Step
	for i, t := range ts {
		if now[i], err = t.after(was[i], set); err != nil {
			return refuse(err)
		}
		id, copies := was[i].id, now[i].copies
		entered, left := without(now[i].values, was[i].values), without(was[i].values, now[i].values)
		for _, v := range entered {
			p.Steps = append(p.Steps, t.enter(v, id, copies, op))
			after = append(after, t.confirm(t.key(v, id), copies, op))
		}
		p.IfStale = append(p.IfStale, t.takeBack(entered, id, op)...)
		for _, v := range left {
			leaves = append(leaves, t.leave(v, id))
		}
		if sets(set, t.copies...) {
			for _, v := range without(now[i].values, entered) {
				after = append(after, t.update(t.key(v, id), bson.D{{Key: "$set", Value: bson.D{{Key: "doc", Value: copies}}}}))
			}
		}
		if sets(set, t.path) {
			if len(entered) == 0 && len(now[i].values) > 0 { // a first run that was cut may have entered them
				after = append(after, t.confirmAll(id, copies, op))
			}
			removes = append(removes, t.removeLeft(id, now[i].values))
		}
	}
	p.Steps = slices.Concat(p.Steps, leaves, []model.Step{ts.write(was, now, set)}, after, removes)
	if len(p.Steps) > 1 {
		p.Leaves = "an entry of a value that the document doesn't hold, or copied fields that are old"
	}
	return p
}

// sets reports whether fields are set at one of the paths, or above it.
func sets(fields bson.D, paths ...string) bool {
	return slices.ContainsFunc(fields, func(e bson.E) bool {
		return slices.ContainsFunc(paths, func(path string) bool { return model.Overlap(e.Key, path) })
	})
}

// held are the paths that entries hold values of.
func (ts indexTables) held() (out []string) {
	for _, t := range ts {
		out = append(append(out, t.path), t.copies...)
	}
	return out
}

// after is the state once the fields are set.
func (t *indexTable) after(was indexState, set bson.D) (now indexState, err error) {
	now = indexState{id: was.id, held: map[string]bson.RawValue{}}
	if now.at, err = t.afterSet(set, t.path, was.at); err != nil {
		return now, err
	}
	for _, path := range t.copies {
		if now.held[path], err = t.afterSet(set, path, was.held[path]); err != nil {
			return now, err
		}
	}
	now.copies = t.copied(func(path string) bson.RawValue { return now.held[path] })
	now.values, err = t.values(now.at)
	return now, err
}

// write is the guarded write to the document. It was done before if the document holds all that the entries say, and what
// was to be set.
func (ts indexTables) write(was, now []indexState, set bson.D) model.Write {
	id := bson.D{{Key: "_id", Value: model.Eq(was[0].id)}}
	filter, done := id[:1:1], id[:1:1]
	for i, t := range ts {
		filter, done = append(filter, holdsAt(t.path, was[i].at)), append(done, holdsAt(t.path, now[i].at))
		for _, path := range t.copies {
			filter, done = append(filter, holdsAt(path, was[i].held[path])), append(done, holdsAt(path, now[i].held[path]))
		}
	}
	held := ts.held()
	for _, e := range set {
		if !slices.Contains(held, e.Key) {
			done = append(done, holdsAt(e.Key, e.Value.(bson.RawValue)))
		}
	}
	return model.Write{
		Collection: ts[0].docs, Expect: model.One, Done: done, Once: true, Index: model.IDIndex,
		Model: &mongo.UpdateOneModel{Filter: filter, Update: bson.D{{Key: "$set", Value: set}}},
	}
}

// delete is the plan that deletes a document that was read.
func (ts indexTables) delete(doc bson.Raw) model.Plan {
	states, err := ts.states(doc)
	if err != nil {
		return model.RefusedPlan(ts[0].docs, err)
	}
	id := states[0].id
	var p model.Plan
	var removes []model.Step
	for i, t := range ts {
		for _, v := range states[i].values {
			p.Steps = append(p.Steps, t.leave(v, id))
		}
		removes = append(removes, t.removeLeft(id, nil))
	}
	p.Steps = append(p.Steps, model.Write{
		Collection: ts[0].docs, Index: model.IDIndex, Model: &mongo.DeleteOneModel{Filter: bson.D{{Key: "_id", Value: model.Eq(id)}}},
	})
	if len(p.Steps) > 1 {
		p.Leaves = "entries without their document"
	}
	p.Steps = append(p.Steps, removes...)
	return p
}

// key is the filter of an entry.
func (t *indexTable) key(v, id bson.RawValue) bson.D {
	if t.unique {
		return bson.D{{Key: "_id", Value: model.Eq(v)}, {Key: "id", Value: model.Eq(id)}}
	}
	return bson.D{{Key: "_id", Value: bson.D{{Key: "v", Value: v}, {Key: "id", Value: id}}}}
}

// enter claims a value for a document: a new entry, or one claim more on the one that is there. Copied fields of one that
// is there are set when the claim is confirmed.
func (t *indexTable) enter(v, id bson.RawValue, copies bson.D, op bson.ObjectID) model.Write {
	upsert := true
	fields := bson.D{{Key: "sure", Value: false}}
	if len(t.copies) > 0 {
		fields = append(bson.D{{Key: "doc", Value: copies}}, fields...)
	}
	w := t.update(t.key(v, id), bson.D{
		{Key: "$setOnInsert", Value: fields}, {Key: "$addToSet", Value: bson.D{{Key: "ops", Value: op}}},
	})
	w.Model.(*mongo.UpdateOneModel).Upsert = &upsert
	if t.unique {
		w.Done = append(t.key(v, id), bson.E{Key: "ops", Value: op})
		sure := bson.D{{Key: "_id", Value: model.Eq(v)}, {Key: "sure", Value: true}}
		w.Reasons = []model.Reason{
			{If: sure, Err: &TakenError{Collection: t.entries, Value: v}},
			{If: sure[:1:1], Err: &TakenError{Collection: t.entries, Value: v, Pending: true}},
		}
	}
	return w
}

// confirm says that the document holds the value of an entry, unless the claim is gone.
func (t *indexTable) confirm(key bson.D, copies bson.D, op bson.ObjectID) model.Write {
	fields := bson.D{{Key: "sure", Value: true}}
	if len(t.copies) > 0 {
		fields = append(bson.D{{Key: "doc", Value: copies}}, fields...)
	}
	return t.update(append(key, bson.E{Key: "ops", Value: op}), bson.D{{Key: "$set", Value: fields}})
}

// confirmAll confirms all entries of a document that an operation claims, and nothing has confirmed.
func (t *indexTable) confirmAll(id bson.RawValue, copies bson.D, op bson.ObjectID) model.Write {
	w := t.confirm(t.unsure(id), copies, op)
	one := w.Model.(*mongo.UpdateOneModel)
	w.Index, w.Model = t.index().Name, &mongo.UpdateManyModel{Filter: one.Filter, Update: one.Update}
	return w
}

// leave takes all claims off an entry, before the document is written: whoever claims it from then on keeps it.
func (t *indexTable) leave(v, id bson.RawValue) model.Write {
	return t.update(t.key(v, id), bson.D{{Key: "$set", Value: bson.D{{Key: "ops", Value: bson.A{}}, {Key: "sure", Value: false}}}})
}

// removeLeft deletes the entries of a document that claims were taken off, but for those of some values.
func (t *indexTable) removeLeft(id bson.RawValue, but []bson.RawValue) model.Write {
	filter := append(t.unsure(id), bson.E{Key: "ops", Value: bson.D{{Key: "$eq", Value: bson.A{}}}})
	if len(but) > 0 {
		filter = append(filter, bson.E{Key: t.valuePath(), Value: bson.D{{Key: "$nin", Value: but}}})
	}
	return model.Write{Collection: t.entries, Index: t.index().Name, Once: true, Final: true, Model: &mongo.DeleteManyModel{Filter: filter}}
}

// unsure is the filter of a document's entries that nothing has confirmed: of operations that are under way, or were cut.
func (t *indexTable) unsure(id bson.RawValue) bson.D {
	return bson.D{{Key: t.idPath(), Value: model.Eq(id)}, {Key: "sure", Value: false}}
}

// index finds the entries that nothing has confirmed. It holds no other entry.
func (t *indexTable) index() model.Index {
	x := model.NewIndex(t.entries, bson.D{{Key: t.idPath(), Value: 1}})
	x.Partial = bson.D{{Key: "sure", Value: false}}
	x.Why = "the entries of a document of " + t.docs + " that operations which were cut have left"
	return x
}

// takeBack ends claims: an entry goes if it was claimed by nobody else, and nobody has confirmed it.
func (t *indexTable) takeBack(values []bson.RawValue, id bson.RawValue, op bson.ObjectID) (steps []model.Step) {
	for _, v := range values {
		steps = append(steps, t.update(t.key(v, id), bson.D{{Key: "$pull", Value: bson.D{{Key: "ops", Value: op}}}}))
	}
	for _, v := range values {
		steps = append(steps, t.remove(append(t.key(v, id), bson.E{Key: "sure", Value: false}), bson.A{}))
	}
	return steps
}

// remove deletes an entry that holds just these claims.
func (t *indexTable) remove(key bson.D, ops bson.A) model.Write {
	return model.Write{
		Collection: t.entries, Index: model.IDIndex, Once: true, Final: true,
		Model: &mongo.DeleteOneModel{Filter: append(key, bson.E{Key: "ops", Value: bson.D{{Key: "$eq", Value: ops}}})},
	}
}

func (t *indexTable) update(filter, update bson.D) model.Write {
	return model.Write{
		Collection: t.entries, Index: model.IDIndex, Once: true, Model: &mongo.UpdateOneModel{Filter: filter, Update: update},
	}
}
