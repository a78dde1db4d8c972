package model

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/docmodel/docmodel/internal/core"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A Check finds documents that break a rule of a technique, and repairs them. Each
// technique returns its checks from its method Checks. Narrow a Check with [Check.In], or
// set Age on a copy.
//
//	for _, check := range likes.Checks() {
//		for finding, err := range check.Each(ctx, db) { … } // look only
//		progress, err := check.Job().Run(ctx, db, model.JobOptions{}) // repair
//	}
//
// A check reads the whole collection, unless its Index says otherwise. Others may write
// during the read, so an action in flight can look like a finding: see Age.
type Check struct {
	Name       string // what it looks for, and where; unique in a model
	Collection string // the collection examined
	Rule       string // one sentence, true of every document without a finding
	Index      string // the index that serves it; "" means all documents are read

	// Age is how long a finding must have existed before Job repairs it. 0 repairs at
	// once, because no action in flight looks like a finding, or none is disturbed by a
	// repair.
	Age time.Duration

	// Pipeline runs on Collection. Each result is a finding: see Tell.
	Pipeline mongo.Pipeline

	// Read replaces Pipeline where one pipeline isn't enough. It examines the documents
	// of Collection that match filter; nil means all.
	Read func(ctx context.Context, db DB, filter bson.D) iter.Seq2[Finding, error]

	// Queries are the first queries of Read, for String.
	Queries []*Aggregate[bson.Raw]

	// Tell completes a finding of Pipeline from its Detail, the pipeline's result. If
	// Tell is nil, the result's _id is the document's.
	Tell func(f *Finding) error

	// Mend returns the plan that repairs findings of this check. Each write matches its
	// document only as it was found. nil means that a person must decide.
	Mend func(found []Finding) Plan

	// MendAll replaces Mend where a plan isn't enough. It repairs all findings older than
	// age, the check's Age.
	MendAll func(ctx context.Context, db DB, age time.Duration) (Result, error)

	// Err is bad input: every run returns it and reads nothing.
	Err error

	filter    bson.D
	technique string // set by Model.Audit
}

// A Finding reports one place where stored documents break a rule.
type Finding struct {
	Check      string // the check's Name
	Collection string
	ID         bson.RawValue // the document's _id; zero for none
	Problem    string
	Since      time.Time // when the problem began; zero if not known
	Detail     bson.Raw  // what the check read, in its own fields
	Technique  string    // the check's technique: denorm.Counter; "" outside an Audit
}

// String returns the document, if there is one, and the problem, on one line.
func (f Finding) String() string {
	if f.ID.Type == 0 {
		return f.Collection + ": " + f.Problem
	}
	return fmt.Sprintf("%s %s: %s", f.Collection, shell(f.ID), f.Problem)
}

// In returns the check for the documents that match filter and the filters of earlier
// calls.
func (c Check) In(filter bson.D) Check {
	filter, err := (*core.Codec)(nil).CopyD(filter)
	c.filter = And(c.filter, filter)
	if c.Err == nil && err != nil {
		c.Err = &ValueError{Collection: c.Collection, Field: "filter", Reason: err.Error()}
	}
	return c
}

// Find returns the check's pipeline. Its results are the Detail of the findings. For a
// check with a Read instead of a Pipeline, every run is refused with a [*ValueError].
//
// Cost: one command. Without an Index it reads every document of Collection that matches
// the filters of In.
func (c Check) Find() *Aggregate[bson.Raw] {
	a := Aggregation{Collection: c.Collection, Index: c.Index, Err: c.Err}
	switch {
	case c.Err != nil:
	case c.Pipeline == nil:
		a.Err = &ValueError{Collection: c.Collection, Field: "Check", Value: c.Name, Reason: "has no Pipeline: it reads more than once, use Each"}
	case len(c.filter) > 0:
		a.Pipeline = append(mongo.Pipeline{{{Key: "$match", Value: c.filter}}}, c.Pipeline...)
	default:
		a.Pipeline = c.Pipeline
	}
	return &Aggregate[bson.Raw]{a}
}

// Each yields the findings, batch by batch. It ends at the first error.
//
// Cost: that of [Check.Find], or what the technique states for its Read.
func (c Check) Each(ctx context.Context, db DB) iter.Seq2[Finding, error] {
	if !observed(db) {
		return c.each(ctx, db)
	}
	return func(yield func(Finding, error) bool) {
		ctx, op := begin(ctx, db, "check", c.Name, c.Collection, 0)
		defer op.end()
		var failure error
		for f, err := range c.each(ctx, db) {
			if err != nil {
				failure = err
			}
			if !yield(f, err) {
				break
			}
		}
		op.settle(failure)
	}
}

func (c Check) each(ctx context.Context, db DB) iter.Seq2[Finding, error] {
	if c.Read != nil && c.Err == nil {
		return c.signed(c.Read(ctx, db, c.filter))
	}
	return func(yield func(Finding, error) bool) {
		for row, err := range c.Find().Each(ctx, db) {
			f := Finding{Check: c.Name, Collection: c.Collection, Detail: row, Technique: c.technique}
			if err == nil {
				err = c.tell(&f)
			}
			if !yield(f, err) || err != nil {
				return
			}
		}
	}
}

// signed sets the Technique of findings.
func (c Check) signed(found iter.Seq2[Finding, error]) iter.Seq2[Finding, error] {
	return func(yield func(Finding, error) bool) {
		for f, err := range found {
			if f.Technique = c.technique; !yield(f, err) {
				return
			}
		}
	}
}

// All returns every finding. No findings isn't an error.
func (c Check) All(ctx context.Context, db DB) (found []Finding, _ error) {
	for f, err := range c.Each(ctx, db) {
		if err != nil {
			return nil, err
		}
		found = append(found, f)
	}
	return found, nil
}

func (c Check) tell(f *Finding) error {
	if c.Tell == nil {
		f.ID, f.Problem = f.Detail.Lookup("_id"), shell(f.Detail)
		return nil
	}
	return c.Tell(f)
}

// String returns the mongosh command, or the Queries of Read. A refused check returns a
// comment with the reason.
func (c Check) String() string {
	if c.Read == nil || c.Err != nil {
		return c.Find().String()
	}
	lines := make([]string, len(c.Queries))
	for i, q := range c.Queries {
		lines[i] = q.String()
	}
	return strings.Join(lines, "\n")
}
