package denorm

import (
	"context"
	"math"
	"slices"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/readpref"
)

// readParents reads what the transitions of one child need of their parents: tokens, and where a smallest or greatest value
// leaves, what it is and which is the next.
func (c *counter) readParents(ctx context.Context, db *mongo.Database, s *CounterState, list []transition) error {
	var ids []bson.RawValue
	needed := c.tokens != ""
	for _, t := range list {
		for _, id := range t.parents() {
			if !contains(ids, id) {
				ids = append(ids, id)
			}
		}
		needed = needed || slices.ContainsFunc(c.slots, func(x slot) bool { return c.leaves(t, t.was.parent, x).Type != 0 })
	}
	if !needed || len(ids) == 0 {
		return nil
	}
	found, err := model.Find[bson.Raw]{Query: model.Query{
		Collection: c.parents, Deleted: true, Filter: bson.D{{Key: "_id", Value: bson.D{{Key: "$in", Value: ids}}}}, Index: model.IDIndex,
		Projection: c.parentProjection(), Options: model.ReadOptions{ReadPreference: readpref.Primary()},
	}}.All(ctx, db)
	if err != nil {
		return err
	}
	for _, id := range ids {
		p := CounterParent{ID: id}
		if i := slices.IndexFunc(found, func(doc bson.Raw) bool { return bsonval.EqualRaw(doc.Lookup("_id"), id) }); i >= 0 {
			p.Doc = found[i]
			if err := c.readNext(ctx, db, &p, s.Child, list); err != nil {
				return err
			}
		}
		s.Parents = append(s.Parents, p)
	}
	return nil
}

func (c *counter) parentProjection() bson.D {
	d := bson.D{{Key: "_id", Value: 1}}
	if c.tokens != "" {
		d = append(d, bson.E{Key: c.tokens, Value: 1})
	}
	for _, x := range c.slots {
		if x.extreme() {
			d = append(d, bson.E{Key: x.path, Value: 1})
		}
	}
	return d
}

// readNext reads the next smallest and greatest values of a parent, of those that may leave it.
func (c *counter) readNext(
	ctx context.Context, db *mongo.Database, p *CounterParent, child bson.Raw, list []transition,
) error {
	for _, x := range c.slots {
		if !slices.ContainsFunc(list, func(t transition) bool { return c.mayLeave(t, p, x) }) {
			continue
		}
		v, err := model.Find[bson.Raw]{Query: c.nextQuery(p.ID, child.Lookup("_id"), x)}.All(ctx, db)
		if err != nil {
			return err
		}
		if p.Next == nil {
			p.Next = map[string]bson.RawValue{}
		}
		p.Next[x.path] = bson.RawValue{}
		if len(v) > 0 {
			p.Next[x.path], _ = c.doc.at(v[0], c.sources[x.source].path)
		}
	}
	return nil
}

// nextQuery finds the smallest or greatest value of a parent's children other than one.
func (c *counter) nextQuery(parent, child bson.RawValue, x slot) model.Query {
	from, order, bound := c.sources[x.source], 1, any(math.Inf(-1))
	if x.kind == greatest {
		order = -1
	}
	if from.date {
		bound = bson.DateTime(math.MinInt64)
	}
	of := bson.D{{Key: c.reference, Value: model.Eq(parent)}}
	values := bson.D{{Key: from.path, Value: bson.D{{Key: "$gte", Value: bound}}}}
	others := bson.D{{Key: "_id", Value: bson.D{{Key: "$ne", Value: child}}}}
	return model.Query{
		Collection: c.children, Filter: model.And(of, values, c.filter, others), Limit: 1,
		Sort: bson.D{{Key: from.path, Value: order}}, Projection: bson.D{{Key: from.path, Value: 1}},
		Index:   model.IndexName(bson.D{{Key: c.reference, Value: 1}, {Key: from.path, Value: 1}}),
		Options: model.ReadOptions{ReadPreference: readpref.Primary()},
	}
}

