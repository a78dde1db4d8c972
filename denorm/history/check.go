package history

// This file has the checks and their repairs. They find only what a crash or other code
// leaves: the changes themselves repair what they meet.

import (
	"fmt"
	"time"

	"github.com/docmodel/docmodel/denorm/internal/stored"
	"github.com/docmodel/docmodel/internal/bsondoc"
	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/found"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// listChecks returns the checks of deletions that were cut, of documents with a lower
// number than their revisions, and of revisions that are missing or stand for other
// versions.
func (h *untypedHistory) listChecks() []model.Check {
	return []model.Check{h.checkDeletions(), h.checkVersions(), h.checkGaps(), h.checkLostVersions()}
}

// checkDeletions finds documents that are marked as gone. A running deletion has a minute
// to finish.
func (h *untypedHistory) checkDeletions() model.Check {
	type row struct {
		ID   bson.RawValue `bson:"_id"`
		At   time.Time     `bson:"at"`
		V    int64         `bson:"v"`
		Mark bson.RawValue `bson:"mark"`
	}
	name := fmt.Sprintf("%s.%s: unfinished deletions", h.docs.Name(), h.revised)
	finish := func(rows []row) model.Plan {
		var steps []model.Step
		for i, r := range rows {
			doc, err := h.makeTombstone(r.ID, r.V, r.Mark)
			if err != nil || r.ID.Type == 0 || r.Mark.Type == 0 {
				return model.NewPlan(found.RefuseFinding(h.docs.Name(), i, "_id, version and mark"))
			}
			o, err := h.checkID(r.ID)
			if err != nil {
				return model.NewPlan(model.Refused(h.docs.Name(), err))
			}
			steps = append(steps, h.finishDeletion(o, r.V, doc)...)
		}
		return commands.PlanLeaving(leavesGone, steps...)
	}
	return model.Check{
		Name: name, Collection: h.docs.Name(), Age: time.Minute, Rule: "no document is marked as deleted",
		Pipeline: append(found.FindMatching(bson.D{mql.E(h.revised+".gone", true)},
			mql.E("at", "$"+h.revised+".at"), mql.E("v", "$"+h.version), mql.E("mark", "$"+h.revised)), mql.SortID()),
		Tell: found.DescribeRows(func(r row, f *model.Finding) {
			f.ID, f.Since, f.Problem = r.ID, r.At, "is marked as deleted, but still exists"
		}),
		Mend: found.MendRows(name, h.docs.Name(), finish),
	}
}

// checkVersions finds documents whose number another version's revision has, or had
// before.
func (h *untypedHistory) checkVersions() model.Check {
	type row struct {
		ID      bson.RawValue `bson:"_id"`
		Version int64         `bson:"v"`
		Op      bson.RawValue `bson:"op"`
		Newest  int64         `bson:"newest"`
	}
	name := fmt.Sprintf("%s.%s: versions below those of the revisions", h.docs.Name(), h.version)
	raise := func(i int, r row) model.Write {
		if r.ID.Type == 0 {
			return found.RefuseFinding(h.docs.Name(), i, "_id")
		}
		as := append(h.matchVersion(r.Version), stored.MatchValueAt(h.revised+".op", r.Op))
		return commands.UpdateIf(
			h.docs.Name(), bsondoc.JoinFilters(commands.MatchID(r.ID), as),
			mql.Op("$set", bson.D{mql.E(h.version, r.Newest+1)}),
		)
	}
	newest := mongo.Pipeline{newestFirst, limitTo(1), mql.Project(mql.E("v", "$_id.v"), mql.E("token", 1))}
	lookup := bson.D{
		mql.E("from", h.revisions.Name()), mql.E("localField", "_id"), mql.E("foreignField", "_id.id"),
		mql.E("pipeline", newest), mql.E("as", "rows"),
	}
	other := mql.Op("$and", mql.Op("$eq", "$newest", "$v"), mql.Op("$ne", "$token", "$op"))
	return model.Check{
		Name: name, Collection: h.docs.Name(),
		Rule: "no revision has a later version than its document, or is another version of its number",
		Pipeline: mongo.Pipeline{
			mql.Project(mql.E("v", mql.IfNull("$"+h.version, int64(0))), mql.E("op", "$"+h.revised+".op")),
			mql.Op("$lookup", lookup),
			mql.Project(mql.E("v", 1), mql.E("op", 1), mql.E("newest", mql.Op("$max", "$rows.v")),
				mql.E("token", mql.Op("$arrayElemAt", "$rows.token", 0))),
			mql.Match(mql.E("$expr", mql.Op("$or", mql.Op("$gt", "$newest", "$v"), other))), mql.SortID(),
		},
		Tell: found.DescribeRows(func(r row, f *model.Finding) {
			f.ID, f.Problem = r.ID, fmt.Sprintf("has version %d, but a revision has version %d", r.Version, r.Newest)
			if r.Newest == r.Version {
				f.Problem = fmt.Sprintf("has version %d, but its revision is another's", r.Version)
			}
		}),
		Mend: found.MendRows(name, h.docs.Name(), func(rows []row) model.Plan {
			return found.PlanWrites(rows, "some versions raised; the next check finds the others", raise)
		}),
	}
}

// checkLostVersions finds deletions that later changes took for the revision of their own
// version. A deletion ends when it begins, so a later end shows it.
func (h *untypedHistory) checkLostVersions() model.Check {
	type row struct {
		ID bson.RawValue `bson:"_id"`
		At time.Time     `bson:"until"`
	}
	return model.Check{
		Name: h.revisions.Name() + ": lost versions", Collection: h.revisions.Name(),
		Rule: "no deletion ends after it began",
		Pipeline: mongo.Pipeline{
			mql.Match(mql.E("gone", true), mql.E("$expr", mql.Op("$gt", "$until", "$at"))),
			mql.Project(mql.E("until", 1)), mql.SortID(),
		},
		Tell: found.DescribeRows(func(r row, f *model.Finding) {
			f.ID, f.Since, f.Problem = r.ID, r.At,
				"is a deletion, but a document had this version later: the document in this version, and in some "+
					"before, is lost"
		}),
	}
}

// checkGaps finds revisions that are missing between others.
func (h *untypedHistory) checkGaps() model.Check {
	type row struct {
		ID    bson.RawValue `bson:"_id"`
		First int64         `bson:"first"`
		Last  int64         `bson:"last"`
		N     int64         `bson:"n"`
	}
	return model.Check{
		Name: h.revisions.Name() + ": missing revisions", Collection: h.revisions.Name(),
		Rule: "the revisions of a document have consecutive versions",
		Pipeline: mongo.Pipeline{
			mql.Group("$_id.id", mql.E("first", mql.Op("$min", "$_id.v")),
				mql.E("last", mql.Op("$max", "$_id.v")), commands.CountEach()),
			mql.Match(mql.E("$expr",
				mql.Op("$lt", "$n", mql.Op("$subtract", mql.Op("$add", "$last", 1), "$first")))), mql.SortID(),
		},
		Tell: found.DescribeRows(func(r row, f *model.Finding) {
			f.ID, f.Problem = r.ID, fmt.Sprintf("has only %d revisions from version %d to %d", r.N, r.First, r.Last)
		}),
	}
}
