package history

import (
	"fmt"
	"time"

	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/found"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Checks find deletions that were cut, documents behind their revisions, and revisions that are missing.
func (h *History) Checks() []model.Check {
	return []model.Check{h.unfinished(), h.behind(), h.gaps()}
}

// unfinished finds documents that are marked as gone.
func (h *History) unfinished() model.Check {
	type row struct {
		ID   bson.RawValue `bson:"_id"`
		At   time.Time     `bson:"at"`
		V    int64         `bson:"v"`
		Mark bson.RawValue `bson:"mark"`
	}
	name := fmt.Sprintf("%s.%s: unfinished deletions", h.docs.Name(), h.revised)
	return model.Check{
		Name: name, Collection: h.docs.Name(), Age: time.Minute, Rule: "no document is marked as deleted",
		Pipeline: append(found.Pipeline(bson.D{mql.E(h.revised+".gone", true)},
			mql.E("at", "$"+h.revised+".at"), mql.E("v", "$"+h.version), mql.E("mark", "$"+h.revised)), mql.SortID()),
		Tell: found.Tells(func(r row, f *model.Finding) {
			f.ID, f.Since, f.Problem = r.ID, r.At, "is marked as deleted, but still exists"
		}),
		Mend: found.Mends(name, h.docs.Name(), func(rows []row) model.Plan {
			var steps []model.Step
			for i, r := range rows {
				doc, err := h.tombstone(r.ID, r.V, r.Mark)
				if err != nil || r.ID.Type == 0 || r.Mark.Type == 0 {
					return model.NewPlan(found.NotReturned(h.docs.Name(), i, "_id, version and mark"))
				}
				o, err := h.one(r.ID)
				if err != nil {
					return model.RefusedPlan(h.docs.Name(), err)
				}
				steps = append(steps, h.buried(o, r.V, doc)...)
			}
			return commands.Leaving(leavesGone, steps...)
		}),
	}
}

// behind finds documents that have a version which a revision had before, or will have.
func (h *History) behind() model.Check {
	type row struct {
		ID      bson.RawValue `bson:"_id"`
		Version int64         `bson:"v"`
		Newest  int64         `bson:"newest"`
	}
	name := fmt.Sprintf("%s.%s: versions below those of the revisions", h.docs.Name(), h.version)
	newest := mongo.Pipeline{newestFirst, limit(1), mql.Project(mql.E("v", "$_id.v"))}
	lookup := bson.D{mql.E("from", h.revisions.Name()), mql.E("localField", "_id"), mql.E("foreignField", "_id.id"), mql.E("pipeline", newest), mql.E("as", "rows")}
	return model.Check{
		Name: name, Collection: h.docs.Name(), Rule: "no revision has a later version than its document",
		Pipeline: mongo.Pipeline{
			mql.Project(mql.E("v", mql.IfNull("$"+h.version, int64(0)))), mql.Op("$lookup", lookup),
			mql.Project(mql.E("v", 1), mql.E("newest", mql.Op("$max", "$rows.v"))),
			mql.Match(mql.E("$expr", mql.Op("$gt", "$newest", "$v"))), mql.SortID(),
		},
		Tell: found.Tells(func(r row, f *model.Finding) {
			f.ID, f.Problem = r.ID, fmt.Sprintf("has version %d, but a revision has version %d", r.Version, r.Newest)
		}),
		Mend: found.Mends(name, h.docs.Name(), func(rows []row) model.Plan {
			return found.Mended(rows, "some versions raised; the next check finds the others", func(i int, r row) model.Write {
				if r.ID.Type == 0 {
					return found.NotReturned(h.docs.Name(), i, "_id")
				}
				return commands.UpdateIf(h.docs.Name(), model.And(commands.ByID(r.ID), h.at(r.Version)), mql.Op("$set", bson.D{mql.E(h.version, r.Newest+1)}))
			})
		}),
	}
}

// gaps finds revisions that are missing between others.
func (h *History) gaps() model.Check {
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
			mql.Group("$_id.id", mql.E("first", mql.Op("$min", "$_id.v")), mql.E("last", mql.Op("$max", "$_id.v")), commands.CountEach()),
			mql.Match(mql.E("$expr", mql.Op("$lt", "$n", mql.Op("$subtract", mql.Op("$add", "$last", 1), "$first")))), mql.SortID(),
		},
		Tell: found.Tells(func(r row, f *model.Finding) {
			f.ID, f.Problem = r.ID, fmt.Sprintf("has only %d revisions from version %d to %d", r.N, r.First, r.Last)
		}),
	}
}
