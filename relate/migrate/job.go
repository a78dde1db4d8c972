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

// An untypedMigration is an old form and a new one: the passes of Copy and Drop, and the check.
type untypedMigration struct {
	// What is migrated, and the collection whose documents the check compares.
	name, docs string
	state      state
	copy, drop []pass
	// The pipeline of the check. A function, because it is long and seldom needed.
	verify func() mongo.Pipeline
}

// makeCopyJob is the job that writes the new form.
func (m untypedMigration) makeCopyJob() model.Job { return m.makeJob("copy ", m.copy, m.beginCopy) }

// makeDropJob is the job that removes the old form where both agree.
func (m untypedMigration) makeDropJob() model.Job { return m.makeJob("drop ", m.drop, m.beginDrop) }

// A pass goes once through a collection, and plans the writes of each batch. The writes
// can run again, have in their filters what was read, and skip a document that has
// changed.
type pass struct {
	collection         string
	filter, projection bson.D
	plan               func(b *batchReader, docs []bson.Raw) ([]model.Step, error)
}

// makeJob makes a job that begins a phase, and then goes through its passes.
func (m untypedMigration) makeJob(
	phase string, passes []pass, begin func(ctx context.Context, b *model.Batch) error,
) model.Job {
	job := model.Job{Name: phase + m.name, Stages: []model.Stage{{Name: "begin to " + phase + m.name, Do: begin}}}
	for _, p := range passes {
		job.Stages = append(job.Stages, model.Stage{
			Collection: p.collection, Filter: p.filter, Projection: p.projection,
			Work: func(ctx context.Context, b *model.Batch) (model.Plan, error) {
				if phase == "copy " { // another process may have begun to drop
					if _, err := m.state.hasBegun(ctx, b.DB); err != nil {
						return model.Plan{}, err
					}
				}
				return p.planBatch(ctx, b)
			},
			// another process stored it
			Again: func(err error) bool { return model.DuplicateIndex(err) == model.IDIndex },
		})
	}
	return job
}

// planBatch plans a batch, and leaves findings for what it can't plan.
func (p pass) planBatch(ctx context.Context, b *model.Batch) (model.Plan, error) {
	r := &batchReader{ctx: ctx, db: b.DB, collection: p.collection}
	steps, err := p.plan(r, b.Docs)
	// What a batch can't plan is left as findings; the job goes on with the other
	// documents.
	for _, m := range r.found {
		f, err := m.makeFinding()
		if err != nil {
			return model.Plan{}, err
		}
		b.Leave(f)
	}
	return model.NewPlan(steps...), err
}

// reportOrphans is the pass that reports documents with the _id of a missing owner: no
// pass over the owners finds them.
func reportOrphans(docs, path, owners string) pass {
	return pass{docs, matchID(path), commands.ProjectFields(path), func(
		b *batchReader, found []bson.Raw,
	) ([]model.Step, error) {
		ids := make([]bson.RawValue, len(found))
		for i, d := range found {
			ids[i] = readValue(d, path)
		}
		stored, err := b.readByID(owners, ids, commands.ProjectFields())
		for i, d := range found {
			if _, ok := stored[bsonval.Key(ids[i])]; !ok && err == nil {
				b.report(mismatchMissing, d.Lookup("_id"), ids[i])
			}
		}
		return nil, err
	}}
}

// beginCopy begins the copy, or refuses it.
func (m untypedMigration) beginCopy(ctx context.Context, b *model.Batch) error {
	b.Done = true
	if err := m.refuseTenant(b.DB); err != nil {
		return err
	}
	return m.state.beginCopy(ctx, b.DB, b.DryRun)
}

// beginDrop records that the drop has begun. From then on, no copy runs.
func (m untypedMigration) beginDrop(ctx context.Context, b *model.Batch) error {
	b.Done = true
	err := m.refuseTenant(b.DB)
	if err == nil && !b.DryRun {
		_, err = m.state.recordPhase("dropping").Run(ctx, b.DB)
	}
	return err
}

// refuseTenant refuses to run for one tenant: a migration has one state for all of them.
func (m untypedMigration) refuseTenant(db model.DB) error {
	if core.Tenant(db) == "" {
		return nil
	}
	return &model.ConflictError{Collection: m.docs, Reason: "a migration processes whole collections and has one " +
		"state: " +
		"run it without a tenant's scope, for all tenants at once"}
}

// restart is the write that deletes the state.
func (m untypedMigration) restart() model.Write {
	return model.Write{
		Collection: m.state.collection, Index: model.IDIndex,
		Model: &mongo.DeleteOneModel{Filter: bson.D{{Key: "_id", Value: m.state.name}}},
	}
}
