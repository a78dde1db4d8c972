package copies

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

// Fold is the job that deletes the sources of which the copies tell everything.
func (c *Copying) Fold(drop []string) model.Job {
	stages, err := c.fold(drop)
	return model.Job{Name: "fold " + c.docs.Name() + " into " + c.to.Name(), Err: err, Stages: []model.Stage{{
		Collection: c.docs.Name(), Pipeline: stages, Plan: commands.Batched("", c.unneeded),
	}}}
}

// fold are the stages that say of each source whether it can go.
func (c *Copying) fold(drop []string) (mongo.Pipeline, error) {
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
		stage[0].Value = append(d, bson.E{Key: "pipeline", Value: append(pipeline, bson.D{{Key: "$limit", Value: int64(1)}})})
		return stage
	}
	names := mql.Map(mql.Op("$objectToArray", "$$ROOT"), "f", "$$f.k")
	found := func(list string) bson.D { return mql.Op("$ne", mql.Op("$size", list), 0) }
	return mongo.Pipeline{
		mql.Project(mql.E("source", "$$ROOT"), mql.E("extra", mql.Op("$setDifference", names, mql.Literal(whole)))),
		correlated("copied", nil, nil),
		correlated("stale", bson.D{
			{Key: "id", Value: "$_id"}, {Key: "want", Value: c.fieldsAt(func(f Field) string { return "$source." + f.From })},
		}, c.staleCopies()),
		mql.Set(mql.E("copied", found("$copied")), mql.E("stale", found("$stale"))),
	}, nil
}

// staleCopies are the stages, over the documents that hold copies of a source, that leave those of other values. They keep the
// documents' fields, without which DocumentDB finds none.
func (c *Copying) staleCopies() mongo.Pipeline {
	const held = "docmodel_copy"
	at := "$$ROOT"
	if len(c.arrays) > 0 {
		at = "$" + c.arrays[0]
	}
	differs := mql.Op("$ne", c.fieldsAt(func(f Field) string { return "$" + held + "." + f.To }), "$$want")
	if c.key != "" {
		differs = mql.Op("$and", mql.Op("$eq", "$"+held+"."+c.key, "$$id"), differs)
	}
	p := append(mongo.Pipeline{mql.Set(mql.E(held, at))}, c.unwind(held)...)
	return append(p, mql.Match(mql.E("$expr", differs)))
}

// unneeded is the deletion of a source that can go.
func (c *Copying) unneeded(row bson.Raw) ([]model.Step, error) {
	if len(core.Elements(row.Lookup("extra"))) > 0 || !row.Lookup("copied").Boolean() || row.Lookup("stale").Boolean() {
		return nil, nil
	}
	return []model.Step{model.Write{
		Collection: c.docs.Name(), Index: model.IDIndex, Once: true,
		Model: &mongo.DeleteOneModel{Filter: core.AsRead(row.Lookup("source").Document())},
	}}, nil
}

// PropagateJob works through the documents with an older copy of a source that the caller read.
func (c *Copying) PropagateJob(doc any) model.Job {
	s, err := c.read(doc)
	job := model.Job{Name: "copy " + c.docs.Name() + " to " + c.to.Name(), Err: err}
	if err != nil {
		return job
	}
	job.Name += fmt.Sprintf(", source %.8x", sha256.Sum256([]byte(model.Shell(s.id)))) // logs have the name, and must not have the id
	if c.spec.Listed != "" {
		job.Err = c.docs.Refuse(c.spec.Listed, nil, "the spec has Listed: use Propagate instead")
		return job
	}
	job.Stages = []model.Stage{{
		Collection: c.to.Name(), Filter: c.holding(s.id, c.pending(s, nil)), Projection: bson.D{{Key: "_id", Value: 1}},
		Plan: func(docs []bson.Raw) (model.Plan, error) {
			ids := make([]bson.RawValue, len(docs))
			for i, d := range docs {
				ids[i] = bsonval.Clone(d.Lookup("_id"))
			}
			return model.NewPlan(c.among(s, ids)), nil
		},
	}}
	return job
}

// among is the write that brings up to date the copies of a source in some documents.
func (c *Copying) among(s source, ids []bson.RawValue) model.Write {
	return model.Write{
		Collection: c.to.Name(), Once: true, Index: model.IDIndex,
		Model: &mongo.UpdateManyModel{
			Filter: append(commands.AmongIDs(mql.A(ids)), within(c.arrays, c.pending(s, nil))...),
			Update: c.update(s, nil), ArrayFilters: c.arrayFilters(c.touched(s), len(c.arrays)),
		},
	}
}

// Rebuild is the job over the sources that brings every copy up to date.
func (c *Copying) Rebuild() model.Job {
	return model.Job{Name: "copy " + c.docs.Name() + " to " + c.to.Name(), Stages: []model.Stage{{
		Collection: c.docs.Name(), Projection: c.projection(), Plan: commands.Batched("", c.rebuild),
	}}}
}

// rebuild are the steps for a source. With a version, a copy of the source's own one is set too if it differs.
func (c *Copying) rebuild(doc bson.Raw) ([]model.Step, error) {
	s, err := c.state(doc)
	if err != nil {
		return nil, err
	}
	match, element := c.pending(s, nil), c.touched(s)
	if c.version != "" {
		same := bson.D{{Key: c.version, Value: s.version}, c.differing(s, nil)}
		match = c.element(s.id, mql.E("$or", bson.A{bson.D{c.older(s)}, same}))
		element = c.element(s.id, mql.E(c.version, mql.Op("$not", mql.Op("$gt", s.version))))
	}
	return c.updates(s, match, element, c.update(s, nil)), nil
}
