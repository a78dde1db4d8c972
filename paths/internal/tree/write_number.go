package tree

// The numbers of changes. They come from the lock document, whose fence must not be lower
// than the number of any node. If the lock document was deleted, or restored from an
// older backup, the fence is raised above the nodes' numbers.

import (
	"context"
	"fmt"
	"slices"

	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/paths/internal/forest"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// maxChange is the greatest number of a change. A greater number is damage: if the fence
// went on from it, it would soon overflow.
const maxChange = 1 << 62

// isChangeNumber reports whether a stored value is a change number. Nodes that other code
// stored have none.
func isChangeNumber(v bson.RawValue) bool {
	switch v.Type {
	case 0, bson.TypeNull:
		return true
	case bson.TypeInt32, bson.TypeInt64:
		return v.AsInt64() <= maxChange
	}
	return false
}

// findLatestChange is the query of the node with the greatest change number above a
// number. No index serves it: it runs in checks, for a new lock document, and in a change
// that read a node whose number is too high.
func (t *Tree) findLatestChange(above int64) Source {
	number := bson.D{
		mql.E("$gt", above), mql.E("$lte", int64(maxChange)), mql.E("$type", bson.A{"int", "long"}),
		mql.E("$not", bson.D{mql.E("$type", "array")}),
	}
	return Match("", bson.D{mql.E(t.Links.Change, number)}, sortByField(t.Links.Change, -1), limitTo(1))
}

// readFirstFence is Lease.Begin: the fence from which a new lock document goes on.
func (t *Tree) readFirstFence(ctx context.Context, db model.DB) (int64, error) {
	found, err := t.ReadNodes(ctx, db, t.findLatestChange(0))
	if err != nil || len(found) == 0 {
		return 0, err
	}
	return found[0].change, nil
}

// hasPassed reports whether a node that was read has this change's number or a later one.
func (s State) hasPassed() bool {
	return slices.ContainsFunc(
		s.listStoredNodes(), func(n Node) bool { return n.change >= s.Change && n.change <= maxChange },
	)
}

// listStoredNodes returns the stored nodes that a change has read.
func (s State) listStoredNodes() []Node {
	out := slices.Concat(s.to.crowd, s.to.near, s.to.below, s.children, s.below)
	for _, n := range []*Node{s.to.parent, s.to.prev, s.to.next} {
		if n != nil {
			out = append(out, *n)
		}
	}
	if !s.isNew && s.node.ID.Type != 0 {
		out = append(out, s.node)
	}
	return out
}

// raiseFence raises the fence above all nodes' numbers if a node's number isn't below the
// change's. It then returns [model.ErrStale], so that the change runs again with a new
// number.
func (t *Tree) raiseFence(ctx context.Context, db model.DB, change int64) error {
	if change == 0 {
		return nil // there is no lease
	}
	found, err := t.ReadNodes(ctx, db, t.findLatestChange(change-1))
	if err != nil || len(found) == 0 {
		return err
	}
	if err := t.Lease.Raise(ctx, db, found[0].change); err != nil {
		return err
	}
	return fmt.Errorf(
		"%w: %s of %s has change %d, and this is change %d", model.ErrStale, model.Shell(found[0].ID), t.Collection,
		found[0].change, change,
	)
}

// checkLock reports the node with the greatest change number if that is above the fence.
// The fence is read last, because a change that began meanwhile has raised it.
func (t *Tree) checkLock(ctx context.Context, db model.DB, report *report) error {
	found, err := t.ReadNodes(ctx, db, t.findLatestChange(0))
	if err != nil || len(found) == 0 {
		return err
	}
	fence, err := t.Lease.Last(ctx, db)
	if err == nil && found[0].change > fence {
		got, _ := core.ValueAt(found[0].Raw, t.Links.Change)
		report.Problems = append(
			report.Problems, problem{Kind: forest.BadChange, ID: found[0].ID, Field: t.Links.Change, Got: got},
		)
	}
	return err
}

// checkChangeNumber reports an invalid change number. planRepair stores the repair's
// number.
func (m *mending) checkChangeNumber(n Node) {
	if got, _ := core.ValueAt(n.Raw, m.Links.Change); !isChangeNumber(got) {
		m.report.Problems = append(
			m.report.Problems, problem{Kind: forest.BadChange, ID: n.ID, Field: m.Links.Change, Got: got},
		)
		m.setField(n, bson.E{Key: m.Links.Change})
	}
}
