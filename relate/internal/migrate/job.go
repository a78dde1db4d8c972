// Package migrate moves a relation of a live collection from one form to another: what is behind relate.Migration.
package migrate

import (
	"context"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Migration is an old form and a new one, the passes that copy and drop, and the check that compares.
type Migration struct {
	name, docs string // what is migrated, and the collection whose documents the check compares
	state      state
	copy, drop []pass
	verify     func() mongo.Pipeline
}

// CopyJob is the job that makes the new form say what the old one says.
func (m Migration) CopyJob() model.Job { return m.job("copy ", m.copy, m.beginCopy) }

// DropJob is the job that takes the old form away where both agree.
func (m Migration) DropJob() model.Job { return m.job("drop ", m.drop, m.beginDrop) }

// pass is a stage of a migration: it goes once through a collection. It plans each batch from what it reads for it. A batch's
// writes are idempotent, carry what was read in their filters, and pass over what has changed since.
type pass struct {
	collection         string
	filter, projection bson.D
	plan               func(b *batchReader, docs []bson.Raw) ([]model.Step, error)
}

// job is a job that begins a phase and goes through its passes.
func (m Migration) job(phase string, passes []pass, begin func(ctx context.Context, b *model.Batch) error) model.Job {
	job := model.Job{Name: phase + m.name, Stages: []model.Stage{{Name: "begin to " + phase + m.name, Do: begin}}}
	for _, p := range passes {
		job.Stages = append(job.Stages, model.Stage{
			Collection: p.collection, Filter: p.filter, Projection: p.projection,
			Work: func(ctx context.Context, b *model.Batch) (model.Plan, error) {
				if phase == "copy " { // another process may have begun to drop
					if _, err := m.state.begun(ctx, b.DB); err != nil {
						return model.Plan{}, err
					}
				}
				return p.work(ctx, b)
			},
			Again: func(err error) bool { return model.DuplicateIndex(err) == model.IDIndex }, // another process stored it
		})
	}
	return job
}

// work plans a batch, and leaves what it can't plan.
func (p pass) work(ctx context.Context, b *model.Batch) (model.Plan, error) {
	r := &batchReader{ctx: ctx, db: b.DB, collection: p.collection}
	steps, err := p.plan(r, b.Docs)
	for _, m := range r.found {
		f, err := m.finding()
		if err != nil {
			return model.Plan{}, err
		}
		b.Leave(f)
	}
	return model.NewPlan(steps...), err
}

// orphans is the pass that reports the documents that still hold the _id of a missing owner: no owner's pass finds them.
func orphans(docs, path, owners string) pass {
	return pass{docs, holdsID(path), commands.Fields(path), func(b *batchReader, found []bson.Raw) ([]model.Step, error) {
		ids := make([]bson.RawValue, len(found))
		for i, d := range found {
			ids[i] = valueAt(d, path)
		}
		stored, err := b.byID(owners, ids, commands.Fields())
		for i, d := range found {
			if _, ok := stored[bsonval.Key(ids[i])]; !ok && err == nil {
				b.report(mismatchMissing, d.Lookup("_id"), ids[i])
			}
		}
		return nil, err
	}}
}

// beginCopy refuses to copy after a drop, and to begin over what is there.
func (m Migration) beginCopy(ctx context.Context, b *model.Batch) error {
	b.Done = true
	if err := m.forAll(b.DB); err != nil {
		return err
	}
	return m.state.beginCopy(ctx, b.DB, b.DryRun)
}

func (m Migration) beginDrop(ctx context.Context, b *model.Batch) error {
	b.Done = true
	err := m.forAll(b.DB)
	if err == nil && !b.DryRun {
		_, err = m.state.begin("dropping").Run(ctx, b.DB)
	}
	return err
}

// forAll refuses to run for one tenant.
func (m Migration) forAll(db model.DB) error {
	if core.Tenant(db) == "" {
		return nil
	}
	return &model.ConflictError{Collection: m.docs, Reason: "a migration processes whole collections and has one state: " +
		"run it without a tenant's scope, for all tenants at once"}
}

// Restart is the write that deletes the state.
func (m Migration) Restart() model.Write {
	return model.Write{
		Collection: m.state.collection, Index: model.IDIndex,
		Model: &mongo.DeleteOneModel{Filter: bson.D{{Key: "_id", Value: m.state.name}}},
	}
}
