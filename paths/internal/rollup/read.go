package rollup

// Queries of totals, and how they are read in the order of the children.

import (
	"context"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/paths/internal/tree"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// readNumber is the expression of a field's number. Null for other values: $sum, $min and
// $max skip it.
func readNumber(path string) bson.D {
	return mql.Cond(isNumber(path), "$"+path, nil)
}

// isNumber is the expression of whether a field has a number, of any BSON number type.
func isNumber(path string) bson.D { return mql.Op("$isNumber", "$"+path) }

// accumulateTotals returns the accumulators of a $group, for the field at a path.
func accumulateTotals(path string) bson.D {
	v := readNumber(path)
	return bson.D{
		{Key: "nodes", Value: mql.Op("$sum", 1)},
		{Key: "values", Value: mql.Op("$sum", mql.Cond(isNumber(path), 1, 0))},
		{Key: "sum", Value: mql.Op("$sum", v)}, {Key: "min", Value: mql.Op("$min", v)},
		{Key: "max", Value: mql.Op("$max", v)},
	}
}

// makeAggregation turns a source of the tree into an aggregation.
func (r *RollUp) makeAggregation(s tree.Source) model.Aggregation {
	return model.Aggregation{Collection: r.tree.Collection, Pipeline: s.Pipeline, Index: s.Index}
}

// FindTotal is the query of the totals of a node with its descendants.
func (r *RollUp) FindTotal(n tree.Node) model.Aggregation {
	b, ok := r.tree.Rep.(tree.Brancher)
	if !ok {
		return r.makeAggregation(r.groupReached(tree.Match(model.IDIndex, bson.D{{Key: "_id", Value: mql.Eq(n.ID)}})))
	}
	s := b.FindSubtree(n)
	s.Pipeline = append(s.Pipeline, tree.GroupBy(nil, accumulateTotals(r.path)))
	return r.makeAggregation(s)
}

// FindBranchTotals is the query of the totals of children that were read, in no order.
func (r *RollUp) FindBranchTotals(n *tree.Node, children []tree.Node) model.Aggregation {
	s, _ := r.groupBranches(n, children)
	return r.makeAggregation(s)
}

// groupBranches is the query of FindBranchTotals, and a function that returns the _id
// that a child's totals have in the results.
func (r *RollUp) groupBranches(n *tree.Node, children []tree.Node) (s tree.Source, key func(tree.Node) bson.RawValue) {
	if b, ok := r.tree.Rep.(tree.Brancher); ok {
		return b.GroupBranches(n, children, accumulateTotals(r.path))
	}
	return r.groupReached(
		tree.Match(
			r.tree.NameParentIndex(), bson.D{{Key: r.tree.Links.Parent, Value: mql.Eq(tree.EncodeParentID(n))}},
		),
	), func(c tree.Node) bson.RawValue { return c.ID }
}

// groupReached extends a query of nodes to their totals: it follows the links down from
// each node, and groups what it finds by the node. A node's own number is added after the
// $group, because a $graphLookup that starts at the _id finds only the descendants.
func (r *RollUp) groupReached(s tree.Source) tree.Source {
	// Fields that exist only within the pipeline.
	const own, below = "_own", "_below"
	sums := accumulateTotals(below + "." + r.path)
	sums[0].Value = mql.Op("$sum", mql.Cond(mql.Op("$gt", "$"+below+"._id", nil), 1, 0))
	sums = append(sums, mql.E(own, mql.Op("$first", "$"+own)))
	with := func(op, name string, more any) bson.E {
		return mql.E(name, bson.D{{Key: op, Value: bson.A{"$" + name, more}}})
	}
	s.Pipeline = append(s.Pipeline,
		mql.Op("$project", bson.D{{Key: own, Value: readNumber(r.path)}}),
		bson.D{{Key: "$graphLookup", Value: bson.D{
			{Key: "from", Value: r.tree.Collection}, {Key: "startWith", Value: "$_id"},
			{Key: "connectFromField", Value: "_id"},
			{Key: "connectToField", Value: r.tree.Links.Parent}, {Key: "as", Value: below},
		}}},
		mql.Op("$unwind", bson.D{{Key: "path", Value: "$" + below}, {Key: "preserveNullAndEmptyArrays", Value: true}}),
		tree.GroupBy("$_id", sums),
		bson.D{{Key: "$project", Value: bson.D{
			with("$add", "nodes", 1), with("$add", "values", mql.Cond(isNumber(own), 1, 0)),
			with("$sum", "sum", "$"+own), with("$min", "min", "$"+own), with("$max", "max", "$"+own),
		}}})
	return s
}

// runQuery runs a query and returns its documents.
func (r *RollUp) runQuery(ctx context.Context, db model.DB, s tree.Source) ([]bson.Raw, error) {
	return (&model.Aggregate[bson.Raw]{Aggregation: r.makeAggregation(s)}).All(ctx, db)
}

// ReadChildTotals reads the totals of a node's children, or of the roots for a nil node.
// Each result has the child's _id. A child without results, which was just inserted or is
// damaged, has only the _id.
func (r *RollUp) ReadChildTotals(ctx context.Context, db model.DB, n *tree.Node) ([]bson.Raw, error) {
	children, err := r.tree.ReadNodes(ctx, db, r.tree.FindChildren(tree.EncodeParentID(n)))
	if err != nil || len(children) == 0 {
		return nil, err
	}
	for _, c := range children {
		if err := r.tree.Rep.CheckStored(c); err != nil {
			return nil, err
		}
	}
	s, key := r.groupBranches(n, children)
	found, err := r.runQuery(ctx, db, s)
	if err != nil {
		return nil, err
	}
	byKey := make(map[string]bson.Raw, len(found))
	for _, doc := range found {
		byKey[bsonval.Key(doc.Lookup("_id"))] = doc
	}
	totals := make([]bson.Raw, len(children))
	for i, c := range children {
		total := byKey[bsonval.Key(key(c))]
		if total == nil {
			// The empty document.
			total = bson.Raw{5, 0, 0, 0, 0}
		}
		if totals[i], err = core.SetFields(total, bson.D{mql.E("_id", c.ID)}); err != nil {
			return nil, err
		}
	}
	return totals, nil
}
