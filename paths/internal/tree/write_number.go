package tree

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

// The numbers of a tree's changes come from its lock document, whose fence must be above the numbers of all nodes. A lock document
// that is lost, or older than the nodes, goes on above them.

// maxChange is the greatest number of a change. A greater one is damage: the lock document could not count on.
const maxChange = 1 << 62

// isChange reports whether a stored value is the number of a change. A node that no change wrote has none.
func isChange(v bson.RawValue) bool {
	switch v.Type {
	case 0, bson.TypeNull:
		return true
	case bson.TypeInt32, bson.TypeInt64:
		return v.AsInt64() <= maxChange
	}
	return false
}

// latest is the query of the node with the greatest number of a change, if that is above another number.
func (t *Tree) latest(above int64) Source {
	number := bson.D{
		mql.E("$gt", above), mql.E("$lte", int64(maxChange)), mql.E("$type", bson.A{"int", "long"}), mql.E("$not", bson.D{mql.E("$type", "array")}),
	}
	return Match("", bson.D{mql.E(t.Links.Change, number)}, sortBy(t.Links.Change, -1), limit(1))
}

// begin is the number above which the changes go on when there is no lock document: see [model.Lease].
func (t *Tree) begin(ctx context.Context, db model.DB) (int64, error) {
	found, err := t.Nodes(ctx, db, t.latest(0))
	if err != nil || len(found) == 0 {
		return 0, err
	}
	return found[0].change, nil
}

// passed reports whether a stored node that a change read has the change's number, or a later one.
func (s State) passed() bool {
	return slices.ContainsFunc(s.stored(), func(n Node) bool { return n.change >= s.Change && n.change <= maxChange })
}

// stored are the nodes that a change read.
func (s State) stored() []Node {
	out := slices.Concat(s.to.crowd, s.to.near, s.to.below, s.children, s.below)
	for _, n := range []*Node{s.to.parent, s.to.prev, s.to.next} {
		if n != nil {
			out = append(out, *n)
		}
	}
	if !s.fresh && s.node.ID.Type != 0 {
		out = append(out, s.node)
	}
	return out
}

// goOn lets the fence go on above the numbers of all nodes, if a change's number isn't. The change is stale then, so that it is
// tried again with another number.
func (t *Tree) goOn(ctx context.Context, db model.DB, change int64) error {
	if change == 0 {
		return nil // there is no lease
	}
	found, err := t.Nodes(ctx, db, t.latest(change-1))
	if err != nil || len(found) == 0 {
		return err
	}
	if err := t.Lease.Raise(ctx, db, found[0].change); err != nil {
		return err
	}
	return fmt.Errorf("%w: %s of %s has change %d, and this is change %d", model.ErrStale, model.Shell(found[0].ID), t.Collection, found[0].change, change)
}

// checkLock adds to a report the node with the greatest number of a change, if that is above the lock document's fence. The fence is
// read last: what began meanwhile has raised it.
func (t *Tree) checkLock(ctx context.Context, db model.DB, report *report) error {
	found, err := t.Nodes(ctx, db, t.latest(0))
	if err != nil || len(found) == 0 {
		return err
	}
	fence, err := t.Lease.Last(ctx, db)
	if err == nil && found[0].change > fence {
		got, _ := core.ValueAt(found[0].Raw, t.Links.Change)
		report.Problems = append(report.Problems, problem{Kind: forest.BadChange, ID: found[0].ID, Field: t.Links.Change, Got: got})
	}
	return err
}

// numbered finds a number of a change that is none. It gets the repair's.
func (m *mending) numbered(n Node) {
	if got, _ := core.ValueAt(n.Raw, m.Links.Change); !isChange(got) {
		m.report.Problems = append(m.report.Problems, problem{Kind: forest.BadChange, ID: n.ID, Field: m.Links.Change, Got: got})
		m.set(n, bson.E{Key: m.Links.Change})
	}
}
