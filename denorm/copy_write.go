package denorm

import (
	"fmt"
	"strings"

	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// maxListed is how many ids one command holds at most.
const maxListed = 10_000

// element is the condition that something holds the key, and others.
func (c *copying) element(id bson.RawValue, others ...bson.E) bson.D {
	if c.key == "" {
		return others
	}
	return append(bson.D{{Key: c.key, Value: model.Eq(id)}}, others...)
}

// within is a condition on an element, as one on what holds the arrays.
func within(arrays []string, element bson.D) bson.D {
	if len(arrays) == 0 {
		return element
	}
	return bson.D{{Key: arrays[0], Value: bson.D{{Key: "$elemMatch", Value: within(arrays[1:], element)}}}}
}

// holding is the condition that a document holds such a copy. Arrays within arrays have the key by its path too, for there
// DocumentDB takes no index for $elemMatch.
func (c *copying) holding(id bson.RawValue, element bson.D) bson.D {
	d := within(c.arrays, element)
	if len(c.arrays) > 1 {
		d = append(bson.D{{Key: c.spec.KeyPath, Value: model.Eq(id)}}, d...)
	}
	return d
}

// identifier names the elements of array i in updates.
func (c *copying) identifier(i int) string {
	if i == len(c.arrays)-1 {
		return "e"
	}
	return fmt.Sprintf("o%d", i+1)
}

// path is where an update finds a path of a copy: items.$[e].name.
func (c *copying) path(rel string) string {
	var b strings.Builder
	for i, a := range c.arrays {
		b.WriteString(a + ".$[" + c.identifier(i) + "].")
	}
	return b.String() + rel
}

// arrayFilters say which elements an update changes. An outer one must hold such an element: one without the inner array would
// fail the update.
func (c *copying) arrayFilters(element bson.D, depth int) []any {
	var out []any
	for i := range c.arrays[:depth] {
		id := c.identifier(i) + "."
		if i < len(c.arrays)-1 {
			out = append(out, prefixed(id, within(c.arrays[i+1:], element)))
			continue
		}
		out = append(out, prefixed(id, element))
	}
	return out
}

func prefixed(prefix string, d bson.D) bson.D {
	out := make(bson.D, len(d))
	for i, e := range d {
		out[i] = bson.E{Key: prefix + e.Key, Value: e.Value}
	}
	return out
}

// update sets a copy's fields to those of a source, and its version; of some fields only, if which is not nil. where is the
// prefix of paths.
func (c *copying) update(s copyState, which []bool, where func(rel string) string) bson.D {
	var set, unset bson.D
	put := func(rel string, v bson.RawValue) {
		if v.Type == 0 {
			unset = append(unset, bson.E{Key: where(rel), Value: ""})
		} else {
			set = append(set, bson.E{Key: where(rel), Value: v})
		}
	}
	for i, f := range c.fields {
		if which == nil || which[i] {
			put(f.To, s.values[i])
		}
	}
	if c.version != "" {
		put(c.version, s.version)
	}
	return c.counting(operators(bson.E{Key: "$set", Value: set}, bson.E{Key: "$unset", Value: unset}))
}

// counting is an update of a document that counts up CopySpec.CountUp too.
func (c *copying) counting(update bson.D) bson.D {
	if c.spec.CountUp == "" {
		return update
	}
	return append(update, bson.E{Key: "$inc", Value: bson.D{{Key: c.spec.CountUp, Value: int64(1)}}})
}

// operators leaves out those that have nothing to do.
func operators(ops ...bson.E) (out bson.D) {
	for _, o := range ops {
		if len(o.Value.(bson.D)) > 0 {
			out = append(out, o)
		}
	}
	return out
}

// older is the condition that a version is below a source's, or not there.
func (c *copying) older(s copyState) bson.E {
	return bson.E{Key: c.version, Value: bson.D{{Key: "$not", Value: bson.D{{Key: "$gte", Value: s.version}}}}}
}

// differing is the condition that one of the fields isn't the source's.
func (c *copying) differing(s copyState, which []bool) bson.E {
	var any bson.A
	for i, f := range c.fields {
		if which == nil || which[i] {
			any = append(any, bson.D{{Key: f.To, Value: isNot(s.values[i])}})
		}
	}
	if len(any) == 1 {
		return any[0].(bson.D)[0]
	}
	return bson.E{Key: "$or", Value: any}
}

// isNot is the condition that a field doesn't hold just this.
func isNot(v bson.RawValue) bson.D {
	switch v.Type {
	case 0:
		return bson.D{{Key: "$exists", Value: true}}
	case bson.TypeNull:
		return bson.D{{Key: "$not", Value: bson.D{{Key: "$type", Value: "null"}}}}
	case bson.TypeRegex:
		return bson.D{{Key: "$not", Value: bson.D{{Key: "$eq", Value: v}}}}
	}
	return bson.D{{Key: "$ne", Value: v}}
}

// pending is the condition on a copy that a propagation changes.
func (c *copying) pending(s copyState, which []bool) bson.D {
	if c.version != "" {
		return c.element(s.id, c.older(s))
	}
	return c.element(s.id, c.differing(s, which))
}

// touched is the condition on the elements that an update with array filters changes; it has no $or, which array filters don't
// need: an element that holds the values already may be set to them.
func (c *copying) touched(s copyState) bson.D {
	if c.version != "" {
		return c.element(s.id, c.older(s))
	}
	return c.element(s.id)
}

// propagate are the steps that bring the copies of a source up to date, in some fields only, if which is not nil.
func (c *copying) propagate(s copyState, which []bool) []model.Step {
	return c.updates(s, c.pending(s, which), c.touched(s), c.update(s, which, c.path))
}

// updates are the steps that update the copies of a source that a condition matches.
func (c *copying) updates(s copyState, match, element, update bson.D) (steps []model.Step) {
	if s.id.Type == 0 {
		return nil
	}
	w := model.Write{Collection: c.to.docs, Once: true, Index: c.indexes()[0].Name}
	if c.spec.Listed == "" {
		w.Model = &mongo.UpdateManyModel{
			Filter: c.holding(s.id, match), Update: update, ArrayFilters: c.arrayFilters(element, len(c.arrays)),
		}
		return []model.Step{w}
	}
	w.Index = model.IDIndex
	for list := s.listed; len(list) > 0; {
		n := min(len(list), maxListed)
		ids := make(bson.A, n)
		for i := range ids {
			ids[i] = list[i]
		}
		list = list[n:]
		filter := append(bson.D{{Key: "_id", Value: bson.D{{Key: "$in", Value: ids}}}}, match...)
		w.Model = &mongo.UpdateManyModel{Filter: filter, Update: update}
		steps = append(steps, w)
	}
	return steps
}

// propagateJob works through the documents with an older copy.
func (c *copying) propagateJob(s copyState, err error) model.Job {
	job := model.Job{Name: "copy " + c.docs + " to " + c.to.docs, Collection: c.to.docs, Projection: bson.D{{Key: "_id", Value: 1}}, Err: err}
	if err != nil {
		return job
	}
	job.Name += ": " + model.Shell(s.id)
	if c.spec.Listed != "" {
		job.Err = c.refused(c.spec.Listed, nil, "the source lists its documents: use Propagate")
		return job
	}
	job.Filter = c.holding(s.id, c.pending(s, nil))
	job.Plan = func(docs []bson.Raw) (model.Plan, error) {
		ids := make(bson.A, len(docs))
		for i, d := range docs {
			ids[i] = clone(d.Lookup("_id"))
		}
		return model.NewPlan(c.among(s, ids)), nil
	}
	return job
}

// among is the write that brings up to date the copies of a source in some documents.
func (c *copying) among(s copyState, ids bson.A) model.Write {
	return model.Write{
		Collection: c.to.docs, Once: true, Index: model.IDIndex,
		Model: &mongo.UpdateManyModel{
			Filter: append(bson.D{{Key: "_id", Value: bson.D{{Key: "$in", Value: ids}}}}, within(c.arrays, c.pending(s, nil))...),
			Update: c.update(s, nil, c.path), ArrayFilters: c.arrayFilters(c.touched(s), len(c.arrays)),
		},
	}
}

// refresh is the plan that brings up to date the copies of a source in some documents, of
// those that it lists, if it does.
func (c *copying) refresh(s copyState, docs []bson.RawValue) (p model.Plan) {
	ids := bson.A{}
	for _, id := range docs {
		if c.spec.Listed == "" || contains(s.listed, id) {
			ids = append(ids, id)
		}
	}
	if len(ids) > 0 && s.id.Type != 0 {
		p = model.NewPlan(c.among(s, ids))
	}
	return p
}

// rebuild is the plan for a batch of sources. With a version, a copy of the source's own one is set too if it differs.
func (c *copying) rebuild(docs []bson.Raw) (p model.Plan, _ error) {
	for _, doc := range docs {
		s, err := c.state(doc)
		if err != nil {
			return model.Plan{}, fmt.Errorf("document %s: %w", cut(model.Shell(doc.Lookup("_id"))), err)
		}
		match, element := c.pending(s, nil), c.touched(s)
		if c.version != "" {
			same := bson.D{{Key: c.version, Value: s.version}, c.differing(s, nil)}
			match = c.element(s.id, bson.E{Key: "$or", Value: bson.A{bson.D{c.older(s)}, same}})
			element = c.element(s.id, bson.E{Key: c.version, Value: bson.D{{Key: "$not", Value: bson.D{{Key: "$gt", Value: s.version}}}}})
		}
		p.Steps = append(p.Steps, c.updates(s, match, element, c.update(s, nil, c.path))...)
	}
	return p, nil
}

// attach gives a document the copy of a source.
func (c *copying) attach(target bson.RawValue, s copyState, err error) model.Write {
	if err != nil {
		return model.Refused(c.to.docs, err)
	}
	filter := bson.D{{Key: "_id", Value: model.Eq(target)}}
	w := model.Write{Collection: c.to.docs, Expect: model.One, Once: true, Index: model.IDIndex}
	put := func(guard, done, update bson.D) model.Write {
		if done != nil {
			w.Done = append(filter[:1:1], done...)
		}
		w.Model = &mongo.UpdateOneModel{Filter: append(filter[:1:1], guard...), Update: update}
		return w
	}
	switch {
	case len(c.arrays) > 1:
		return model.Refused(c.to.docs, c.to.refused(c.spec.KeyPath, nil, "lies in an array within an array: push Snapshot to the element that is meant"))
	case len(c.arrays) == 1:
		there := within(c.arrays, c.element(s.id))
		absent := bson.D{{Key: c.arrays[0], Value: bson.D{{Key: "$not", Value: there[0].Value}}}}
		return put(absent, there, c.counting(bson.D{{Key: "$push", Value: bson.D{{Key: c.arrays[0], Value: c.snapshot(s)}}}}))
	}
	update := c.update(s, nil, c.path)
	if c.key != "" {
		key := bson.E{Key: c.key, Value: s.id}
		if len(update) > 0 && update[0].Key == "$set" {
			update[0].Value = append(bson.D{key}, update[0].Value.(bson.D)...)
		} else {
			update = append(bson.D{{Key: "$set", Value: bson.D{key}}}, update...)
		}
	}
	if c.version == "" && c.spec.CountUp == "" {
		return put(nil, nil, update)
	}
	if c.version == "" { // not counted up when it is run again
		guard, done := bson.A{bson.D{c.differing(s, nil)}}, c.element(s.id)
		if c.key != "" {
			guard = append(guard, bson.D{{Key: c.key, Value: isNot(s.id)}})
		}
		for i, f := range c.fields {
			done = append(done, holdsAt(f.To, s.values[i]))
		}
		return put(bson.D{{Key: "$or", Value: guard}}, done, update)
	}
	done := c.element(s.id, bson.E{Key: c.version, Value: bson.D{{Key: "$gte", Value: s.version}}})
	guard := bson.D{c.older(s)}
	if c.key != "" {
		other := bson.D{{Key: c.key, Value: isNot(s.id)}}
		guard = bson.D{{Key: "$or", Value: bson.A{other, guard}}}
	}
	return put(guard, done, update)
}

// detach takes the copy of a source out of a document.
func (c *copying) detach(target, source bson.RawValue, err error) model.Write {
	if err != nil {
		return model.Refused(c.to.docs, err)
	}
	filter := bson.D{{Key: "_id", Value: model.Eq(target)}}
	w := model.Write{Collection: c.to.docs, Once: true, Index: model.IDIndex}
	if n := len(c.arrays); n > 0 {
		element := c.element(source)
		list := strings.TrimSuffix(c.path(""), ".$[e].")
		w.Model = &mongo.UpdateOneModel{
			Filter:       append(filter, within(c.arrays, element)...),
			Update:       c.counting(bson.D{{Key: "$pull", Value: bson.D{{Key: list, Value: element}}}}),
			ArrayFilters: c.arrayFilters(element, n-1),
		}
		return w
	}
	var unset bson.D
	var there bson.A
	for _, path := range c.places() {
		unset = append(unset, bson.E{Key: path, Value: ""})
		there = append(there, bson.D{{Key: path, Value: bson.D{{Key: "$exists", Value: true}}}})
	}
	filter = append(filter, c.element(source)...)
	if c.key == "" && c.spec.CountUp != "" { // not counted up when it is run again
		filter = append(filter, bson.E{Key: "$or", Value: there})
	}
	w.Model = &mongo.UpdateOneModel{Filter: filter, Update: c.counting(bson.D{{Key: "$unset", Value: unset}})}
	return w
}
