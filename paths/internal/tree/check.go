package tree

import (
	"context"
	"iter"
	"time"

	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/paths/internal/forest"
	"go.mongodb.org/mongo-driver/v2/bson"
)

func (t *Tree) checks() []model.Check {
	c := t.wholeCheck(t.Collection+": nodes that disagree with the parent links", "the fields of each node agree with the parent links of all nodes", t.repair())
	for _, s := range t.suspects() {
		c.Queries = append(c.Queries, t.Aggregate(s))
	}
	c.Read = t.found(c.Name, func(ctx context.Context, db model.DB) ([]problem, error) {
		report, err := t.checked(ctx, db)
		return report.Problems, err
	})
	return []model.Check{c}
}

// checked is the report of a tree and its lock document.
func (t *Tree) checked(ctx context.Context, db model.DB) (report, error) {
	report, err := t.Check(ctx, db, 0)
	if err == nil {
		err = t.checkLock(ctx, db, &report)
	}
	return report, err
}

// repair is the change that makes a tree whole.
func (t *Tree) repair() model.Change[any] {
	c := t.Changing(func(ctx context.Context, db model.DB, s *State) error {
		if err := t.goOn(ctx, db, s.Change); err != nil {
			return err
		}
		report, err := t.Check(ctx, db, s.Change)
		s.Repair = report.Repair
		return err
	}, func(s State) (model.Plan, error) { return s.Repair, nil })
	c.Mends = true
	return c
}

// wholeCheck is a check that a change mends at once.
func (t *Tree) wholeCheck(name, rule string, mend model.Change[any]) model.Check {
	return model.Check{Name: name, Collection: t.Collection, Rule: rule, MendAll: func(ctx context.Context, db model.DB, _ time.Duration) (model.Result, error) {
		_, result, err := mend.Run(ctx, db)
		return result, err
	}}
}

// found is the Read of a check of the whole tree.
func (t *Tree) found(check string, problems func(context.Context, model.DB) ([]problem, error)) func(context.Context, model.DB, bson.D) iter.Seq2[model.Finding, error] {
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
			for _, f := range t.findings(check, all) {
				if !yield(f, nil) {
					return
				}
			}
		}
	}
}

func (t *Tree) findings(check string, problems []problem) []model.Finding {
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
		raw, _ := bson.Marshal(detail) // of values that were read
		out[i] = model.Finding{Check: check, Collection: t.Collection, ID: p.ID, Problem: p.words(), Detail: raw}
	}
	return out
}
