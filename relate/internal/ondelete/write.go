package ondelete

import (
	"context"
	"slices"

	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/relate/internal/idref"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// planFrom is the plan that deletes the levels from a depth on, and lets go of all.
func (o *Deletion) planFrom(depth int, reach Reach) model.Plan {
	var p model.Plan
	for _, level := range slices.Backward(reach.Levels) {
		for _, r := range o.rules {
			if r.action != nullify || r.ref.To != level.Collection {
				continue
			}
			keep := owners(level, r.ref)
			for _, ids := range idref.Chunked(level.IDs, o.chunk) {
				p.Steps = append(p.Steps, r.ref.UpdateMany(append(r.ref.Refers(ids), keep...), r.ref.Detach(ids)))
			}
		}
		if level.Depth >= depth {
			steps, err := o.deletes(level)
			if err != nil {
				return model.RefusedPlan(level.Collection, err)
			}
			p.Steps = append(p.Steps, steps...)
		}
	}
	if len(p.Steps) > 1 {
		p.Leaves = "levels that aren't deleted yet; a second run with the same ids deletes them"
	}
	return p
}

// owners is the condition that leaves out the documents that own those of a level along
// a reference. They go too, and their lists are what a second run finds the level by.
func owners(level Level, ref idref.Ref) bson.D {
	var ids []bson.RawValue
	for _, via := range level.Via {
		if via.Owned && via.by(ref) {
			ids = append(ids, via.Sources...)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	return bson.D{{Key: "_id", Value: mql.Op("$nin", idref.AsArray(ids))}}
}

// deletes is what deletes one level: the first documents by their ids, others if they
// still hold what led to them.
func (o *Deletion) deletes(level Level) (steps []model.Step, _ error) {
	remove := func(filter bson.D) model.Write {
		return model.Write{Collection: level.Collection, Index: model.IDIndex, Model: &mongo.DeleteManyModel{Filter: filter}}
	}
	if len(level.Via) == 0 {
		for _, ids := range idref.Chunked(level.IDs, o.chunk) {
			steps = append(steps, remove(commands.AmongIDs(ids)))
		}
	}
	for _, via := range level.Via {
		ref, err := o.along(via)
		if err != nil {
			return nil, err
		}
		for _, ids := range idref.Chunked(via.IDs, o.chunk) {
			filter := commands.AmongIDs(ids)
			if !via.Owned {
				filter = append(filter, ref.Refers(idref.AsArray(via.Sources))...)
			}
			steps = append(steps, remove(filter))
		}
	}
	return steps, nil
}

// along is the reference of the rule by which documents were reached.
func (o *Deletion) along(via Via) (idref.Ref, error) {
	for _, r := range o.rules {
		if (r.action == owns && via.Owned || r.action == cascade && !via.Owned) && via.by(r.ref) {
			return r.ref, nil
		}
	}
	return idref.Ref{}, o.root.Refuse("Via", nil, "no rule of this deletion follows "+via.From+"."+via.Path+" → "+via.To)
}

// Change is the change that deletes what is reached from some documents.
func (o *Deletion) Change(roots []Level, err error) model.Change[Reach] {
	return model.Change[Reach]{
		Name: "delete policies of " + o.root.Name(),
		Read: func(ctx context.Context, db model.DB) (Reach, error) {
			if err != nil {
				return Reach{}, err
			}
			return o.walk(ctx, db, roots)
		},
		Decide: func(reach Reach) (model.Plan, error) { return o.planFrom(0, reach), nil },
		Err:    err,
	}
}

// Sweep is the change that deletes what refers to what was reached before, and is gone.
func (o *Deletion) Sweep(reach Reach) model.Change[Reach] {
	var roots []Level
	for _, level := range reach.Levels {
		roots = append(roots, Level{Collection: level.Collection, IDs: rawValues(idref.AsArray(level.IDs))})
	}
	change := o.Change(nil, nil)
	change.Read = func(ctx context.Context, db model.DB) (Reach, error) {
		gone, queries, err := o.gone(ctx, db, roots)
		if err != nil {
			return Reach{}, err
		}
		late, err := o.walk(ctx, db, gone)
		late.Queries += queries
		return late, err
	}
	change.Decide = func(late Reach) (model.Plan, error) { return o.planFrom(1, late), nil } // the first ones are gone
	return change
}
