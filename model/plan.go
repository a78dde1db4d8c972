package model

import (
	"slices"
	"strings"

	"github.com/docmodel/docmodel/internal/bsondoc"
	"github.com/docmodel/docmodel/internal/core"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// A Step is a [Write] or a [MergeInto] in a [Plan].
type Step interface {
	String() string
	step()
}

// A Plan is an ordered list of writes. [Plan.Run] sends the writes. [Plan.RunTx] sends
// the writes in a transaction.
//
// [Plan.Guarantee] says whether the plan can run again after a crash.
//
// Consecutive writes of one kind to one collection share a command, up to 25,000 writes
// or 16 MiB. An update or delete with Write.Expect [One] is a separate command. In a
// transaction, since MongoDB 8.0, all writes share a command, up to the same limits.
type Plan struct {
	Steps   []Step
	Options PlanOptions

	// Transactional means that [Plan.Run] needs a transaction.
	Transactional bool

	// If a write with Expect [One] matches nothing, IfStale undoes earlier steps. In a
	// transaction, IfStale isn't sent.
	IfStale []Step

	// If InTx isn't nil, a transaction runs InTx instead of Steps. The step numbers in a
	// [Result] or [StepError] are those of InTx.
	InTx []Step

	// Leaves describes the stored data between two steps, such as after a crash.
	Leaves string

	// Applied, in a plan without Steps, says that an earlier run wrote everything.
	Applied bool

	own []int // steps that were applied before and aren't sent again
}

// NewPlan returns a plan of the steps.
func NewPlan(steps ...Step) Plan { return Plan{Steps: slices.Clone(steps)} }

// Concat joins plans in order. The result is transactional if one plan is, and has the
// first Options that aren't zero. Its IfStale has the IfStale steps of all plans.
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

// inTx returns the plan as it runs in a transaction.
func (p Plan) inTx() Plan {
	if p.leaner() {
		p.Steps, p.InTx = p.InTx, nil
	}
	return p
}

// Err returns a [*StepError] for the first step that has bad input, or nil.
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
		case core.IsNilModel(s.Model):
			return &ValueError{
				Collection: s.Collection, Field: "Model",
				Reason: "is nil: give one of the driver's write models, such as a *mongo.InsertOneModel",
			}
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

// String returns the plan as mongosh commands, one per line.
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

// remarks returns steps as comments.
func remarks(what string, steps []Step) []string {
	lines := make([]string, len(steps))
	for i, s := range steps {
		if lines[i] = what + "a step that is nil"; s != nil {
			lines[i] = what + s.String()
		}
	}
	return lines
}

// placeOf returns the Where of a step's error.
func placeOf(s Step) string {
	switch s := s.(type) {
	case Write:
		filter, _ := s.filter().(bson.D)
		if i := bsondoc.IndexOfID(filter); i >= 0 {
			filter = filter[i : i+1]
		}
		if len(filter) > 0 {
			return s.Collection + " " + clip(shell(filter), 120)
		}
		return s.Collection
	case MergeInto:
		return s.Collection
	}
	return ""
}

// firstCollection returns the collection of the plan's first step.
func (p Plan) firstCollection() string {
	if len(p.Steps) == 0 {
		return ""
	}
	switch s := p.Steps[0].(type) {
	case Write:
		return s.Collection
	case MergeInto:
		return s.Collection
	}
	return ""
}
