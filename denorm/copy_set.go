package denorm

import (
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A copyChange is a change of a source: its fields, encoded, and what they make of it.
type copyChange struct {
	set      bson.D
	was, now copyState
	touches  bool   // a copied field is among the fields, changed or not
	changed  []bool // which copied fields change
}

// set is the plan that changes a source, and then its copies.
func (c *copying) set(doc bson.Raw, fields bson.D) model.Plan {
	change, err := c.change(doc, fields)
	if err != nil {
		return model.RefusedPlan(c.docs, err)
	}
	p := model.NewPlan(c.writeSource(change))
	for _, changed := range change.changed {
		if !changed {
			continue
		}
		if c.version != "" {
			change.changed = nil // the one that arrives may be the only one
		}
		p.Steps = append(p.Steps, c.propagate(change.now, change.changed)...)
		p.Leaves = "copies that are older than the source"
		break
	}
	return p
}

// change checks fields, and computes what they make of a source.
func (c *copying) change(doc bson.Raw, fields bson.D) (x copyChange, err error) {
	var whole []string
	for _, f := range c.fields {
		whole = append(whole, f.From)
	}
	if c.version != "" {
		whole = append(whole, c.spec.Version)
	}
	if x.set, err = c.stored.fields(fields, whole); err != nil {
		return x, err
	}
	if x.was, err = c.state(doc); err != nil {
		return x, err
	}
	x.now = x.was
	x.now.values, x.changed = make([]bson.RawValue, len(c.fields)), make([]bool, len(c.fields))
	any := false
	for i, f := range c.fields {
		v, err := c.afterSet(x.set, f.From, x.was.values[i])
		if err != nil {
			return x, err
		}
		x.now.values[i], x.changed[i] = v, !v.Equal(x.was.values[i])
		any = any || x.changed[i]
		for _, e := range x.set {
			x.touches = x.touches || model.Overlap(e.Key, f.From)
		}
	}
	if c.spec.Listed != "" {
		if x.now.listed, err = c.listedAfter(x); err != nil {
			return x, err
		}
	}
	if c.version == "" {
		return x, nil
	}
	given, err := c.afterSet(x.set, c.spec.Version, bson.RawValue{})
	if err == nil && (any || given.Type != 0) {
		x.touches = true
		x.now.version, err = c.next(x.was.version, given)
	}
	return x, err
}

// listedAfter are the documents that a source lists after a change.
func (c *copying) listedAfter(x copyChange) ([]bson.RawValue, error) {
	for _, e := range x.set {
		if model.Overlap(e.Key, c.spec.Listed) {
			v, err := c.afterSet(x.set, c.spec.Listed, bson.RawValue{})
			if err != nil {
				return nil, err
			}
			return c.listedIn(v)
		}
	}
	return x.was.listed, nil
}

// writeSource is the write to the source. With a version it asks for the one that was read; it was done before if the source
// has the new one, and what was to be set.
func (c *copying) writeSource(x copyChange) model.Write {
	filter := bson.D{{Key: "_id", Value: model.Eq(x.was.id)}}
	set := x.set
	w := model.Write{Collection: c.docs, Expect: model.One, Index: model.IDIndex}
	if c.version != "" && x.touches {
		done := append(filter[:1:1], bson.E{Key: c.spec.Version, Value: x.now.version})
		for _, e := range set {
			done = append(done, holdsAt(e.Key, e.Value.(bson.RawValue)))
		}
		if x.now.version.Equal(x.was.version) {
			done = nil // nothing that is copied changes
		} else if v, _ := c.afterSet(set, c.spec.Version, bson.RawValue{}); v.Type == 0 {
			set = append(set[:len(set):len(set)], bson.E{Key: c.spec.Version, Value: x.now.version})
		}
		filter = append(filter, x.was.guard)
		w.Done, w.Once = done, true
	}
	w.Model = &mongo.UpdateOneModel{Filter: filter, Update: bson.D{{Key: "$set", Value: set}}}
	return w
}
