// Inside package dangling: it finds
// references whose document doesn't exist, and repairs them if the declaration says how.
//
// # Stored form
//
// Nothing of its own. It reads a reference in any form that package idref knows:
//
//	crates  {_id: 1, main: "x", tags: ["x", "y"], lines: [{tag: "x"}]}
//	tags    {_id: "y"}                           // x doesn't exist
//
// # Protocol
//
//  1. The check's pipeline looks up the ids of each document, and returns a row for each id
//     without a document.
//  2. Findings must be a minute old before they are repaired: a document may be inserted after
//     the documents that refer to it.
//  3. The repair writes each document once (once for each 4 MiB of ids): it removes the ids,
//     replaces them by another id, or deletes the document. The filter says that the document
//     still has one of the ids.
//
// # What a crash leaves
//
// Some references aren't repaired. The next check finds them. An id whose document was
// inserted after the check is removed all the same. The age of a finding makes this
// unlikely.

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

// An untypedDangling is the Dangling without its Go types.
type untypedDangling struct {
	Docs *core.Docs
	Ref  idref.Ref
	// How a repair is made: Mends removes the ids, Deletes the documents that have them,
	// and by, if it isn't nil, replaces them.
	Mends   bool
	Deletes bool
	by      any
	// Values that mean no reference.
	None bson.A
}

