package subsetpages

import (
	"fmt"
	"slices"

	"github.com/docmodel/docmodel/denorm/internal/stored"
	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/found"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A drift is a parent whose array differs from what its pages make.
type drift struct {
	ID    bson.RawValue `bson:"_id"`   // of the parent
	Found bson.RawValue `bson:"found"` // what is stored, as a rule an array; of type 0 if nothing is
	Want  bson.RawValue `bson:"want"`  // the newest elements of the pages
}

// describeFinding compares the numbers of elements. Equal numbers can still differ in
// fields.
func (d drift) describeFinding(f *model.Finding) {
	n := func(v bson.RawValue) int { return len(core.Elements(v)) }
	f.ID, f.Problem = d.ID, fmt.Sprintf("holds %d elements, but should hold %d", n(d.Found), n(d.Want))
	if n(d.Found) == n(d.Want) {
		f.Problem += " other elements, or elements with other fields"
	}
}

// An orphan is a page without a parent.
type orphan struct {
	ID     bson.RawValue `bson:"_id"`
	Parent bson.RawValue `bson:"key"`
	N      bson.RawValue `bson:"n"`
	Bytes  bson.RawValue `bson:"bytes"`
}

func (d orphan) describeFinding(f *model.Finding) {
	f.ID, f.Problem = d.ID, fmt.Sprintf("the parent %s doesn't exist", model.Shell(d.Parent))
}

// listChecks returns the checks of arrays and of pages without a parent, then the checks
// of the pages.
func (s *untypedSubset) listChecks() []model.Check {
	name := fmt.Sprintf("%s.%s: arrays that don't hold the newest elements in %s", s.docs.Name(),
		s.path, s.in.Docs.Name())
	orphans := s.in.Docs.Name() + ": pages without a parent"
	return slices.Concat([]model.Check{{
		Name: name, Collection: s.docs.Name(),
		Rule: fmt.Sprintf("%s holds the newest elements in %s, in order", s.path, s.in.Docs.Name()),
		Pipeline: append(s.compareArrays(),
			mql.Match(mql.E("$expr", mql.Op("$ne", mql.IfNull("$found", bson.A{}), "$want"))), mql.SortID()),
		Tell: found.DescribeRows(drift.describeFinding), Mend: found.MendRows(name, s.docs.Name(), s.planRepair),
	}, {
		Name: orphans, Collection: s.in.Docs.Name(), Rule: "each page has a parent", Keyed: s.in.ListKeyed(),
		Pipeline: s.findOrphans(), Tell: found.DescribeRows(orphan.describeFinding),
		Mend: found.MendRows(orphans, s.in.Docs.Name(), s.deleteOrphans),
	}}, s.in.ListChecks())
}

// planRepair sets the arrays that are as they were found.
func (s *untypedSubset) planRepair(rows []drift) model.Plan {
	setFound := func(i int, d drift) (w model.Write) {
		switch {
		case !stored.IsKey(d.ID) || d.Want.Type != bson.TypeArray:
			return found.RefuseFinding(s.docs.Name(), i, "_id or no array to set")
		case isSameArray(d.Found, core.Elements(d.Want)):
			return w
		}
		return s.setArray(d, core.Elements(d.Want), false)
	}
	return found.PlanWrites(rows, "some arrays corrected; the next check finds the others", setFound)
}

// findOrphans is the pipeline of pages without a parent.
func (s *untypedSubset) findOrphans() mongo.Pipeline {
	find := mql.Lookup(s.docs.Name(), "key", "_id", "parent")
	find[0].Value = append(find[0].Value.(bson.D), bson.E{
		Key:   "pipeline",
		Value: mongo.Pipeline{mql.Project(mql.E("_id", 1))},
	})
	return mongo.Pipeline{
		mql.Project(mql.E("key", 1), mql.E("n", 1), mql.E("bytes", 1)),
		find,
		mql.Match(mql.E("parent", mql.Op("$size", 0))),
		{{Key: "$unset", Value: "parent"}},
		mql.SortID(),
	}
}

// deleteOrphans deletes pages without a parent, unless an element was added or removed
// since.
func (s *untypedSubset) deleteOrphans(rows []orphan) model.Plan {
	return found.PlanWrites(rows, "some pages deleted; the next check finds the others",
		func(i int, d orphan) model.Write {
			if d.ID.Type == 0 {
				return found.RefuseFinding(s.in.Docs.Name(), i, "_id")
			}
			return s.in.MarkKeyed(commands.DeleteOne(s.in.Docs.Name(),
				append(commands.MatchID(d.ID), stored.MatchValueAt("n", d.N), stored.MatchValueAt("bytes", d.Bytes))))
		})
}
