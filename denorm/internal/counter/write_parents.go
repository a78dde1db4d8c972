package counter

import (
	"cmp"
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

// apply are the writes that tell a transition to its parents.
func (c *Counter) apply(t transition, s state) (steps []model.Step) {
	for _, id := range t.parents() {
		var p *parentDoc
		if i := slices.IndexFunc(s.Parents, func(p parentDoc) bool { return bsonval.EqualRaw(p.ID, id) }); i >= 0 {
			p = &s.Parents[i]
		}
		if w, ok := c.tell(t, id, p, s.Tx); ok {
			steps = append(steps, w)
		}
	}
	return steps
}

// A parentUpdate is a change of a parent.
type parentUpdate struct {
	inc, min, max, set, unset bson.D
	guarded                   bool // by its extreme, or by what was read
}

func (u parentUpdate) empty() bool {
	return len(u.inc)+len(u.min)+len(u.max)+len(u.set)+len(u.unset) == 0
}

// tell is the write that changes a parent by a transition. p is the parent as it was read, or nil if it wasn't read.
func (c *Counter) tell(t transition, id bson.RawValue, p *parentDoc, tx bool) (model.Write, bool) {
	w := model.Write{Collection: c.parents.Name(), Index: model.IDIndex, Once: c.tokens != "", Deleted: true}
	filter := commands.ByID(bsonval.Clone(id))
	if c.tokens != "" {
		held := bson.E{Key: c.tokens, Value: bson.D{{Key: "$ne", Value: t.op}}}
		if tx && p == nil {
			w.Expect = model.One
		} else {
			w.Done, w.Token = append(filter[:1:1], bson.E{Key: c.tokens, Value: t.op}), t.op
		}
		if p != nil && slices.Contains(c.tokensOf(p.Doc), t.op) {
			return w, false
		}
		filter = append(filter, held)
	}
	var u parentUpdate
	for _, x := range c.slots {
		if x.extreme() {
			filter = c.tellExtreme(t, id, p, x, &u, filter, tx)
			continue
		}
		n, err := c.tellSum(t, id, x)
		if err != nil {
			return model.Refused(c.parents.Name(), c.docs.Refuse(c.sources[x.source].path, nil, err.Error())), true
		}
		if n != nil {
			u.inc = append(u.inc, bson.E{Key: x.path, Value: n})
		}
	}
	if c.tokens == "" && u.empty() {
		return w, false
	}
	if gone := p != nil && p.Doc == nil; u.guarded && !gone {
		w.Expect = model.One
	}
	if t.names(id) && (p == nil && c.tokens == "" || p != nil && t.inserted) {
		w.Expect = model.One // the parent may have been deleted since
		if c.tokens == "" {
			w.Reasons = []model.Reason{{Err: c.noParent(id)}}
		}
	}
	w.Model = &mongo.UpdateOneModel{Filter: filter, Update: c.update(u, t.op)}
	return w, true
}

// tellSum is the number that is added to a slot, or nil.
func (c *Counter) tellSum(t transition, id bson.RawValue, x slot) (any, error) {
	var was, now bson.RawValue
	n := 0
	for i, a := range []contribution{t.was, t.now} {
		if !a.of(id) {
			continue
		}
		v := core.MustRawValue(int64(1))
		if x.kind != countChildren {
			v = a.values[x.source]
		}
		if v.Type == 0 {
			continue
		}
		n += 2*i - 1
		if i == 0 {
			was = v
		} else {
			now = v
		}
	}
	switch {
	case x.kind == quotient || was.Type == 0 && now.Type == 0:
		return nil, nil
	case x.kind == addUp:
		if was.Equal(now) {
			return nil, nil
		}
		return difference(now, was)
	case n == 0:
		return nil, nil
	}
	return int64(n), nil
}

// tellExtreme lowers or raises an extreme. Where a value leaves, it guards the write: the parent's extreme is beyond that
// value, or the parent is as it was read, and the next value is known. What was read in the transaction needs no guard.
func (c *Counter) tellExtreme(
	t transition, id bson.RawValue, p *parentDoc, x slot, u *parentUpdate, filter bson.D, tx bool,
) bson.D {
	var come bson.RawValue
	if t.now.of(id) {
		come = t.now.values[x.source]
	}
	v := c.leaves(t, id, x)
	u.guarded = u.guarded || v.Type != 0
	if v.Type != 0 && p != nil && (tx || c.mayLeave(t, p, x)) {
		next, known := p.Next[x.path]
		if come.Type != 0 && (next.Type == 0 || x.beyond(come, next)) {
			next = come
		}
		if known {
			if next.Type == 0 {
				u.unset = append(u.unset, mql.E(x.path, ""))
			} else {
				u.set = append(u.set, bson.E{Key: x.path, Value: bsonval.Clone(next)})
			}
			if tx {
				return filter
			}
			return c.unchanged(filter, p, x)
		}
	}
	if v.Type != 0 {
		is := "$lt"
		if x.kind == greatest {
			is = "$gt"
		}
		return append(filter, bson.E{Key: x.path, Value: bson.D{{Key: is, Value: v}}})
	}
	switch {
	case come.Type == 0:
	case x.kind == smallest:
		u.min = append(u.min, bson.E{Key: x.path, Value: come})
	default:
		u.max = append(u.max, bson.E{Key: x.path, Value: come})
	}
	return filter
}

// unchanged asks that the parent is as it was read: its tokens, or without them the extreme.
func (c *Counter) unchanged(filter bson.D, p *parentDoc, x slot) bson.D {
	path := cmp.Or(c.guard, c.tokens, x.path)
	v, _ := stored.At(c.docs, p.Doc, path)
	guard := stored.HoldsAt(path, bsonval.Clone(v))
	if i := slices.IndexFunc(filter, func(e bson.E) bool { return e.Key == path }); i >= 0 {
		filter[i] = guard // the operation's token is not among them
		return filter
	}
	return append(filter, guard)
}

// update writes a parentUpdate and the operation's token. Quotients follow in a second stage.
func (c *Counter) update(u parentUpdate, op bson.ObjectID) any {
	if slices.ContainsFunc(c.slots, func(x slot) bool { return x.kind == quotient }) {
		return c.updatePipeline(u, op)
	}
	return commands.Operators(mql.E("$inc", u.inc), mql.E("$min", u.min), mql.E("$max", u.max), mql.E("$set", u.set), mql.E("$unset", u.unset),
		mql.E("$push", c.remember(op)))
}

// remember pushes tokens to the list that a parent keeps.
func (c *Counter) remember(ops ...any) bson.D {
	if c.tokens == "" || len(ops) == 0 {
		return nil
	}
	return bson.D{{Key: c.tokens, Value: bson.D{{Key: "$each", Value: bson.A(ops)}, {Key: "$slice", Value: -c.keep}}}}
}

// updatePipeline is update as a pipeline.
func (c *Counter) updatePipeline(u parentUpdate, token bson.ObjectID) mongo.Pipeline {
	var set, then bson.D
	add := func(path string, v any) { set = append(set, bson.E{Key: path, Value: v}) }
	for _, e := range u.inc {
		add(e.Key, mql.Op("$add", mql.IfNull("$"+e.Key, int64(0)), e.Value))
	}
	for name, fields := range []bson.D{u.min, u.max} {
		for _, e := range fields {
			add(e.Key, mql.Op([]string{"$min", "$max"}[name], "$"+e.Key, e.Value))
		}
	}
	for _, e := range u.set {
		add(e.Key, mql.Literal(e.Value))
	}
	for _, e := range u.unset {
		add(e.Key, "$$REMOVE")
	}
	if c.tokens != "" {
		add(c.tokens, mql.Op("$slice", mql.Op("$concatArrays", mql.IfNull("$"+c.tokens, bson.A{}), bson.A{token}), -c.keep))
	}
	for _, x := range c.slots {
		if x.kind == quotient {
			sum, n := "$"+c.slots[x.sum].path, "$"+c.slots[x.n].path
			then = append(then, bson.E{Key: x.path, Value: mql.Cond(mql.Op("$gt", n, 0), mql.Op("$divide", sum, n), "$$REMOVE")})
		}
	}
	out := mongo.Pipeline{}
	for _, stage := range []bson.D{set, then} {
		if len(stage) > 0 {
			out = append(out, mql.Set(stage...))
		}
	}
	return out
}
