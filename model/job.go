package model

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/runctx"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A Job is long work on collections in use: a migration, a backfill, a rebuild, or the
// repairs of a [Check]. The job runs its stages in order. You can stop the job after any
// batch. With [JobOptions].From or JobOptions.Checkpoint, the next run continues after
// this batch. Documents that are inserted during a run can need another run.
type Job struct {
	Name   string // shown in checkpoints and errors
	Stages []Stage

	// Err reports bad input. Run returns Err.
	Err error
}

// A Stage is one step of a [Job]. The stage reads a collection in batches, ordered by
// _id. Plan or Work returns a plan for each batch. If Do is set, the stage only calls Do,
// until [Batch].Done is true.
//
// After [ErrStale], or a write to a missing document, the job repeats the batch or the
// call of Do. The maximum is 8 attempts. After a crash, a run with JobOptions.Checkpoint
// repeats only the last batch or call.
type Stage struct {
	Name string // used by String, checkpoints and an [Observer]; can be ""

	Collection string   // the collection to read
	Filter     bson.D   // the documents to read; nil means all
	Projection bson.D   // the fields that Plan needs besides _id
	BatchSize  int      // documents in a batch; 0 means 500
	Keyed      []string // collections whose _ids carry the tenant: see Aggregation.Keyed

	// Pipeline is applied to each batch. The result must contain each document once, with
	// the document's _id.
	Pipeline mongo.Pipeline

	// Plan returns a batch's plan, and must have no side effects. A [Transactional] plan
	// without PlanOptions.AllowPartial gives [ErrTransactional].
	Plan func(docs []bson.Raw) (Plan, error)

	// Work is used instead of Plan, and can read more data. Work can call [Batch.Leave].
	// Work must not write.
	Work func(ctx context.Context, b *Batch) (Plan, error)

	// Do continues the work from the position in [Batch].After. It sets Batch.Done at the
	// end of the stage. Do must be idempotent.
	Do func(ctx context.Context, b *Batch) error

	// If Again returns true for an error, the job repeats the batch or call, as after
	// [ErrStale].
	Again func(error) bool

	check  *Check // finds and repairs, instead of Plan
	stored bool   // the stage reads _ids as they are stored, and also documents that Scope.Delete marked
	acts   bool   // Do runs actions of a store, which use transactions
}

// A Batch is the argument of [Stage].Work and [Stage].Do. Work gets documents. Do reads
// DryRun, Size and After. Do sets After, Documents, Writes, Modified and Done.
type Batch struct {
	DB   DB
	Docs []bson.Raw // the documents for Work; nil for Do

	DryRun                      bool          // if true, Do must not write
	Size                        int           // how many documents Do handles; 0 lets Do choose
	After                       bson.RawValue // the position that Do's previous call set
	Documents, Writes, Modified int64         // documents read, writes planned, documents modified
	Done                        bool          // true ends the stage

	left []Finding
}

// Leave adds findings about documents that the [Stage] leaves unchanged. [Job.Run]
// returns them in a [*LeftError].
func (b *Batch) Leave(found ...Finding) {
	for _, f := range found {
		f.ID.Value, f.Detail = bytes.Clone(f.ID.Value), bytes.Clone(f.Detail) // they outlive their batch
		b.left = append(b.left, f)
	}
}

// JobOptions say how to run a job.
type JobOptions struct {
	// DryRun makes Run plan, but not write.
	DryRun    bool
	BatchSize int      // documents in a batch; 0 means the BatchSize of each stage
	From      Progress // the Progress of an earlier run; zero begins at the start

	// Checkpoint names a collection. There, each Job.Name has a document with the job's
	// place. A later run continues from this place. The last batch deletes the document.
	// To start again, delete the document.
	//
	// Cost: one command per batch, one at the start, one at the end.
	Checkpoint string

	// Progress is called after each batch. If Progress returns an error, Run returns it.
	Progress func(Progress) error
}

// Progress is how far a job has come.
type Progress struct {
	Stage     int           // position in Job.Stages, from 0
	After     bson.RawValue // the last _id processed; in a stage with Do, the last Batch.After
	Batches   int
	Documents int64     // documents read
	Writes    int64     // planned writes; a dry run doesn't run them
	Modified  int64     // documents inserted, changed or deleted
	Left      int64     // findings that the job couldn't resolve
	Findings  []Finding // the first 1,000 unresolved findings
	Done      bool
}

// String returns the stage and the counts in one line, for logs.
func (p Progress) String() string {
	s := fmt.Sprintf("stage %d: batches %d, documents read %d, writes planned %d, documents modified %d, findings left %d",
		p.Stage, p.Batches, p.Documents, p.Writes, p.Modified, p.Left)
	if p.Done {
		s += ", done"
	}
	return s
}

// Run runs the job, and returns the job's Progress, even with an error. If the job can't
// process some documents, Run processes the rest and then returns a [*LeftError].
//
// Cost of a [Stage] with Plan: one query by _id for each batch, and the commands of the
// batch's plan. The end of the Stage costs two commands.
func (j Job) Run(ctx context.Context, db DB, o JobOptions) (Progress, error) {
	ctx, op := begin(ctx, db, "job", j.Name, "", 0)
	defer op.end()
	p, err := j.run(ctx, db, o)
	op.settle(err)
	return p, err
}

func (j Job) run(ctx context.Context, db DB, o JobOptions) (Progress, error) {
	p := Progress{Stage: o.From.Stage, After: o.From.After}
	ctx = withRouter(runctx.Deciding(ctx), db)
	if err := j.usable(o); err != nil {
		return p, err
	}
	if err := core.CheckRun(ctx, db); err != nil {
		return p, err
	}
	if !slices.ContainsFunc(j.Stages, func(s Stage) bool { return s.stored || s.acts }) {
		db = withoutTx(db)
	}
	if o.Checkpoint != "" {
		if err := core.CheckTenantNames(ctx, db, o.Checkpoint); err != nil {
			return p, err
		}
	}
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

var errJobName = errors.New("docmodel: Job.Name is empty: a job with a Checkpoint needs a name")

// usable says why a job can't run.
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
			return &ValueError{
				Collection: s.Collection, Field: "Stage",
				Reason: "needs a Collection and a Plan or Work, or a Do",
			}
		}
	}
	return nil
}

// stage does the batches of a stage from the current place.
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

// turn does one batch, again after concurrent writes, and adds it to the progress. The
// writes of a failed attempt count too.
func (s Stage) turn(
	ctx context.Context, fresh Batch, do func(context.Context, *Batch) error, p *Progress,
) (Batch, error) {
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
		stale := s.Do != nil && outdated(err) // pass repeats stale plans itself
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

// maxLeft is the maximum number of findings in a Progress.
const maxLeft = 1000

// String returns the mongosh commands that read the first batch of each [Stage]. For
// stages with Do, only names appear. For a job with Err, String returns the error.
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
