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

// A Check finds documents that break a rule of a technique, and mends them. A technique returns its checks from its
// method Checks. A Check is a plain value: narrow it with [Check.In], and change its Age on a copy.
//
//	for _, check := range likes.Checks() {
//		for finding, err := range check.Each(ctx, db) { … } // look only
//		progress, err := check.Job().Run(ctx, db, model.JobOptions{}) // find and mend
//	}
//
// A check of a technique reads the whole collection, unless its Index says otherwise. It reads while others write, so an
// action that is under way can look like a finding: Age is how long a finding must have stood before Job mends it.
type Check struct {
	Name       string // what it looks for, in which collection: unique among a model's checks
	Collection string // the collection whose documents it examines
	Rule       string // what is true of every document when the check finds nothing: one sentence
	Index      string // the index that serves it; "" when it reads every document

	// Age is how long a finding must have stood before Job mends it. 0 mends at once: the technique returns that when no
	// action under way looks like a finding, or when mending can't disturb one.
	Age time.Duration

	// Pipeline finds. It runs on the documents of Collection, and each of its results is a finding: see Tell.
	Pipeline mongo.Pipeline

	// Read finds, where one pipeline isn't enough. It examines the documents of Collection that match the filter, nil for all.
	Read func(ctx context.Context, db DB, filter bson.D) iter.Seq2[Finding, error]

	// Queries are those that Read begins with, for String.
	Queries []*Aggregate[bson.Raw]

	// Tell completes a finding of Pipeline, whose Detail is the result. nil takes the result's _id for the document's.
	Tell func(f *Finding) error

	// Mend returns the plan that mends findings of this check. Each of its writes asks that the document is as it was
	// found. nil means that no write can mend them: a person has to decide.
	Mend func(found []Finding) Plan

	// MendAll mends everything that the check finds and that has stood for an age, the check's Age. It takes the place of
	// Mend where mending needs more than a plan.
	MendAll func(ctx context.Context, db DB, age time.Duration) (Result, error)

	// Err is bad input: every run returns it, and nothing is read.
	Err error

	filter    bson.D
	technique string // whose check it is, in an Audit
}

// A Finding is one place where stored documents break a rule.
type Finding struct {
	Check      string        // the name of the check that found it
	Collection string        // the collection of the document
	ID         bson.RawValue // the document's _id
	Problem    string        // what is wrong, in words
	Since      time.Time     // when it began; zero when the documents don't say
	Detail     bson.Raw      // what the check read: its fields are the check's own
	Technique  string        // whose check it is: denorm.Counter; "" outside an Audit
}

// String is the finding on one line: the document, if the finding is about one, and the problem.
func (f Finding) String() string {
	if f.ID.Type == 0 {
		return f.Collection + ": " + f.Problem
	}
	return fmt.Sprintf("%s %s: %s", f.Collection, shell(f.ID), f.Problem)
}

// In returns the check of the documents that match a filter, in addition to filters that were given before.
func (c Check) In(filter bson.D) Check {
	filter, err := (*core.Codec)(nil).CopyD(filter)
	c.filter = And(c.filter, filter)
	if c.Err == nil && err != nil {
		c.Err = &ValueError{Collection: c.Collection, Field: "filter", Reason: err.Error()}
	}
	return c
}

// Find returns the pipeline of the check, whose results are the findings' details. A check that has a Read instead of a
// Pipeline returns one that is refused.
//
// Cost: one command. Without an Index it reads every document of Collection, or every one that matches In's filter.
func (c Check) Find() *Aggregate[bson.Raw] {
	a := Aggregation{Collection: c.Collection, Index: c.Index, Err: c.Err}
	switch {
	case c.Err != nil:
	case c.Pipeline == nil:
		a.Err = &ValueError{Collection: c.Collection, Field: "Check", Value: c.Name, Reason: "has no Pipeline, because it reads more than once: use Each"}
	case len(c.filter) > 0:
		a.Pipeline = append(mongo.Pipeline{{{Key: "$match", Value: c.filter}}}, c.Pipeline...)
	default:
		a.Pipeline = c.Pipeline
	}
	return &Aggregate[bson.Raw]{a}
}

// Each yields the findings, batch by batch. It ends at the first error.
//
// Cost: that of [Check.Find]; of a check that has a Read, what the technique says.
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

// signed says whose check it is.
func (c Check) signed(found iter.Seq2[Finding, error]) iter.Seq2[Finding, error] {
	return func(yield func(Finding, error) bool) {
		for f, err := range found {
			if f.Technique = c.technique; !yield(f, err) {
				return
			}
		}
	}
}

// All returns every finding. None is not an error.
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

// String is what the check sends as in mongosh: its command, or the Queries that its Read begins with. A refused check is a
// comment that says why.
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
