package model

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/runctx"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A Job is work that takes long, on collections that are in use: a migration, a backfill, a rebuild, the mending of what a [Check]
// finds. It does its stages in order, each batch by batch. It can be stopped after each batch, by its context or by its
// Progress function. It goes on there when it is run with [JobOptions].From or with a Checkpoint.
//
// Documents that are inserted while a stage passes through their collection are seen if they sort after the batch in hand. Run
// a job again if it must see all.
type Job struct {
	Name   string  // what it is called in a checkpoint and in errors
	Stages []Stage // in the order in which they are done

	// Err is bad input: Run returns it, and nothing is read.
	Err error
}

// A Stage is a part of a [Job]: a pass through a collection, in batches in the order of _id, or work that Do divides by itself.
type Stage struct {
	Name string // what the stage does, in a few words, for String and errors; may be ""

	// A pass goes through Collection and hands each batch to Plan.
	Collection string
	Filter     bson.D // which documents; nil means all
	Projection bson.D // which fields Plan needs; _id comes in any case
	BatchSize  int    // 0 means 500; JobOptions.BatchSize comes before it

	// Pipeline is applied to each batch by the server before Plan sees it: for what a $lookup tells. It must keep each
	// document's _id, and neither drop nor multiply documents.
	Pipeline mongo.Pipeline

	// Plan computes what to write for a batch of documents, purely. Its plans must not be transactional, for a batch that
	// was cut is planned and run again. ErrStale, or a document that is gone, makes the job read the batch again, up to 8 times in all.
	Plan func(docs []bson.Raw) (Plan, error)

	// Work takes the place of Plan where the plan needs more than the batch's Docs: it may read what belongs to them, and report
	// documents that it leaves. It must not write.
	Work func(ctx context.Context, b *Batch) (Plan, error)

	// Do takes the place of a pass. It does one part of the work, and is called until it sets Done. A part that was cut is done
	// again, so it must do nothing twice. ErrStale, or a document that is gone, makes the job call it again, up to 8 times in all.
	Do func(ctx context.Context, b *Batch) error

	// Again says which errors, besides ErrStale, mean that others wrote at the same time, so that the batch is read and planned again.
	Again func(error) bool

	check *Check // finds and mends, instead of Plan
}

// A Batch is what a stage has in hand.
type Batch struct {
	DB   DB
	Docs []bson.Raw // of a pass

	// Of Do: DryRun asks it to write nothing. Size is how many documents to do at a time, 0 for its own choice. After is what it set before, in an earlier run too if there is a checkpoint. The
	// others are for it to set: how many documents it read, planned to write and wrote, and that the stage is through.
	DryRun                      bool
	Size                        int
	After                       bson.RawValue
	Documents, Writes, Modified int64
	Done                        bool

	left []Finding
}

// Leave reports documents that the stage leaves as they are, though they should be written. The job goes on without them.
func (b *Batch) Leave(found ...Finding) {
	for _, f := range found {
		f.ID.Value, f.Detail = bytes.Clone(f.ID.Value), bytes.Clone(f.Detail) // they outlive their batch
		b.left = append(b.left, f)
	}
}

// JobOptions say how to run a job. The zero value runs it from the start to the end.
type JobOptions struct {
	DryRun    bool     // plan everything, write nothing
	BatchSize int      // how many documents at a time; 0 means what each stage says
	From      Progress // begin where an earlier run was: the Progress that it returned; the zero value begins at the start

	// Checkpoint names a collection in which the job keeps its place under its name, so that a stopped job goes on by
	// itself. "" keeps none. A finished job's checkpoint is deleted. A dry run reads it, and leaves it. It costs a command per batch,
	// one to begin and one to end.
	//
	// The place is the name of a stage, and the last _id of it. A job that has no stage of that name any more is refused with a
	// [*ValueError], and nothing is done: delete the checkpoint to begin anew.
	Checkpoint string

	// Progress is told of each batch after it is written. An error from it stops the job, which returns it.
	Progress func(Progress) error
}

// Progress is how far a job has come.
type Progress struct {
	Stage     int           // which stage is in hand: an index of Job.Stages
	After     bson.RawValue // the last _id of the stage that is done
	Batches   int
	Documents int64     // read
	Writes    int64     // planned steps
	Modified  int64     // documents inserted, changed or deleted; 0 in a dry run
	Left      int64     // findings about documents that were left as they were
	Findings  []Finding // the first thousand of them
	Done      bool
}

// A LeftError says that a job went through, and left documents as they were.
type LeftError struct {
	Job      string
	Left     int64
	Findings []Finding // the first thousand
}

// Error names the first three findings.
func (e *LeftError) Error() string {
	noun := "findings"
	if e.Left == 1 {
		noun = "finding"
	}
	s := fmt.Sprintf("docmodel: job %s couldn't process %d %s", e.Job, e.Left, noun)
	for i, f := range e.Findings[:min(len(e.Findings), 3)] {
		s += []string{": ", "; "}[min(i, 1)] + f.String()
	}
	if e.Left > 3 {
		s += "; …"
	}
	return s
}

// Run runs the job. It returns how far it came, on an error too. When documents were left as they were, it returns a
// [*LeftError] once it is through.
//
// Cost: for each batch of a pass one command that reads it, served by the index on _id as far as Filter lets it, and those of its
// plan; two more to find the end of a pass, of which the second sees to _ids of another type.
func (j Job) Run(ctx context.Context, db DB, o JobOptions) (Progress, error) {
	ctx, op := begin(ctx, db, "job", j.Name, "", 0)
	defer op.end()
	p, err := j.run(ctx, db, o)
	op.settle(err)
	return p, err
}

