package denorm

import (
	"fmt"
	"time"

	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// An outlierFault is what is wrong with an owner.
type outlierFault string

const (
	outlierUnsplit   outlierFault = "unsplit"   // its array is over Max, and was not split
	outlierOversized outlierFault = "oversized" // its array is over Max, though there is overflow: other code pushed into it
	outlierUnflagged outlierFault = "unflagged" // it has overflow, and no flag: readers miss it
	outlierLeftover  outlierFault = "leftover"  // a Split that was cut has left overflow documents, and the array was shortened since
)

func (o *outlying) checks() []model.Check {
	place := o.docs + "." + o.path
	flags, orphans := place+": overflow without the flag", o.in.name+": overflow without an owner"
	return []model.Check{{
		Name: flags, Collection: o.docs, Age: time.Minute,
		Rule:     "an owner that has overflow has the flag, unless a Split of its array is under way",
		Pipeline: o.check(outlierUnflagged, outlierLeftover), Tell: core.Tells[outlierDrift](), Mend: core.Mends(flags, o.docs, o.repair),
	}, {
		Name: place + ": arrays over Max", Collection: o.docs, Rule: fmt.Sprintf("an owner's array holds at most %d elements", o.spec.Max),
		Pipeline: o.check(outlierUnsplit, outlierOversized), Tell: core.Tells[outlierDrift](),
	}, {
		Name: orphans, Collection: o.in.name, Rule: "an overflow document has an owner",
		Pipeline: o.orphans(), Tell: core.Tells[outlierOrphan](), Mend: core.Mends(orphans, o.in.name, o.deleteOrphans),
	}}
}

// An outlierDrift is an owner whose array, flag and overflow don't go together.
type outlierDrift struct {
	Fault outlierFault  `bson:"fault"`
	ID    bson.RawValue `bson:"_id"`   // of the owner
	N     int64         `bson:"n"`     // how many elements its array holds
	Pages []outlierPage `bson:"pages"` // its overflow documents; none where the flag is set
}

// An outlierPage is an overflow document of an owner without the flag.
type outlierPage struct {
	ID    string `bson:"_id"`
	Split int64  `bson:"split"` // how long the array was that a Split wrote it from; 0 for one that was appended to
	Held  bool   `bson:"held"`  // all of its elements are in the owner's array
}

func (d outlierDrift) Tell(f *model.Finding) {
	f.ID, f.Problem = d.ID, fmt.Sprintf("%s: its array holds %d elements, overflow documents without the flag: %d", d.Fault, d.N, len(d.Pages))
	switch {
	case d.Fault == outlierOversized:
		f.Problem = fmt.Sprintf("%s: its array holds %d elements although there is overflow", d.Fault, d.N)
	case len(d.Pages) == 0:
		f.Problem = fmt.Sprintf("%s: its array holds %d elements", d.Fault, d.N)
	}
}

// An outlierOrphan is an overflow document whose owner is not there.
type outlierOrphan struct {
	ID    bson.RawValue `bson:"_id"`
	Owner bson.RawValue `bson:"key"`
	N     bson.RawValue `bson:"n"`
	Bytes bson.RawValue `bson:"bytes"`
}

func (d outlierOrphan) Tell(f *model.Finding) {
	f.ID, f.Problem = d.ID, fmt.Sprintf("there is no owner %s", model.Shell(d.Owner))
}

// check is the pipeline over the owners that finds these faults; an owner has one at most. A page counts as a Split's if it has
// its stamp.
func (o *outlying) check(faults ...outlierFault) mongo.Pipeline {
	lookup := mql.Lookup(o.in.name, "_id", "key", "pages")
	args := lookup[0].Value.(bson.D)
	held := mql.Op("$setIsSubset", items(), "$$kept")
	lookup[0].Value = append(args,
		bson.E{Key: "let", Value: bson.D{{Key: "flagged", Value: "$flagged"}, {Key: "kept", Value: "$kept"}}},
		bson.E{Key: "pipeline", Value: mongo.Pipeline{
			{{Key: "$match", Value: mql.Op("$expr", mql.Op("$eq", "$$flagged", false))}},
			{{Key: "$sort", Value: bson.D{{Key: "_id", Value: 1}}}},
			{{Key: "$project", Value: bson.D{{Key: "key", Value: 1}, {Key: "split", Value: mql.Op("$ifNull", "$split", 0)}, {Key: "held", Value: held}}}},
		}})
	over := mql.Op("$gt", "$n", o.spec.Max)
	some := func(cond any) bson.D { // of the pages
		return mql.Op("$anyElementTrue", bson.A{mql.Op("$map", bson.D{{Key: "input", Value: "$pages"}, {Key: "as", Value: "page"}, {Key: "in", Value: cond}})})
	}
	branch := func(fault outlierFault, when bson.D) bson.D {
		return bson.D{{Key: "case", Value: when}, {Key: "then", Value: mql.Literal(string(fault))}}
	}
	fault := mql.Op("$switch", bson.D{{Key: "branches", Value: bson.A{
		branch(outlierOversized, mql.Op("$and", over, "$flagged")),
		branch(outlierUnflagged, some(mql.Op("$eq", "$$page.split", 0))),
		branch(outlierLeftover, mql.Op("$and", over, some(mql.Op("$gt", "$$page.split", "$n")))),
		branch(outlierUnsplit, over),
		branch(outlierUnflagged, some(mql.Op("$not", "$$page.held"))),
		branch(outlierLeftover, mql.Op("$gt", mql.Op("$size", "$pages"), 0)),
	}}, {Key: "default", Value: mql.Literal("")}})
	return mongo.Pipeline{
		{{Key: "$project", Value: bson.D{{Key: "kept", Value: o.list()}, {Key: "flagged", Value: o.flagged()}}}},
		lookup,
		{{Key: "$project", Value: bson.D{
			{Key: "n", Value: mql.Op("$size", "$kept")}, {Key: "flagged", Value: 1},
			{Key: "pages._id", Value: 1}, {Key: "pages.split", Value: 1}, {Key: "pages.held", Value: 1},
		}}},
		{{Key: "$project", Value: bson.D{{Key: "n", Value: 1}, {Key: "pages", Value: 1}, {Key: "fault", Value: fault}}}},
		{{Key: "$match", Value: bson.D{{Key: "fault", Value: bson.D{{Key: "$in", Value: faults}}}}}},
		{{Key: "$sort", Value: bson.D{{Key: "_id", Value: 1}}}},
	}
}

func (o *outlying) orphans() mongo.Pipeline {
	find := mql.Lookup(o.docs, "key", "_id", "owner")
	find[0].Value = append(find[0].Value.(bson.D), bson.E{Key: "pipeline", Value: mongo.Pipeline{
		{{Key: "$project", Value: bson.D{{Key: "_id", Value: 1}}}},
	}})
	return mongo.Pipeline{
		{{Key: "$project", Value: bson.D{{Key: "key", Value: 1}, {Key: "n", Value: 1}, {Key: "bytes", Value: 1}}}},
		find,
		{{Key: "$match", Value: bson.D{{Key: "owner", Value: bson.D{{Key: "$size", Value: 0}}}}}},
		{{Key: "$unset", Value: "owner"}},
		{{Key: "$sort", Value: bson.D{{Key: "_id", Value: 1}}}},
	}
}

// repair is the plan that mends missing flags, and what a Split left.
func (o *outlying) repair(found []outlierDrift) (p model.Plan) {
	for i, d := range found {
		if d.ID.Type == 0 {
			return noID(o.docs, i)
		}
		switch d.Fault {
		case outlierUnflagged:
			p.Steps = append(p.Steps, model.Write{Collection: o.docs, Index: model.IDIndex, Model: &mongo.UpdateOneModel{
				Filter: bson.D{{Key: "_id", Value: model.Eq(clone(d.ID))}, {Key: o.spec.Flag, Value: bson.D{{Key: "$ne", Value: true}}}},
				Update: bson.D{{Key: "$set", Value: bson.D{{Key: o.spec.Flag, Value: true}}}},
			}})
		case outlierLeftover:
			p.Steps = append(p.Steps, o.discard(d.Pages)...)
		default:
			reason := fmt.Sprintf("%q is not a fault that this check finds", cut(string(d.Fault)))
			return model.RefusedPlan(o.docs, o.refused(fmt.Sprintf("found[%d].Fault", i), nil, reason))
		}
	}
	if len(p.Steps) > 1 {
		p.Leaves = "some owners mended, others not yet"
	}
	return p
}

// discard deletes the pages that a Split left, if all that is on them is in the array. Without a key, elements that are
// equal can be two.
func (o *outlying) discard(pages []outlierPage) (steps []model.Step) {
	if o.in.spec.Key == "" {
		return nil
	}
	for _, page := range pages {
		if page.Split == 0 || !page.Held {
			return nil
		}
		steps = append(steps, model.Write{Collection: o.in.name, Index: model.IDIndex, Once: true, Final: true, Model: &mongo.DeleteOneModel{
			Filter: bson.D{{Key: "_id", Value: page.ID}, {Key: "split", Value: page.Split}},
		}})
	}
	return steps
}

func (o *outlying) deleteOrphans(found []outlierOrphan) (p model.Plan) {
	for i, d := range found {
		if d.ID.Type == 0 {
			return noID(o.in.name, i)
		}
		p.Steps = append(p.Steps, model.Write{Collection: o.in.name, Index: model.IDIndex, Once: true, Final: true, Model: &mongo.DeleteOneModel{
			Filter: bson.D{{Key: "_id", Value: model.Eq(clone(d.ID))}, holdsAt("n", clone(d.N)), holdsAt("bytes", clone(d.Bytes))},
		}})
	}
	if len(p.Steps) > 1 {
		p.Leaves = "some orphans deleted, others not yet"
	}
	return p
}
