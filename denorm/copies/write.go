package copies

// This file has the conditions and updates of copies, and the plans that update the
// copies of one source.

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

// maxListed is the greatest number of _ids in one command.
const maxListed = 10_000

// matchElement matches the part of a document that has the source's _id, and other
// conditions. With Listed, the _id isn't stored in the copy: only the other conditions
// remain.
func (c *untypedCopy) matchElement(id bson.RawValue, others ...bson.E) bson.D {
	if c.key == "" {
		return others
	}
	d := make(bson.D, 1, 1+len(others))
	d[0] = bson.E{Key: c.key, Value: mql.Eq(id)}
	return append(d, others...)
}

// matchInArrays turns a condition on an array's element into a condition on the document,
// by $elemMatch for each array. So all parts of the condition must hold for the same
// element.
func matchInArrays(arrays []string, element bson.D) bson.D {
	if len(arrays) == 0 {
		return element
	}
	return bson.D{{Key: arrays[0], Value: bson.D{{Key: "$elemMatch", Value: matchInArrays(arrays[1:], element)}}}}
}

// matchHolder matches documents with such a copy. For arrays within arrays it repeats the
// key by its path, because DocumentDB uses no index for a nested $elemMatch.
func (c *untypedCopy) matchHolder(id bson.RawValue, element bson.D) bson.D {
	d := matchInArrays(c.arrays, element)
	if len(c.arrays) > 1 {
		d = append(bson.D{{Key: c.spec.KeyPath, Value: mql.Eq(id)}}, d...)
	}
	return d
}

// nameArrayFilter returns the identifier of the elements of array i in updates: e for the
// innermost array.
func (c *untypedCopy) nameArrayFilter(i int) string {
	if i == len(c.arrays)-1 {
		return "e"
	}
	return fmt.Sprintf("o%d", i+1)
}

// updatePath returns the path of a copy's field in an update: items.$[e].name. See
// https://www.mongodb.com/docs/manual/reference/operator/update/positional-filtered/.
func (c *untypedCopy) updatePath(rel string) string {
	if len(c.arrays) == 0 {
		return rel
	}
	var b strings.Builder
	for i, a := range c.arrays {
		b.WriteString(a + ".$[" + c.nameArrayFilter(i) + "].")
	}
	return b.String() + rel
}

// makeArrayFilters selects the elements that an update changes. An element of an outer
// array must contain a selected inner element: an element without the inner array would
// make the update fail.
func (c *untypedCopy) makeArrayFilters(element bson.D) []any {
	var out []any
	for i := range c.arrays {
		id := c.nameArrayFilter(i) + "."
		if i < len(c.arrays)-1 {
			out = append(out, commands.PrefixPaths(id, matchInArrays(c.arrays[i+1:], element)))
			continue
		}
		out = append(out, commands.PrefixPaths(id, element))
	}
	return out
}

