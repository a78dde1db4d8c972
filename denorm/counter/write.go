package counter

import (
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

// planParentUpdates returns the updates of the parents of a transition. old is the parent
// that may lose its smallest or greatest value, or nil. In a transaction, its values
// can't change meanwhile.
func (c *untypedCounter) planParentUpdates(t transition, old *parentDoc, tx bool) (writes []model.Write) {
	for _, id := range t.listParents() {
		p := old
		if p != nil && !bsonval.EqualRaw(p.ID, id) {
			p = nil
		}
		if w, ok := c.updateParent(t, id, p, tx); ok {
			writes = append(writes, w)
		}
	}
	return writes
}

// A parentUpdate collects the changes of one parent by operator.
type parentUpdate struct {
	inc, min, max, set, unset bson.D
	// The filter has a condition on an extreme or on the tokens, so that no match means a
	// stale read.
	guarded bool
}

func (u parentUpdate) isEmpty() bool {
	return len(u.inc)+len(u.min)+len(u.max)+len(u.set)+len(u.unset) == 0
}

// updateParent returns the write that changes one parent, and false if nothing changes. p
// is the parent as it was read, or nil if it wasn't read. A deleted parent is updated too
// (Deleted): its children still count, and it may be restored.
func (c *untypedCounter) updateParent(t transition, id bson.RawValue, p *parentDoc, tx bool) (model.Write, bool) {
	w := model.Write{Collection: c.parents.Name(), Index: model.IDIndex, Deleted: true}
	filter := commands.MatchID(bsonval.Clone(id))
	var u parentUpdate
	for _, x := range c.slots {
		if x.isExtreme() {
			filter = c.changeExtreme(t, id, p, x, &u, filter, tx)
			continue
		}
		n, err := c.changeSum(t, id, x)
		if err != nil {
			return model.Refused(c.parents.Name(), c.docs.Refuse(c.sources[x.source].path, nil, err.Error())), true
		}
		if n != nil {
			u.inc = append(u.inc, bson.E{Key: x.path, Value: n})
		}
	}
	if u.isEmpty() {
		return w, false
	}
	if gone := p != nil && p.Doc == nil; u.guarded && !gone {
		w.Expect = model.One
	}
	if t.namesNewParent(id) && tx { // outside transactions, the parent can be deleted after the store has read it
		w.Expect, w.Reasons = model.One, []model.Reason{{Err: c.newReferenceError(id)}}
	}
	w.Model = &mongo.UpdateOneModel{Filter: filter, Update: c.encodeUpdate(u)}
	return w, true
}

// newReferenceError is the error for a parent that a child newly names, and that doesn't
// exist.
func (c *untypedCounter) newReferenceError(id bson.RawValue) error {
	return &model.ReferenceError{Collection: c.docs.Name(), Path: c.reference, To: c.parents.Name(), Value: id}
}

// changeSum returns the number to add to a count or a sum, or nil.
func (c *untypedCounter) changeSum(t transition, id bson.RawValue, x slot) (any, error) {
	var was, now bson.RawValue
	n := 0
	for i, a := range []contribution{t.was, t.now} {
		if !a.countsFor(id) {
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
		return subtractAmounts(now, was)
	case n == 0:
		return nil, nil
	}
	return int64(n), nil
}

// changeExtreme lowers or raises an extreme. If a value goes away, it guards the write:
// the parent's extreme is beyond that value, or the parent is as it was read, and the
// next value is known. What a transaction read needs no guard.
func (c *untypedCounter) changeExtreme(
	t transition, id bson.RawValue, p *parentDoc, x slot, u *parentUpdate, filter bson.D, tx bool,
) bson.D {
	var come bson.RawValue
	if t.now.countsFor(id) {
		come = t.now.values[x.source]
	}
	v := c.findLeavingValue(t, id, x)
	u.guarded = u.guarded || v.Type != 0
	if v.Type != 0 && p != nil && (tx || c.mayBeStoredExtreme(t, p, x)) {
		next, known := p.Next[x.path]
		if come.Type != 0 && (next.Type == 0 || x.isAtLeastAsExtreme(come, next)) {
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
			return c.guardTokens(filter, p)
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

// guardTokens requires that no action outside transactions has changed the parent since
// it was read: each one adds its token.
func (c *untypedCounter) guardTokens(filter bson.D, p *parentDoc) bson.D {
	tokens := c.parents.StoreField().Tokens()
	if bsonval.Index(filter, tokens) >= 0 {
		return filter
	}
	v, _ := stored.ValueAt(c.parents, p.Doc, tokens)
	return append(filter, stored.MatchValueAt(tokens, bsonval.Clone(v)))
}

// encodeUpdate encodes a parentUpdate with operators. A quotient needs a pipeline,
// because it is computed from the new sum.
func (c *untypedCounter) encodeUpdate(u parentUpdate) any {
	if slices.ContainsFunc(c.slots, func(x slot) bool { return x.kind == quotient }) {
		return c.encodePipeline(u)
	}
	return commands.JoinOperators(mql.E("$inc", u.inc), mql.E("$min", u.min), mql.E("$max", u.max),
		mql.E("$set", u.set), mql.E("$unset", u.unset))
}

// encodePipeline encodes a parentUpdate as an update pipeline. Quotients follow in a
// second stage: within one $set stage, expressions see the fields from before the stage.
func (c *untypedCounter) encodePipeline(u parentUpdate) mongo.Pipeline {
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
	for _, x := range c.slots {
		if x.kind == quotient {
			sum, n := "$"+c.slots[x.sum].path, "$"+c.slots[x.n].path
			then = append(then, bson.E{
				Key:   x.path,
				Value: mql.Cond(mql.Op("$gt", n, 0), mql.Op("$divide", sum, n), "$$REMOVE"),
			})
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
