package pipeline

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/expr"
)

// maxSpill is how many bytes a stage may hold that MongoDB would write to disk. The engine has
// no disk: without the limit, an accidental cartesian product takes all memory of the process.
const maxSpill = 1 << 30

// meter counts the bytes that a stage holds.
type meter struct {
	used, limit int
	over        error // what a stage that holds more is refused with
}

// newMeter returns the meter of a stage that MongoDB lets write to disk, unless allowDiskUse is
// false: then over is the stage's error at 100 MB. A nil error means that the stage always may.
func (r *run) newMeter(name string, over error) *meter {
	if !r.env.AllowDiskUse() && over != nil {
		return &meter{limit: expr.MaxMemory, over: over}
	}
	return &meter{limit: maxSpill, over: mongoerr.New(mongoerr.OutOfDiskSpace,
		"%s holds more than %d bytes, which the embedded engine can't write to disk", name, maxSpill)}
}

func (m *meter) add(v any) error {
	if m.used <= m.limit {
		m.used += bsonval.SizeOf(v, m.limit)
	}
	return m.check()
}

func (m *meter) check() error {
	if m.used > m.limit {
		return m.over
	}
	return nil
}

// collectDocs returns all documents. What it holds counts as the stage's.
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

func newGroupError() error {
	return mongoerr.New(mongoerr.QueryExceededMemoryLimitNoDiskUseAllowed,
		"Exceeded memory limit for $group, but didn't allow external sort. Pass allowDiskUse:true to opt in.")
}

func newWindowError() error {
	return mongoerr.New(mongoerr.QueryExceededMemoryLimitNoDiskUseAllowed,
		"Exceeded memory limit for $setWindowFields, but didn't allow external spilling; pass allowDiskUse:true to opt in")
}
