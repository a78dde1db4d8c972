package denorm

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/readpref"
)

// A childOperation is what Set, Delete or Settle is to do to a child.
type childOperation struct {
	op     bson.ObjectID
	set    bson.D // the fields to set, encoded; nil for the others
	settle bool   // finish what is under way, and nothing more
}

// A transition is a change of a child, from what it counted for to what it counts for.
type transition struct {
	op       bson.ObjectID
	was, now contribution
	named    []bson.RawValue // with tokens: the parents that the child names before and after; they remember the token
	gone     bool            // the child is being deleted
}

// parents are the parents that the transition changes, in an order that is the same for all operations: writers that
// wait for each other's parents would else wait for ever.
func (t transition) parents() []bson.RawValue {
	var ids []bson.RawValue
	for _, id := range append([]bson.RawValue{t.was.parent, t.now.parent}, t.named...) {
		if id.Type != 0 && !contains(ids, id) {
			ids = append(ids, id)
		}
	}
	slices.SortFunc(ids, func(a, b bson.RawValue) int { return slices.Compare(a.Value, b.Value) })
	return ids
}

func (c *counter) insert(w model.Write, op bson.ObjectID) model.Change[CounterState] {
	doc, t, err := c.inserted(w, op)
	if err != nil {
		return refusedChange[CounterState](c.children, err)
	}
	return c.change(func(ctx context.Context, db *mongo.Database) (s CounterState, err error) {
		if c.tokens != "" {
			err = c.readParents(ctx, db, &s, []transition{t})
			s.Done = c.remembers(s, op)
		}
		return s, err
	}, func(s CounterState) (model.Plan, error) {
		if s.Done {
			return c.plan(c.finish(doc.Lookup("_id"), t)), nil // which takes a mark off, if it is still there
		}
		return c.plan(c.insertion(w, doc, t, s), c.apply(t, s), c.finish(doc.Lookup("_id"), t)), nil
	})
}

// inserted checks a new child, and says what it will count for. The document has no mark yet.
func (c *counter) inserted(w model.Write, op bson.ObjectID) (doc bson.Raw, t transition, err error) {
	if w.Err != nil {
		return nil, t, w.Err
	}
	if c.tokens != "" && op.IsZero() {
		return nil, t, c.doc.refused("op", nil, noToken)
	}
	doc = w.Model.(*mongo.InsertOneModel).Document.(bson.Raw)
	if c.pending != "" && doc.Lookup(c.pending).Type != 0 {
		return nil, t, c.doc.refused(c.pending, nil, "a new child has no operation under way: leave it empty")
	}
	t.op = op
	if t.now, err = c.ofDocument(doc); err == nil {
		err = c.name(&t, doc, nil)
	}
	return doc, t, err
}

// insertion is the insert of a child with its mark. It was done before if the child has that mark, or is the same.
func (c *counter) insertion(w model.Write, doc bson.Raw, t transition, s CounterState) []model.Step {
	id := bson.D{{Key: "_id", Value: model.Eq(doc.Lookup("_id"))}}
	w.Reasons = []model.Reason{{If: id, Err: &TakenError{Collection: c.children, Value: doc.Lookup("_id")}}}
	if c.tokens == "" || len(t.parents()) == 0 {
		return []model.Step{w}
	}
	marked := bson.D{}
	elems, _ := doc.Elements()
	for _, e := range elems {
		marked = append(marked, bson.E{Key: e.Key(), Value: e.Value()})
	}
	raw, err := bson.Marshal(append(marked, bson.E{Key: c.pending, Value: c.entry(t)}))
	if err != nil {
		return []model.Step{model.Refused(c.children, c.doc.refused("document", nil, err.Error()))}
	}
	w.Model = &mongo.InsertOneModel{Document: bson.Raw(raw)}
	if len(s.Parents) > 0 && s.Parents[0].Doc != nil {
		w.Done = append(id, bson.E{Key: c.pending + ".op", Value: t.op})
	}
	return []model.Step{w}
}

// entry is the mark of an operation under way.
func (c *counter) entry(t transition) bson.D {
	parents := bson.A{}
	for _, id := range t.parents() {
		parents = append(parents, id)
	}
	d := bson.D{{Key: "op", Value: t.op}, {Key: "parents", Value: parents}}
	if was := c.stored(t.was); was != nil {
		d = append(d, bson.E{Key: "was", Value: was})
	}
	if t.gone {
		d = append(d, bson.E{Key: "gone", Value: true})
	}
	return d
}

func (c *counter) set(q model.Query, fields bson.D, op bson.ObjectID) model.Change[CounterState] {
	set, err := c.setFields(fields)
	if err == nil && c.tokens != "" && op.IsZero() {
		err = c.doc.refused("op", nil, noToken)
	}
	if err == nil {
		_, err = c.afterSet(bson.Raw{5, 0, 0, 0, 0}, set) // what can be said without the child
	}
	return c.operate(q, childOperation{op: op, set: set}, err)
}

