package copies

import (
	"github.com/docmodel/docmodel/denorm/internal/stored"
	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A change is one of a source: its fields, encoded, and what they make of it.
type change struct {
	set      bson.D
	was, now source
	touches  bool   // a copied field is among the fields, changed or not
	changed  []bool // which copied fields change
}

// Set is the plan that changes a source, as the caller read it, and then its copies.
func (c *Copying) Set(doc any, fields bson.D) model.Plan {
	raw, err := stored.ReadDocument(c.docs, doc)
	if err != nil {
		return model.RefusedPlan(c.docs.Name(), err)
	}
	change, err := c.change(raw, fields)
	if err != nil {
		return model.RefusedPlan(c.docs.Name(), err)
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
		p.Leaves = "copies that are older than the source: run the plan again"
		break
	}
	return p
}

// change checks fields, and computes what they make of a source.
func (c *Copying) change(doc bson.Raw, fields bson.D) (x change, err error) {
	var whole []string
	for _, f := range c.fields {
		whole = append(whole, f.From)
	}
	if c.version != "" {
		whole = append(whole, c.spec.Version)
	}
	if x.set, err = c.docs.Set(fields, whole...); err != nil {
		return x, err
	}
	if x.was, err = c.state(doc); err != nil {
		return x, err
	}
	x.now = x.was
	x.now.values, x.changed = make([]bson.RawValue, len(c.fields)), make([]bool, len(c.fields))
	any := false
	for i, f := range c.fields {
		v, err := stored.AfterSet(c.docs, x.set, f.From, x.was.values[i])
		if err != nil {
			return x, err
		}
		x.now.values[i], x.changed[i] = v, !v.Equal(x.was.values[i])
		any = any || x.changed[i]
		for _, e := range x.set {
			x.touches = x.touches || core.Overlap(e.Key, f.From)
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
	given, err := stored.AfterSet(c.docs, x.set, c.spec.Version, bson.RawValue{})
	if err == nil && (any || given.Type != 0) {
		x.touches = true
		x.now.version, err = c.next(x.was.version, given)
	}
	return x, err
}

// listedAfter are the documents that a source lists after a change.
func (c *Copying) listedAfter(x change) ([]bson.RawValue, error) {
	for _, e := range x.set {
		if core.Overlap(e.Key, c.spec.Listed) {
			v, err := stored.AfterSet(c.docs, x.set, c.spec.Listed, bson.RawValue{})
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
func (c *Copying) writeSource(x change) model.Write {
	filter := commands.ByID(x.was.id)
	set := x.set
	w := model.Write{Collection: c.docs.Name(), Expect: model.One, Index: model.IDIndex}
	if c.version != "" && x.touches {
		done := append(filter[:1:1], bson.E{Key: c.spec.Version, Value: x.now.version})
		for _, e := range set {
			done = append(done, stored.HoldsAt(e.Key, e.Value.(bson.RawValue)))
		}
		if x.now.version.Equal(x.was.version) {
			done = nil // nothing that is copied changes
		} else if v, _ := stored.AfterSet(c.docs, set, c.spec.Version, bson.RawValue{}); v.Type == 0 {
			set = append(set[:len(set):len(set)], bson.E{Key: c.spec.Version, Value: x.now.version})
		}
		filter = append(filter, c.guard(x.was))
		w.Done, w.Once = done, true
	}
	w.Model = &mongo.UpdateOneModel{Filter: filter, Update: mql.Set(set...)}
	return w
}
