package model

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/docmodel/docmodel/internal/bsondoc"
	"github.com/docmodel/docmodel/internal/core"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// MergePlans combines the plans of several techniques for one user action. Different
// plans' updates of one document become one write: see [Merge]. Equal inserts or equal
// deletes become one write. All other steps stay separate, in order.
//
// The result gives a [*ConflictError] if plans update one path differently, or insert
// different documents with the same _id. A merged write tests all filters before any
// update. If several steps remain, [Plan.Guarantee] says whether the result needs a
// transaction. It does if a plan has IfStale, or if its steps changed their order.
func MergePlans(plans ...Plan) Plan {
	all := Concat(plans...)
	if len(all.Steps) < 2 {
		return all
	}
	var moved bool
	all.Steps, moved = mergedSteps(plans, func(p Plan) []Step { return p.Steps })
	if all.leaner() {
		all.InTx, _ = mergedSteps(plans, func(p Plan) []Step { return p.inTx().Steps })
	}
	if all.Transactional = len(all.Steps) > 1 && (all.Transactional || moved || len(all.IfStale) > 0); len(all.Steps) < 2 {
		all.Leaves = ""
	}
	return all
}

// mergedSteps merges the steps of plans. moved reports that the steps of a plan aren't in
// their order any more.
func mergedSteps(plans []Plan, steps func(Plan) []Step) (_ []Step, moved bool) {
	var m planMerger
	for i, p := range plans {
		last := -1
		for j, s := range steps(p) {
			at := m.add(s, i, fmt.Sprintf("step %d of plan %d", j+1, i+1))
			moved, last = moved || at < last, at
		}
	}
	return m.steps, moved
}

// planMerger collects steps. For each step it keeps the last plan that is part of it, and
// the step's name in errors.
type planMerger struct {
	steps []Step
	plans []int
	names []string
}

// add merges a step into a step of an earlier plan that writes the same document. If
// there is no such step, add appends it. It returns the index of the step.
func (m *planMerger) add(s Step, plan int, name string) int {
	if w, ok := s.(Write); ok && w.Err == nil {
		for i := range m.steps {
			earlier, is := m.steps[i].(Write)
			if !is || earlier.Err != nil || m.plans[i] == plan || earlier.Collection != w.Collection {
				continue
			}
			if merged, ok := mergeSteps(earlier, w, m.names[i], name); ok {
				m.steps[i], m.plans[i], m.names[i] = merged, plan, m.names[i]+" with "+name
				return i
			}
		}
	}
	m.steps, m.plans, m.names = append(m.steps, s), append(m.plans, plan), append(m.names, name)
	return len(m.steps) - 1
}

// mergeSteps merges two writes of one document by different plans into one. It returns
// false if they must stay two steps.
func mergeSteps(a, b Write, nameA, nameB string) (Write, bool) {
	if core.IsNilModel(a.Model) || core.IsNilModel(b.Model) {
		return b, false
	}
	switch of := b.Model.(type) {
	case *mongo.UpdateOneModel:
		if _, both := a.Model.(*mongo.UpdateOneModel); !both || !sameTarget(a, b) {
			return b, false
		}
		merged := mergeNamed([]Write{a, b}, func(n int) string { return pick(n == 0, nameA, nameB) })
		var conflict *ConflictError
		return merged, merged.Err == nil || errors.As(merged.Err, &conflict) && conflict.Paths[0] != ""
	case *mongo.InsertOneModel:
		if before, both := a.Model.(*mongo.InsertOneModel); both {
			return mergeInserts(a, b, before.Document, of.Document, nameA, nameB)
		}
	case *mongo.DeleteOneModel:
		if before, both := a.Model.(*mongo.DeleteOneModel); both && sameTarget(a, b) && a.Final == b.Final &&
			a.Deleted == b.Deleted &&
			bsondoc.EqualDocuments(a.IfMarked, b.IfMarked) && a.Done == nil && b.Done == nil && sameOptions(before, of) {
			return mergeDeletes(a, b, before, of)
		}
	}
	return b, false
}

// mergeInserts merges two inserts with one _id. Their documents must be equal.
func mergeInserts(a, b Write, docA, docB any, nameA, nameB string) (Write, bool) {
	first, errA := encodedOnce(docA)
	second, errB := encodedOnce(docB)
	id := first.Lookup("_id")
	if errA != nil || errB != nil || id.Type == 0 || !second.Lookup("_id").Equal(id) {
		return b, false
	}
	if !bytes.Equal(first, second) {
		return Refused(a.Collection, &ConflictError{
			Collection: a.Collection, Paths: [2]string{nameA, nameB},
			Reason: "both insert a document with the _id " + shell(id) + ", but the documents differ: insert equal documents",
		}), true
	}
	out := united(a, b, true)
	switch {
	case !a.Token.IsZero() || !b.Token.IsZero():
		out.prove([]Write{a, b})
	case a.Done != nil && b.Done != nil:
		out.Done = bsondoc.JoinFilters(a.Done, b.Done)
	}
	return out, true
}

// encodedOnce encodes a document that isn't encoded yet. The caller must not change it.
func encodedOnce(doc any) (bson.Raw, error) {
	if raw, ok := doc.(bson.Raw); ok {
		return raw, nil
	}
	return (*core.Codec)(nil).Document(doc)
}

// mergeDeletes merges two deletes of one document that both expect a match, or have the
// same filter.
func mergeDeletes(a, b Write, first, second *mongo.DeleteOneModel) (Write, bool) {
	f, _ := bsondoc.Document(first.Filter)
	g, _ := bsondoc.Document(second.Filter)
	if !bsondoc.EqualDocuments(f, g) && !(exacting(a, f) && exacting(b, g)) {
		return b, false
	}
	out, model := united(a, b, bsondoc.EqualDocuments(f, g)), *first
	model.Filter, out.Model = bsondoc.JoinFilters(f, g), &model
	return out, true
}

// united returns the first write with what both expect. equal means that their filters
// are equal.
func united(a, b Write, equal bool) Write {
	out := a
	out.Expect, out.Idempotent, out.Done = max(a.Expect, b.Expect), a.Idempotent && b.Idempotent, nil
	out.Reasons = reasonsOf([]Write{a, b}, equal)
	out.Index = pick(a.Index == b.Index, a.Index, "")
	return out
}

func sameOptions(a, b *mongo.DeleteOneModel) bool {
	return a.Collation == b.Collation && shell(a.Hint) == shell(b.Hint)
}

// sameTarget reports whether two writes select a document by the same _id.
func sameTarget(a, b Write) bool {
	filterOf := func(w Write) (any, bool) {
		f, ok := bsondoc.Document(w.filter())
		if !ok {
			return nil, false
		}
		return bsondoc.IDOf(f)
	}
	id, pinned := filterOf(a)
	other, ok := filterOf(b)
	return pinned && ok && bsondoc.SameValue(id, other)
}
