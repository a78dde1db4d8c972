package denorm

import (
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

const noToken = "the operation's token is empty: pass bson.NewObjectID()"

// insert is the plan around the insert of a document.
func (t *indexTable) insert(w model.Write, op bson.ObjectID) model.Plan {
	refuse := func(err error) model.Plan { return model.RefusedPlan(t.docs, err) }
	if op.IsZero() {
		return refuse(t.refused("op", nil, noToken))
	}
	doc := w.Model.(*mongo.InsertOneModel).Document.(bson.Raw)
	s, err := t.state(doc)
	if err != nil {
		return refuse(err)
	}
	w.Reasons = []model.Reason{{If: bson.D{{Key: "_id", Value: model.Eq(s.id)}}, Err: &TakenError{Collection: t.docs, Value: s.id}}}
	var p model.Plan
	for _, v := range s.values {
		p.Steps = append(p.Steps, t.enter(v, s.id, s.copies, op))
	}
	p.IfStale = t.takeBack(s.values, s.id, op)
	p.Steps = append(p.Steps, w)
	for _, v := range s.values {
		p.Steps = append(p.Steps, t.confirm(v, s.id, s.copies, op))
	}
	if len(s.values) > 0 {
		p.Leaves = "entries without their document, or not confirmed"
	}
	return p
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
func (t *indexTable) set(doc bson.Raw, fields bson.D, op bson.ObjectID) model.Plan {
	refuse := func(err error) model.Plan { return model.RefusedPlan(t.docs, err) }
	if op.IsZero() {
		return refuse(t.refused("op", nil, noToken))
	}
	set, err := t.fields(fields, append([]string{t.path}, t.copies...))
	if err != nil {
		return refuse(err)
	}
	was, err := t.state(doc)
	if err != nil {
		return refuse(err)
	}
	now, err := t.after(was, set)
	if err != nil {
		return refuse(err)
	}
	entered, left := without(now.values, was.values), without(was.values, now.values)
	var p model.Plan
	for _, v := range entered {
		p.Steps = append(p.Steps, t.enter(v, was.id, now.copies, op))
	}
	p.IfStale = t.takeBack(entered, was.id, op)
	for _, v := range left {
		p.Steps = append(p.Steps, t.leave(v, was.id))
	}
	p.Steps = append(p.Steps, t.write(was, now, set))
	for _, v := range entered {
		p.Steps = append(p.Steps, t.confirm(v, was.id, now.copies, op))
	}
	if !sameCopies(was, now) {
		for _, v := range without(now.values, entered) {
			p.Steps = append(p.Steps, t.update(t.key(v, was.id), bson.D{{Key: "$set", Value: bson.D{{Key: "doc", Value: now.copies}}}}))
		}
	}
	for _, v := range left {
		p.Steps = append(p.Steps, t.remove(t.key(v, was.id), bson.A{}))
	}
	if len(p.Steps) > 1 {
		p.Leaves = "an entry of a value that the document doesn't hold, or copied fields that are old"
	}
	return p
}

func sameCopies(a, b indexState) bool {
	for path, v := range a.held {
		if w := b.held[path]; v.Type != w.Type || string(v.Value) != string(w.Value) {
			return false
		}
	}
	return true
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
func (t *indexTable) write(was, now indexState, set bson.D) model.Write {
	id := bson.D{{Key: "_id", Value: model.Eq(was.id)}}
	filter := append(id[:1:1], holdsAt(t.path, was.at))
	for _, path := range t.copies {
		filter = append(filter, holdsAt(path, was.held[path]))
	}
	done := append(id[:1:1], holdsAt(t.path, now.at))
	for _, path := range t.copies {
		done = append(done, holdsAt(path, now.held[path]))
	}
	for _, e := range set {
		if _, held := now.held[e.Key]; !held && e.Key != t.path {
			done = append(done, holdsAt(e.Key, e.Value.(bson.RawValue)))
		}
	}
	return model.Write{
		Collection: t.docs, Expect: model.One, Done: done, Once: true, Index: model.IDIndex,
		Model: &mongo.UpdateOneModel{Filter: filter, Update: bson.D{{Key: "$set", Value: set}}},
	}
}

// delete is the plan that deletes a document that was read.
func (t *indexTable) delete(doc bson.Raw) model.Plan {
	s, err := t.state(doc)
	if err != nil {
		return model.RefusedPlan(t.docs, err)
	}
	var p model.Plan
	for _, v := range s.values {
		p.Steps = append(p.Steps, t.leave(v, s.id))
	}
	p.Steps = append(p.Steps, model.Write{
		Collection: t.docs, Index: model.IDIndex, Model: &mongo.DeleteOneModel{Filter: bson.D{{Key: "_id", Value: model.Eq(s.id)}}},
	})
	for _, v := range s.values {
		p.Steps = append(p.Steps, t.remove(t.key(v, s.id), bson.A{}))
	}
	if len(s.values) > 0 {
		p.Leaves = "entries without their document"
	}
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

// confirm says that the document holds the value, unless the claim is gone.
func (t *indexTable) confirm(v, id bson.RawValue, copies bson.D, op bson.ObjectID) model.Write {
	fields := bson.D{{Key: "sure", Value: true}}
	if len(t.copies) > 0 {
		fields = append(bson.D{{Key: "doc", Value: copies}}, fields...)
	}
	return t.update(append(t.key(v, id), bson.E{Key: "ops", Value: op}), bson.D{{Key: "$set", Value: fields}})
}

// leave takes all claims off an entry, before the document is written: whoever claims it from then on keeps it.
func (t *indexTable) leave(v, id bson.RawValue) model.Write {
	return t.update(t.key(v, id), bson.D{{Key: "$set", Value: bson.D{{Key: "ops", Value: bson.A{}}, {Key: "sure", Value: false}}}})
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
		Collection: t.entries, Index: model.IDIndex, Once: true,
		Model: &mongo.DeleteOneModel{Filter: append(key, bson.E{Key: "ops", Value: bson.D{{Key: "$eq", Value: ops}}})},
	}
}

func (t *indexTable) update(filter, update bson.D) model.Write {
	return model.Write{
		Collection: t.entries, Index: model.IDIndex, Once: true, Model: &mongo.UpdateOneModel{Filter: filter, Update: update},
	}
}
