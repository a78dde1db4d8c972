package copies

// This file has the jobs over all sources, or over all documents with copies of a source.

import (
	"crypto/sha256"
	"fmt"
	"strings"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// foldSources is the job that deletes the sources whose fields all are in their copies.
func (c *untypedCopy) foldSources(drop []string) model.Job {
	stages, err := c.judgeSources(drop)
	return model.Job{Name: "fold " + c.docs.Name() + " into " + c.to.Name(), Err: err, Stages: []model.Stage{{
		Collection: c.docs.Name(), Pipeline: stages, Plan: commands.PlanBatches("", c.deleteUnneeded),
	}}}
}

// judgeSources returns the stages that find for each source whether it has a copy,
// whether a copy differs, and which fields no copy has. foldSources and checkUnfolded
// decide by the same rows.
func (c *untypedCopy) judgeSources(drop []string) (mongo.Pipeline, error) {
	whole := bson.A{"_id"}
	keep := func(name string) {
		if name != "" && !strings.Contains(name, ".") {
			whole = append(whole, name)
		}
	}
	for _, f := range c.fields {
		keep(f.From)
	}
	keep(c.spec.Version)
	keep(c.spec.Listed)
	for i, name := range drop {
		if err := core.CheckKey(name); err != nil {
			return nil, c.docs.Refuse(fmt.Sprintf("dropFields[%d]", i), name, err.Error())
		}
		keep(name)
	}
	// The lookup begins at the source. With Listed, it follows the list to the documents.
	local, foreign := "_id", c.spec.KeyPath
	if c.key == "" {
		local, foreign = "source."+c.spec.Listed, "_id"
	}
	correlated := func(as string, let bson.D, pipeline mongo.Pipeline) bson.D {
		stage := mql.Lookup(c.to.Name(), local, foreign, as)
		d := stage[0].Value.(bson.D)
		if let != nil {
			d = append(d, bson.E{Key: "let", Value: let})
		}
		stage[0].Value = append(d, bson.E{
			Key:   "pipeline",
			Value: append(pipeline, bson.D{{Key: "$limit", Value: int64(1)}}),
		})
		return stage
	}
	names := mql.Map(mql.Op("$objectToArray", "$$ROOT"), "f", "$$f.k")
	found := func(list string) bson.D { return mql.Op("$ne", mql.Op("$size", list), 0) }
	return mongo.Pipeline{
		mql.Project(mql.E("source", "$$ROOT"), mql.E("extra", mql.Op("$setDifference", names, mql.Literal(whole)))),
		correlated("copied", nil, nil),
		correlated("stale", bson.D{
			{Key: "id", Value: "$_id"},
			{Key: "want", Value: c.nestFields(func(f Field) string { return "$source." + f.From })},
		}, c.findStaleCopies()),
		mql.Set(mql.E("copied", found("$copied")), mql.E("stale", found("$stale"))),
	}, nil
}

// findStaleCopies returns the stages, over the documents with copies of a source, that
// leave different copies. They keep the documents' fields, because without them
// DocumentDB finds no document.
func (c *untypedCopy) findStaleCopies() mongo.Pipeline {
	const held = "docmodel_copy"
	at := "$$ROOT"
	if len(c.arrays) > 0 {
		at = "$" + c.arrays[0]
	}
	differs := mql.Op("$ne", c.nestFields(func(f Field) string { return "$" + held + "." + f.To }), "$$want")
	if c.key != "" {
		differs = mql.Op("$and", mql.Op("$eq", "$"+held+"."+c.key, "$$id"), differs)
	}
	p := append(mongo.Pipeline{mql.Set(mql.E(held, at))}, c.unwindArrays(held)...)
	return append(p, mql.Match(mql.E("$expr", differs)))
}

// deleteUnneeded deletes a source if it has a copy, all copies agree, and nothing else is
// in it. The filter is the whole document as it was read.
func (c *untypedCopy) deleteUnneeded(row bson.Raw) ([]model.Step, error) {
	if len(core.Elements(row.Lookup("extra"))) > 0 || !row.Lookup("copied").Boolean() || row.Lookup("stale").Boolean() {
		return nil, nil
	}
	return []model.Step{model.Write{
		Collection: c.docs.Name(), Index: model.IDIndex, Idempotent: true,
		Model: &mongo.DeleteOneModel{Filter: core.AsRead(row.Lookup("source").Document())},
	}}, nil
}

// makePropagateJob returns the job over the documents with an older copy of a source that
// the caller read. Its name contains a hash of the _id: two sources need two jobs, and
// logs must not have the _id.
func (c *untypedCopy) makePropagateJob(doc any) model.Job {
	s, err := c.readSource(doc)
	job := model.Job{Name: "copy " + c.docs.Name() + " to " + c.to.Name(), Err: err}
	if err != nil {
		return job
	}
	// logs have the name, and must not have the id
	job.Name += fmt.Sprintf(", source %.8x", sha256.Sum256([]byte(model.Shell(s.id))))
	if c.spec.Listed != "" {
		job.Err = c.docs.Refuse(c.spec.Listed, nil, "the spec has Listed: use Propagate instead")
		return job
	}
	job.Stages = []model.Stage{{
		Collection: c.to.Name(), Filter: c.matchHolder(s.id, c.matchPending(s)),
		Projection: bson.D{{Key: "_id", Value: 1}},
		Plan: func(docs []bson.Raw) (model.Plan, error) {
			ids := make([]bson.RawValue, len(docs))
			for i, d := range docs {
				ids[i] = bsonval.Clone(d.Lookup("_id"))
			}
			return model.NewPlan(c.updateAmong(s, ids)), nil
		},
	}}
	return job
}

// updateAmong updates the copies of a source in the documents with these _ids.
func (c *untypedCopy) updateAmong(s source, ids []bson.RawValue) model.Write {
	return model.Write{
		Collection: c.to.Name(), Idempotent: true, Index: model.IDIndex,
		Model: &mongo.UpdateManyModel{
			Filter: append(commands.MatchIDs(mql.Array(ids)), matchInArrays(c.arrays, c.matchPending(s))...),
			Update: c.encodeUpdate(s), ArrayFilters: c.makeArrayFilters(c.matchTouchedElement(s)),
		},
	}
}

// makeRebuildJob returns the job over the sources that corrects every copy.
func (c *untypedCopy) makeRebuildJob() model.Job {
	return model.Job{Name: "copy " + c.docs.Name() + " to " + c.to.Name(), Stages: []model.Stage{{
		Collection: c.docs.Name(), Projection: c.projectSource(), Plan: commands.PlanBatches("", c.correctCopies),
	}}}
}

// correctCopies returns the steps for one source. With a version, it also corrects a copy
// of the same version with different values, which other writes leave alone.
func (c *untypedCopy) correctCopies(doc bson.Raw) ([]model.Step, error) {
	s, err := c.decodeSource(doc)
	if err != nil {
		return nil, err
	}
	match, element := c.matchPending(s), c.matchTouchedElement(s)
	if c.version != "" {
		// A newer version is kept: the source may have been read before its last change.
		same := bson.D{{Key: c.version, Value: s.version}, c.matchDifferent(s)}
		match = c.matchElement(s.id, mql.E("$or", bson.A{bson.D{c.matchOlder(s)}, same}))
		element = c.matchElement(s.id, mql.E(c.version, mql.Op("$not", mql.Op("$gt", s.version))))
	}
	return c.planUpdates(s, match, element, c.encodeUpdate(s)), nil
}
