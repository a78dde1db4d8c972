package eventlog

import (
	"context"
	"fmt"

	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// makeRebuildJob is the job that fills a new generation.
func (p *untypedProjection) makeRebuildJob() model.Job {
	name := "rebuild " + p.docs.Name()
	return model.Job{
		Name: name,
		Stages: []model.Stage{{Name: "fill the new generation", Do: func(ctx context.Context, b *model.Batch) error {
			return p.fillBatch(ctx, b, p.beginBuilding, nil)
		}}},
	}
}

// makeSwitchJob is the job that makes the new generation live.
func (p *untypedProjection) makeSwitchJob() model.Job {
	name := "switch " + p.docs.Name()
	return model.Job{
		Name: name,
		Stages: []model.Stage{{
			Name: "close the live generation, and fill the new one",
			Do: func(ctx context.Context, b *model.Batch) error {
				return p.fillBatch(ctx, b, p.closeLive, p.finishSwitch)
			},
		}},
	}
}

// A passing is the place of a pass over all keys.
type passing struct {
	Generation int64 `bson:"generation"`
	// the _id of the first commit of the last key
	After string `bson:"after"`
}

// beginBuilding returns the pointer with a new generation, unless this revision has one.
func (p *untypedProjection) beginBuilding(at viewPointer) (viewPointer, error) {
	switch {
	case at.Building != 0 && at.BuildingRevision == p.fold.Revision:
		return at, nil
	case at.Building != 0:
		return at, p.docs.Refuse("Revision", p.fold.Revision,
			fmt.Sprintf("revision %[2]d is building generation %[1]d: Switch to it or Drop it first",
				at.Building, at.BuildingRevision))
	case at.LiveRevision > p.fold.Revision:
		return at, p.docs.Refuse("Revision", p.fold.Revision,
			fmt.Sprintf("is older than the live generation's revision, %d", at.LiveRevision))
	}
	// Numbers are never used again: a dropped generation may still get late writes.
	to := at
	to.Building = max(at.Last, at.Live) + 1
	to.BuildingRevision, to.Last = p.fold.Revision, to.Building
	return to, nil
}

// closeLive returns the pointer with a closed live generation, if there is a new one.
func (p *untypedProjection) closeLive(at viewPointer) (viewPointer, error) {
	to := at
	switch {
	case at.Building != 0 && at.BuildingRevision != p.fold.Revision:
		return at, p.docs.Refuse("Revision", p.fold.Revision,
			fmt.Sprintf("revision %[2]d is building generation %[1]d: Drop it first, or switch with that revision",
				at.Building, at.BuildingRevision))
	case at.Building != 0:
		to.Closing = true
	}
	return to, nil
}

// finishSwitch returns the pointer with the new generation as the live one.
func (p *untypedProjection) finishSwitch(at viewPointer) viewPointer {
	return viewPointer{ID: at.ID, Live: at.Building, LiveRevision: at.BuildingRevision, Last: at.Last}
}

// fillBatch does one batch of a pass. first changes the pointer before the pass, last
// after it.
func (p *untypedProjection) fillBatch(
	ctx context.Context, b *model.Batch,
	first func(viewPointer) (viewPointer, error), last func(viewPointer) viewPointer,
) error {
	var place passing
	if doc, ok := b.After.DocumentOK(); ok {
		if err := bson.Unmarshal(doc, &place); err != nil {
			return err
		}
	}
	at, err := p.readPointer(ctx, b.DB)
	if err != nil {
		return err
	}
	// The first batch of a run. A run that continues after a crash has the generation in
	// its place.
	if place.Generation == 0 {
		to, err := first(at)
		if err == nil && to != at {
			err = p.setPointer(ctx, b, at, to)
		}
		if err != nil {
			return err
		}
		at, place.Generation = to, to.Building
	}
	switch {
	// nothing is being built, or all was done
	case place.Generation == 0, at.Building == 0 && at.Live == place.Generation:
		b.Done = true
		return nil
	case b.DryRun: // the pointer may not say so
	case at.Building != place.Generation:
		return p.docs.Refuse("generation", place.Generation,
			"is no longer being built: another process dropped it or switched to it while the job ran")
	case last != nil && !at.Closing:
		return p.docs.Refuse("generation", place.Generation,
			"accepts writes again, since another process changed the pointer while the job ran: run Switch again")
	}
	// An empty batch ends the pass.
	n, err := p.fillKeys(ctx, b, &place)
	if err != nil {
		return err
	}
	if b.Done = n == 0; b.Done && last != nil {
		if err := p.setPointer(ctx, b, at, last(at)); err != nil {
			return err
		}
	}
	b.After, err = core.RawValue(place)
	return err
}

// setPointer writes the pointer, unless the job is a dry run.
func (p *untypedProjection) setPointer(ctx context.Context, b *model.Batch, from, to viewPointer) error {
	b.Writes++
	if b.DryRun {
		return nil
	}
	r, err := p.movePointer(from, to).Run(ctx, b.DB)
	b.Modified += r.Modified()
	return err
}

// batchKeys is the number of keys in a batch, if the job's options don't say.
const batchKeys = 100

// fillKeys brings the documents of the next keys up to date, and returns their number. A
// key is found by its first commit, the only one with first 1.
func (p *untypedProjection) fillKeys(ctx context.Context, b *model.Batch, place *passing) (int, error) {
	size := int64(b.Size)
	if size == 0 {
		size = batchKeys
	}
	firsts, err := (&model.Find[bson.Raw]{Query: model.Query{
		Collection: p.log.Docs.Name(), Keyed: true,
		Filter:     bson.D{mql.E("_id", mql.Op("$gt", place.After)), mql.E("first", 1)},
		Projection: commands.ProjectFields("key"), Sort: bson.D{mql.E("_id", 1)}, Limit: size,
		Index: model.IDIndex, Deleted: true,
	}}).All(ctx, b.DB)
	if err != nil {
		return 0, err
	}
	var steps []model.Step
	for _, first := range firsts {
		k, err := p.decodeKey(first)
		if err != nil {
			return 0, err
		}
		doc, err := p.fold.readStored(ctx, b.DB, p.nameGeneration(place.Generation), k.value)
		if err != nil {
			return 0, err
		}
		s, err := p.fold.decodeState(doc)
		if err != nil {
			return 0, err
		}
		now, err := p.log.replayCommits(ctx, b.DB, p.fold, k, s, maxVersion, nil)
		if err != nil {
			return 0, err
		}
		// A stream may have brought the document up to date already.
		if now.Version > s.Version {
			w, err := p.fold.putState(p.nameGeneration(place.Generation), k, now)
			if err != nil {
				return 0, err
			}
			steps = append(steps, w)
		}
		place.After = first.Lookup("_id").StringValue()
	}
	b.Documents, b.Writes = int64(len(firsts)), b.Writes+int64(len(steps))
	if len(steps) == 0 || b.DryRun {
		return len(firsts), nil
	}
	r, err := commands.PlanLeaving("some documents of the new generation; the next run of the job adds the others",
		steps...).Run(ctx, b.DB)
	b.Modified += r.Modified()
	return len(firsts), err
}
