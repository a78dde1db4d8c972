// Package dangling finds and mends references that lead nowhere: what is behind relate.Dangling.
package dangling

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/found"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/relate/internal/idref"
	"github.com/docmodel/docmodel/relate/internal/stmt"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Dangling is a reference whose ids may lead nowhere.
type Dangling struct {
	Docs    *core.Docs
	Ref     idref.Ref
	Mends   bool   // by taking ids away, or
	Deletes bool   // by deleting the documents that hold them, or
	by      any    // by putting this id in the place of a missing one
	None    bson.A // values that stand for no reference
}

// Declare panics unless references can be mended as asked for. id is the type of the targets' ids.
func (d *Dangling) Declare(targets *core.Docs, list string, by any, id reflect.Type) {
	place := core.Place("NewDangling of " + d.Docs.Name() + "." + d.Ref.Path)
	if problem, remedy := d.Ref.Check(); d.Ref.Deep {
		place.Fail(problem, remedy)
	}
	switch {
	case list == "":
	case !d.Ref.Open:
		place.Fail("List is given, but the type already tells which part is the list", "leave List empty")
	case list != d.Ref.Path && !strings.HasPrefix(d.Ref.Path, list+"."):
		place.Fail(fmt.Sprintf("List %q isn't on the path", list), "name the path itself, or one above it")
	default:
		d.Ref.List, d.Ref.Open = list, false
		d.Ref.Key = strings.TrimPrefix(strings.TrimPrefix(d.Ref.Path, list), ".")
	}
	switch {
	case by == nil:
		return
	case d.Mends:
		place.Fail("ReplaceBy and Repair are both given", "leave one of them empty")
	case !reflect.TypeOf(by).AssignableTo(id):
		place.Fail(fmt.Sprintf("ReplaceBy is of type %T, not %s", by, id), "give an id of "+targets.Name())
	}
	var err error
	if d.by, err = idref.NewHeld(d.Docs, "ReplaceBy", targets).Encode(by); err != nil {
		place.Fail(err.Error(), "give a value that can be an _id")
	}
}

// find is the pipeline of the references that lead nowhere.
func (d *Dangling) find() mongo.Pipeline {
	known := mql.Op("$concatArrays", "$known._id", mql.Literal(d.None))
	return mongo.Pipeline{
		{{Key: "$sort", Value: stmt.Ascending("")}},
		mql.Project(mql.E("ids", stmt.IDList("$"+d.Ref.Path))),
		d.lookup("ids"),
		mql.Project(mql.E("_id", 0), mql.E("doc", "$_id"), mql.E("path", mql.Literal(d.Ref.Path)), mql.E("id", stmt.Distinct(stmt.Except("$ids", known)))),
		mql.Unwind("$id"),
	}
}

// Missing is the pipeline of the ids that lead nowhere.
func (d *Dangling) Missing(filter bson.D) mongo.Pipeline {
	return stmt.Matching(filter,
		mql.Project(mql.E("_id", 0), mql.E("ids", mql.Op("$setUnion", bson.A{stmt.IDList("$" + d.Ref.Path)}))),
		mql.Unwind("$ids"),
		mql.Match(mql.E("ids", mql.Op("$nin", d.None))),
		mql.Group("$ids", mql.E("n", mql.Op("$sum", int64(1)))),
		d.lookup("_id"),
		mql.Match(mql.E("known", mql.Op("$size", 0))),
		mql.Project(mql.E("n", 1)),
		bson.D{{Key: "$sort", Value: bson.D{{Key: "n", Value: -1}, {Key: "_id", Value: 1}}}},
	)
}

// lookup adds the targets that exist, their ids only.
func (d *Dangling) lookup(local string) bson.D {
	return mql.Lookup(d.Ref.To, local, "_id", "known", mql.E("_id", 1))
}

// row is a reference that leads nowhere.
type row idref.Stored

// Tell says where the reference is, and what it holds.
func (r row) tell(f *model.Finding) {
	f.ID, f.Problem = r.Doc, r.Path+" → "+model.Shell(r.ID)+", which doesn't exist"
}

// Checks is the check of the references, which mends by the declared scope.
func (d *Dangling) Checks() []model.Check {
	from := d.Docs.Name() + "." + d.Ref.Path
	c := model.Check{
		Name: from + ": ids without a document in " + d.Ref.To, Collection: d.Docs.Name(), Age: time.Minute,
		Rule:     "each id of " + from + " is the _id of a document of " + d.Ref.To,
		Pipeline: d.find(), Tell: found.Tells(row.tell),
	}
	if d.Mends || d.by != nil {
		c.Mend = found.Mends(c.Name, d.Docs.Name(), d.mend)
	}
	return []model.Check{c}
}

// mend is the plan that mends references. Each document is written once, or once for each 4 MiB of ids.
func (d *Dangling) mend(found []row) model.Plan {
	var docs []bson.RawValue
	ids := map[string][]bson.RawValue{}
	for _, r := range found {
		if r.Doc.Type == 0 {
			return model.RefusedPlan(d.Docs.Name(), d.Docs.Refuse("_id", nil, "the id is empty"))
		}
		if !idref.CanBeID(r.ID) {
			return model.RefusedPlan(d.Docs.Name(), d.Docs.Refuse(d.Ref.Path, bsonval.Clone(r.ID), "can't be an _id: correct it by hand in document "+model.Shell(r.Doc)))
		}
		key := bsonval.Key(r.Doc)
		if len(ids[key]) == 0 {
			docs = append(docs, r.Doc)
		}
		ids[key] = append(ids[key], r.ID)
	}
	var p model.Plan
	for _, doc := range docs {
		for _, chunk := range idref.Chunked(ids[bsonval.Key(doc)], idref.MaxIDs) {
			p.Steps = append(p.Steps, d.mendOne(bsonval.Clone(doc), chunk))
		}
	}
	if len(p.Steps) > 1 {
		p.Leaves = "some references repaired; the next check finds the others"
	}
	return p
}

// mendOne is the write to one document, if it still holds one of some ids.
func (d *Dangling) mendOne(id bson.RawValue, ids bson.A) model.Write {
	filter := append(commands.ByID(id), d.Ref.Refers(ids)...)
	w := model.Write{Collection: d.Docs.Name(), Index: model.IDIndex, Once: true}
	switch {
	case d.by != nil:
		update, arrayFilters := d.Ref.Replace(ids, d.by)
		w.Model = &mongo.UpdateOneModel{Filter: filter, Update: update, ArrayFilters: arrayFilters}
	case d.Deletes:
		w.Model = &mongo.DeleteOneModel{Filter: filter}
	default:
		w.Model = &mongo.UpdateOneModel{Filter: filter, Update: d.Ref.Detach(ids)}
	}
	return w
}

func (d *Dangling) Relations() []model.Relation { return []model.Relation{d.Ref.Relation("weak link")} }

// Footprints are the paths that are used.
func (d *Dangling) Footprints() []model.Footprint {
	name := d.Docs.Name()
	switch {
	case d.Deletes:
		return slices.Concat(model.Reads.In(name, d.Ref.Path), model.Mends.In(name, model.Whole))
	case d.Mends, d.by != nil:
		return model.Mends.In(name, d.Ref.Stored())
	}
	return model.Reads.In(name, d.Ref.Path)
}
