package copies

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/docmodel/docmodel/denorm/internal/stored"
	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// maxListed is how many ids one command holds at most.
const maxListed = 10_000

// element is the condition that something holds the key, and others.
func (c *Copying) element(id bson.RawValue, others ...bson.E) bson.D {
	if c.key == "" {
		return others
	}
	d := make(bson.D, 1, 1+len(others))
	d[0] = bson.E{Key: c.key, Value: mql.Eq(id)}
	return append(d, others...)
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
func (c *Copying) holding(id bson.RawValue, element bson.D) bson.D {
	d := within(c.arrays, element)
	if len(c.arrays) > 1 {
		d = append(bson.D{{Key: c.spec.KeyPath, Value: mql.Eq(id)}}, d...)
	}
	return d
}

// identifier names the elements of array i in updates.
func (c *Copying) identifier(i int) string {
	if i == len(c.arrays)-1 {
		return "e"
	}
	return fmt.Sprintf("o%d", i+1)
}

// path is where an update finds a path of a copy: items.$[e].name.
func (c *Copying) path(rel string) string {
	if len(c.arrays) == 0 {
		return rel
	}
	var b strings.Builder
	for i, a := range c.arrays {
		b.WriteString(a + ".$[" + c.identifier(i) + "].")
	}
	return b.String() + rel
}

// arrayFilters say which elements an update changes. An outer one must hold such an element: one without the inner array would
// fail the update.
func (c *Copying) arrayFilters(element bson.D, depth int) []any {
	var out []any
	for i := range c.arrays[:depth] {
		id := c.identifier(i) + "."
		if i < len(c.arrays)-1 {
			out = append(out, commands.Prefixed(id, within(c.arrays[i+1:], element)))
			continue
		}
		out = append(out, commands.Prefixed(id, element))
	}
	return out
}

// update sets a copy's fields to those of a source, and its version; of some fields only, if which is not nil. It sets first too, before
// them.
func (c *Copying) update(s source, which []bool, first ...bson.E) bson.Raw {
	buf, begun, missing := make([]byte, 4, 128), 0, false
	put := func(path string, v bson.RawValue) {
		if v.Type == 0 {
			missing = true
			return
		}
		if begun == 0 {
			buf, begun = core.AppendDocument(buf, bson.TypeEmbeddedDocument, "$set")
		}
		buf = core.AppendRaw(buf, path, v)
	}
	for _, e := range first {
		put(e.Key, e.Value.(bson.RawValue))
	}
	c.eachField(s, which, put)
	if begun > 0 {
		buf = core.EndDocument(buf, begun)
	}
	if missing {
		buf, begun = core.AppendDocument(buf, bson.TypeEmbeddedDocument, "$unset")
		c.eachField(s, which, func(path string, v bson.RawValue) {
			if v.Type == 0 {
				buf = core.AppendRaw(buf, path, emptyString)
			}
		})
		buf = core.EndDocument(buf, begun)
	}
	if c.spec.CountUp != "" {
		buf, begun = core.AppendDocument(buf, bson.TypeEmbeddedDocument, "$inc")
		buf = core.EndDocument(core.AppendRaw(buf, c.spec.CountUp, oneMore), begun)
	}
	return core.EndDocument(buf, 0)
}

var emptyString, oneMore = core.MustRawValue(""), core.MustRawValue(int64(1))

// eachField tells where an update finds the fields of a copy, the version last, and the source's values.
func (c *Copying) eachField(s source, which []bool, f func(path string, v bson.RawValue)) {
	for i := range c.fields {
		if which == nil || which[i] {
			f(c.paths[i], s.values[i])
		}
	}
	if c.version != "" {
		f(c.paths[len(c.fields)], s.version)
	}
}

// counting is an update of a document that counts up CopySpec.CountUp too.
func (c *Copying) counting(update bson.D) bson.D {
	if c.spec.CountUp == "" {
		return update
	}
	return append(update, bson.E{Key: "$inc", Value: bson.D{{Key: c.spec.CountUp, Value: int64(1)}}})
}

// older is the condition that a version is below a source's, or not there.
func (c *Copying) older(s source) bson.E {
	return bson.E{Key: c.version, Value: bson.D{{Key: "$not", Value: bson.D{{Key: "$gte", Value: s.version}}}}}
}

// differing is the condition that one of the fields isn't the source's.
func (c *Copying) differing(s source, which []bool) bson.E {
	var any bson.A
	for i, f := range c.fields {
		if which == nil || which[i] {
			any = append(any, bson.D{{Key: f.To, Value: stored.IsNot(s.values[i])}})
		}
	}
	if len(any) == 1 {
		return any[0].(bson.D)[0]
	}
	return bson.E{Key: "$or", Value: any}
}

// pending is the condition on a copy that a propagation changes.
func (c *Copying) pending(s source, which []bool) bson.D {
	if c.version != "" {
		return c.element(s.id, c.older(s))
	}
	return c.element(s.id, c.differing(s, which))
}

// touched is the condition on the elements that an update with array filters changes; nil for an update without array filters. It has
// no $or, which array filters don't need: an element that holds the values already may be set to them.
func (c *Copying) touched(s source) bson.D {
	switch {
	case len(c.arrays) == 0:
		return nil
	case c.version != "":
		return c.element(s.id, c.older(s))
	}
	return c.element(s.id)
}

// Propagate is the plan that brings the copies of a source, as the caller read it, up to date.
func (c *Copying) Propagate(doc any) model.Plan {
	s, err := c.read(doc)
	if err != nil {
		return model.RefusedPlan(c.docs.Name(), err)
	}
	return model.Plan{Steps: c.propagate(s, nil)}
}

// propagate are the steps that bring the copies of a source up to date, in some fields only, if which is not nil.
func (c *Copying) propagate(s source, which []bool) []model.Step {
	return c.updates(s, c.pending(s, which), c.touched(s), c.update(s, which))
}

// updates are the steps that update the copies of a source that a condition matches.
func (c *Copying) updates(s source, match, element bson.D, update bson.Raw) (steps []model.Step) {
	if s.id.Type == 0 {
		return nil
	}
	if c.spec.Listed != "" {
		return c.updateListed(s.listed, match, update)
	}
	return []model.Step{model.Write{
		Collection: c.to.Name(), Once: true, Index: c.index,
		Model: &mongo.UpdateManyModel{
			Filter: c.holding(s.id, match), Update: update, ArrayFilters: c.arrayFilters(element, len(c.arrays)),
		},
	}}
}

// Refresh is the change that reads a source and brings its copies up to date: all of them, or those in some documents.
func (c *Copying) Refresh(from any, docs []any) model.Change[bson.Raw] {
	id, err := c.docs.RawID("_id", from)
	var only []bson.RawValue
	for _, doc := range docs {
		target, errDoc := c.to.RawID("_id", doc)
		only, err = append(only, target), errors.Join(err, errDoc)
	}
	return model.Change[bson.Raw]{
		Name: "copy " + c.docs.Name() + " to " + c.to.Name(), Err: err,
		Read: func(ctx context.Context, db model.DB) (bson.Raw, error) {
			return commands.ReadOne(ctx, db, c.docs.Name(), commands.ByID(id), nil)
		},
		Decide: func(doc bson.Raw) (model.Plan, error) {
			s, err := c.state(doc)
			if err != nil {
				return model.Plan{}, err
			}
			if len(only) > 0 {
				return c.refresh(s, only), nil
			}
			return model.Plan{Steps: c.propagate(s, nil)}, nil
		},
	}
}

// refresh is the plan that brings up to date the copies of a source in some documents, of
// those that it lists, if it does.
func (c *Copying) refresh(s source, docs []bson.RawValue) (p model.Plan) {
	if c.spec.Listed != "" {
		docs = slices.DeleteFunc(slices.Clone(docs), func(id bson.RawValue) bool { return !stored.Contains(s.listed, id) })
	}
	if len(docs) > 0 && s.id.Type != 0 {
		p = model.NewPlan(c.among(s, docs))
	}
	return p
}
