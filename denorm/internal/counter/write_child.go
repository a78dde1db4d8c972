package counter

import (
	"slices"

	"github.com/docmodel/docmodel/denorm/internal/stored"
	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// plain is a write to a child that no parent is told of. It is guarded if it touches a field that counts.
func (c *Counter) plain(child bson.Raw, filter bson.D, o operation) model.Write {
	w := model.Write{Collection: c.docs.Name(), Index: model.IDIndex, Expect: model.One, Once: true}
	if o.set == nil {
		w.Model = &mongo.DeleteOneModel{Filter: c.asRead(child, filter)}
		return w
	}
	if c.touches(o.set) {
		filter = c.asRead(child, filter)
	}
	w.Reasons = o.reasons(filter[:1:1])
	w.Model = &mongo.UpdateOneModel{Filter: model.And(filter, o.guard), Update: written(o.set)}
	return w
}

// reasons say that a child doesn't match the guard of SetIf.
func (o operation) reasons(id bson.D) []model.Reason {
	if len(o.guard) == 0 {
		return nil
	}
	return []model.Reason{{If: append(id, bson.E{Key: "$nor", Value: bson.A{o.guard}}), Err: model.ErrGuard}}
}

// turn is the write that changes what a child counts for, and marks the child. A delete needs no mark where there are none.
func (c *Counter) turn(s state, filter bson.D, t transition, o operation) model.Write {
	marks := c.pending != "" && !s.Tx
	w := model.Write{Collection: c.docs.Name(), Index: model.IDIndex, Expect: model.One, Once: marks}
	set := slices.Clone(o.set)
	if marks {
		set = append(set, bson.E{Key: c.pending, Value: c.entry(t)})
		w.Done = append(slices.Clone(filter), bson.E{Key: c.pending + ".op", Value: t.op})
	} else if t.gone {
		w.Model = &mongo.DeleteOneModel{Filter: c.asRead(s.Child, filter)}
		return w
	}
	if c.tokens == "" || len(s.Parents) > 0 { // else a parent may have the token: the child is read again
		w.Reasons = o.reasons(filter[:1:1])
	}
	w.Model = &mongo.UpdateOneModel{Filter: model.And(c.asRead(s.Child, filter), o.guard), Update: written(set)}
	return w
}

// asRead matches the child if it is as it was read, and no operation is under way on it.
func (c *Counter) asRead(child bson.Raw, filter bson.D) bson.D {
	filter = slices.Clone(filter)
	for _, path := range c.paths() {
		v, _ := stored.At(c.docs, child, path)
		filter = append(filter, stored.HoldsAt(path, bsonval.Clone(v)))
	}
	if c.pending != "" {
		filter = append(filter, bson.E{Key: c.pending, Value: mql.Exists(false)})
	}
	return filter
}

// unmark is what follows an operation's own writes.
func (c *Counter) unmark(id bson.RawValue, t transition, s state) []model.Step {
	if s.Tx {
		return nil
	}
	return c.finish(id, t)
}

// finish takes the mark off, or deletes the child.
func (c *Counter) finish(id bson.RawValue, t transition) []model.Step {
	if c.tokens == "" || len(t.parents()) == 0 {
		return nil
	}
	w := model.Write{Collection: c.docs.Name(), Index: model.IDIndex, Once: true, Deleted: true}
	filter := bson.D{{Key: "_id", Value: mql.Eq(bsonval.Clone(id))}, {Key: c.pending + ".op", Value: t.op}}
	unmark := bson.D{{Key: "$unset", Value: bson.D{{Key: c.pending, Value: ""}}}}
	if t.gone {
		w.Model, w.IfMarked = &mongo.DeleteOneModel{Filter: filter}, unmark
	} else {
		w.Model = &mongo.UpdateOneModel{Filter: filter, Update: unmark}
	}
	return []model.Step{w}
}
