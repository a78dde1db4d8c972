package model

import (
	"slices"
	"strings"

	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/mql"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A Step is one step of a [Plan]: a [Write] or a [MergeInto]. No other type can be one.
type Step interface {
	String() string
	step()
}

// A Plan is a list of writes in the order that makes a cut harmless, computed before anything is sent. The zero Plan has
// nothing to do: running it sends nothing.
//
// Consecutive writes of one kind (insert; update or replace one; update many; delete one; delete many) to one collection
// are sent as one ordered command, up to 25,000 statements or 16 MiB. A write that expects a match is a command of its
// own, for a shared command reports totals only. [Plan.Cost] and [Plan.Run] split by the same code. In a transaction of this package all
// writes are one command, where the server has bulkWrite (MongoDB 8.0): see [Plan.CostTx].
type Plan struct {
	Steps   []Step
	Options PlanOptions

	// Transactional says that the steps only make sense together, whatever their operators: Run refuses the plan.
	Transactional bool

	// IfStale takes back what the first steps wrote for the sake of a later one. It is sent when the plan ends at a write
	// after the first that expected a match and found none, before the error is returned; not in a transaction, which takes
	// back by itself. Its own failure is joined to the error. A crash can keep it from being sent.
	IfStale []Step

	// InTx are the steps in a transaction, where they differ from Steps: nothing is cut off there, so that nothing need be marked. Nil
	// stands for Steps. A [Result] and a [StepError] count the steps that ran.
	InTx []Step

	// Leaves says in words what a reader or a crash can find between two steps. "" means nothing of note.
	Leaves string

	// Applied says that a [Change] found its operation applied already, by its token. The Change reads once more, what can't
	// be rolled back, and decides again: a primary that is about to be deposed shows writes that will be lost.
	Applied bool

	own []int // steps that met what they write: applied before, and not sent again
}

// NewPlan returns a plan of the steps.
func NewPlan(steps ...Step) Plan { return Plan{Steps: slices.Clone(steps)} }

// RefusedPlan returns a plan that carries an error and sends nothing: what methods return for bad input.
func RefusedPlan(collection string, err error) Plan { return NewPlan(Refused(collection, err)) }

// Concat joins plans into one that does all of them in order. The result is transactional if one of them is; its options
// are those of the first plan that has any. What the plans do when they are stale (IfStale), and in a transaction (InTx), is joined too: when
// one is stale, the steps of all of them run.
func Concat(plans ...Plan) Plan {
	var out Plan
	var leaves []string
	lean := slices.ContainsFunc(plans, Plan.leaner)
	for _, p := range plans {
		if lean {
			out.InTx = append(out.InTx, p.inTx().Steps...)
		}
		out.Steps = append(out.Steps, p.Steps...)
		out.IfStale = append(out.IfStale, p.IfStale...)
		out.Transactional = out.Transactional || p.Transactional
		if out.Options.isZero() {
			out.Options = p.Options
		}
		if p.Leaves != "" {
			leaves = append(leaves, p.Leaves)
		}
	}
	out.Leaves = strings.Join(leaves, "; ")
	return out
}

// leaner reports whether the plan has other steps in a transaction.
func (p Plan) leaner() bool { return p.InTx != nil }

// inTx is the plan as it runs in a transaction.
func (p Plan) inTx() Plan {
	if p.leaner() {
		p.Steps, p.InTx = p.InTx, nil
	}
	return p
}

// Err returns the first step's bad input, as a [*StepError], or nil.
func (p Plan) Err() error {
	for i, s := range p.Steps {
		if err := stepErr(s); err != nil {
			return &StepError{Step: i, Err: err}
		}
	}
	return nil
}

func stepErr(s Step) error {
	switch s := s.(type) {
	case Write:
		switch {
		case s.Err != nil:
			return s.Err
		case s.Model == nil:
			return &ValueError{Collection: s.Collection, Field: "Model", Reason: "a write needs a model"}
		case s.Collection == "":
			return &ValueError{Field: "Collection", Reason: "a write needs a collection"}
		}
	case MergeInto:
		return s.check()
	case nil:
		return &ValueError{Field: "Steps", Reason: "is nil"}
	}
	return nil
}

// String is the plan as mongosh commands, one to a line.
func (p Plan) String() string {
	lines := make([]string, len(p.Steps))
	for i, s := range p.Steps {
		if lines[i] = "// a step that is nil"; s != nil {
			lines[i] = s.String()
		}
	}
	lines = append(lines, remarks("// if stale: ", p.IfStale)...)
	return strings.Join(append(lines, remarks("// in a transaction: ", p.InTx)...), "\n")
}

// remarks are steps as comments.
func remarks(what string, steps []Step) []string {
	lines := make([]string, len(steps))
	for i, s := range steps {
		if lines[i] = what + "a step that is nil"; s != nil {
			lines[i] = what + s.String()
		}
	}
	return lines
}

// A Guarantee is what a plan promises when it is cut: by a crash, a lost connection, a cancelled context.
type Guarantee uint8

const (
	// Atomic plans write one document once (or nothing): it is done or it isn't.
	Atomic Guarantee = iota
	// Rerunnable plans can be run again from any cut: the second run completes the first, and a finished plan that is
	// run again changes nothing.
	Rerunnable
	// Transactional plans need a transaction: Run refuses them, RunTx runs them.
	Transactional
)

func (g Guarantee) String() string { return nameOf(g, "atomic", "rerunnable", "transactional") }

// Guarantee says which promise the plan's steps bear out. Several steps, or a write to many documents, are rerunnable
// only when each is idempotent by its operators ($set, $unset, $setOnInsert, $addToSet, $pull, $pullAll, $min, $max,
// $rename, a replacement, an insert with an _id) on documents that its filter pins (_id, or many), or is marked Once; and
// when no insert is followed by a delete, a replacement, a pipeline or a $merge that could make its document unknowable, and
// no filter asks for what a later step writes.
func (p Plan) Guarantee() Guarantee {
	switch {
	case p.Transactional:
		return Transactional
	case len(p.Steps) == 0, len(p.Steps) == 1 && writesOne(p.Steps[0]):
		return Atomic
	}
	for _, s := range p.Steps {
		if !repeatable(s) {
			return Transactional
		}
	}
	if !insertsRepeat(p.Steps) || !filtersRepeat(p.Steps) {
		return Transactional
	}
	return Rerunnable
}

// Repeatable reports whether the plan may be run any number of times, from any cut: a second run changes nothing more. It asks
// each step for what [Rerunnable] plans need, also where there is only one, which may add or push.
func (p Plan) Repeatable() bool {
	if p.Transactional || p.Err() != nil {
		return false
	}
	for _, s := range p.Steps {
		if !repeatable(s) {
			return false
		}
	}
	return insertsRepeat(p.Steps) && filtersRepeat(p.Steps)
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

// repeatable reports whether a second run of the step changes nothing more.
func repeatable(s Step) bool {
	w, ok := s.(Write)
	if !ok {
		return s.(MergeInto).Once
	}
	if w.Once {
		return true
	}
	w.Model = w.unscoped()
	filter, known := w.filter().(bson.D)
	_, insert := w.Model.(*mongo.InsertOneModel)
	if !insert && w.Expect == One && w.Done == nil && (len(filter) > 1 || !known) {
		return false // its own effect may be what the guard then misses
	}
	switch m := w.Model.(type) {
	case *mongo.InsertOneModel:
		raw, err := (*core.Codec)(nil).Document(m.Document)
		return err == nil && raw.Lookup("_id").Type != 0
	case *mongo.UpdateOneModel:
		return pinsID(filter) && idempotent(m.Update)
	case *mongo.UpdateManyModel:
		return idempotent(m.Update) && (m.Upsert == nil || !*m.Upsert || pinsID(filter))
	case *mongo.ReplaceOneModel:
		return pinsID(filter)
	case *mongo.DeleteOneModel:
		return pinsID(filter) && w.Expect == Any
	case *mongo.DeleteManyModel:
		return w.Expect == Any
	}
	return false
}

// pinsID reports whether the filter holds an equality on _id.
func pinsID(filter bson.D) bool {
	for _, e := range filter {
		if e.Key == "_id" {
			return isEquality(e.Value)
		}
	}
	return false
}

func idempotent(update any) bool {
	d, ok := operators(update)
	return ok && mql.Idempotent(d)
}