// leaves is the value of an extreme's source that a transition takes from a parent without giving one as extreme; type
// 0 for none.
func (c *counter) leaves(t transition, parent bson.RawValue, x slot) bson.RawValue {
	if !x.extreme() || !t.was.of(parent) || t.was.values[x.source].Type == 0 {
		return bson.RawValue{}
	}
	v := t.was.values[x.source]
	if t.now.of(parent) && t.now.values[x.source].Type != 0 && x.beyond(t.now.values[x.source], v) {
		return bson.RawValue{}
	}
	return v
}

// mayLeave reports whether the extreme of a parent, as it was read, may be the value that a transition takes.
func (c *counter) mayLeave(t transition, p *CounterParent, x slot) bool {
	v := c.leaves(t, p.ID, x)
	if v.Type == 0 {
		return false
	}
	held, _ := c.doc.at(p.Doc, x.path)
	n, ok := compareScalars(held, v)
	return !ok || n == 0 || !x.beyond(held, v)
}

// tokensOf are the tokens of a parent that was read.
func (c *counter) tokensOf(doc bson.Raw) []bson.ObjectID {
	if doc == nil || c.tokens == "" {
		return nil
	}
	v, _ := c.doc.at(doc, c.tokens)
	return c.tokensIn(v)
}

func (c *counter) tokensIn(v bson.RawValue) (out []bson.ObjectID) {
	list, ok := v.ArrayOK()
	if !ok {
		return nil
	}
	values, _ := list.Values()
	for _, v := range values {
		if op, ok := v.ObjectIDOK(); ok {
			out = append(out, op)
		}
	}
	return out
}

// apply are the writes that tell a transition to its parents.
func (c *counter) apply(t transition, s CounterState) (steps []model.Step) {
	for _, id := range t.parents() {
		var p *CounterParent
		if i := slices.IndexFunc(s.Parents, func(p CounterParent) bool { return bsonval.EqualRaw(p.ID, id) }); i >= 0 {
			p = &s.Parents[i]
		}
		if w, ok := c.tell(t, id, p); ok {
			steps = append(steps, w)
		}
	}
	return steps
}

// A parentUpdate is what changes in a parent.
type parentUpdate struct {
	inc, min, max, set bson.D
	unset              []string
	guarded            bool // by what a smallest or greatest is, or by what was read
}

func (u parentUpdate) empty() bool {
	return len(u.inc)+len(u.min)+len(u.max)+len(u.set)+len(u.unset) == 0
}