func (j Job) run(ctx context.Context, db DB, o JobOptions) (Progress, error) {
	p := Progress{Stage: o.From.Stage, After: o.From.After}
	ctx = withRoutes(runctx.Deciding(ctx), db)
	if err := j.usable(o); err != nil {
		return p, err
	}
	if err := core.CheckRun(ctx, db); err != nil {
		return p, err
	}
	db = marking(db)
	if o.Checkpoint != "" && o.From.After.Type == 0 && o.From.Stage == 0 {
		if err := j.load(ctx, db, o, &p); err != nil {
			return p, err
		}
	}
	for !p.Done {
		if err := j.stage(ctx, db, o, &p); err != nil {
			return p, err
		}
	}
	if p.Left > 0 {
		return p, &LeftError{Job: j.Name, Left: p.Left, Findings: p.Findings}
	}
	return p, nil
}

// errJobName is returned for a checkpoint of a job that has no name.
var errJobName = errors.New("docmodel: a job needs a name to store its place")

// usable says why a job can't be run.
func (j Job) usable(o JobOptions) error {
	switch {
	case j.Err != nil:
		return j.Err
	case len(j.Stages) == 0:
		return &ValueError{Field: "Job.Stages", Value: j.Name, Reason: "is empty: a job needs at least one stage"}
	case o.Checkpoint != "" && j.Name == "":
		return errJobName
	case o.BatchSize < 0:
		return &ValueError{Field: "BatchSize", Value: o.BatchSize, Reason: "is negative: give 0 or more"}
	case o.From.Stage < 0 || o.From.Stage >= len(j.Stages):
		return &ValueError{Field: "From.Stage", Value: o.From.Stage, Reason: "isn't a stage of the job"}
	}
	for _, s := range j.Stages {
		if s.Do == nil && (s.Plan == nil && s.Work == nil && s.check == nil || s.Collection == "") {
			return &ValueError{Collection: s.Collection, Field: "Stage", Reason: "needs a Collection and a Plan or Work, or a Do"}
		}
	}
	return nil
}

// stage does the batches of a stage from the place in hand.
func (j Job) stage(ctx context.Context, db DB, o JobOptions, p *Progress) error {
	s := j.Stages[p.Stage]
	if o.BatchSize > 0 {
		s.BatchSize = o.BatchSize
	}
	turn := s.pass
	switch {
	case s.Do != nil:
		turn = s.Do
	case s.check != nil:
		turn = (&mending{stage: s, after: p.After}).batch
	}
	for {
		before := p.Batches
		b, err := s.turn(ctx, Batch{DB: db, DryRun: o.DryRun, Size: s.BatchSize, After: p.After}, turn, p)
		if err != nil {
			return fmt.Errorf("docmodel: job %s: %w", j.Name, err)
		}
		p.After, p.Done = b.After, b.Done && p.Stage == len(j.Stages)-1
		if b.Done && !p.Done {
			p.Stage, p.After = p.Stage+1, bson.RawValue{}
		}
		switch {
		case p.Done:
			err = j.forget(ctx, db, o)
		case p.Batches > before:
			err = j.save(ctx, db, o, *p)
		}
		if err == nil && o.Progress != nil && (p.Done || p.Batches > before) {
			err = o.Progress(*p)
		}
		if err != nil || b.Done {
			return err
		}
	}
}

// maxTurns is how often a batch is tried in all.
const maxTurns = 8

// turn does one batch, again while others write at the same time, and adds it to the progress. What a failed attempt wrote counts.
func (s Stage) turn(ctx context.Context, fresh Batch, do func(context.Context, *Batch) error, p *Progress) (Batch, error) {
	for n := 1; ; n++ {
		b := fresh
		err := s.attempt(ctx, n, &b, do)
		p.Modified += b.Modified
		if err == nil {
			p.Documents, p.Writes, p.Left = p.Documents+b.Documents, p.Writes+b.Writes, p.Left+int64(len(b.left))
			p.Findings = append(p.Findings, b.left[:min(len(b.left), maxLeft-len(p.Findings))]...)
			if b.Documents > 0 || s.Do != nil && (b.Writes > 0 || b.Modified > 0) {
				p.Batches++
			}
			return b, nil
		}
		stale := s.Do != nil && outdated(err)
		if again := stale || s.Again != nil && s.Again(err); !again || n == maxTurns {
			return b, err
		}
		if err := jitter(ctx, n, 0, 0); err != nil {
			return b, err
		}
	}
}

// attempt does a batch once.
func (s Stage) attempt(ctx context.Context, n int, b *Batch, do func(context.Context, *Batch) error) error {
	ctx, op := begin(ctx, b.DB, "batch", s.Name, s.Collection, n)
	defer op.end()
	err := do(ctx, b)
	op.settle(err)
	return err
}

// maxLeft is how many findings a Progress holds.
const maxLeft = 1000

// String is what each stage begins with as in mongosh: the command that reads the first batch, or the name of a stage that has a Do.
// A refused job is a comment that says why.
func (j Job) String() string {
	if j.Err != nil {
		return (&Aggregation{Err: j.Err}).String()
	}
	var lines []string
	for i, s := range j.Stages {
		if len(j.Stages) > 1 || s.Do != nil {
			lines = append(lines, strings.TrimSpace(fmt.Sprintf("// %d. %s", i+1, s.Name)))
		}
		if s.Do == nil {
			lines = append(lines, s.command())
		}
	}
	return strings.Join(lines, "\n")
}
