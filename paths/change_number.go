package paths

import (
	"context"
	"fmt"
	"slices"

	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
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
func (t *tree) latest(above int64) source {
	number := bson.D{
		mql.E("$gt", above), mql.E("$lte", int64(maxChange)), mql.E("$type", bson.A{"int", "long"}), mql.E("$not", bson.D{mql.E("$type", "array")}),
	}
	return match("", bson.D{mql.E(t.links.Change, number)}, sortBy(t.links.Change, -1), limit(1), t.onlyTreeFields())
}

// begin is the number above which the changes go on when there is no lock document: see [model.Lease].
func (t *tree) begin(ctx context.Context, db *mongo.Database) (int64, error) {
	found, err := t.nodes(ctx, db, t.latest(0))
	if err != nil || len(found) == 0 {
		return 0, err
	}
	return found[0].change, nil
}

// passed reports whether a stored node that a change read has the change's number, or a later one.
func (t *tree) passed(s *State) bool {
	docs := slices.Concat([]bson.Raw{s.Parent, s.Prev, s.Next}, s.Siblings, s.Children, s.Below)
	if !s.fresh {
		docs = append(docs, s.Node)
	}
	return slices.ContainsFunc(docs, func(doc bson.Raw) bool {
		v, _ := model.ValueAt(doc, t.links.Change)
		n, _ := v.AsInt64OK()
		return v.Type != 0 && isChange(v) && n >= s.Change
	})
}

// goOn lets the fence go on above the numbers of all nodes, if a change's number isn't. The change is stale then, so that it is
// tried again with another number.
func (t *tree) goOn(ctx context.Context, db *mongo.Database, lease *model.Lease, change int64) error {
	if change == 0 {
		return nil // there is no lease
	}
	found, err := t.nodes(ctx, db, t.latest(change-1))
	if err != nil || len(found) == 0 {
		return err
	}
	if err := lease.Raise(ctx, db, found[0].change); err != nil {
		return err
	}
	return fmt.Errorf("%w: %s of %s has change %d, and this is change %d", model.ErrStale, text(found[0].id), t.docs, found[0].change, change)
}

// checkLock adds to a report the node with the greatest number of a change, if that is above the lock document's fence. The fence is
// read last: what began meanwhile has raised it.
func (t *tree) checkLock(ctx context.Context, db *mongo.Database, lease *model.Lease, report *report) error {
	found, err := t.nodes(ctx, db, t.latest(0))
	if err != nil || len(found) == 0 {
		return err
	}
	fence, err := lease.Last(ctx, db)
	if err == nil && found[0].change > fence {
		got, _ := model.ValueAt(found[0].raw, t.links.Change)
		report.Problems = append(report.Problems, problem{Kind: badChange, ID: found[0].id, Field: t.links.Change, Got: got})
	}
	return err
}

// numbered finds a number of a change that is none. It gets the repair's.
func (m *mending) numbered(n node) {
	if got, _ := model.ValueAt(n.raw, m.links.Change); !isChange(got) {
		m.report.Problems = append(m.report.Problems, problem{Kind: badChange, ID: n.id, Field: m.links.Change, Got: got})
		m.set(n, bson.E{Key: m.links.Change})
	}
}
