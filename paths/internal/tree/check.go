package tree

// The check of a whole tree as a [model.Check], its findings, and the change that
// repairs.

import (
	"context"
	"iter"
	"time"

	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/paths/internal/forest"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// listChecks returns the tree's one check. Its queries find damage on the server; only if
// one of them finds a document, Read reads all nodes and judges them in memory.
func (t *Tree) listChecks() []model.Check {
	c := t.makeWholeCheck(
		t.Collection+": nodes that disagree with the parent links",
		"the fields of each node agree with the parent links of all nodes", t.repairTree(),
	)
	for _, s := range t.findSuspects() {
		c.Queries = append(c.Queries, t.Aggregate(s))
	}
	c.Read = t.readFindings(c.Name, func(ctx context.Context, db model.DB) ([]problem, error) {
		report, err := t.checkTreeAndLock(ctx, db)
		return report.Problems, err
	})
	return []model.Check{c}
}

// checkTreeAndLock reports on the tree and on its lock document, whose fence must not be
// lower than the nodes' numbers.
func (t *Tree) checkTreeAndLock(ctx context.Context, db model.DB) (report, error) {
	report, err := t.CheckTree(ctx, db, 0)
	if err == nil {
		err = t.checkLock(ctx, db, &report)
	}
	return report, err
}

// repairTree is the change that writes what the check wants. It mends: after a crash no
// plan is finished, but the check and the decision run again. The fence is raised first
// if it is too low, because otherwise the writes would count as late ones and be skipped.
func (t *Tree) repairTree() model.Change {
	read := func(ctx context.Context, db model.DB, s *State) error {
		if err := t.raiseFence(ctx, db, s.Change); err != nil {
			return err
		}
		report, err := t.CheckTree(ctx, db, s.Change)
		s.Repair = report.Repair
		return err
	}
	c := t.MakeChange(read, func(s State) (model.Plan, error) { return s.Repair, nil })
	c.Mends = true
	return c
}

// makeWholeCheck makes a check that can't mend one finding alone: MendAll runs a change
// that repairs the tree.
func (t *Tree) makeWholeCheck(name, rule string, mend model.Change) model.Check {
	return model.Check{Name: name, Collection: t.Collection, Rule: rule, MendAll: func(
		ctx context.Context, db model.DB, _ time.Duration,
	) (model.Result, error) {
		result, err := mend.Run(ctx, db)
		return result, err
	}}
}

// readFindings adapts a function that lists problems to the Read function of a check. A
// tree can't be checked in part, because a document is right or wrong only beside others,
// so filters are refused.
func (t *Tree) readFindings(
	check string, problems func(context.Context, model.DB) ([]problem, error),
) func(context.Context, model.DB, bson.D) iter.Seq2[model.Finding, error] {
	return func(ctx context.Context, db model.DB, filter bson.D) iter.Seq2[model.Finding, error] {
		return func(yield func(model.Finding, error) bool) {
			if len(filter) > 0 {
				yield(model.Finding{}, t.Refuse("filter", filter, "must be empty: a tree is checked as a whole"))
				return
			}
			all, err := problems(ctx, db)
			if err != nil {
				yield(model.Finding{}, err)
				return
			}
			for _, f := range t.makeFindings(check, all) {
				if !yield(f, nil) {
					return
				}
			}
		}
	}
}

// makeFindings converts problems to findings. Detail has the kind and the field, and the
// values got and want if there are any.
func (t *Tree) makeFindings(check string, problems []problem) []model.Finding {
	out := make([]model.Finding, len(problems))
	for i, p := range problems {
		detail := bson.D{mql.E("kind", forest.KindWords[p.Kind]), mql.E("field", p.Field)}
		for _, v := range []struct {
			name string
			held bson.RawValue
		}{{"got", p.Got}, {"want", p.Want}} {
			if v.held.Type != 0 {
				detail = append(detail, mql.E(v.name, v.held))
			}
		}
		// Marshal can't fail: the values were read from the database.
		raw, _ := bson.Marshal(detail) // of values that were read
		out[i] = model.Finding{
			Check: check, Collection: t.Collection, ID: p.ID, Problem: p.describeProblem(), Detail: raw,
		}
	}
	return out
}
