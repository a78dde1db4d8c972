package counter

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/docmodel/docmodel/denorm/internal/stored"
	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/internal/runctx"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// An operation is what Set, Delete or Settle does to a child.
type operation struct {
	op     bson.ObjectID
	set    bson.D // the fields to set, encoded; nil for the others
	guard  bson.D // of SetIf: what the child must match
	settle bool   // only finish the operation that is under way
}

// A transition is a change of a child, from what it counted for to what it counts for.
type transition struct {
	op       bson.ObjectID
	was, now contribution
	named    []bson.RawValue // with tokens: the parents that the child names before and after; they remember the token
	comes    bson.RawValue   // the parent that the child names after, and didn't name before; type 0 for none
	inserted bool            // the child is new
	gone     bool            // the child is being deleted
}

// parents are the parents that the transition changes. Their order is the same in all operations, so that no two
// transactions wait for each other.
func (t transition) parents() []bson.RawValue {
	var ids []bson.RawValue
	for _, id := range append([]bson.RawValue{t.was.parent, t.now.parent, t.comes}, t.named...) {
		if id.Type != 0 && !stored.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	slices.SortFunc(ids, func(a, b bson.RawValue) int { return slices.Compare(a.Value, b.Value) })
	return ids
}

// entry is the mark of an operation under way.
func (c *Counter) entry(t transition) bson.D {
	d := bson.D{{Key: "op", Value: t.op}, {Key: "parents", Value: mql.A(t.parents())}}
	if was := c.mark(t.was); was != nil {
		d = append(d, bson.E{Key: "was", Value: was})
	}
	if t.gone {
		d = append(d, bson.E{Key: "gone", Value: true})
	}
	return d
}

// Set sets fields of a child.
func (c *Counter) Set(id any, fields bson.D, op bson.ObjectID) model.Change[any] {
	return c.set(id, nil, fields, op)
}

// SetIf sets fields of a child that matches a guard.
func (c *Counter) SetIf(id any, guard, fields bson.D, op bson.ObjectID) model.Change[any] {
	own, err := c.docs.Guard(guard)
	if err != nil {
		return commands.RefusedChange[any](c.docs.Name(), err)
	}
	return c.set(id, own, fields, op)
}

func (c *Counter) set(id any, guard, fields bson.D, op bson.ObjectID) model.Change[any] {
	set, err := c.setFields(fields)
	if err == nil {
		err = c.checkToken(op)
	}
	if err == nil {
		_, err = c.afterSet(bson.Raw{5, 0, 0, 0, 0}, set) // refuses what is wrong for every child
	}
	return c.operate(id, operation{op: op, set: set, guard: guard}, err)
}

// Move gives a child another parent.
func (c *Counter) Move(id, parent any, op bson.ObjectID) model.Change[any] {
	if err := c.parents.CheckID(c.reference, parent); err != nil {
		return commands.RefusedChange[any](c.parents.Name(), err)
	}
	return c.Set(id, bson.D{{Key: c.reference, Value: parent}}, op)
}

// Delete marks a child, takes it off its parent, and deletes it.
func (c *Counter) Delete(id any, op bson.ObjectID) model.Change[any] {
	return c.operate(id, operation{op: op}, c.checkToken(op))
}

// checkToken refuses an empty token where operations need one.
func (c *Counter) checkToken(op bson.ObjectID) error {
	if c.tokens != "" && op.IsZero() {
		return c.docs.Refuse("token", nil, commands.NoToken)
	}
	return nil
}

// Settle finishes the operation that is under way on a child.
func (c *Counter) Settle(id any) model.Change[any] {
	return c.operate(id, operation{settle: true}, c.needsPending())
}

// needsPending refuses what only marks make possible.
func (c *Counter) needsPending() error {
	if c.pending == "" {
		return c.docs.Refuse("Pending", nil, "is needed: without it, operations leave no mark")
	}
	return nil
}

// PendingBefore finds the children whose operation was begun before a moment.
func (c *Counter) PendingBefore(limit time.Time) (bson.D, error) {
	before := bson.NewObjectIDFromTimestamp(limit)
	before = bson.ObjectID(append(before[:4:4], make([]byte, 8)...))
	is := bson.D{{Key: "$exists", Value: true}, {Key: "$lt", Value: before}} // not every server infers $exists from $lt, for its partial index
	return bson.D{{Key: c.pending + ".op", Value: is}}, c.needsPending()
}

func (c *Counter) operate(id any, o operation, err error) model.Change[any] {
	filter, badID := c.docs.ByID(id)
	if err = cmp.Or(badID, err); err != nil {
		return commands.RefusedChange[any](c.docs.Name(), err)
	}
	return c.change(func(ctx context.Context, db model.DB) (state, error) { return c.read(ctx, db, filter, o) },
		func(s state) (model.Plan, error) { return c.decide(s, filter, o) })
}

func (c *Counter) change(
	read func(context.Context, model.DB) (state, error), decide func(state) (model.Plan, error),
) model.Change[any] {
	told := func(ctx context.Context, db model.DB) (state, error) {
		s, err := read(ctx, db)
		s.Tx = runctx.InTransaction(ctx)
		return s, err
	}
	return model.Change[state]{Name: "counter " + c.docs.Name(), Read: told, Decide: decide, Attempts: 100, Tx: c.tokens == "" && !c.partial}.Change()
}

// plan joins the steps. Without tokens they need a transaction, or the spec is Partial; without marks, the one that runs.
func (c *Counter) plan(s state, steps ...[]model.Step) model.Plan {
	p := model.NewPlan(slices.Concat(steps...)...)
	if len(p.Steps) > 1 {
		p.Transactional = c.tokens == "" || s.Tx
		p.Options.AllowPartial = c.partial
		p.Leaves = "a child whose parents have the old numbers; with Tokens it is marked, and Settle finishes the operation"
	}
	return p
}

// read reads a child, and what the operation needs of its parents.
func (c *Counter) read(ctx context.Context, db model.DB, id bson.D, o operation) (s state, err error) {
	fields := commands.Fields(c.paths()...)
	if c.pending != "" {
		fields = append(fields, bson.E{Key: c.pending, Value: 1})
	}
	s.Child, err = commands.ReadOne(ctx, db, c.docs.Name(), id, fields)
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
		if s.Done = c.remembers(s, o.op); !s.Done {
			err = c.missing(s, last)
		}
	}
	return s, err
}