func (c *counter) delete(q model.Query, op bson.ObjectID) model.Change[CounterState] {
	var err error
	if c.tokens != "" && op.IsZero() {
		err = c.doc.refused("op", nil, noToken)
	}
	return c.operate(q, childOperation{op: op}, err)
}

func (c *counter) settle(q model.Query) model.Change[CounterState] {
	return c.operate(q, childOperation{settle: true}, c.needsPending())
}

func (c *counter) needsPending() error {
	if c.pending == "" {
		return c.doc.refused("Pending", nil, "without it, operations are not marked")
	}
	return nil
}

func (c *counter) pendingBefore(limit time.Time) (bson.D, error) {
	before := bson.NewObjectIDFromTimestamp(limit)
	before = bson.ObjectID(append(before[:4:4], make([]byte, 8)...))
	is := bson.D{{Key: "$exists", Value: true}, {Key: "$lt", Value: before}} // $exists, for not every server sees that $lt implies it
	return bson.D{{Key: c.pending + ".op", Value: is}}, c.needsPending()
}

func (c *counter) operate(q model.Query, o childOperation, err error) model.Change[CounterState] {
	if q.Err != nil {
		err = q.Err
	}
	if err != nil {
		return refusedChange[CounterState](c.children, err)
	}
	return c.change(func(ctx context.Context, db *mongo.Database) (CounterState, error) { return c.read(ctx, db, q, o) },
		func(s CounterState) (model.Plan, error) { return c.decide(s, q.Filter, o) })
}

func (c *counter) change(
	read func(context.Context, *mongo.Database) (CounterState, error), decide func(CounterState) (model.Plan, error),
) model.Change[CounterState] {
	return model.Change[CounterState]{Read: read, Decide: decide, Attempts: 100, Tx: c.tokens == "" && !c.partial}
}

// plan joins the steps. Without tokens they only make sense together.
func (c *counter) plan(steps ...[]model.Step) model.Plan {
	p := model.NewPlan(slices.Concat(steps...)...)
	if len(p.Steps) > 1 {
		p.Transactional = c.tokens == ""
		p.Options.AllowPartial = c.partial
		p.Leaves = "a child whose parents are yet to change, marked if there are tokens"
	}
	return p
}

// read reads a child, and of its parents what the operation needs.
func (c *counter) read(ctx context.Context, db *mongo.Database, q model.Query, o childOperation) (s CounterState, err error) {
	q.Projection = bson.D{}
	for _, path := range c.paths() {
		q.Projection = append(q.Projection, bson.E{Key: path, Value: 1})
	}
	if c.pending != "" {
		q.Projection = append(q.Projection, bson.E{Key: c.pending, Value: 1})
	}
	q.Options.ReadPreference = readpref.Primary()
	s.Child, err = model.Find[bson.Raw]{Query: q}.One(ctx, db)
	if errors.Is(err, model.ErrNotFound) && o.set == nil {
		return s, nil
	}
	if err != nil {
		return s, err
	}
	list, err := c.transitions(s.Child, o)
	if err != nil || len(list) == 0 {
		return s, err
	}
	if err := c.readParents(ctx, db, &s, list); err != nil {
		return s, err
	}
	if last := list[len(list)-1]; last.op == o.op && !c.isMarked(s.Child, o.op) {
		s.Done = c.remembers(s, o.op)
	}
	return s, nil
}

// transitions are what is to be told to parents: what is under way on the child, and then
// the operation's own change, if that is not what is under way. With tokens the parents
// that the child names are told of every change, so that they remember it; without, of
// those that change what it counts for.
func (c *counter) transitions(child bson.Raw, o childOperation) (list []transition, err error) {
	was, err := c.ofDocument(child)
	if err != nil {
		return nil, err
	}
	if m, ok := c.marked(child, was); ok {
		list = append(list, m)
		if m.op == o.op && !o.settle {
			return list, nil
		}
	}
	if o.settle {
		return list, nil
	}
	t := transition{op: o.op, was: was, gone: o.set == nil}
	if !t.gone {
		if t.now, err = c.afterSet(child, o.set); err != nil {
			return nil, err
		}
	}
	if err := c.name(&t, child, o.set); err != nil {
		return nil, err
	}
	if !t.was.same(t.now) || len(t.named) > 0 {
		list = append(list, t)
	}
	return list, nil
}

// name gives a transition the parents that the child names, as it is and when fields are
// set.
func (c *counter) name(t *transition, child bson.Raw, set bson.D) error {
	if c.tokens == "" {
		return nil
	}
	was, err := c.doc.at(child, c.reference)
	if err != nil {
		return err
	}
	now, err := c.doc.afterSet(set, c.reference, was)
	if err != nil {
		return err
	}
	for _, ref := range []bson.RawValue{was, now} {
		switch named, err := c.parentNamed(ref); {
		case err != nil:
			return err
		case named && !contains(t.named, ref):
			t.named = append(t.named, clone(ref))
		}
	}
	return nil
}

