package model

import (
	"fmt"
	"slices"

	"github.com/docmodel/docmodel/internal/core"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// MongoDB accepts 100,000 statements and 48 MB in one write command, and the driver
// splits larger bulks. DocumentDB refuses more than 25,000 statements, whatever its hello
// reports. Batches stay below these limits, so one batch is one command.
const (
	maxBatchCount = 25_000
	maxBatchBytes = MaxDocument
)

// writeKind is the kind of writes in one command. The driver splits a bulk where the kind
// changes.
type writeKind uint8

const (
	insertKind writeKind = iota
	updateOneKind
	updateManyKind
	deleteOneKind
	deleteManyKind
	mergeKind
)

// batch is one command: steps first to first+len(models)-1 of a plan, or one MergeInto.
type batch struct {
	collection string
	kind       writeKind
	first      int
	models     []mongo.WriteModel
	merge      *MergeInto
	alone      bool // it contains one write and reports on it
	bytes      int
}

func (b *batch) count() int { return max(1, len(b.models)) }

// split encodes all steps and splits the plan into commands. It returns a *StepError for
// the first bad step.
func (p Plan) split() ([]batch, error) {
	if err := p.Err(); err != nil {
		return nil, err
	}
	if len(p.IfStale) > 0 {
		if _, err := (Plan{Steps: p.IfStale}).split(); err != nil {
			return nil, err
		}
	}
	var out []batch
	for i, s := range p.Steps {
		if slices.Contains(p.own, i) {
			continue
		}
		if m, ok := s.(MergeInto); ok {
			e := encoder{collection: m.Collection}
			if e.pipeline("pipeline", m.Pipeline); e.err != nil {
				return nil, &StepError{Step: i, Err: e.err}
			}
			out = append(out, batch{collection: m.Collection, kind: mergeKind, first: i, merge: &m, alone: true})
			continue
		}
		w := s.(Write)
		model, size, err := encodeModel(w)
		if err != nil {
			return nil, &StepError{Step: i, Err: err}
		}
		k := kindOfModel(model)
		alone := w.Expect == One && k != insertKind
		if n := len(out); n > 0 && !alone {
			b := &out[n-1]
			if !b.alone && b.merge == nil && b.first+len(b.models) == i && b.kind == k && b.collection == w.Collection &&
				len(b.models) < maxBatchCount && b.bytes+size <= maxBatchBytes {
				b.models = append(b.models, model)
				b.bytes += size
				continue
			}
		}
		out = append(out, batch{
			collection: w.Collection, kind: k, first: i, alone: alone, bytes: size, models: []mongo.WriteModel{model},
		})
	}
	return out, nil
}

func kindOfModel(m mongo.WriteModel) writeKind {
	switch m.(type) {
	case *mongo.InsertOneModel:
		return insertKind
	case *mongo.UpdateManyModel:
		return updateManyKind
	case *mongo.DeleteOneModel:
		return deleteOneKind
	case *mongo.DeleteManyModel:
		return deleteManyKind
	}
	return updateOneKind
}

// encodeModel returns the model with encoded documents, and the size of its statement in
// bytes. It returns an error for values that can't be encoded or are too large for the
// server.
func encodeModel(w Write) (mongo.WriteModel, int, error) {
	e := encoder{collection: w.Collection}
	if core.IsNilModel(w.Model) {
		return nil, 0, stepErr(w)
	}
	switch m := w.Model.(type) {
	case *mongo.InsertOneModel:
		return &mongo.InsertOneModel{Document: e.document("document", m.Document)}, e.size, e.err
	case *mongo.UpdateOneModel:
		c := *m
		c.Filter, c.Update, c.ArrayFilters = e.document("filter", m.Filter), e.update(m.Update), e.list(m.ArrayFilters)
		return &c, e.total(), e.err
	case *mongo.UpdateManyModel:
		c := *m
		c.Filter, c.Update, c.ArrayFilters = e.document("filter", m.Filter), e.update(m.Update), e.list(m.ArrayFilters)
		return &c, e.total(), e.err
	case *mongo.ReplaceOneModel:
		c := *m
		c.Filter, c.Replacement = e.document("filter", m.Filter), e.document("replacement", m.Replacement)
		return &c, e.total(), e.err
	case *mongo.DeleteOneModel:
		c := *m
		c.Filter = e.document("filter", m.Filter)
		return &c, e.total(), e.err
	case *mongo.DeleteManyModel:
		c := *m
		c.Filter = e.document("filter", m.Filter)
		return &c, e.total(), e.err
	}
	return nil, 0, &ValueError{
		Collection: w.Collection, Field: "Model",
		Reason: fmt.Sprintf("%T isn't a write model of the driver", w.Model),
	}
}

// encoder encodes the parts of one statement and adds up their sizes.
type encoder struct {
	collection string
	size       int
	err        error
}

// document encodes a document. It refuses a nil filter, which would match everything, but
// accepts an empty filter.
func (e *encoder) document(field string, v any) any {
	if core.IsNilDocument(v) {
		e.fail(field, pick(field == "filter", "is nil: give bson.D{} to match every document", "is nil"))
		return nil
	}
	raw, ok := v.(bson.Raw)
	if !ok {
		var err error
		if raw, err = core.Marshal(v); err != nil {
			e.fail(field, err.Error())
			return nil
		}
	}
	e.add(field, len(raw))
	return raw
}

// update encodes an update. It measures a pipeline but returns it unchanged, because the
// driver needs a list.
func (e *encoder) update(v any) any {
	switch v.(type) {
	case mongo.Pipeline, []bson.D, bson.A:
		e.pipeline("update", v)
		return v
	}
	if d, ok := v.(bson.D); ok && len(d) == 0 {
		e.fail("update", "is empty: give at least one update operator")
		return nil
	}
	return e.document("update", v)
}

// pipeline measures a list of stages.
func (e *encoder) pipeline(field string, v any) {
	if err := core.CheckDepth(v); err != nil {
		e.fail(field, err.Error())
		return
	}
	_, data, err := bson.MarshalValue(v)
	if err != nil {
		e.fail(field, err.Error())
	}
	e.add(field, len(data))
}

func (e *encoder) list(filters []any) []any {
	if filters == nil {
		return nil
	}
	out := make([]any, len(filters))
	for i, f := range filters {
		out[i] = e.document("arrayFilters", f)
	}
	return out
}

func (e *encoder) add(field string, n int) {
	if n > MaxDocument {
		e.fail(field, fmt.Sprintf("has %d bytes, but MongoDB's limit for a document is 16 MiB", n))
	}
	e.size += n
}

func (e *encoder) total() int {
	if e.size > MaxDocument {
		e.fail("statement", fmt.Sprintf("has %d bytes, but MongoDB's limit for a document is 16 MiB", e.size))
	}
	return e.size + 128 // for the statement's keys, options and hint
}

func (e *encoder) fail(field, reason string) {
	if e.err == nil {
		e.err = &ValueError{Collection: e.collection, Field: field, Reason: reason}
	}
}
