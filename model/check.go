package model

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/docmodel/docmodel/internal/bsondoc"
	"github.com/docmodel/docmodel/internal/core"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A Check finds documents that break a rule, and repairs the documents.
//
//	for _, check := range likes.Checks() {
//		for finding, err := range check.Each(ctx, db) { … } // look only
//		progress, err := check.Job().Run(ctx, db, model.JobOptions{}) // repair
//	}
type Check struct {
	Name       string // the check's name, unique in a model
	Collection string
	Rule       string // what must hold, such as "each order has a customer"
	Index      string // index that the check uses; "" means that all documents are read

	// Age is the minimum age of findings that [Check.Job] repairs. A younger finding can
	// be an unfinished operation.
	Age time.Duration

	// Pipeline runs on Collection and returns one result for each finding.
	Pipeline mongo.Pipeline

	// InTransaction replaces Pipeline in a transaction, where MongoDB refuses $unionWith. nil
	// means Pipeline.
	InTransaction mongo.Pipeline

	// Keyed names the collections whose _ids carry the tenant under a [Scope]: see
	// [Aggregation].Keyed.
	Keyed []string

	// Read replaces Pipeline. A nil filter matches all documents.
	Read func(ctx context.Context, db DB, filter bson.D) iter.Seq2[Finding, error]

	// Queries are what [Check.String] shows if Read is set.
	Queries []*Aggregate[bson.Raw]

	// Tell sets f's ID, Problem and Since from f.Detail, the Pipeline's result. If Tell
	// is nil, the ID is the result's _id, and the Problem is the result as text.
	Tell func(f *Finding) error

	// Mend returns the plan that repairs findings. The plan must skip documents that
	// changed after the read. Without Mend and MendAll, the check can't repair.
	Mend func(found []Finding) Plan

	// If MendAll is set, it repairs all findings, and Mend isn't used. age is the
	// check's Age: MendAll can skip younger findings.
	MendAll func(ctx context.Context, db DB, age time.Duration) (Result, error)

	// Err is an error that every run returns.
	Err error

	filter    bson.D
	technique string // set by Model.Audit
}

// A Finding is one place where documents break a rule.
type Finding struct {
	Check      string // the check's Name
	Collection string
	ID         bson.RawValue // the document's _id; zero if the problem isn't in one document
	Problem    string
	Since      time.Time // when the problem began; zero if unknown
	Detail     bson.Raw  // data from the check; each check has its own fields
	Technique  string    // type of the technique, such as counter.Counter; "" outside an Audit
}

// String returns the collection, the document's _id if there is one, and the problem, on
// one line.
func (f Finding) String() string {
	if f.ID.Type == 0 {
		return f.Collection + ": " + f.Problem
	}
	return fmt.Sprintf("%s %s: %s", f.Collection, shell(f.ID), f.Problem)
}

// In returns a copy of the check, restricted to documents that match the given filter.
// The filters of earlier calls of In still apply. If [Check.MendAll] is set, running the
// copy's [Check.Job] gives a [*ValueError].
func (c Check) In(filter bson.D) Check {
	filter, err := (*core.Codec)(nil).CopyD(filter)
	c.filter = bsondoc.JoinFilters(c.filter, filter)
	if c.Err == nil && err != nil {
		c.Err = &ValueError{Collection: c.Collection, Field: "filter", Reason: err.Error()}
	}
	return c
}

// Find returns the check's pipeline. Each result is the Detail of a [Finding]. If the
// check has no Pipeline, running it returns a [*ValueError]: use [Check.Each].
//
// Cost: one command, by the index [Check.Index].
func (c Check) Find() *Aggregate[bson.Raw] {
	a := Aggregation{Collection: c.Collection, Index: c.Index, Keyed: c.Keyed, Err: c.Err}
	switch {
	case c.Err != nil:
	case c.Pipeline == nil:
		a.Err = &ValueError{
			Collection: c.Collection, Field: "Check", Value: c.Name,
			Reason: "has no Pipeline, because it reads more than once: use Each",
		}
	case len(c.filter) > 0:
		a.Pipeline = append(mongo.Pipeline{{{Key: "$match", Value: c.filter}}}, c.Pipeline...)
	default:
		a.Pipeline = c.Pipeline
	}
	return &Aggregate[bson.Raw]{a}
}

// String returns the Pipeline or the Queries as mongosh commands. If Err is set, it
// returns the text of Err.
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

// A LeftError reports documents that a finished job couldn't process.
type LeftError struct {
	Job      string
	Left     int64     // number of findings; a document can have several
	Findings []Finding // the first 1,000 unresolved findings
}

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
