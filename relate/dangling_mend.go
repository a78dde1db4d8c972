package relate

import (
	"time"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// maxIDs is how many ids one command holds at most.
const maxIDs = 10_000

// A danglingRef is a reference that leads nowhere.
type danglingRef struct {
	Doc  bson.RawValue `bson:"doc"`  // the _id of the document that holds it
	Path string        `bson:"path"` // where
	ID   bson.RawValue `bson:"id"`   // the missing id as it is stored, of whatever type
}

// Tell says where the reference is, and what it holds.
func (r danglingRef) Tell(f *model.Finding) {
	f.ID, f.Problem = r.Doc, r.Path+" → "+model.Shell(r.ID)+", which doesn't exist"
}

// checks is the check of the references, which mends by the declared policy.
//
//go:noinline
func (d *dangling) checks() []model.Check {
	from := d.docs + "." + d.ref.path
	c := model.Check{
		Name: from + ": ids that " + d.targets + " lacks", Collection: d.docs, Age: time.Minute,
		Rule:     "each id of " + from + " is the _id of a document of " + d.targets,
		Pipeline: d.find(), Tell: core.Tells[danglingRef](),
	}
	if d.repair != ReportOnly {
		c.Mend = core.Mends(c.Name, d.docs, d.mend)
	}
	return []model.Check{c}
}

// mend is the plan that mends references. Each document is written once, or once for each 4 MiB of ids.
func (d *dangling) mend(found []danglingRef) model.Plan {
	var docs []bson.RawValue
	ids := map[string][]bson.RawValue{}
	for _, r := range found {
		if r.Doc.Type == 0 {
			return model.RefusedPlan(d.docs, &model.ValueError{Collection: d.docs, Field: "_id", Reason: "the id is empty"})
		}
		if !canBeID(r.ID) {
			e := &model.ValueError{Collection: d.docs, Field: d.ref.path, Reason: "no _id can be this: mend it by hand, in document " + model.Shell(r.Doc)}
			if r.ID.Type != 0 {
				e.Value = clone(r.ID)
			}
			return model.RefusedPlan(d.docs, e)
		}
		key := bsonval.Key(r.Doc)
		if len(ids[key]) == 0 {
			docs = append(docs, r.Doc)
		}
		ids[key] = append(ids[key], r.ID)
	}
	var p model.Plan
	for _, doc := range docs {
		for _, chunk := range chunked(ids[bsonval.Key(doc)], maxIDs) {
			p.Steps = append(p.Steps, d.mendOne(clone(doc), chunk))
		}
	}
	if len(p.Steps) > 1 {
		p.Leaves = "references of some documents mended, of others not yet"
	}
	return p
}

// mendOne is the write to one document, if it still holds one of some ids.
func (d *dangling) mendOne(id bson.RawValue, ids bson.A) model.Write {
	filter := append(bson.D{{Key: "_id", Value: model.Eq(id)}}, d.ref.refers(ids)...)
	w := model.Write{Collection: d.docs, Index: model.IDIndex, Once: true}
	switch d.repair {
	case DeleteReferrers:
		w.Model = &mongo.DeleteOneModel{Filter: filter}
	case ReplaceIDs:
		update, arrayFilters := d.ref.replace(ids, d.by)
		w.Model = &mongo.UpdateOneModel{Filter: filter, Update: update, ArrayFilters: arrayFilters}
	default:
		w.Model = &mongo.UpdateOneModel{Filter: filter, Update: d.ref.detach(ids)}
	}
	return w
}
