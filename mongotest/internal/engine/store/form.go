package store

import (
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
)

// Form is of what kind a collection is. The zero Form is that of an ordinary collection. At most one of its fields is
// set. Package forms reads forms from commands.
type Form struct {
	View      *View
	Capped    *Capped
	Series    *Series // a time series collection
	Clustered *Clustered
}

// View is a pipeline over another collection of the database. It shows as a collection to which nobody can write. The
// store only keeps it: the engine runs the pipeline when it reads.
type View struct {
	On       string // a collection, or another view
	Pipeline bson.A // the stages, which package pipeline parses each time
}

// Clustered is how a collection is clustered: its documents are stored, and read where no order is asked for, in the
// order of _id (https://www.mongodb.com/docs/manual/core/clustered-collections/).
type Clustered struct {
	Name        string // of the index on _id
	Expires     bool   // documents do, by their _id
	ExpireAfter time.Duration
}

// Capped is how much a capped collection holds at most. An insert removes the oldest documents beyond that, but never
// its own.
type Capped struct {
	Size int64 // bytes of documents
	Max  int64 // documents; 0 means any number
}

// NewOnView is the error of a command on a view that only a collection can have.
func NewOnView(ns Namespace) error {
	return mongoerr.New(mongoerr.CommandNotSupportedOnView, "Namespace %s is a view, not a collection", ns)
}

// checkForm refuses writes that the collection's form doesn't allow.
func (w *Writer) checkForm(e *collEdit) error {
	switch {
	case e.base.View != nil:
		return NewOnView(e.base.NS)
	case w.txn != nil && e.base.Capped != nil:
		return mongoerr.New(mongoerr.OperationNotSupportedInTransaction, "Collection '%s' is a capped collection. "+
			"Writes in transactions are not allowed on capped collections.", e.base.NS)
	case w.txn != nil && e.base.Series != nil:
		return mongoerr.New(mongoerr.OperationNotSupportedInTransaction,
			"Cannot write to a time-series collection in a multi-document transaction: %s", e.base.NS)
	}
	return nil
}

// trimCapped removes the oldest documents of a capped collection that holds too much, down to the one that was just
// inserted. The history has deletions of them.
func (w *Writer) trimCapped(e *collEdit, latest *Record) error {
	limit := e.base.Capped
	if limit == nil {
		return nil
	}
	for {
		records := e.records.View()
		if e.bytes <= limit.Size && (limit.Max == 0 || int64(records.Len()) <= limit.Max) {
			return nil
		}
		c := records.Cursor()
		if !c.First() || c.Item() == latest {
			return nil
		}
		if err := w.Delete(e.base.NS, c.Item()); err != nil {
			return err
		}
	}
}

// measureCapped returns what a record counts in a capped collection, in bytes.
func (e *collEdit) measureCapped(r *Record) int64 {
	if r == nil || e.base.Capped == nil {
		return 0
	}
	return int64(bsonval.Size(r.Doc))
}
