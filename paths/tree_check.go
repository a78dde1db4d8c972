package paths

import (
	"context"
	"iter"
	"time"

	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Checks returns one check of the whole tree. It finds orphans, cycles, siblings without an order, and every field of the
// representation that isn't what the parent links of all nodes make of it. A detail says the kind of the problem (orphan,
// cycle, order, field, same, segment, change), the field, and what the node has and is to have.
//
// Queries on the server look for documents that can't be right. Only when one of them finds a document, the tree's fields of
// all documents are read, to say what is wrong and what mends it. Two more queries compare the greatest number of a change
// with the lock document: the problem is "change" when the lock document was lost, or comes from an older backup. That
// number stops no change: the next one goes on above the nodes' numbers.
//
// Mending is one change under the lease. Orphans, and of each cycle the node with the least _id in the server's order, become
// roots after the others. Siblings without an order get one, and each field of the representation becomes what the links say.
// Only documents that differ are written, and no data of the user's is lost or deleted. Siblings that must have the same
// segment are not renamed: the next check finds them still. A plan that another writer left and that can't be finished is
// dropped. Mending can be run again from any cut: a cut leaves some nodes mended and others not, and some parked, with a path
// or left number by which nobody finds them. Until it is run again the tree is as damaged as before.
//
// The lease is extended while the tree is mended. Should it be lost all the same, because the server couldn't be reached for
// longer than TreeSpec.For, the mending passes over what others have written since it read: check again then.
//
// Cost: to check a sound tree, five to seven commands, which send one document and the count. Of a damaged tree one command
// reads all nodes into memory, some 800 bytes each. Mending costs as much, a command for each 25,000 documents or 16 MiB of
// writes, and two for the lease. The check of a tree can't be narrowed by [model.Check.In].
func (t *Tree[D, K]) Checks() []model.Check { return []model.Check{t.t.treeCheck(t.lease)} }

func (t *tree) treeCheck(lease *model.Lease) model.Check {
	c := t.wholeCheck(t.docs+": nodes that the links don't make", "each node is what the parent links of all nodes make of it", t.repair(lease))
	for _, s := range t.suspects() {
		c.Queries = append(c.Queries, t.aggregate(s))
	}
	c.Read = t.found(c.Name, func(ctx context.Context, db *mongo.Database) ([]problem, error) {
		report, err := t.checked(ctx, db, lease)
		return report.Problems, err
	})
	return c
}

// checked is the report of a tree and its lock document.
func (t *tree) checked(ctx context.Context, db *mongo.Database, lease *model.Lease) (report, error) {
	report, err := t.check(ctx, db, 0)
	if err == nil {
		err = t.checkLock(ctx, db, lease, &report)
	}
	return report, err
}

// repair is the change that makes a tree whole.
func (t *tree) repair(lease *model.Lease) model.Change[State] {
	c := t.changing(lease, func(ctx context.Context, db *mongo.Database, s *State) error {
		if err := t.goOn(ctx, db, lease, s.Change); err != nil {
			return err
		}
		report, err := t.check(ctx, db, s.Change)
		s.Repair = report.Repair
		return err
	}, func(s *State) (model.Plan, error) { return s.Repair, nil })
	c.Mends = true
	return c
}

// wholeCheck is a check that a change mends at once.
func (t *tree) wholeCheck(name, rule string, mend model.Change[State]) model.Check {
	return model.Check{Name: name, Collection: t.docs, Rule: rule, MendAll: func(ctx context.Context, db *mongo.Database, _ time.Duration) (model.Result, error) {
		_, result, err := mend.Run(ctx, db)
		return result, err
	}}
}

// found is the Read of a check of the whole tree.
func (t *tree) found(check string, problems func(context.Context, *mongo.Database) ([]problem, error)) func(context.Context, *mongo.Database, bson.D) iter.Seq2[model.Finding, error] {
	return func(ctx context.Context, db *mongo.Database, filter bson.D) iter.Seq2[model.Finding, error] {
		return func(yield func(model.Finding, error) bool) {
			if len(filter) > 0 {
				yield(model.Finding{}, t.refused("filter", filter, "a tree is checked whole: the check can't be narrowed"))
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

func (t *tree) findings(check string, problems []problem) []model.Finding {
	out := make([]model.Finding, len(problems))
	for i, p := range problems {
		detail := bson.D{mql.E("kind", kindWords[p.Kind]), mql.E("field", p.Field)}
		for _, v := range []struct {
			name string
			held bson.RawValue
		}{{"got", p.Got}, {"want", p.Want}} {
			if v.held.Type != 0 {
				detail = append(detail, mql.E(v.name, v.held))
			}
		}
		raw, _ := bson.Marshal(detail) // of values that were read
		out[i] = model.Finding{Check: check, Collection: t.docs, ID: p.ID, Problem: p.words(), Detail: raw}
	}
	return out
}
