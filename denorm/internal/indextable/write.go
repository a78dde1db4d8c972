package indextable

import (
	"slices"

	"github.com/docmodel/docmodel/denorm/internal/stored"
	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Tables are tables of the same documents, which one plan keeps. There is at least one.
type Tables []*Table

// Insert is the plan around the insert of a document.
func (ts Tables) Insert(w model.Write, op bson.ObjectID) model.Plan {
	if w.Err != nil {
		return model.NewPlan(w)
	}
	docs := ts[0].docs.Name()
	states, err := ts.states(w.Model.(*mongo.InsertOneModel).Document.(bson.Raw))
	if op.IsZero() {
		err = ts[0].docs.Refuse("token", nil, commands.NoToken)
	}
	if err != nil {
		return model.RefusedPlan(docs, err)
	}
	id := states[0].id
	taken := model.Reason{If: commands.ByID(id), Err: commands.Taken(docs, id, false)}
	var p model.Plan
	var held bson.A
	var keep, entered []model.Step
	claims := make([]*claim, len(ts))
	for i, t := range ts {
		c := t.claim(id, states[i].copies, states[i].values, op)
		for _, e := range c.entries {
			p.Steps = append(p.Steps, c.enter(e))
			entered = append(entered, c.enterSure(e))
			held = append(held, bson.D{{Key: t.path, Value: mql.Eq(e.value)}})
			keep = append(keep, t.update(e.key, append(mql.Set(sure), c.pull)))
		}
		p.IfStale = append(p.IfStale, c.takeBack()...)
		claims[i] = c
	}
	if len(p.Steps) > 0 {
		p.Leaves = "entries without their document, or unconfirmed entries; the checks find them"
		// The document may be this one, stored by a first run that was cut, and changed since: then its entries are right.
		has := model.Reason{If: model.And(taken.If, bson.D{{Key: "$or", Value: held}}), Err: taken.Err, Instead: keep}
		w.Reasons = append(w.Reasons, has)
	}
	w.Reasons = append(w.Reasons, taken)
	p.Steps = append(p.Steps, w)
	if len(entered) > 0 {
		p.InTx = append([]model.Step{w}, entered...)
	}
	for _, c := range claims {
		for _, e := range c.entries {
			p.Steps = append(p.Steps, c.confirm(e.key))
		}
	}
	return p
}

// Set is the plan that sets fields of a document, as the caller read it.
func (ts Tables) Set(read any, fields bson.D, op bson.ObjectID) model.Plan {
	refuse := func(err error) model.Plan { return model.RefusedPlan(ts[0].docs.Name(), err) }
	doc, err := stored.ReadDocument(ts[0].docs, read)
	if err != nil {
		return refuse(err)
	}
	if op.IsZero() {
		return refuse(ts[0].docs.Refuse("token", nil, commands.NoToken))
	}
	set, err := ts[0].docs.Set(fields, ts.held()...)
	if err != nil {
		return refuse(err)
	}
	was, err := ts.states(doc)
	if err != nil {
		return refuse(err)
	}
	now := make([]state, len(ts))
	var parts setSteps
	for i, t := range ts {
		if now[i], err = t.after(was[i], set); err != nil {
			return refuse(err)
		}
		parts.add(t, was[i], now[i], stored.Sets(set, t.copies...), stored.Sets(set, t.path), op)
	}
	var write model.Step = ts.write(was, now, set)
	p := commands.Leaving("an entry for a value that the document doesn't hold, or old copied fields; the checks find them",
		slices.Concat(parts.before, []model.Step{write}, parts.after)...)
	if p.IfStale = parts.back; len(parts.before) > 0 {
		p.InTx = slices.Concat([]model.Step{write}, parts.inTx)
	}
	return p
}

// setSteps are the writes to entries that a set of fields needs, by when they are sent. Those of a table follow each other,
// so that one command sends them.
type setSteps struct{ before, after, back, inTx []model.Step }

// add adds the writes to the entries of one table. renew says that copied fields are set,
// and moves that the values are.
func (s *setSteps) add(t *Table, was, now state, renew, moves bool, op bson.ObjectID) {
	entered, left := stored.Without(now.values, was.values), stored.Without(was.values, now.values)
	c := t.claim(was.id, now.copies, entered, op)
	claims, frees := t.inTx(was, now, renew, op)
	s.inTx = slices.Concat(s.inTx, claims, frees)
	for _, e := range c.entries {
		s.before = append(s.before, c.enter(e))
		s.after = append(s.after, c.confirm(e.key))
	}
	s.back = append(s.back, c.takeBack()...)
	for _, v := range left {
		s.before = append(s.before, t.update(t.key(v, was.id), noClaims))
	}
	if renew {
		for _, v := range stored.Without(now.values, entered) {
			s.after = append(s.after, t.replaceCopies(v, was, now))
		}
	}
	if moves {
		if len(entered) == 0 && len(now.values) > 0 { // a first run that was cut may have entered them
			s.after = append(s.after, c.confirmAll())
		}
		s.after = append(s.after, t.removeLeft(was.id, now.values))
	}
}

// after is the state once the fields are set.
func (t *Table) after(was state, set bson.D) (now state, err error) {
	now = state{id: was.id, held: make(map[string]bson.RawValue, len(t.copies))}
	if now.at, err = stored.AfterSet(t.docs, set, t.path, was.at); err != nil {
		return now, err
	}
	for _, path := range t.copies {
		if now.held[path], err = stored.AfterSet(t.docs, set, path, was.held[path]); err != nil {
			return now, err
		}
	}
	now.copies = stored.NestedValues(t.copies, now.held)
	now.values, err = t.values(now.at)
	return now, err
}

// write is the guarded write to the document. It was done before if the document holds all that the entries say, and what
// was to be set.
func (ts Tables) write(was, now []state, set bson.D) model.Write {
	id := bson.D{{Key: "_id", Value: mql.Eq(was[0].id)}}
	filter, done := id[:1:1], id[:1:1]
	for i, t := range ts {
		filter, done = append(filter, stored.HoldsAt(t.path, was[i].at)), append(done, stored.HoldsAt(t.path, now[i].at))
		for _, path := range t.copies {
			filter, done = append(filter, stored.HoldsAt(path, was[i].held[path])), append(done, stored.HoldsAt(path, now[i].held[path]))
		}
	}
	held := ts.held()
	for _, e := range set {
		if !slices.Contains(held, e.Key) {
			done = append(done, stored.HoldsAt(e.Key, e.Value.(bson.RawValue)))
		}
	}
	w := commands.UpdateIf(ts[0].docs.Name(), filter, mql.Set(set...))
	w.Expect, w.Done = model.One, done
	return w
}

// Delete is the plan that deletes a document, as the caller read it.
func (ts Tables) Delete(read any) model.Plan {
	doc, err := stored.ReadDocument(ts[0].docs, read)
	if err != nil {
		return model.RefusedPlan(ts[0].docs.Name(), err)
	}
	states, err := ts.states(doc)
	if err != nil {
		return model.RefusedPlan(ts[0].docs.Name(), err)
	}
	id := states[0].id
	deletes := model.Write{Collection: ts[0].docs.Name(), Index: model.IDIndex, Model: &mongo.DeleteOneModel{Filter: commands.ByID(id)}}
	var p model.Plan
	var removes, inTx []model.Step
	for i, t := range ts {
		for _, v := range states[i].values {
			key := t.key(v, id)
			p.Steps = append(p.Steps, t.update(key, noClaims))
			inTx = append(inTx, t.deleteOne(key))
		}
		removes = append(removes, t.removeLeft(id, nil))
	}
	p.Steps = append(p.Steps, deletes)
	if len(inTx) > 0 {
		p.InTx, p.Leaves = append([]model.Step{deletes}, inTx...), "entries without their document; the checks find them"
	}
	p.Steps = append(p.Steps, removes...)
	return p
}

// key is the filter of an entry.
func (t *Table) key(v, id bson.RawValue) bson.D {
	if t.unique {
		return bson.D{{Key: "_id", Value: mql.Eq(v)}, {Key: "id", Value: mql.Eq(id)}}
	}
	return bson.D{{Key: "_id", Value: bson.D{{Key: "v", Value: v}, {Key: "id", Value: id}}}}
}

// fields are those of an entry, after the copied ones.
func (t *Table) fields(copies any, others ...bson.E) bson.D {
	if len(t.copies) == 0 {
		return others
	}
	return append(bson.D{{Key: "doc", Value: copies}}, others...)
}

// removeLeft deletes the entries of a document that claims were taken off, but for those of some values.
func (t *Table) removeLeft(id bson.RawValue, but []bson.RawValue) model.Write {
	filter := append(t.unsure(id), unclaimed)
	if len(but) > 0 {
		filter = append(filter, bson.E{Key: t.valuePath(), Value: bson.D{{Key: "$nin", Value: but}}})
	}
	return model.Write{Collection: t.entries, Index: t.finder, Once: true, Final: true, Keyed: t.unique, Model: &mongo.DeleteManyModel{Filter: filter}}
}

// unsure is the filter of a document's entries that nothing has confirmed: of operations that are under way, or were cut.
func (t *Table) unsure(id bson.RawValue) bson.D {
	return bson.D{{Key: t.idPath(), Value: mql.Eq(id)}, notSure}
}

// remove deletes an entry that holds just these claims.
func (t *Table) remove(key bson.D, claims bson.E) model.Write {
	return t.deleteOne(append(key, claims))
}

func (t *Table) update(filter bson.D, update any) model.Write {
	return t.keyed(commands.UpdateIf(t.entries, filter, update))
}

func (t *Table) deleteOne(filter bson.D) model.Write {
	return t.keyed(commands.DeleteOne(t.entries, filter))
}

func (t *Table) upsertOne(filter bson.D, update any) model.Write {
	return t.keyed(commands.UpsertOne(t.entries, filter, update))
}