// transitions are the changes that the parents must be told of: the one that is under way on the child, and then the
// operation's own, if it is another. With tokens the parents that the child names are told of every change, so that they
// remember its token. Without tokens they are told only of changes of what the child counts for.
func (c *Counter) transitions(child bson.Raw, o operation) (list []transition, err error) {
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
	if !t.was.same(t.now) || len(t.named) > 0 || t.comes.Type != 0 {
		list = append(list, t)
	}
	return list, nil
}

// name adds the parents that the child names before and after fields are set. With tokens, they remember the operation.
func (c *Counter) name(t *transition, child bson.Raw, set bson.D) error {
	was, err := stored.At(c.docs, child, c.reference)
	if err != nil {
		return err
	}
	now, err := stored.AfterSet(c.docs, set, c.reference, was)
	if err != nil {
		return err
	}
	for _, ref := range []bson.RawValue{was, now} {
		switch named, err := c.parentNamed(ref); {
		case err != nil:
			return err
		case named && c.tokens != "" && !stored.Contains(t.named, ref):
			t.named = append(t.named, bsonval.Clone(ref))
		}
	}
	if named, _ := c.parentNamed(now); named && !t.gone && (t.inserted || !bsonval.EqualRaw(was, now)) {
		t.comes = bsonval.Clone(now)
	}
	return nil
}

// marked is the transition that is under way on a child. now is what the child counts for.
func (c *Counter) marked(child bson.Raw, now contribution) (t transition, ok bool) {
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
	t.named = slices.DeleteFunc(core.Elements(doc.Lookup("parents")), func(v bson.RawValue) bool { return !stored.IsKey(v) })
	return t, true
}

func (c *Counter) isMarked(child bson.Raw, op bson.ObjectID) bool {
	t, ok := c.marked(child, contribution{})
	return ok && t.op == op
}

// remembers reports whether one of the parents holds the token.
func (c *Counter) remembers(s state, op bson.ObjectID) bool {
	holds := func(p parentDoc) bool { return slices.Contains(c.tokensOf(p.Doc), op) }
	return c.tokens != "" && slices.ContainsFunc(s.Parents, holds)
}

// decide is the plan of an operation on a child: it finishes what is under way, and then makes its own change.
func (c *Counter) decide(s state, filter bson.D, o operation) (model.Plan, error) {
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
		switch {
		case list[0].op == o.op || o.settle || list[0].gone && o.set == nil:
			return c.plan(s, steps), nil
		case list[0].gone && s.Tx:
			return model.Plan{}, fmt.Errorf("%w (%s %s)", model.ErrNotFound, c.docs.Name(), model.Shell(filter))
		}
		list = list[1:]
	}
	if o.settle {
		return model.Plan{}, nil
	}
	if len(list) == 0 {
		return c.plan(s, steps, []model.Step{c.plain(s.Child, filter, o)}), nil
	}
	return c.plan(s, steps, []model.Step{c.turn(s, filter, list[0], o)}, c.apply(list[0], s), c.unmark(id, list[0], s)), nil
}
