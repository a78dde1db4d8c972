package model

import (
	"fmt"
	"reflect"
)

// Status says what became of a step.
type Status uint8

const (
	NotSent Status = iota // the plan ended before it, or the server refused it and wrote nothing
	Applied               // the server answered for it
	Already               // it matched nothing, or met its own document, because it was applied before
	Unknown               // sent, and no answer came, or the server was interrupted: it may have been applied, wholly or in part
)

func (s Status) String() string { return nameOf(s, "not sent", "applied", "already", "unknown") }

// nameOf is the name of one of a few values, or for any other value its type and number.
func nameOf[T ~uint8](v T, names ...string) string {
	if int(v) < len(names) {
		return names[v]
	}
	return fmt.Sprintf("%s(%d)", reflect.TypeFor[T](), uint8(v))
}

// A Result says what a run did. On an error it says how far the run came.
type Result struct {
	Steps   []StepResult  // one for each step of the plan
	Batches []BatchResult // one for each command that was answered; in a transaction several may have been one command
}

// A StepResult is what became of one step.
type StepResult struct {
	Status     Status
	Batch      int // index in Result.Batches; -1 when the step has none
	UpsertedID any // the _id of the document that an upsert inserted, else nil
}

// A BatchResult is the server's answer to one command. Its numbers are totals of the steps that shared the command; a
// $merge or $out reports none.
type BatchResult struct {
	Collection string
	First      int // index of its first step
	Count      int // how many steps shared it

	Inserted, Matched, Modified, Deleted, Upserted int64
}

// Modified returns how many documents the run inserted, changed or deleted, as far as the server reports it.
func (r Result) Modified() int64 {
	var n int64
	for _, b := range r.Batches {
		n += b.Inserted + b.Modified + b.Deleted + b.Upserted
	}
	return n
}

// Already reports whether every step had been applied before.
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

// followedBy is the result of two plans, one after the other.
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
