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
		err = ts[0].docs.Refuse("op", nil, commands.NoToken)
	}
	if err != nil {
		return model.RefusedPlan(docs, err)
	}
	id := states[0].id
	taken := model.Reason{If: commands.ByID(id), Err: commands.Taken(docs, id, false)}
	var p model.Plan
	var held bson.A
	var keep, entered []model.Step
	for i, t := range ts {
		for _, v := range states[i].values {
			p.Steps = append(p.Steps, t.enter(v, id, states[i].copies, op))
			entered = append(entered, t.enterSure(v, id, states[i].copies, op))
			held = append(held, bson.D{{Key: t.path, Value: mql.Eq(v)}})
			keep = append(keep, t.update(t.key(v, id), append(mql.Set(mql.E("sure", true)), pullOp(op))))
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
	if len(entered) > 0 {
		p.InTx = append([]model.Step{w}, entered...)
	}
	for i, t := range ts {
		for _, v := range states[i].values {
			p.Steps = append(p.Steps, t.confirm(t.key(v, id), states[i].copies, op))
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
		return refuse(ts[0].docs.Refuse("op", nil, commands.NoToken))
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
	var enters, back, leaves, after, removes, inTx []model.Step
	for i, t := range ts {
		if now[i], err = t.after(was[i], set); err != nil {
			return refuse(err)
		}
		id, copies := was[i].id, now[i].copies
		entered, left := stored.Without(now[i].values, was[i].values), stored.Without(was[i].values, now[i].values)
		for _, v := range entered {
			enters = append(enters, t.enter(v, id, copies, op))
			inTx = append(inTx, t.enterSure(v, id, copies, op))
			after = append(after, t.confirm(t.key(v, id), copies, op))
		}
		back = append(back, t.takeBack(entered, id, op)...)
		for _, v := range left {
			leaves = append(leaves, t.leave(v, id))
			inTx = append(inTx, commands.DeleteOne(t.entries, t.key(v, id)))
		}
		if stored.Sets(set, t.copies...) {
			for _, v := range stored.Without(now[i].values, entered) {
				renewed := t.update(t.key(v, id), mql.Set(mql.E("doc", copies)))
				after, inTx = append(after, renewed), append(inTx, renewed)
			}
		}
		if stored.Sets(set, t.path) {
			if len(entered) == 0 && len(now[i].values) > 0 { // a first run that was cut may have entered them
				after = append(after, t.confirmAll(id, copies, op))
			}
			removes = append(removes, t.removeLeft(id, now[i].values))
		}
	}
	write := ts.write(was, now, set)
	p := commands.Leaving("an entry of a value that the document doesn't hold, or copied fields that are old",
		slices.Concat(enters, leaves, []model.Step{write}, after, removes)...)
	if p.IfStale = back; len(enters)+len(leaves) > 0 {
		p.InTx = append([]model.Step{write}, inTx...)
	}
	return p
}

// after is the state once the fields are set.
func (t *Table) after(was state, set bson.D) (now state, err error) {
	now = state{id: was.id, held: map[string]bson.RawValue{}}
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
			p.Steps = append(p.Steps, t.leave(v, id))
			inTx = append(inTx, commands.DeleteOne(t.entries, t.key(v, id)))
		}
		removes = append(removes, t.removeLeft(id, nil))
	}
	p.Steps = append(p.Steps, deletes)
	if len(inTx) > 0 {
		p.InTx, p.Leaves = append([]model.Step{deletes}, inTx...), "entries without their document"
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

// enter claims a value for a document: a new entry, or one claim more on the one that is there. Copied fields of one that
// is there are set when the claim is confirmed.
func (t *Table) enter(v, id bson.RawValue, copies bson.D, op bson.ObjectID) model.Write {
	w := commands.UpsertOne(t.entries, t.key(v, id), bson.D{
		{Key: "$setOnInsert", Value: t.fields(copies, mql.E("sure", false))}, {Key: "$addToSet", Value: bson.D{{Key: "ops", Value: op}}},
	})
	if t.unique {
		w.Done = append(t.key(v, id), bson.E{Key: "ops", Value: op})
		sure := bson.D{{Key: "_id", Value: mql.Eq(v)}, {Key: "sure", Value: true}}
		w.Reasons = []model.Reason{
			{If: sure, Err: commands.Taken(t.entries, v, false)},
			{If: sure[:1:1], Err: commands.Taken(t.entries, v, true)},
		}
	}
	return w
}

// enterSure is enter and confirm in one, for a transaction. It claims the value too: others take out only what they know all claims of.
func (t *Table) enterSure(v, id bson.RawValue, copies bson.D, op bson.ObjectID) model.Write {
	w := t.enter(v, id, copies, op)
	w.Model.(*mongo.UpdateOneModel).Update = bson.D{
		{Key: "$set", Value: t.fields(copies, mql.E("sure", true))}, {Key: "$addToSet", Value: bson.D{{Key: "ops", Value: op}}},
	}
	return w
}

// confirm says that the document holds the value of an entry, unless the claim is gone.
func (t *Table) confirm(key bson.D, copies bson.D, op bson.ObjectID) model.Write {
	return t.update(append(key, mql.E("ops", op)), mql.Set(t.fields(copies, mql.E("sure", true))...))
}

// fields are those of an entry, after the copied ones.
func (t *Table) fields(copies any, others ...bson.E) bson.D {
	if len(t.copies) == 0 {
		return others
	}
	return append(bson.D{{Key: "doc", Value: copies}}, others...)
}

// pullOp takes a claim off an entry.
func pullOp(op bson.ObjectID) bson.E { return mql.E("$pull", bson.D{{Key: "ops", Value: op}}) }

// confirmAll confirms all entries of a document that an operation claims, and nothing has confirmed.
func (t *Table) confirmAll(id bson.RawValue, copies bson.D, op bson.ObjectID) model.Write {
	w := t.confirm(t.unsure(id), copies, op)
	one := w.Model.(*mongo.UpdateOneModel)
	w.Index, w.Model = t.finder, &mongo.UpdateManyModel{Filter: one.Filter, Update: one.Update}
	return w
}

// leave takes all claims off an entry, before the document is written: whoever claims it from then on keeps it.
func (t *Table) leave(v, id bson.RawValue) model.Write {
	return t.update(t.key(v, id), mql.Set(mql.E("ops", bson.A{}), mql.E("sure", false)))
}

// removeLeft deletes the entries of a document that claims were taken off, but for those of some values.
func (t *Table) removeLeft(id bson.RawValue, but []bson.RawValue) model.Write {
	filter := append(t.unsure(id), bson.E{Key: "ops", Value: bson.D{{Key: "$eq", Value: bson.A{}}}})
	if len(but) > 0 {
		filter = append(filter, bson.E{Key: t.valuePath(), Value: bson.D{{Key: "$nin", Value: but}}})
	}
	return model.Write{Collection: t.entries, Index: t.finder, Once: true, Final: true, Model: &mongo.DeleteManyModel{Filter: filter}}
}

// unsure is the filter of a document's entries that nothing has confirmed: of operations that are under way, or were cut.
func (t *Table) unsure(id bson.RawValue) bson.D {
	return bson.D{{Key: t.idPath(), Value: mql.Eq(id)}, {Key: "sure", Value: false}}
}

// takeBack ends claims: an entry goes if it was claimed by nobody else, and nobody has confirmed it.
func (t *Table) takeBack(values []bson.RawValue, id bson.RawValue, op bson.ObjectID) (steps []model.Step) {
	for _, v := range values {
		steps = append(steps, t.update(t.key(v, id), bson.D{pullOp(op)}))
	}
	for _, v := range values {
		steps = append(steps, t.remove(append(t.key(v, id), bson.E{Key: "sure", Value: false}), bson.A{}))
	}
	return steps
}

// remove deletes an entry that holds just these claims.
func (t *Table) remove(key bson.D, ops bson.A) model.Write {
	return commands.DeleteOne(t.entries, append(key, bson.E{Key: "ops", Value: bson.D{{Key: "$eq", Value: ops}}}))
}

func (t *Table) update(filter, update bson.D) model.Write {
	return commands.UpdateIf(t.entries, filter, update)
}
