package counter

import (
	"context"
	"math"
	"slices"

	"github.com/docmodel/docmodel/denorm/internal/stored"
	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/internal/runctx"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// readParents reads what the transitions of one child need of their parents: tokens, and the smallest or greatest value and the
// next one, if it may leave.
func (c *Counter) readParents(ctx context.Context, db model.DB, s *state, list []transition) error {
	var ids []bson.RawValue
	leaves, unknown := false, false
	for _, t := range list {
		for _, id := range t.parents() {
			if !stored.Contains(ids, id) {
				ids = append(ids, id)
			}
		}
		leaves = leaves || slices.ContainsFunc(c.slots, func(x slot) bool { return c.leaves(t, t.was.parent, x).Type != 0 })
	}
	for _, t := range list { // without tokens a parent that isn't written isn't known to be there
		unknown = unknown || t.comes.Type != 0 && (!t.now.of(t.comes) || !runctx.InTransaction(ctx))
	}
	if len(ids) == 0 || c.tokens == "" && !leaves && !unknown {
		return nil
	}
	if _, marked := c.marked(s.Child, contribution{}); !marked && (c.tokens != "" || !unknown) && runctx.Hope(ctx) {
		return nil // the parents are there, hold no token of the operation, and no smallest or greatest value leaves them
	}
	found, err := (&model.Find[bson.Raw]{Query: model.Query{
		Collection: c.parents.Name(), Deleted: true, Filter: commands.AmongIDs(mql.A(ids)), Index: model.IDIndex,
		Projection: c.parentProjection(), Options: model.ReadOptions{BatchSize: commands.WholeReply(0, len(ids))},
	}}).All(ctx, db)
	if err != nil {
		return err
	}
	for _, id := range ids {
		p := parentDoc{ID: id}
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

func (c *Counter) parentProjection() bson.D {
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

// readNext reads the next smallest and greatest values of a parent, where the present one may leave.
func (c *Counter) readNext(
	ctx context.Context, db model.DB, p *parentDoc, child bson.Raw, list []transition,
) error {
	for _, x := range c.slots {
		if !slices.ContainsFunc(list, func(t transition) bool { return c.mayLeave(t, p, x) }) {
			continue
		}
		v, err := (&model.Find[bson.Raw]{Query: c.nextQuery(p.ID, child.Lookup("_id"), x)}).All(ctx, db)
		if err != nil {
			return err
		}
		if p.Next == nil {
			p.Next = map[string]bson.RawValue{}
		}
		p.Next[x.path] = bson.RawValue{}
		if len(v) > 0 {
			p.Next[x.path], _ = stored.At(c.docs, v[0], c.sources[x.source].path)
		}
	}
	return nil
}

// nextQuery finds the smallest or greatest value of a parent's children other than one.
func (c *Counter) nextQuery(parent, child bson.RawValue, x slot) model.Query {
	from, order, bound := c.sources[x.source], 1, any(math.Inf(-1))
	if x.kind == greatest {
		order = -1
	}
	if from.date {
		bound = bson.DateTime(math.MinInt64)
	}
	of := bson.D{{Key: c.reference, Value: mql.Eq(parent)}}
	values := bson.D{{Key: from.path, Value: bson.D{{Key: "$gte", Value: bound}}}}
	others := bson.D{{Key: "_id", Value: bson.D{{Key: "$ne", Value: child}}}}
	return model.Query{
		Collection: c.docs.Name(), Filter: model.And(of, values, c.filter, others), Limit: 1,
		Sort: bson.D{{Key: from.path, Value: order}}, Projection: bson.D{{Key: from.path, Value: 1}},
		Index: model.NewIndex("", bson.D{{Key: c.reference, Value: 1}, {Key: from.path, Value: 1}}).Name,
	}
}

// leaves is the value of an extreme's source that a transition takes from a parent without giving it one that is as
// extreme, or type 0.
func (c *Counter) leaves(t transition, parent bson.RawValue, x slot) bson.RawValue {
	if !x.extreme() || !t.was.of(parent) || t.was.values[x.source].Type == 0 {
		return bson.RawValue{}
	}
	v := t.was.values[x.source]
	if t.now.of(parent) && t.now.values[x.source].Type != 0 && x.beyond(t.now.values[x.source], v) {
		return bson.RawValue{}
	}
	return v
}

// mayLeave reports whether the extreme that a parent held when it was read may be the value that a transition takes.
func (c *Counter) mayLeave(t transition, p *parentDoc, x slot) bool {
	v := c.leaves(t, p.ID, x)
	if v.Type == 0 {
		return false
	}
	held, _ := stored.At(c.docs, p.Doc, x.path)
	n, ok := compareScalars(held, v)
	return !ok || n == 0 || !x.beyond(held, v)
}

// tokensOf are the tokens of a parent that was read.
func (c *Counter) tokensOf(doc bson.Raw) []bson.ObjectID {
	if doc == nil || c.tokens == "" {
		return nil
	}
	v, _ := stored.At(c.docs, doc, c.tokens)
	return c.tokensIn(v)
}

func (c *Counter) tokensIn(v bson.RawValue) (out []bson.ObjectID) {
	for _, v := range core.Elements(v) {
		if op, ok := v.ObjectIDOK(); ok {
			out = append(out, op)
		}
	}
	return out
}
