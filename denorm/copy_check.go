package denorm

import (
	"fmt"

	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A CopyFault is what is wrong with a copy.
type CopyFault string

const (
	CopyStale CopyFault = "stale" // it has other values than the source
	CopyAhead CopyFault = "ahead" // its version is beyond the source's, so that no change would reach it
	CopyGone  CopyFault = "gone"  // the source is gone
)

// A CopyDrift is a copy that differs from its source, as [Copy.Check] found it.
type CopyDrift struct {
	Fault         CopyFault     `bson:"fault"`
	Doc           bson.RawValue `bson:"doc"`   // the _id of the document that holds the copy
	Source        bson.RawValue `bson:"src"`   // the _id of the source
	Found         bson.Raw      `bson:"found"` // the copied fields, nested as in the document, or in the array's element
	Want          bson.Raw      `bson:"want"`  // the same by the source
	Version       bson.RawValue `bson:"v"`     // the copy's; of type 0 if it has none
	SourceVersion bson.RawValue `bson:"wv"`    // the source's
}

// String is the drift for a reader: "stale: 'x1' has {name: 'bolt'} of 'p1', which has {name: 'nut'}".
func (d CopyDrift) String() string {
	s := fmt.Sprintf("%s: %s has %s of %s", d.Fault, model.Shell(d.Doc), cut(model.Shell(d.Found)), model.Shell(d.Source))
	switch d.Fault {
	case CopyStale:
		s += ", which has " + cut(model.Shell(d.Want))
	case CopyAhead:
		s += fmt.Sprintf(" in version %s, which has %s", model.Shell(d.Version), model.Shell(d.SourceVersion))
	}
	return s
}

// filter copies the caller's filter.
func (c *copying) filter(filter bson.D) (bson.D, error) {
	if len(filter) == 0 {
		return nil, nil
	}
	copied, err := c.to.encode(filter)
	if err != nil {
		return nil, c.to.refused("filter", nil, err.Error())
	}
	return copied.(bson.D), nil
}

// pairs are the stages that give a row for each copy: doc is the _id of the document, c the element or, outside arrays, the
// document, and src the source, missing if it is gone.
func (c *copying) pairs(filter bson.D) mongo.Pipeline {
	var p mongo.Pipeline
	if len(filter) > 0 {
		p = append(p, bson.D{{Key: "$match", Value: filter}})
	}
	p = append(p, c.copies()...)
	if c.key == "" {
		return append(p, lookup(c.docs, "doc", c.spec.Listed, "src"), bson.D{{Key: "$unwind", Value: "$src"}})
	}
	return append(p, lookup(c.docs, "c."+c.key, "_id", "src"),
		bson.D{{Key: "$unwind", Value: bson.D{{Key: "path", Value: "$src"}, {Key: "preserveNullAndEmptyArrays", Value: true}}}})
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

func (c *copying) drift(filter bson.D) mongo.Pipeline {
	source := "$src._id"
	row := bson.D{
		{Key: "doc", Value: 1}, {Key: "src", Value: source},
		{Key: "found", Value: c.fieldsAt(func(f Field) string { return "$c." + f.To })},
		{Key: "want", Value: c.fieldsAt(func(f Field) string { return "$src." + f.From })},
		{Key: "gone", Value: op("$eq", op("$type", "$src._id"), "missing")},
	}
	if c.key != "" {
		row[1].Value = "$c." + c.key
	}
	fault := op("$cond", op("$ne", "$found", "$want"), string(CopyStale), nil)
	if c.version != "" {
		none := any(nil)
		if c.counts && !c.times {
			none = int64(0)
		}
		row = append(row, bson.E{Key: "v", Value: "$c." + c.version}, bson.E{Key: "wv", Value: op("$ifNull", "$src."+c.spec.Version, none)})
		fault = op("$cond", op("$gt", "$v", "$wv"), string(CopyAhead), fault)
	}
	fault = op("$cond", "$gone", string(CopyGone), fault)
	return append(c.pairs(filter),
		bson.D{{Key: "$project", Value: row}},
		bson.D{{Key: "$set", Value: bson.D{{Key: "fault", Value: fault}}}},
		bson.D{{Key: "$match", Value: bson.D{{Key: "fault", Value: bson.D{{Key: "$ne", Value: nil}}}}}},
		bson.D{{Key: "$sort", Value: bson.D{{Key: "doc", Value: 1}, {Key: "src", Value: 1}}}},
		bson.D{{Key: "$unset", Value: "gone"}},
	)
}

// repair is the plan that mends drifts.
func (c *copying) repair(found []CopyDrift) model.Plan {
	var p model.Plan
	for i, d := range found {
		refuse := func(reason string) model.Plan {
			return model.RefusedPlan(c.to.docs, c.to.refused(fmt.Sprintf("found[%d]", i), nil, reason))
		}
		switch {
		case !isKey(d.Doc) || !isKey(d.Source):
			return refuse("has no document or no source: pass what Check returned")
		case d.Fault == CopyGone:
			continue
		case d.Fault != CopyStale && d.Fault != CopyAhead:
			return refuse(fmt.Sprintf("%q is none of the faults", string(d.Fault)))
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
func (c *copying) mend(d CopyDrift) (w model.Write, err error) {
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
