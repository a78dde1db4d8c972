package outlier

import (
	"fmt"
	"time"

	"github.com/docmodel/docmodel/denorm/internal/bucket"
	"github.com/docmodel/docmodel/denorm/internal/stored"
	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/found"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A fault is what is wrong with an owner.
type fault string

const (
	// the array is over Max, and has no overflow: run makeSplitJob
	unsplitFault fault = "unsplit"
	// the array is over Max although there is overflow: other code pushed into it
	oversizedFault fault = "oversized"
	// there is overflow without the flag, so readers miss it
	unflaggedFault fault = "unflagged"
	// a split that crashed has left overflow documents, and the array was shortened since
	leftoverFault fault = "leftover"
)

// listChecks returns the checks of flags, of arrays over Max, and of overflow without an
// owner.
func (o *untypedOutlier) listChecks() []model.Check {
	place := o.docs.Name() + "." + o.path
	flags, orphans := place+": overflow without the flag", o.in.Docs.Name()+": overflow without an owner"
	return commands.MarkChecksKeyed([]model.Check{{
		Name: flags, Collection: o.docs.Name(), Age: time.Minute,
		Rule:     "an owner with overflow has the flag, unless a Split of its array is in progress",
		Pipeline: o.findFaults(unflaggedFault, leftoverFault), Tell: found.DescribeRows(drift.describeFinding),
		Mend: found.MendRows(flags, o.docs.Name(), o.planRepair),
	}, {
		Name: place + ": arrays over Max", Collection: o.docs.Name(),
		Rule:     fmt.Sprintf("an owner's array holds at most %d elements", o.spec.Max),
		Pipeline: o.findFaults(unsplitFault, oversizedFault), Tell: found.DescribeRows(drift.describeFinding),
	}, {
		Name: orphans, Collection: o.in.Docs.Name(), Rule: "an overflow document has an owner",
		Pipeline: o.findOrphans(), Tell: found.DescribeRows(orphan.describeFinding),
		Mend: found.MendRows(orphans, o.in.Docs.Name(), o.deleteOrphans),
	}}, o.in.ListKeyed()...)
}

// A drift is an owner whose array, flag and overflow don't fit together.
type drift struct {
	Fault fault         `bson:"fault"`
	ID    bson.RawValue `bson:"_id"` // of the owner
	N     int64         `bson:"n"`   // how many elements its array holds
	// its overflow documents; none if the flag is set
	Pages []page `bson:"pages"`
}

// A page is an overflow document of an owner without the flag.
type page struct {
	ID string `bson:"_id"`
	// the length of the array that a split wrote it from; 0 if an append wrote it
	Split int64 `bson:"split"`
	// all its elements are in the owner's array
	Held bool `bson:"held"`
}

// describeFinding shows the fault and the numbers.
func (d drift) describeFinding(f *model.Finding) {
	f.ID, f.Problem = d.ID,
		fmt.Sprintf("%s: its array holds %d elements, and there are overflow documents without the flag: %d",
			d.Fault, d.N, len(d.Pages))
	switch {
	case d.Fault == oversizedFault:
		f.Problem = fmt.Sprintf("%s: its array holds %d elements although there is overflow", d.Fault, d.N)
	case len(d.Pages) == 0:
		f.Problem = fmt.Sprintf("%s: its array holds %d elements", d.Fault, d.N)
	}
}

// An orphan is an overflow document without an owner.
type orphan struct {
	ID    bson.RawValue `bson:"_id"`
	Owner bson.RawValue `bson:"key"`
	N     bson.RawValue `bson:"n"`
	Bytes bson.RawValue `bson:"bytes"`
}

func (d orphan) describeFinding(f *model.Finding) {
	f.ID, f.Problem = d.ID, fmt.Sprintf("the owner %s doesn't exist", model.Shell(d.Owner))
}

// findFaults is the pipeline of the owners with one of these faults. An owner has at most
// one fault: the first branch that is true. A page counts as a split's if it has the
// field split.
func (o *untypedOutlier) findFaults(faults ...fault) mongo.Pipeline {
	lookup := mql.Lookup(o.in.Docs.Name(), "_id", "key", "pages")
	args := lookup[0].Value.(bson.D)
	held := mql.Op("$setIsSubset", bucket.ListItems(), "$$kept")
	lookup[0].Value = append(args,
		bson.E{Key: "let", Value: bson.D{{Key: "flagged", Value: "$flagged"}, {Key: "kept", Value: "$kept"}}},
		bson.E{Key: "pipeline", Value: mongo.Pipeline{
			mql.Match(mql.E("$expr", mql.Op("$eq", "$$flagged", false))),
			mql.SortID(),
			mql.Project(mql.E("key", 1), mql.E("split", mql.IfNull("$split", 0)), mql.E("held", held)),
		}})
	over := mql.Op("$gt", "$n", o.spec.Max)
	some := func(cond any) bson.D { // of the pages
		return mql.Op("$anyElementTrue", bson.A{mql.Map("$pages", "page", cond)})
	}
	branch := func(fault fault, when bson.D) bson.D {
		return bson.D{{Key: "case", Value: when}, {Key: "then", Value: mql.Literal(string(fault))}}
	}
	fault := mql.Op("$switch", bson.D{{Key: "branches", Value: bson.A{
		branch(oversizedFault, mql.Op("$and", over, "$flagged")),
		branch(unflaggedFault, some(mql.Op("$eq", "$$page.split", 0))),
		branch(leftoverFault, mql.Op("$and", over, some(mql.Op("$gt", "$$page.split", "$n")))),
		branch(unsplitFault, over),
		branch(unflaggedFault, some(mql.Op("$not", "$$page.held"))),
		branch(leftoverFault, mql.Op("$gt", mql.Op("$size", "$pages"), 0)),
	}}, {Key: "default", Value: mql.Literal("")}})
	return mongo.Pipeline{
		mql.Project(mql.E("kept", o.listKept()), mql.E("flagged", o.hasFlag())),
		lookup,
		mql.Project(mql.E("n", mql.Op("$size", "$kept")), mql.E("flagged", 1), mql.E("pages._id", 1),
			mql.E("pages.split", 1),
			mql.E("pages.held", 1)),
		mql.Project(mql.E("n", 1), mql.E("pages", 1), mql.E("fault", fault)),
		mql.Match(mql.E("fault", bson.D{{Key: "$in", Value: faults}})),
		mql.SortID(),
	}
}

// findOrphans is the pipeline of overflow documents without an owner.
func (o *untypedOutlier) findOrphans() mongo.Pipeline {
	find := mql.Lookup(o.docs.Name(), "key", "_id", "owner")
	find[0].Value = append(find[0].Value.(bson.D), bson.E{
		Key:   "pipeline",
		Value: mongo.Pipeline{mql.Project(mql.E("_id", 1))},
	})
	return mongo.Pipeline{
		mql.Project(mql.E("key", 1), mql.E("n", 1), mql.E("bytes", 1)),
		find,
		mql.Match(mql.E("owner", bson.D{{Key: "$size", Value: 0}})),
		{{Key: "$unset", Value: "owner"}},
		mql.SortID(),
	}
}

// planRepair sets missing flags, and deletes what a split left.
func (o *untypedOutlier) planRepair(rows []drift) model.Plan {
	var steps []model.Step
	for i, d := range rows {
		switch {
		case d.ID.Type == 0:
			return model.NewPlan(found.RefuseFinding(o.docs.Name(), i, "_id"))
		case d.Fault == unflaggedFault:
			steps = append(steps, model.Write{
				Collection: o.docs.Name(), Index: model.IDIndex,
				Model: &mongo.UpdateOneModel{
					Filter: append(commands.MatchID(d.ID), o.isUnflagged()), Update: mql.Set(mql.E(o.spec.Flag, true)),
				},
			})
		case d.Fault == leftoverFault:
			steps = append(steps, o.discardLeftovers(d.Pages)...)
		default:
			reason := fmt.Sprintf("%q isn't a problem that this check finds: pass the findings unchanged",
				commands.Shorten(string(d.Fault)))
			return model.NewPlan(model.Refused(o.docs.Name(),
				o.docs.Refuse(fmt.Sprintf("found[%d].Fault", i), nil, reason)))
		}
	}
	return commands.PlanLeaving("some owners repaired; the next check finds the others", steps...)
}

// discardLeftovers deletes the pages that a split left, if the array has all their
// elements. Without a key, two equal elements can't be told apart, so nothing is deleted.
func (o *untypedOutlier) discardLeftovers(pages []page) (steps []model.Step) {
	if o.in.Spec.ElementKey == "" {
		return nil
	}
	for _, page := range pages {
		if page.Split == 0 || !page.Held {
			return nil
		}
		steps = append(steps,
			commands.DeleteOne(o.in.Docs.Name(), bson.D{
				{Key: "_id", Value: page.ID}, {Key: "split", Value: page.Split},
			}))
	}
	return steps
}

// deleteOrphans deletes overflow documents without an owner, unless an element was added
// or removed since.
func (o *untypedOutlier) deleteOrphans(rows []orphan) model.Plan {
	return found.PlanWrites(rows, "some overflow documents without an owner deleted; the next check finds the others",
		func(i int, d orphan) model.Write {
			if d.ID.Type == 0 {
				return found.RefuseFinding(o.in.Docs.Name(), i, "_id")
			}
			return commands.DeleteOne(o.in.Docs.Name(),
				append(commands.MatchID(d.ID), stored.MatchValueAt("n", d.N), stored.MatchValueAt("bytes", d.Bytes)))
		})
}
