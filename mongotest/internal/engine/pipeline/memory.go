package pipeline

// This file limits the bytes that a stage may hold. Stages that MongoDB never lets write to disk, such as $lookup for
// one document, have a limit of 100 MB in their own files (expr.MaxMemory).
// https://www.mongodb.com/docs/manual/core/aggregation-pipeline-limits/

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/expr"
)

// maxSpill is how many bytes a stage may hold if MongoDB would write them to disk. The engine has no disk. Without the
// limit, a cartesian product by mistake would take all memory of the process.
const maxSpill = 1 << 30

// meter counts the bytes that a stage holds. Bytes are the size of the documents as BSON, not of the memory that they
// take.
type meter struct {
	used, limit int   // bytes
	tooLarge    error // the error of a stage that holds more than limit
}

// newMeter returns the meter of a stage. MongoDB lets the stage write to disk, so the limit is maxSpill. If the command
// says allowDiskUse: false, the limit is 100 MB, and tooLarge is MongoDB's error. It is nil for a stage that may always
// write to disk.
func (r *run) newMeter(name string, tooLarge error) *meter {
	if !r.env.AllowDiskUse() && tooLarge != nil {
		return &meter{limit: expr.MaxMemory, tooLarge: tooLarge}
	}
	return &meter{limit: maxSpill, tooLarge: mongoerr.New(mongoerr.OutOfDiskSpace,
		"%s holds more than %d bytes, which the embedded engine can't write to disk", name, maxSpill)}
}

// add counts a value that the stage holds from now on. Values aren't measured further than to the limit, because
// measuring a large one takes time.
func (m *meter) add(v any) error {
	if m.used <= m.limit {
		m.used += bsonval.SizeOf(v, m.limit)
	}
	return m.check()
}

// check returns the error of a stage that holds too much. $group calls it after it has changed used.
func (m *meter) check() error {
	if m.used > m.limit {
		return m.tooLarge
	}
	return nil
}

// collectDocs returns all documents of a sequence, and counts them by the stage's meter.
func collectDocs(in Docs, m *meter) ([]bson.D, error) {
	var all []bson.D
	for d, err := range in {
		if err == nil {
			err = m.add(d)
		}
		if err != nil {
			return nil, err
		}
		all = append(all, d)
	}
	return all, nil
}

// newGroupMemoryError is the error of a $group with allowDiskUse: false. Package order has that of a $sort.
func newGroupMemoryError() error {
	return mongoerr.New(mongoerr.QueryExceededMemoryLimitNoDiskUseAllowed,
		"Exceeded memory limit for $group, but didn't allow external sort. Pass allowDiskUse:true to opt in.")
}

// newWindowMemoryError is the error of a $setWindowFields with allowDiskUse: false.
func newWindowMemoryError() error {
	return mongoerr.New(mongoerr.QueryExceededMemoryLimitNoDiskUseAllowed,
		"Exceeded memory limit for $setWindowFields, but didn't allow external spilling; "+
			"pass allowDiskUse:true to opt in")
}
