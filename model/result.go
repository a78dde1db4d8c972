package model

// Status is the outcome of one [Step] of a plan.
type Status uint8

const (
	NotSent Status = iota // not sent, refused, unmatched or rolled back
	Applied               // confirmed by the server
	Already               // applied by an earlier run
	Unknown               // no answer or an interruption: perhaps applied, wholly or in part
)

func (s Status) String() string {
	switch s {
	case Applied:
		return "applied"
	case Already:
		return "already"
	case Unknown:
		return "unknown"
	}
	return "not sent"
}

// A Result reports which steps a run of a plan applied, even after an error.
type Result struct {
	Steps []StepResult // one result per step of the plan
	// Batches has the server's answers, one per group of steps. Usually, a group is one
	// command: see [Plan]. A bulkWrite command can contain several groups.
	Batches []BatchResult

	applied bool // of a plan that is Applied and has no steps
}

// A StepResult is the outcome of one step.
type StepResult struct {
	Status     Status
	Batch      int // index in Result.Batches; -1 means none
	UpsertedID any // the _id from an upsert, or nil
}

// A BatchResult is the server's answer to one group of steps (see [Result].Batches), with
// the group's totals. For a $merge or $out, the totals are 0.
type BatchResult struct {
	Collection string
	First      int // index of the first step
	Count      int // the number of steps

	Inserted, Matched, Modified, Deleted, Upserted int64
}

// Modified returns the number of inserted, changed and deleted documents.
func (r Result) Modified() int64 {
	var n int64
	for _, b := range r.Batches {
		n += b.Inserted + b.Modified + b.Deleted + b.Upserted
	}
	return n
}

// Already reports whether an earlier run did the whole work. It is true if an earlier run
// applied every step. For a plan without steps, it is the value of [Plan].Applied.
func (r Result) Already() bool {
	for _, s := range r.Steps {
		if s.Status != Already {
			return false
		}
	}
	return len(r.Steps) > 0 || r.applied
}

func newResult(p Plan) Result {
	r := Result{Steps: make([]StepResult, len(p.Steps)), applied: p.Applied && len(p.Steps) == 0}
	for i := range r.Steps {
		r.Steps[i].Batch = -1
	}
	for _, i := range p.own {
		r.Steps[i].Status = Already
	}
	return r
}

func (r *Result) mark(first, count int, s Status) {
	for i := first; i < first+count; i++ {
		r.Steps[i].Status = s
	}
}

// followedBy returns the result of two plans that ran one after the other.
func (r Result) followedBy(more Result) Result {
	for _, s := range more.Steps {
		if s.Batch >= 0 {
			s.Batch += len(r.Batches)
		}
		r.Steps = append(r.Steps, s)
	}
	r.Batches = append(r.Batches, more.Batches...)
	r.applied = r.applied && more.applied
	return r
}
