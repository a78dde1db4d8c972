package relate

import (
	"context"
	"fmt"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/runctx"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A Pass goes once through a live collection, in batches in the order of _id, and writes what is to be written: a phase of
// a [Migration]. It plans each batch from what it reads for it, as a model.Job; a batch's writes are idempotent, carry what
// was read in their filters, and pass over what has changed since.
//
// Cost of a batch: a command that reads the documents, one or two that read what belongs to them by an index, one that
// reads the migration's state (Copy), and one for each kind of write; nothing is written where nothing differs.
type Pass struct {
	Name string // what it is called in a checkpoint and in errors

	state  migrationState
	drops  bool
	stages []passStage
}

// passStage is one job of a pass.
type passStage struct {
	collection         string
	filter, projection bson.D
	size               int
	plan               func(b *batchReader, docs []bson.Raw) ([]model.Step, error)
}

// Run runs the pass. Options are those of a model.Job: a dry run plans everything, counts it in Writes and writes nothing;
// progress, checkpoint and stop are the job's. After is refused for a pass that goes through two collections: use a
// checkpoint; what was done already is then read again, and not written again.
//
// What changed between the read and the write of a batch is passed over: Writes counts it and Modified doesn't. Run the pass
// again.
//
// Under a tenant's [model.Policy] it is refused with a [*model.ConflictError].
//
// When documents were left as they were, Run returns a [*MigrationError] once it is through; what it could do is done.
func (p Pass) Run(ctx context.Context, db *mongo.Database, o model.JobOptions) (Passed, error) {
	var out Passed
	ctx = runctx.Deciding(ctx)
	if runctx.Tenant(ctx) != "" {
		return out, &model.ConflictError{Collection: p.stages[0].collection, Reason: "a migration goes through whole collections, and keeps one state: " +
			"run it without a tenant's policy, for all tenants at once"}
	}
	if len(p.stages) > 1 && o.After.Type != 0 {
		return out, &model.ValueError{Field: "After", Value: o.After, Reason: "the pass goes through several collections: use a Checkpoint"}
	}
	if err := model.CheckRun(ctx, db); err != nil {
		return out, err
	}
	if !p.drops {
		if err := p.state.beginCopy(ctx, db, o.DryRun); err != nil {
			return out, err
		}
	} else if !o.DryRun {
		if _, err := p.state.begin("dropping").Run(ctx, db); err != nil {
			return out, err
		}
	}
	for i := range p.stages {
		if err := p.stage(ctx, db, i, o, &out); err != nil {
			return out, err
		}
	}
	if out.Left > 0 {
		return out, &MigrationError{Name: p.Name, Left: out.Left, Mismatches: out.Mismatches}
	}
	return out, nil
}

// stage runs one job, again from the batch in hand when an insert met a document that another process stored meanwhile.
func (p Pass) stage(ctx context.Context, db *mongo.Database, i int, o model.JobOptions, out *Passed) error {
	s := p.stages[i]
	var pending []Mismatch
	before := out.Progress
	report := o.Progress
	o.Progress = func(now model.Progress) error {
		out.add(pending)
		pending = nil
		out.Progress = sum(before, now)
		out.Done = now.Done && i == len(p.stages)-1
		if report != nil && (!now.Done || out.Done) {
			return report(out.Progress)
		}
		return nil
	}
	job := model.Job{
		Name: fmt.Sprintf("%s/%d", p.Name, i+1), Collection: s.collection, Filter: s.filter, Projection: s.projection, BatchSize: s.size,
		Plan: func(docs []bson.Raw) (model.Plan, error) {
			if !p.drops {
				if _, err := p.state.begun(ctx, db); err != nil {
					return model.Plan{}, err
				}
			}
			b := &batchReader{ctx: ctx, db: db, collection: s.collection}
			steps, err := s.plan(b, docs)
			pending = b.found
			return model.NewPlan(steps...), err
		},
	}
	for try := 1; ; try++ {
		progress, err := job.Run(ctx, db, o)
		if model.DuplicateIndex(err) != model.IDIndex || try == 8 {
			return err
		}
		before, o.After = sum(before, progress), progress.After
	}
}

// sum adds up the progress of jobs.
func sum(a, b model.Progress) model.Progress {
	b.Batches += a.Batches
	b.Documents += a.Documents
	b.Writes += a.Writes
	b.Modified += a.Modified
	return b
}

// batchReader reads what belongs to the documents of a batch, and collects what is wrong with them.
type batchReader struct {
	ctx        context.Context
	db         *mongo.Database
	collection string
	found      []Mismatch
}

func (b *batchReader) report(kind MismatchKind, id bson.RawValue, ids ...bson.RawValue) {
	b.found = append(b.found, Mismatch{Kind: kind, Collection: b.collection, ID: id, IDs: ids})
}

// reportSome reports ids, if there are any.
func (b *batchReader) reportSome(kind MismatchKind, id bson.RawValue, ids []bson.RawValue) {
	if len(ids) > 0 {
		b.report(kind, id, ids...)
	}
}

func (b *batchReader) refuse(id bson.RawValue, reason string, ids ...bson.RawValue) {
	b.found = append(b.found, Mismatch{Kind: MismatchRefused, Collection: b.collection, ID: id, IDs: ids, Reason: reason})
}

// read returns the documents that have one of some values at a path, in chunks that fit a command.
func (b *batchReader) read(collection, path string, values []bson.RawValue, projection, sort bson.D) ([]bson.Raw, error) {
	const chunk, chunkBytes = 10_000, 4 << 20
	values = uniqueValues(values)
	var out []bson.Raw
	for len(values) > 0 {
		in, bytes := bson.A{}, 0
		for _, v := range values {
			if len(in) == chunk || len(in) > 0 && bytes+len(v.Value) > chunkBytes {
				break
			}
			in = append(in, v)
			bytes += len(v.Value) + 10
		}
		f := model.Find[bson.Raw]{Query: model.Query{
			Collection: collection, Projection: projection, Sort: sort,
			Filter: bson.D{{Key: path, Value: bson.D{{Key: "$in", Value: in}}}},
		}}
		docs, err := f.All(b.ctx, b.db)
		if err != nil {
			return nil, err
		}
		out = append(out, docs...)
		values = values[len(in):]
	}
	return out, nil
}

// reported are the documents with a mismatch of a kind.
func (b *batchReader) reported(kind MismatchKind) map[string]bool {
	out := map[string]bool{}
	for _, m := range b.found {
		if m.Kind == kind {
			out[bsonval.Key(m.ID)] = true
		}
	}
	return out
}

// byID is read by _id, as a map.
func (b *batchReader) byID(collection string, ids []bson.RawValue, projection bson.D) (map[string]bson.Raw, error) {
	docs, err := b.read(collection, "_id", ids, projection, nil)
	out := make(map[string]bson.Raw, len(docs))
	for _, d := range docs {
		out[bsonval.Key(d.Lookup("_id"))] = d
	}
	return out, err
}
