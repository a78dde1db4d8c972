package model

import (
	"fmt"
	"reflect"
)

// Status is the outcome of a step.
type Status uint8

const (
	NotSent Status = iota // not sent, or refused by the server without effect
	Applied               // confirmed by the server
	Already               // applied before: it matched nothing, or met its own document
	Unknown               // no answer, or the server was interrupted: perhaps applied, wholly or in part
)

func (s Status) String() string { return nameOf(s, "not sent", "applied", "already", "unknown") }

// nameOf returns the name of a value, or its type and number if it has no name.
func nameOf[T ~uint8](v T, names ...string) string {
	if int(v) < len(names) {
		return names[v]
	}
	return fmt.Sprintf("%s(%d)", reflect.TypeFor[T](), uint8(v))
}

// A Result reports what a run did, and after an error how far it got.
type Result struct {
	Steps []StepResult // one per step of the plan
	// Batches has one element per answered command. In a transaction, several elements
	// may be one command.
	Batches []BatchResult
}

// A StepResult is the outcome of one step.
type StepResult struct {
	Status     Status
	Batch      int // index in Result.Batches, or -1
	UpsertedID any // that an upsert inserted, or nil
}

// A BatchResult is the server's answer to one command. Its numbers are totals of all its
// steps, and zero for $merge and $out.
type BatchResult struct {
	Collection string
	First      int // index of its first step
	Count      int // number of steps in it

	Inserted, Matched, Modified, Deleted, Upserted int64
}

// Modified returns how many documents the run inserted, changed or deleted, as the server
// reported.
func (r Result) Modified() int64 {
	var n int64
	for _, b := range r.Batches {
		n += b.Inserted + b.Modified + b.Deleted + b.Upserted
	}
	return n
}

// Already reports whether every step was applied before.
func (r Result) Already() bool {
	for _, s := range r.Steps {
		if s.Status != Already {
			return false
		}
	}
	return len(r.Steps) > 0
}

func newResult(p Plan) Result {
	r := Result{Steps: make([]StepResult, len(p.Steps))}
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
	return r
}
