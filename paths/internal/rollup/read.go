package rollup

import (
	"context"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/paths/internal/tree"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// number is an expression for a field's number, null where it is none.
func number(path string) bson.D {
	return mql.Cond(isNumber(path), "$"+path, nil)
}

func isNumber(path string) bson.D { return mql.Op("$isNumber", "$"+path) }

// totals are the accumulators of a $group, of the nodes' field at a path.
func totalsOf(path string) bson.D {
	v := number(path)
	return bson.D{
		{Key: "nodes", Value: mql.Op("$sum", 1)},
		{Key: "values", Value: mql.Op("$sum", mql.Cond(isNumber(path), 1, 0))},
		{Key: "sum", Value: mql.Op("$sum", v)}, {Key: "min", Value: mql.Op("$min", v)}, {Key: "max", Value: mql.Op("$max", v)},
	}
}

func (r *RollUp) aggregation(s tree.Source) model.Aggregation {
	return model.Aggregation{Collection: r.tree.Collection, Pipeline: s.Pipeline, Index: s.Index}
}

// Total is the query of a node's total.
func (r *RollUp) Total(n tree.Node) model.Aggregation {
	b, ok := r.tree.Rep.(tree.Brancher)
	if !ok {
		return r.aggregation(r.reached(tree.Match(model.IDIndex, bson.D{{Key: "_id", Value: model.Eq(n.ID)}})))
	}
	s := b.Inside(n)
	s.Pipeline = append(s.Pipeline, tree.Grouped(nil, totalsOf(r.path)))
	return r.aggregation(s)
}

// Branches is the query of the totals of children.
func (r *RollUp) Branches(n *tree.Node, children []tree.Node) model.Aggregation {
	s, _ := r.keyed(n, children)
	return r.aggregation(s)
}

// keyed is the query of the totals of children, and the key of each child in the results.
func (r *RollUp) keyed(n *tree.Node, children []tree.Node) (s tree.Source, key func(tree.Node) bson.RawValue) {
	if b, ok := r.tree.Rep.(tree.Brancher); ok {
		return b.Branches(n, children, totalsOf(r.path))
	}
	return r.reached(tree.Match(r.tree.ByParent(), bson.D{{Key: r.tree.Links.Parent, Value: model.Eq(tree.Under(n))}})), func(c tree.Node) bson.RawValue { return c.ID }
}

// reached is the query of the totals of some nodes, by following the links down from each.
func (r *RollUp) reached(s tree.Source) tree.Source {
	const own, below = "_own", "_below"
	sums := totalsOf(below + "." + r.path)
	sums[0].Value = mql.Op("$sum", mql.Cond(mql.Op("$gt", "$"+below+"._id", nil), 1, 0))
	sums = append(sums, mql.E(own, mql.Op("$first", "$"+own)))
	with := func(op, name string, more any) bson.E {
		return mql.E(name, bson.D{{Key: op, Value: bson.A{"$" + name, more}}})
	}
	s.Pipeline = append(s.Pipeline,
		mql.Op("$project", bson.D{{Key: own, Value: number(r.path)}}),
		bson.D{{Key: "$graphLookup", Value: bson.D{
			{Key: "from", Value: r.tree.Collection}, {Key: "startWith", Value: "$_id"}, {Key: "connectFromField", Value: "_id"},
			{Key: "connectToField", Value: r.tree.Links.Parent}, {Key: "as", Value: below},
		}}},
		mql.Op("$unwind", bson.D{{Key: "path", Value: "$" + below}, {Key: "preserveNullAndEmptyArrays", Value: true}}),
		tree.Grouped("$_id", sums),
		bson.D{{Key: "$project", Value: bson.D{
			with("$add", "nodes", 1), with("$add", "values", mql.Cond(isNumber(own), 1, 0)),
			with("$sum", "sum", "$"+own), with("$min", "min", "$"+own), with("$max", "max", "$"+own),
		}}})
	return s
}

// ask runs a query.
func (r *RollUp) ask(ctx context.Context, db model.DB, s tree.Source) ([]bson.Raw, error) {
	return (&model.Aggregate[bson.Raw]{Aggregation: r.aggregation(s)}).All(ctx, db)
}

// Children reads the totals of a node's children, or of the roots where n is nil: each child's _id, and its totals if there are any.
func (r *RollUp) Children(ctx context.Context, db model.DB, n *tree.Node) ([]bson.Raw, error) {
	children, err := r.tree.Nodes(ctx, db, r.tree.Children(tree.Under(n)))
	if err != nil || len(children) == 0 {
		return nil, err
	}
	for _, c := range children {
		if err := r.tree.Rep.Sound(c); err != nil {
			return nil, err
		}
	}
	s, key := r.keyed(n, children)
	found, err := r.ask(ctx, db, s)
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
			total = bson.Raw{5, 0, 0, 0, 0}
		}
		if totals[i], err = core.SetFields(total, bson.D{mql.E("_id", c.ID)}); err != nil {
			return nil, err
		}
	}
	return totals, nil
}