// encodeUpdate sets a copy's fields and version to those of a source. It unsets fields
// that the source doesn't have. It writes BSON directly instead of building a bson.D
// first.
func (c *untypedCopy) encodeUpdate(s source) bson.Raw {
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
	c.visitFields(s, put)
	if begun > 0 {
		buf = core.EndDocument(buf, begun)
	}
	if missing {
		buf, begun = core.AppendDocument(buf, bson.TypeEmbeddedDocument, "$unset")
		c.visitFields(s, func(path string, v bson.RawValue) {
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

// visitFields calls f with the update path and the source's value of each copied field,
// and last of the version.
func (c *untypedCopy) visitFields(s source, f func(path string, v bson.RawValue)) {
	for i := range c.fields {
		f(c.paths[i], s.values[i])
	}
	if c.version != "" {
		f(c.paths[len(c.fields)], s.version)
	}
}

// addCountUp adds an increment of Spec.CountUp to an update of a document.
func (c *untypedCopy) addCountUp(update bson.D) bson.D {
	if c.spec.CountUp == "" {
		return update
	}
	return append(update, bson.E{Key: "$inc", Value: bson.D{{Key: c.spec.CountUp, Value: int64(1)}}})
}

// matchOlder matches a version below the source's, or a missing version. $not with $gte,
// unlike $lt, also matches a missing field.
func (c *untypedCopy) matchOlder(s source) bson.E {
	return bson.E{Key: c.version, Value: bson.D{{Key: "$not", Value: bson.D{{Key: "$gte", Value: s.version}}}}}
}

// matchDifferent matches copies in which at least one field differs from the source.
func (c *untypedCopy) matchDifferent(s source) bson.E {
	var any bson.A
	for i, f := range c.fields {
		any = append(any, bson.D{{Key: f.To, Value: stored.MatchOther(s.values[i])}})
	}
	if len(any) == 1 {
		return any[0].(bson.D)[0]
	}
	return bson.E{Key: "$or", Value: any}
}

// matchPending matches the copies that a propagation changes: older copies, or without
// versions, different copies.
func (c *untypedCopy) matchPending(s source) bson.D {
	if c.version != "" {
		return c.matchElement(s.id, c.matchOlder(s))
	}
	return c.matchElement(s.id, c.matchDifferent(s))
}

// matchTouchedElement matches the array elements that an update changes. It is nil if
// copies aren't in arrays. It has no $or: an element that has the values already may be
// set to them again.
func (c *untypedCopy) matchTouchedElement(s source) bson.D {
	switch {
	case len(c.arrays) == 0:
		return nil
	case c.version != "":
		return c.matchElement(s.id, c.matchOlder(s))
	}
	return c.matchElement(s.id)
}

// propagateDocument returns the plan that updates the copies of a source, as the caller
// read it.
func (c *untypedCopy) propagateDocument(doc any) model.Plan {
	s, err := c.readSource(doc)
	if err != nil {
		return model.NewPlan(model.Refused(c.docs.Name(), err))
	}
	return model.Plan{Steps: c.propagateSource(s)}
}

// propagateSource are the steps that bring the copies of a source up to date, in some
// fields only, if which is not nil.
func (c *untypedCopy) propagateSource(s source) []model.Step {
	return c.planUpdates(s, c.matchPending(s), c.matchTouchedElement(s), c.encodeUpdate(s))
}

// planUpdates returns the steps that update those copies of a source that match. element
// selects array elements.
func (c *untypedCopy) planUpdates(s source, match, element bson.D, update bson.Raw) (steps []model.Step) {
	if s.id.Type == 0 {
		return nil
	}
	if c.spec.Listed != "" {
		return c.updateListed(s.listed, match, update)
	}
	return []model.Step{model.Write{
		Collection: c.to.Name(), Idempotent: true, Index: c.index,
		Model: &mongo.UpdateManyModel{
			Filter: c.matchHolder(s.id, match), Update: update, ArrayFilters: c.makeArrayFilters(element),
		},
	}}
}

// refreshCopies returns the change that reads a source and updates its copies: all of
// them, or those in the documents with the given _ids.
func (c *untypedCopy) refreshCopies(from any, docs []any) model.ChangeOf[bson.Raw] {
	id, err := c.docs.RawID("_id", from)
	var only []bson.RawValue
	for _, doc := range docs {
		target, errDoc := c.to.RawID("_id", doc)
		only, err = append(only, target), errors.Join(err, errDoc)
	}
	return model.ChangeOf[bson.Raw]{
		Name: "copy " + c.docs.Name() + " to " + c.to.Name(), Err: err,
		Read: func(ctx context.Context, db model.DB) (bson.Raw, error) {
			return commands.ReadOne(ctx, db, c.docs.Name(), commands.MatchID(id), nil)
		},
		Decide: func(doc bson.Raw) (model.Plan, error) {
			s, err := c.decodeSource(doc)
			if err != nil {
				return model.Plan{}, err
			}
			if len(only) > 0 {
				return c.refreshDocuments(s, only), nil
			}
			return model.Plan{Steps: c.propagateSource(s)}, nil
		},
	}
}

// refreshDocuments updates the copies in some documents. With Listed, documents that the
// source doesn't list are left out: they may have the copy of another source.
func (c *untypedCopy) refreshDocuments(s source, docs []bson.RawValue) (p model.Plan) {
	if c.spec.Listed != "" {
		docs = slices.DeleteFunc(slices.Clone(docs), func(id bson.RawValue) bool {
			return !stored.Contains(s.listed, id)
		})
	}
	if len(docs) > 0 && s.id.Type != 0 {
		p = model.NewPlan(c.updateAmong(s, docs))
	}
	return p
}
