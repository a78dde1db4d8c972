package denorm

import (
	"fmt"
	"strings"

	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Checks returns the checks of the copies. The first finds the copies that differ from their sources: copies with other
// values, and copies with a version beyond the source's, which no change would reach. Mending gives them the values and the
// version that the source had when it was read. A copy that only lags in its version is no finding: the changes in between
// touched no copied field.
//
// The second finds the copies of missing sources. Nothing mends them: they may be all that is left of the source. A Copy
// with Listed has no second check.
//
// Cost: see [model.Check]. The server looks up the source of each copy by _id. With Listed it looks it up by the index of
// that list ([Copy.Indexes]): without the index it reads all sources for each document. Mending writes one document each, by
// _id.
func (c *Copy[S, SK, TK]) Checks() []model.Check { return c.c.checks() }

func (c *copying) checks() []model.Check {
	var paths []string
	for _, f := range c.spec.Fields {
		paths = append(paths, f.To)
	}
	of := fmt.Sprintf("%s.%s: copies of ", c.to.docs, strings.Join(paths, ", "))
	differ := model.Check{
		Name: of + c.docs + " that differ", Collection: c.to.docs,
		Rule:     fmt.Sprintf("each copy has the values of its document of %s", c.docs),
		Pipeline: c.drift(), Tell: core.Tells[copyDrift](),
	}
	differ.Mend = core.Mends(differ.Name, c.to.docs, c.repair)
	if c.key == "" {
		return []model.Check{differ}
	}
	return []model.Check{differ, {
		Name: of + "missing " + c.docs, Collection: c.to.docs,
		Rule:     fmt.Sprintf("the document of %s exists for each copy", c.docs),
		Pipeline: c.gone(), Tell: core.Tells[goneCopy](),
	}}
}

// A copyDrift is a copy that differs from its source.
type copyDrift struct {
	Doc           bson.RawValue `bson:"doc"`   // the _id of the document that holds the copy
	Source        bson.RawValue `bson:"src"`   // the _id of the source
	Ahead         bool          `bson:"ahead"` // the copy's version is beyond the source's
	Found         bson.Raw      `bson:"found"` // the copied fields, nested as in the document, or in the array's element
	Want          bson.Raw      `bson:"want"`  // the same by the source
	Version       bson.RawValue `bson:"v"`     // the copy's; of type 0 if it has none
	SourceVersion bson.RawValue `bson:"wv"`    // the source's
}

func (d copyDrift) Tell(f *model.Finding) {
	f.ID, f.Problem = d.Doc, fmt.Sprintf("has %s of %s, which has %s", cut(model.Shell(d.Found)), model.Shell(d.Source), cut(model.Shell(d.Want)))
	if d.Ahead {
		f.Problem += fmt.Sprintf(", in version %s, and the source is in version %s", model.Shell(d.Version), model.Shell(d.SourceVersion))
	}
}

// A goneCopy is a copy whose source is missing.
type goneCopy struct {
	Doc    bson.RawValue `bson:"doc"`
	Source bson.RawValue `bson:"src"`
	Found  bson.Raw      `bson:"found"`
}

func (d goneCopy) Tell(f *model.Finding) {
	f.ID, f.Problem = d.Doc, fmt.Sprintf("has %s of %s, which doesn't exist", cut(model.Shell(d.Found)), model.Shell(d.Source))
}

// pairs are the stages that give a row for each copy whose source exists: doc is the _id of the document, c the element or,
// outside arrays, the document, and src the source.
func (c *copying) pairs() mongo.Pipeline {
	if c.key == "" {
		return append(c.copies(), mql.Lookup(c.docs, "doc", c.spec.Listed, "src"), bson.D{{Key: "$unwind", Value: "$src"}})
	}
	return append(c.copies(), mql.Lookup(c.docs, "c."+c.key, "_id", "src"), bson.D{{Key: "$unwind", Value: "$src"}})
}

// copies are the stages that give a row for each copy, without its source.
func (c *copying) copies() mongo.Pipeline {
	at := "$$ROOT"
	if len(c.arrays) > 0 {
		at = "$" + c.arrays[0]
	}
	p := mongo.Pipeline{{{Key: "$project", Value: bson.D{{Key: "_id", Value: 0}, {Key: "doc", Value: "$_id"}, {Key: "c", Value: at}}}}}
	p = append(p, c.unwind("c")...)
	if c.key != "" {
		p = append(p, bson.D{{Key: "$match", Value: bson.D{{Key: "c." + c.key, Value: bson.D{{Key: "$ne", Value: nil}}}}}})
	}
	return p
}

// unwind are the stages that leave in a field, which holds the first array, each element of the last.
func (c *copying) unwind(field string) (p mongo.Pipeline) {
	for i := range c.arrays {
		if i > 0 {
			p = append(p, bson.D{{Key: "$set", Value: bson.D{{Key: field, Value: "$" + field + "." + c.arrays[i]}}}})
		}
		p = append(p, bson.D{{Key: "$unwind", Value: "$" + field}})
	}
	return p
}

// fieldsAt is the expression of the copied fields, nested as in a copy; where says where each is.
func (c *copying) fieldsAt(where func(Field) string) bson.D {
	paths, from := make([]string, len(c.fields)), map[string]string{}
	for i, f := range c.fields {
		paths[i], from[f.To] = f.To, where(f)
	}
	return shapeOf(paths).build(func(path string) (any, bool) { return from[path], true })
}

func (c *copying) drift() mongo.Pipeline {
	row := bson.D{
		{Key: "doc", Value: 1}, {Key: "src", Value: "$src._id"},
		{Key: "found", Value: c.fieldsAt(func(f Field) string { return "$c." + f.To })},
		{Key: "want", Value: c.fieldsAt(func(f Field) string { return "$src." + f.From })},
	}
	if c.key != "" {
		row[1].Value = "$c." + c.key
	}
	wrong, ahead := mql.Op("$ne", "$found", "$want"), any(false)
	if c.version != "" {
		none := any(nil)
		if c.counts && !c.times {
			none = int64(0)
		}
		row = append(row, bson.E{Key: "v", Value: "$c." + c.version}, bson.E{Key: "wv", Value: mql.Op("$ifNull", "$src."+c.spec.Version, none)})
		wrong, ahead = mql.Op("$or", "$ahead", wrong), mql.Op("$gt", "$v", "$wv")
	}
	return append(c.pairs(),
		bson.D{{Key: "$project", Value: row}},
		bson.D{{Key: "$set", Value: bson.D{{Key: "ahead", Value: ahead}}}},
		bson.D{{Key: "$match", Value: bson.D{{Key: "$expr", Value: wrong}}}},
		bson.D{{Key: "$sort", Value: bson.D{{Key: "doc", Value: 1}, {Key: "src", Value: 1}}}},
	)
}

// gone are the stages that give a row for each copy whose source is missing.
func (c *copying) gone() mongo.Pipeline {
	return append(c.copies(),
		mql.Lookup(c.docs, "c."+c.key, "_id", "src"),
		bson.D{{Key: "$match", Value: bson.D{{Key: "src", Value: bson.D{{Key: "$size", Value: 0}}}}}},
		bson.D{{Key: "$project", Value: bson.D{
			{Key: "doc", Value: 1}, {Key: "src", Value: "$c." + c.key}, {Key: "found", Value: c.fieldsAt(func(f Field) string { return "$c." + f.To })},
		}}},
		bson.D{{Key: "$sort", Value: bson.D{{Key: "doc", Value: 1}, {Key: "src", Value: 1}}}},
	)
}

// repair is the plan that mends drifts. It sets the copied fields and nothing else: elements that were pushed since, and
// other fields, stay.
func (c *copying) repair(found []copyDrift) model.Plan {
	var p model.Plan
	for i, d := range found {
		if !isKey(d.Doc) || !isKey(d.Source) {
			return model.RefusedPlan(c.to.docs, c.to.refused(fmt.Sprintf("found[%d]", i), nil, "has no document or no source: pass what the check returned"))
		}
		w, err := c.mend(d)
		if err != nil {
			return model.RefusedPlan(c.to.docs, err)
		}
		p.Steps = append(p.Steps, w)
	}
	if len(p.Steps) > 1 {
		p.Leaves = "some copies mended, others not yet"
	}
	return p
}

// mend sets one copy, if it is as it was found.
func (c *copying) mend(d copyDrift) (w model.Write, err error) {
	s := copyState{id: clone(d.Source)}
	as := bson.D{}
	for _, f := range c.fields {
		found, err := c.to.at(d.Found, f.To)
		if err != nil {
			return w, err
		}
		want, err := c.to.at(d.Want, f.To)
		if err != nil {
			return w, err
		}
		as = append(as, holdsAt(f.To, clone(found)))
		s.values = append(s.values, clone(want))
	}
	if c.version != "" {
		as = append(as, holdsAt(c.version, clone(d.Version)))
		if s.version = clone(d.SourceVersion); s.version.Type == bson.TypeNull {
			s.version = bson.RawValue{}
		}
	}
	element := c.element(s.id, as...)
	return model.Write{
		Collection: c.to.docs, Once: true, Index: model.IDIndex,
		Model: &mongo.UpdateOneModel{
			Filter: append(bson.D{{Key: "_id", Value: model.Eq(clone(d.Doc))}}, within(c.arrays, element)...),
			Update: c.update(s, nil, c.path), ArrayFilters: c.arrayFilters(element, len(c.arrays)),
		},
	}, nil
}