// tell is the write that changes a parent by a transition. p is the parent as it was read, nil if it wasn't.
func (c *counter) tell(t transition, id bson.RawValue, p *CounterParent) (model.Write, bool) {
	w := model.Write{Collection: c.parents, Index: model.IDIndex, Once: c.tokens != "", Deleted: true}
	filter := bson.D{{Key: "_id", Value: model.Eq(clone(id))}}
	if c.tokens != "" {
		held := bson.E{Key: c.tokens, Value: bson.D{{Key: "$ne", Value: t.op}}}
		w.Done = append(filter[:1:1], bson.E{Key: c.tokens, Value: t.op})
		if p != nil && slices.Contains(c.tokensOf(p.Doc), t.op) {
			return w, false
		}
		filter = append(filter, held)
	}
	var u parentUpdate
	for _, x := range c.slots {
		if x.extreme() {
			filter = c.tellExtreme(t, id, p, x, &u, filter)
			continue
		}
		n, err := c.tellSum(t, id, x)
		if err != nil {
			return model.Refused(c.parents, c.doc.refused(c.sources[x.source].path, nil, err.Error())), true
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
	w.Model = &mongo.UpdateOneModel{Filter: filter, Update: c.update(u, t.op)}
	return w, true
}

// tellSum is what is added to a slot; nil for nothing.
func (c *counter) tellSum(t transition, id bson.RawValue, x slot) (any, error) {
	var was, now bson.RawValue
	n := 0
	for i, a := range []contribution{t.was, t.now} {
		if !a.of(id) {
			continue
		}
		v := asRaw(int64(1))
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

// tellExtreme lowers or raises an extreme, and guards the write where a value leaves: either the parent's is beyond it,
// or the parent is as it was read, and the next is known.
func (c *counter) tellExtreme(
	t transition, id bson.RawValue, p *CounterParent, x slot, u *parentUpdate, filter bson.D,
) bson.D {
	var come bson.RawValue
	if t.now.of(id) {
		come = t.now.values[x.source]
	}
	v := c.leaves(t, id, x)
	u.guarded = u.guarded || v.Type != 0
	if v.Type != 0 && p != nil && c.mayLeave(t, p, x) {
		next, known := p.Next[x.path]
		if come.Type != 0 && (next.Type == 0 || x.beyond(come, next)) {
			next = come
		}
		if known {
			if next.Type == 0 {
				u.unset = append(u.unset, x.path)
			} else {
				u.set = append(u.set, bson.E{Key: x.path, Value: clone(next)})
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
func (c *counter) unchanged(filter bson.D, p *CounterParent, x slot) bson.D {
	path := c.tokens
	if path == "" {
		path = x.path
	}
	v, _ := c.doc.at(p.Doc, path)
	guard := holdsAt(path, clone(v))
	if i := slices.IndexFunc(filter, func(e bson.E) bool { return e.Key == path }); i >= 0 {
		filter[i] = guard // the operation's token is not among them
		return filter
	}
	return append(filter, guard)
}

// update writes a parentUpdate and the operation's token. Quotients follow in a second stage.
func (c *counter) update(u parentUpdate, op bson.ObjectID) any {
	if slices.ContainsFunc(c.slots, func(x slot) bool { return x.kind == quotient }) {
		return c.updatePipeline(u, op)
	}
	var d bson.D
	add := func(op string, fields bson.D) {
		if len(fields) > 0 {
			d = append(d, bson.E{Key: op, Value: fields})
		}
	}
	add("$inc", u.inc)
	add("$min", u.min)
	add("$max", u.max)
	add("$set", u.set)
	var unset bson.D
	for _, path := range u.unset {
		unset = append(unset, bson.E{Key: path, Value: ""})
	}
	add("$unset", unset)
	if c.tokens != "" {
		add("$push", bson.D{{Key: c.tokens, Value: bson.D{{Key: "$each", Value: bson.A{op}}, {Key: "$slice", Value: -c.keep}}}})
	}
	return d
}

// updatePipeline is the same as a pipeline.
func (c *counter) updatePipeline(u parentUpdate, token bson.ObjectID) mongo.Pipeline {
	var set, then bson.D
	add := func(path string, v any) { set = append(set, bson.E{Key: path, Value: v}) }
	for _, e := range u.inc {
		add(e.Key, mql.Op("$add", mql.Op("$ifNull", "$"+e.Key, int64(0)), e.Value))
	}
	for name, fields := range []bson.D{u.min, u.max} {
		for _, e := range fields {
			add(e.Key, mql.Op([]string{"$min", "$max"}[name], "$"+e.Key, e.Value))
		}
	}
	for _, e := range u.set {
		add(e.Key, mql.Literal(e.Value))
	}
	for _, path := range u.unset {
		add(path, "$$REMOVE")
	}
	if c.tokens != "" {
		add(c.tokens, mql.Op("$slice", mql.Op("$concatArrays", mql.Op("$ifNull", "$"+c.tokens, bson.A{}), bson.A{token}), -c.keep))
	}
	for _, x := range c.slots {
		if x.kind == quotient {
			sum, n := "$"+c.slots[x.sum].path, "$"+c.slots[x.n].path
			then = append(then, bson.E{Key: x.path, Value: mql.Op("$cond", mql.Op("$gt", n, 0), mql.Op("$divide", sum, n), "$$REMOVE")})
		}
	}
	out := mongo.Pipeline{}
	if len(set) > 0 {
		out = append(out, bson.D{{Key: "$set", Value: set}})
	}
	if len(then) > 0 {
		out = append(out, bson.D{{Key: "$set", Value: then}})
	}
	return out
}
