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

// ReadOptions pass through to the driver. The zero value sends nothing.
type ReadOptions struct {
	Hint         any                // index name or key pattern
	Collation    *options.Collation // nil means the collection's
	Comment      any                // shows in the profiler and in logs
	Let          bson.D             // variables for $expr
	BatchSize    int32              // documents per reply; 0 means the server's 101, then 16 MB
	AllowDiskUse bool               // let a blocking sort or group spill

	// MaxTime bounds the whole operation, reading all its batches included, by the context. 0 means the context's own
	// deadline alone. The driver sends maxTimeMS from it when the client has a Timeout.
	MaxTime time.Duration

	ReadConcern    *readconcern.ReadConcern // nil means the database's
	ReadPreference *readpref.ReadPref       // nil means the database's
}

// collectionOptions are the options that the driver takes where the collection is opened.
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

// check refuses options that can't be encoded.
func (o ReadOptions) check() error {
	return cmp.Or(core.CheckDepth(o.Hint), core.CheckDepth(o.Comment), core.CheckDepth(o.Let))
}

// commandOptions appends what both find and aggregate take to a command.
func (o ReadOptions) commandOptions(cmd bson.D) bson.D {
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
	if o.AllowDiskUse {
		cmd = append(cmd, bson.E{Key: "allowDiskUse", Value: true})
	}
	return cmd
}

// PlanOptions pass through to the driver with every command of a plan. The zero value sends nothing.
type PlanOptions struct {
	Comment                  any                        // shows in the profiler and in logs
	WriteConcern             *writeconcern.WriteConcern // nil means the database's
	BypassDocumentValidation bool                       // let writes through that a collection's validator refuses

	// AllowPartial lets Run run a transactional plan without a transaction. What a cut then leaves, the technique's
	// check finds.
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

// collationD is a collation as the server takes it.
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
