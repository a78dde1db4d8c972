package model

import (
	"fmt"
	"strings"

	"github.com/docmodel/docmodel/internal/bsondoc"
	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/mql"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A Guarantee is what a plan promises if a crash, a lost connection or a canceled context
// interrupts it.
type Guarantee string

const (
	// Atomic plans write one document or nothing. After a lost answer, a retry can repeat
	// the write, such as a $inc: see Plan.Repeatable.
	Atomic Guarantee = "atomic"
	// Rerunnable plans can be run again after any interruption. The second run completes
	// the first run.
	Rerunnable Guarantee = "rerunnable"
	// Transactional plans need a transaction.
	Transactional Guarantee = "transactional"
)

// Guarantee returns what an interrupted plan promises. The first line that fits decides:
//
//	Plan.Transactional is set         [Transactional]
//	one write to one document         [Atomic]
//	all conditions below are met      [Rerunnable]
//	any other plan                    Transactional
//
// Conditions for a step without [Write.Idempotent] or MergeInto.Idempotent:
//
//   - An update has only the operators $set, $unset, $setOnInsert, $addToSet, $pull,
//     $pullAll, $min, $max and $rename.
//   - An insert has an _id.
//   - A delete has Expect [Any].
//   - An updateOne, replaceOne, deleteOne or upsert filters by _id.
//   - An update or replacement with Expect [One] has one filter condition, or
//     [Write.Done].
//   - If a step writes many documents, later steps don't write the fields it filters by.
//   - The step isn't a $merge or $out.
//
// Conditions for the steps after an insert:
//
//   - No step can delete the inserted document, and no $merge writes to the collection.
//   - If the insert has no Write.Done, no step in the collection is a replacement or a
//     pipeline update.
func (p Plan) Guarantee() Guarantee {
	switch {
	case p.Transactional:
		return Transactional
	case len(p.Steps) == 0, len(p.Steps) == 1 && writesOne(p.Steps[0]):
		return Atomic
	}
	if _, why := unrepeatable(p.Steps); why != "" {
		return Transactional
	}
	return Rerunnable
}

// Repeatable reports whether a second run of the plan changes nothing more. It is true if
// [Plan.Transactional] isn't set, and the plan meets the conditions that [Plan.Guarantee]
// lists. A plan with a single $inc is [Atomic], but not repeatable.
func (p Plan) Repeatable() bool {
	if p.Transactional || p.Err() != nil {
		return false
	}
	_, why := unrepeatable(p.Steps)
	return why == ""
}

// needsTx returns the error for a plan that needs a transaction. It names the first step
// that can't be repeated, and the reason.
func (p Plan) needsTx() error {
	step, why := unrepeatable(p.Steps)
	if why == "" {
		return fmt.Errorf("%w (it is marked Transactional)", ErrTransactional)
	}
	return fmt.Errorf("%w (step %d, %s, can't be repeated after an interruption: %s)", ErrTransactional, step+1,
		stepName(p.Steps[step]), why)
}

// stepName returns a step's collection and kind, such as "orders.updateOne".
func stepName(s Step) string {
	switch s := s.(type) {
	case Write:
		name := strings.TrimSuffix(strings.TrimPrefix(fmt.Sprintf("%T", s.unscoped()), "*mongo."), "Model")
		return s.Collection + "." + strings.ToLower(name[:1]) + name[1:]
	case MergeInto:
		return s.Collection + ".aggregate"
	}
	return "nil"
}

// unrepeatable returns the first step that can't be repeated, and why. why is "" if a
// second run of all steps changes nothing more.
func unrepeatable(steps []Step) (step int, why string) {
	for i, s := range steps {
		if why := notRepeatable(s); why != "" {
			return i, why
		}
	}
	if i := insertUnclear(steps); i >= 0 {
		return i, "a later step may delete or rewrite the inserted document"
	}
	if i, field := filterMoves(steps); i >= 0 {
		return i, "its filter uses " + field + ", which a later step writes"
	}
	return 0, ""
}

func writesOne(s Step) bool {
	w, ok := s.(Write)
	if !ok {
		return false
	}
	switch w.unscoped().(type) {
	case *mongo.UpdateManyModel, *mongo.DeleteManyModel:
		return false
	}
	return true
}

const (
	noID  = "its filter has no _id"
	twice = "a delete with Expect One finds no document the second time: set its Expect to Any, or mark it Idempotent"
)

// notRepeatable returns why a second run of the step may change more. It returns "" if it
// changes nothing more.
func notRepeatable(s Step) string {
	w, ok := s.(Write)
	if !ok {
		return pick(s.(MergeInto).Idempotent, "", "a $merge or $out isn't marked Idempotent")
	}
	if core.IsNilModel(w.Model) {
		return "it has no model"
	}
	if w.Idempotent {
		return ""
	}
	w.Model = w.unscoped()
	filter, known := w.filter().(bson.D)
	_, insert := w.Model.(*mongo.InsertOneModel)
	// the write itself may have made its filter false
	if !insert && w.Expect == One && w.Done == nil && (len(filter) > 1 || !known) {
		return "it expects a match by more than _id, and has no Done"
	}
	byID := pick(bsondoc.PinsID(filter), "", noID)
	switch m := w.Model.(type) {
	case *mongo.InsertOneModel:
		raw, err := (*core.Codec)(nil).Document(m.Document)
		return pick(err == nil && raw.Lookup("_id").Type != 0, "", "the inserted document has no _id")
	case *mongo.UpdateOneModel:
		if byID != "" {
			return byID
		}
		return notIdempotent(m.Update)
	case *mongo.UpdateManyModel:
		if why := notIdempotent(m.Update); why != "" || m.Upsert == nil || !*m.Upsert {
			return why
		}
		return byID
	case *mongo.ReplaceOneModel:
		return byID
	case *mongo.DeleteOneModel:
		return pick(byID != "" || w.Expect == Any, byID, twice)
	case *mongo.DeleteManyModel:
		return pick(w.Expect == Any, "", twice)
	}
	return "its model isn't known"
}

// notIdempotent returns why an update that is applied twice may do more than once.
func notIdempotent(update any) string {
	ops, ok := bsondoc.Operators(update)
	if !ok {
		return "an update by a pipeline isn't known to do the same twice"
	}
	for _, op := range ops {
		if !mql.IsIdempotent(bson.D{op}) {
			return op.Key + " does more the second time"
		}
	}
	return ""
}

// insertUnclear returns the first insert whose document a second run can't distinguish
// from a foreign document with the same _id, or -1. An insert with Done needs that no
// later step deletes its document. Other inserts need that no later step changes
// documents of the collection in an unpredictable way. It looks at each step once.
func insertUnclear(steps []Step) int {
	first, after := -1, map[string]*laterWrites{}
	of := func(collection string) *laterWrites {
		if after[collection] == nil {
			after[collection] = &laterWrites{gone: map[string]bool{}}
		}
		return after[collection]
	}
	everywhere := false // a $merge into an unknown collection
	for i := len(steps) - 1; i >= 0; i-- {
		w, ok := steps[i].(Write)
		if !ok {
			target := mergeTarget(steps[i].(MergeInto))
			everywhere = everywhere || target == ""
			of(target).removes, of(target).opaque = true, true
			continue
		}
		w.Model = w.unscoped()
		later := of(w.Collection)
		if insert, ok := w.Model.(*mongo.InsertOneModel); !ok {
			later.add(w)
		} else if everywhere || later.mayRemove(insert) || w.Done == nil && later.opaque {
			first = i
		}
	}
	return first
}

// laterWrites is what the steps after a step do to one collection.
type laterWrites struct {
	removes bool            // may delete any document
	opaque  bool            // may change any field of any document
	gone    map[string]bool // the keyOf of single deletes
}

func (l *laterWrites) add(w Write) {
	if m, ok := w.Model.(*mongo.DeleteOneModel); ok {
		if key := keyOf(m.Filter); key != "" {
			l.gone[key] = true
			return
		}
	}
	switch w.Model.(type) {
	case *mongo.DeleteOneModel, *mongo.DeleteManyModel:
		l.removes = true
	}
	t := touched{fields: map[string]bool{}}
	t.add(w)
	l.opaque = l.opaque || t.opaque
}

// mayRemove reports whether a later step may delete the inserted document.
func (l *laterWrites) mayRemove(insert *mongo.InsertOneModel) bool {
	if l.removes || len(l.gone) == 0 {
		return l.removes
	}
	raw, err := (*core.Codec)(nil).Document(insert.Document)
	return err != nil || l.gone[bsonval.Key(raw.Lookup("_id"))]
}

// mergesInto reports whether a MergeInto may write a collection.
func mergesInto(s Step, collection string) bool {
	m, ok := s.(MergeInto)
	if !ok {
		return false
	}
	target := mergeTarget(m)
	return target == "" || target == collection
}

// filterMoves returns the first step with a filter that uses a field that a later step
// writes, and the field; or -1. A second run would then find other documents. It checks
// writes of many documents. A write selected by _id is protected by its filter, and so is
// a write marked Idempotent.
func filterMoves(steps []Step) (step int, field string) {
	for i, s := range steps {
		w, ok := s.(Write)
		if !ok || w.Idempotent || writesOne(s) {
			continue
		}
		w.Model = w.unscoped()
		asked := fieldsOf(w.filter())
		for _, other := range steps[i+1:] {
			if field, moves := writesField(other, w.Collection, asked); moves {
				return i, field
			}
		}
	}
	return -1, ""
}

// writesField returns one of the fields that a step may write.
func writesField(s Step, collection string, fields []string) (string, bool) {
	w, ok := s.(Write)
	if ok && w.Collection != collection || !ok && !mergesInto(s, collection) {
		return "", false
	}
	if ok {
		w.Model = w.unscoped()
		s = w
	}
	t := touched{fields: map[string]bool{}}
	if t.add(s); t.opaque && ok {
		return "", false // a delete or replacement: nobody finds the removed document
	}
	for _, name := range fields {
		if t.fields[name] || t.opaque {
			return name, true
		}
	}
	return "", false
}