// marked is the transition that is under way on a child, which counts for now.
func (c *counter) marked(child bson.Raw, now contribution) (t transition, ok bool) {
	if c.pending == "" {
		return t, false
	}
	doc, ok := child.Lookup(c.pending).DocumentOK()
	if !ok {
		return t, false
	}
	t.op, _ = doc.Lookup("op").ObjectIDOK()
	t.gone, _ = doc.Lookup("gone").BooleanOK()
	was, _ := doc.Lookup("was").DocumentOK()
	t.was = c.restored(was)
	if !t.gone {
		t.now = now
	}
	if list, ok := doc.Lookup("parents").ArrayOK(); ok {
		values, _ := list.Values()
		t.named = slices.DeleteFunc(values, func(v bson.RawValue) bool { return !isKey(v) })
	}
	return t, true
}

func (c *counter) isMarked(child bson.Raw, op bson.ObjectID) bool {
	t, ok := c.marked(child, contribution{})
	return ok && t.op == op
}

// remembers reports whether one of the parents holds the token.
func (c *counter) remembers(s CounterState, op bson.ObjectID) bool {
	holds := func(p CounterParent) bool { return slices.Contains(c.tokensOf(p.Doc), op) }
	return c.tokens != "" && slices.ContainsFunc(s.Parents, holds)
}

// decide is the plan of an operation on a child: first what is under way, then its own.
func (c *counter) decide(s CounterState, filter bson.D, o childOperation) (model.Plan, error) {
	if s.Done || s.Child == nil {
		return model.Plan{Applied: s.Done}, nil
	}
	list, err := c.transitions(s.Child, o)
	if err != nil {
		return model.Plan{}, err
	}
	id := s.Child.Lookup("_id")
	var steps []model.Step
	if len(list) > 0 && c.isMarked(s.Child, list[0].op) {
		steps = append(c.apply(list[0], s), c.finish(id, list[0])...)
		if list[0].op == o.op || o.settle {
			return c.plan(steps), nil
		}
		list = list[1:]
	}
	if o.settle {
		return model.Plan{}, nil
	}
	if len(list) == 0 {
		return c.plan(steps, []model.Step{c.plain(s.Child, filter, o)}), nil
	}
	return c.plan(steps, []model.Step{c.turn(s.Child, filter, list[0], o)}, c.apply(list[0], s), c.finish(id, list[0])), nil
}

// plain is the write to a child of which no parent is to be told. It is guarded if it
// touches what counts.
func (c *counter) plain(child bson.Raw, filter bson.D, o childOperation) model.Write {
	w := model.Write{Collection: c.children, Index: model.IDIndex, Expect: model.One, Once: true}
	if o.set == nil {
		w.Model = &mongo.DeleteOneModel{Filter: c.asRead(child, filter)}
		return w
	}
	if c.touches(o.set) {
		filter = c.asRead(child, filter)
	}
	w.Model = &mongo.UpdateOneModel{Filter: filter, Update: written(o.set)}
	return w
}

// turn is the write that changes what a child counts for, and marks it. Without tokens it deletes at once.
func (c *counter) turn(child bson.Raw, filter bson.D, t transition, o childOperation) model.Write {
	w := model.Write{Collection: c.children, Index: model.IDIndex, Expect: model.One, Once: c.tokens != ""}
	set := slices.Clone(o.set)
	if c.pending != "" {
		set = append(set, bson.E{Key: c.pending, Value: c.entry(t)})
		w.Done = append(slices.Clone(filter), bson.E{Key: c.pending + ".op", Value: t.op})
	} else if t.gone {
		w.Model = &mongo.DeleteOneModel{Filter: c.asRead(child, filter)}
		return w
	}
	w.Model = &mongo.UpdateOneModel{Filter: c.asRead(child, filter), Update: written(set)}
	return w
}

// asRead matches the child as it was read, with nothing under way.
func (c *counter) asRead(child bson.Raw, filter bson.D) bson.D {
	filter = slices.Clone(filter)
	for _, path := range c.paths() {
		v, _ := c.doc.at(child, path)
		filter = append(filter, holdsAt(path, clone(v)))
	}
	if c.pending != "" {
		filter = append(filter, bson.E{Key: c.pending, Value: bson.D{{Key: "$exists", Value: false}}})
	}
	return filter
}

// finish takes the mark off, or the child.
func (c *counter) finish(id bson.RawValue, t transition) []model.Step {
	if c.tokens == "" || len(t.parents()) == 0 {
		return nil
	}
	w := model.Write{Collection: c.children, Index: model.IDIndex, Once: true, Deleted: true}
	filter := bson.D{{Key: "_id", Value: model.Eq(clone(id))}, {Key: c.pending + ".op", Value: t.op}}
	unmark := bson.D{{Key: "$unset", Value: bson.D{{Key: c.pending, Value: ""}}}}
	if t.gone {
		w.Model, w.IfMarked = &mongo.DeleteOneModel{Filter: filter}, unmark
	} else {
		w.Model = &mongo.UpdateOneModel{Filter: filter, Update: unmark}
	}
	return []model.Step{w}
}
