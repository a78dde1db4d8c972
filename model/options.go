package model

import (
	"cmp"
	"time"

	"github.com/docmodel/docmodel/internal/core"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/readconcern"
	"go.mongodb.org/mongo-driver/v2/mongo/readpref"
	"go.mongodb.org/mongo-driver/v2/mongo/writeconcern"
)

// ReadOptions are options of find and aggregate. Fields with a zero value aren't sent.
type ReadOptions struct {
	Hint         any                // index name or key pattern
	Collation    *options.Collation // nil means the collection's collation
	Comment      any                // shown in the profiler and logs
	Let          bson.D             // variables for $expr
	BatchSize    int32              // documents per batch; 0 means the server's default
	AllowDiskUse bool               // a blocking stage can use disk

	// MaxTime is the client's timeout for the whole read, including the caller's loop
	// over the results. Only [Query.Count] sends maxTimeMS.
	MaxTime time.Duration

	ReadConcern    *readconcern.ReadConcern // nil means the database's
	ReadPreference *readpref.ReadPref       // nil means the database's
}

// collectionOptions returns the options that the driver takes when the collection is
// opened.
func (o ReadOptions) collectionOptions() *options.CollectionOptionsBuilder {
	c := options.Collection()
	if o.ReadConcern != nil {
		c.SetReadConcern(o.ReadConcern)
	}
	if o.ReadPreference != nil {
		c.SetReadPreference(o.ReadPreference)
	}
	return c
}

// shared returns the options that other commands have too.
func (o ReadOptions) shared() ModifyOptions {
	return ModifyOptions{Hint: o.Hint, Collation: o.Collation, Comment: o.Comment, Let: o.Let}
}

// appendTo appends the common options of find and aggregate to a command.
func (o ReadOptions) appendTo(cmd bson.D) bson.D {
	cmd = o.shared().appendTo(cmd)
	if o.AllowDiskUse {
		cmd = append(cmd, bson.E{Key: "allowDiskUse", Value: true})
	}
	return cmd
}

// ModifyOptions are options of a [Modify]. Zero fields aren't sent.
type ModifyOptions struct {
	Hint      any                // index name or key pattern
	Collation *options.Collation // nil means the collection's collation
	Comment   any                // shown in the profiler and logs
	Let       bson.D             // variables for $expr
}

// check returns an error for options that can't be encoded.
func (o ModifyOptions) check() error {
	return cmp.Or(core.CheckDepth(o.Hint), core.CheckDepth(o.Comment), core.CheckDepth(o.Let))
}

// appendTo appends the options to a command.
func (o ModifyOptions) appendTo(cmd bson.D) bson.D {
	if o.Hint != nil {
		cmd = append(cmd, bson.E{Key: "hint", Value: o.Hint})
	}
	if o.Collation != nil {
		cmd = append(cmd, bson.E{Key: "collation", Value: collationD(o.Collation)})
	}
	if o.Comment != nil {
		cmd = append(cmd, bson.E{Key: "comment", Value: o.Comment})
	}
	if len(o.Let) > 0 {
		cmd = append(cmd, bson.E{Key: "let", Value: o.Let})
	}
	return cmd
}

// An optionsBuilder builds the driver's options of one kind of command.
type optionsBuilder[B any] interface {
	SetHint(any) B
	SetCollation(*options.Collation) B
	SetComment(any) B
}

// withOptions adds options to the driver's. A command that takes no variables has no SetLet.
func withOptions[B optionsBuilder[B]](b B, o ModifyOptions) B {
	if o.Hint != nil {
		b.SetHint(o.Hint)
	}
	if o.Collation != nil {
		b.SetCollation(o.Collation)
	}
	if o.Comment != nil {
		b.SetComment(o.Comment)
	}
	if takes, ok := any(b).(interface{ SetLet(any) B }); ok && len(o.Let) > 0 {
		takes.SetLet(o.Let)
	}
	return b
}

// A cursorBuilder builds the driver's options of find or aggregate.
type cursorBuilder[B any] interface {
	optionsBuilder[B]
	SetBatchSize(int32) B
	SetAllowDiskUse(bool) B
}

// withReadOptions is withOptions for find and aggregate.
func withReadOptions[B cursorBuilder[B]](b B, o ReadOptions) B {
	if o.BatchSize != 0 {
		b.SetBatchSize(o.BatchSize)
	}
	if o.AllowDiskUse {
		b.SetAllowDiskUse(true)
	}
	return withOptions(b, o.shared())
}

// PlanOptions apply to each command of a plan. Zero fields aren't sent.
type PlanOptions struct {
	Comment                  any                        // shown in the profiler and logs
	WriteConcern             *writeconcern.WriteConcern // nil means the database's
	BypassDocumentValidation bool                       // skip the collection's validator

	// AllowPartial lets [Plan.Run] send a transactional plan without a transaction.
	// The field Leaves of [Plan] says what a crash can leave.
	AllowPartial bool
}

func (o PlanOptions) isZero() bool {
	return o.Comment == nil && o.WriteConcern == nil && !o.BypassDocumentValidation && !o.AllowPartial
}

func (o PlanOptions) collectionOptions() *options.CollectionOptionsBuilder {
	c := options.Collection()
	if o.WriteConcern != nil {
		c.SetWriteConcern(o.WriteConcern)
	}
	return c
}

// collationD returns a collation as the server expects it.
func collationD(c *options.Collation) bson.D {
	d := bson.D{{Key: "locale", Value: c.Locale}}
	for _, f := range []struct {
		key string
		on  bool
		v   any
	}{
		{"caseLevel", c.CaseLevel, c.CaseLevel},
		{"caseFirst", c.CaseFirst != "", c.CaseFirst},
		{"strength", c.Strength != 0, c.Strength},
		{"numericOrdering", c.NumericOrdering, c.NumericOrdering},
		{"alternate", c.Alternate != "", c.Alternate},
		{"maxVariable", c.MaxVariable != "", c.MaxVariable},
		{"normalization", c.Normalization, c.Normalization},
		{"backwards", c.Backwards, c.Backwards},
	} {
		if f.on {
			d = append(d, bson.E{Key: f.key, Value: f.v})
		}
	}
	return d
}