// completeDeclaration panics unless references can be repaired as declared. list says
// which part of the path is the list, if the Go type doesn't. id is the type of the
// targets' ids.
func (d *untypedDangling) completeDeclaration(targets *core.Docs, list string, by any, id reflect.Type) {
	place := core.Place("dangling.New of " + d.Docs.Name() + "." + d.Ref.Path)
	if problem, remedy := d.Ref.CheckRef(); d.Ref.Deep {
		place.Fail(problem, remedy)
	}
	switch {
	case list == "":
	case !d.Ref.MayBeList:
		place.Fail("List is given, but the type already tells which part is the list", "leave List empty")
	case list != d.Ref.Path && !strings.HasPrefix(d.Ref.Path, list+"."):
		place.Fail(fmt.Sprintf("List %q isn't on the path", list), "name the path itself, or one above it")
	default:
		d.Ref.List, d.Ref.MayBeList = list, false
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

// findDangling is the pipeline of the references without a document. It is sorted by _id,
// so that a job can go on after a document.
func (d *untypedDangling) findDangling() mongo.Pipeline {
	known := mql.Op("$concatArrays", "$known._id", mql.Literal(d.None))
	return mongo.Pipeline{
		{{Key: "$sort", Value: stmt.SortAscending("")}},
		mql.Project(mql.E("ids", stmt.ListIDs("$"+d.Ref.Path))),
		d.lookupTargets("ids"),
		mql.Project(
			mql.E("_id", 0), mql.E("doc", "$_id"), mql.E("path", mql.Literal(d.Ref.Path)),
			mql.E("id", stmt.RemoveDuplicates(stmt.ExcludeIDs("$ids", known))),
		),
		mql.Unwind("$id"),
	}
}

// findMissing is the pipeline of the missing ids, with the number of documents that refer
// to each. It groups before it looks up: each id is looked up once.
func (d *untypedDangling) findMissing(filter bson.D) mongo.Pipeline {
	return stmt.BeginWithMatch(filter,
		mql.Project(mql.E("_id", 0), mql.E("ids", mql.Op("$setUnion", bson.A{stmt.ListIDs("$" + d.Ref.Path)}))),
		mql.Unwind("$ids"),
		mql.Match(mql.E("ids", mql.Op("$nin", d.None))),
		mql.Group("$ids", mql.E("n", mql.Op("$sum", int64(1)))),
		d.lookupTargets("_id"),
		mql.Match(mql.E("known", mql.Op("$size", 0))),
		mql.Project(mql.E("n", 1)),
		bson.D{{Key: "$sort", Value: bson.D{{Key: "n", Value: -1}, {Key: "_id", Value: 1}}}},
	)
}

// lookupTargets joins the targets that exist, with their ids only.
func (d *untypedDangling) lookupTargets(local string) bson.D {
	return mql.Lookup(d.Ref.To, local, "_id", "known", mql.E("_id", 1))
}

// A row is a reference without a document.
type row idref.Stored

// describeFinding says where the reference is, and what it stores.
func (r row) describeFinding(f *model.Finding) {
	f.ID, f.Problem = r.Doc, r.Path+" → "+model.Shell(r.ID)+", which doesn't exist"
}

// listChecks returns the one check of the references.
func (d *untypedDangling) listChecks() []model.Check {
	from := d.Docs.Name() + "." + d.Ref.Path
	c := model.Check{
		Name: from + ": ids without a document in " + d.Ref.To, Collection: d.Docs.Name(), Age: time.Minute,
		Rule:     "each id of " + from + " is the _id of a document of " + d.Ref.To,
		Pipeline: d.findDangling(), Tell: found.DescribeRows(row.describeFinding),
	}
	if d.Mends || d.by != nil {
		c.Mend = found.MendRows(c.Name, d.Docs.Name(), d.planMend)
	}
	return []model.Check{c}
}

// planMend is the plan that repairs references.
func (d *untypedDangling) planMend(found []row) model.Plan {
	var docs []bson.RawValue
	ids := map[string][]bson.RawValue{}
	for _, r := range found {
		if r.Doc.Type == 0 {
			return model.NewPlan(model.Refused(d.Docs.Name(), d.Docs.Refuse("_id", nil, "the id is empty")))
		}
		if !idref.CanBeID(r.ID) {
			return model.NewPlan(model.Refused(
				d.Docs.Name(),
				d.Docs.Refuse(
					d.Ref.Path, bsonval.Clone(r.ID),
					"can't be an _id: correct it by hand in document "+model.Shell(r.Doc),
				),
			))
		}
		key := bsonval.Key(r.Doc)
		if len(ids[key]) == 0 {
			docs = append(docs, r.Doc)
		}
		ids[key] = append(ids[key], r.ID)
	}
	var p model.Plan
	for _, doc := range docs {
		for _, chunk := range idref.CutChunks(ids[bsonval.Key(doc)], idref.MaxIDs) {
			p.Steps = append(p.Steps, d.mendDocument(bsonval.Clone(doc), chunk))
		}
	}
	if len(p.Steps) > 1 {
		p.Leaves = "some references repaired; the next check finds the others"
	}
	return p
}

// mendDocument is the write of one document, if it still has one of some ids.
func (d *untypedDangling) mendDocument(id bson.RawValue, ids bson.A) model.Write {
	filter := append(commands.MatchID(id), d.Ref.MatchReferring(ids)...)
	w := model.Write{Collection: d.Docs.Name(), Index: model.IDIndex, Idempotent: true}
	switch {
	case d.by != nil:
		update, arrayFilters := d.Ref.ReplaceIDs(ids, d.by)
		w.Model = &mongo.UpdateOneModel{Filter: filter, Update: update, ArrayFilters: arrayFilters}
	case d.Deletes:
		w.Model = &mongo.DeleteOneModel{Filter: filter}
	default:
		w.Model = &mongo.UpdateOneModel{Filter: filter, Update: d.Ref.DetachIDs(ids)}
	}
	return w
}

// listRelations returns the relation for diagrams.
func (d *untypedDangling) listRelations() []model.Relation {
	return []model.Relation{d.Ref.MakeRelation("weak link")}
}

// listFootprints returns the paths that the technique uses.
func (d *untypedDangling) listFootprints() []model.Footprint {
	name := d.Docs.Name()
	switch {
	case d.Deletes:
		return slices.Concat(model.Reads.In(name, d.Ref.Path), model.Mends.In(name, model.Whole))
	case d.Mends, d.by != nil:
		return model.Mends.In(name, d.Ref.StoredPath())
	}
	return model.Reads.In(name, d.Ref.Path)
}
