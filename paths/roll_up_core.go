package paths

import (
	"context"
	"fmt"
	"reflect"
	"slices"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// rollUp is what of a [RollUp] doesn't depend on types.
type rollUp struct {
	tree       *tree
	path, into string
	float      bool
}

func (r *rollUp) place() string { return fmt.Sprintf("NewRollUp of %s.%s", r.tree.docs, r.path) }

// check checks a field of a declaration.
func (r *rollUp) check(f model.Field, want reflect.Type) {
	fail := func(problem, remedy string) {
		panic(&model.DeclarationError{Problem: problem, Place: r.place(), Remedy: remedy})
	}
	if !f.Open && (f.Type != want || f.Arrays > 0) {
		fail(fmt.Sprintf("%q is a %s, not a %s", f.Path, f.Type, want), "name another field, or change its type")
	}
	for _, own := range append(slices.Concat(r.tree.tied(), r.tree.own), "_id") {
		if model.Overlap(f.Path, own) {
			fail(fmt.Sprintf("%q is a field of the tree's", f.Path), "name another field")
		}
	}
}

// A brancher is a representation whose documents tell to which child of a node they belong.
type brancher interface {
	// inside is the query of a node and all below it.
	inside(n node) source
	// branches is the query of what is below a node, nil for all nodes, and the stage that groups it by the children, which come in
	// order; group gives a stage's accumulators. key is a child's in the results.
	branches(n *node, children []node, totals bson.D) (s source, key func(child node) bson.RawValue)
}

// number is an expression for a field's number, null where it is none.
func number(path string) bson.D {
	return bson.D{{Key: "$cond", Value: bson.A{isNumber(path), "$" + path, nil}}}
}

func isNumber(path string) bson.D { return bson.D{{Key: "$isNumber", Value: "$" + path}} }

// totals are the accumulators of a $group, of the nodes' field at a path.
func totalsOf(path string) bson.D {
	v := number(path)
	return bson.D{
		{Key: "nodes", Value: bson.D{{Key: "$sum", Value: 1}}},
		{Key: "values", Value: bson.D{{Key: "$sum", Value: bson.D{{Key: "$cond", Value: bson.A{isNumber(path), 1, 0}}}}}},
		{Key: "sum", Value: bson.D{{Key: "$sum", Value: v}}}, {Key: "min", Value: bson.D{{Key: "$min", Value: v}}}, {Key: "max", Value: bson.D{{Key: "$max", Value: v}}},
	}
}

func grouped(by any, totals bson.D) bson.D {
	return bson.D{{Key: "$group", Value: append(bson.D{{Key: "_id", Value: by}}, totals...)}}
}

func (r *rollUp) aggregation(s source) model.Aggregation {
	return model.Aggregation{Collection: r.tree.docs, Pipeline: s.pipeline, Index: s.index}
}

// total is the query of a node's total.
func (r *rollUp) total(n node) source {
	b, ok := r.tree.rep.(brancher)
	if !ok {
		return r.reached(match(model.IDIndex, bson.D{{Key: "_id", Value: model.Eq(n.id)}}))
	}
	s := b.inside(n)
	s.pipeline = append(s.pipeline, grouped(nil, totalsOf(r.path)))
	return s
}

// branches is the query of the totals of children, and what tells whose they are.
func (r *rollUp) branches(n *node, children []node) (s source, key func(node) bson.RawValue) {
	if b, ok := r.tree.rep.(brancher); ok {
		return b.branches(n, children, totalsOf(r.path))
	}
	return r.reached(match(r.tree.byParent(), bson.D{{Key: r.tree.links.Parent, Value: model.Eq(under(n))}})), func(c node) bson.RawValue { return c.id }
}

// reached is the query of the totals of some nodes, by following the links down from each.
func (r *rollUp) reached(s source) source {
	const own, below = "_own", "_below"
	sums := totalsOf(below + "." + r.path)
	sums[0].Value = bson.D{{Key: "$sum", Value: bson.D{{Key: "$cond", Value: bson.A{bson.D{{Key: "$gt", Value: bson.A{"$" + below + "._id", nil}}}, 1, 0}}}}}
	sums = append(sums, bson.E{Key: own, Value: bson.D{{Key: "$first", Value: "$" + own}}})
	with := func(op, name string, more any) bson.E {
		return bson.E{Key: name, Value: bson.D{{Key: op, Value: bson.A{"$" + name, more}}}}
	}
	s.pipeline = append(s.pipeline,
		bson.D{{Key: "$project", Value: bson.D{{Key: own, Value: number(r.path)}}}},
		bson.D{{Key: "$graphLookup", Value: bson.D{
			{Key: "from", Value: r.tree.docs}, {Key: "startWith", Value: "$_id"}, {Key: "connectFromField", Value: "_id"},
			{Key: "connectToField", Value: r.tree.links.Parent}, {Key: "as", Value: below},
		}}},
		bson.D{{Key: "$unwind", Value: bson.D{{Key: "path", Value: "$" + below}, {Key: "preserveNullAndEmptyArrays", Value: true}}}},
		grouped("$_id", sums),
		bson.D{{Key: "$project", Value: bson.D{
			with("$add", "nodes", 1), with("$add", "values", bson.D{{Key: "$cond", Value: bson.A{isNumber(own), 1, 0}}}),
			with("$sum", "sum", "$"+own), with("$min", "min", "$"+own), with("$max", "max", "$"+own),
		}}})
	return s
}

// ask runs a query.
func (r *rollUp) ask(ctx context.Context, db *mongo.Database, s source) ([]bson.Raw, error) {
	return model.Aggregate[bson.Raw]{Aggregation: r.aggregation(s)}.All(ctx, db)
}

// children reads a node's children, nil for the roots, and the totals of each; nil for what isn't known.
func (r *rollUp) children(ctx context.Context, db *mongo.Database, n *node) (children []node, totals []bson.Raw, err error) {
	children, err = r.tree.nodes(ctx, db, r.tree.children(under(n)))
	if err != nil || len(children) == 0 {
		return nil, nil, err
	}
	for _, c := range children {
		if err := r.tree.rep.sound(c); err != nil {
			return nil, nil, err
		}
	}
	s, key := r.branches(n, children)
	found, err := r.ask(ctx, db, s)
	if err != nil {
		return nil, nil, err
	}
	byKey := make(map[string]bson.Raw, len(found))
	for _, doc := range found {
		byKey[bsonval.Key(doc.Lookup("_id"))] = doc
	}
	totals = make([]bson.Raw, len(children))
	for i, c := range children {
		totals[i] = byKey[bsonval.Key(key(c))]
	}
	return children, totals, nil
}

func (t *ancestorArray) inside(n node) source {
	return match(t.indexes[1].Name, bson.D{t.inSubtree(n)})
}

func (t *ancestorArray) branches(n *node, _ []node, totals bson.D) (source, func(node) bson.RawValue) {
	s := match("", bson.D{})
	if n != nil {
		s = match(t.indexes[1].Name, bson.D{t.inSubtree(*n), {Key: "_id", Value: bson.D{{Key: "$ne", Value: n.id}}}})
	}
	branch := bson.D{{Key: "$arrayElemAt", Value: bson.A{"$" + t.path, len(t.list(n))}}}
	s.pipeline = append(s.pipeline, grouped(branch, totals))
	return s, func(c node) bson.RawValue { return c.id }
}

func (t *materializedPath) inside(n node) source {
	return match(t.indexes[1].Name, bson.D{t.prefix(t.of(&n), true)})
}

func (t *materializedPath) branches(n *node, _ []node, totals bson.D) (source, func(node) bson.RawValue) {
	s, depth := match("", bson.D{}), 0
	if path := t.of(n); n != nil {
		s, depth = match(t.indexes[1].Name, bson.D{t.prefix(path, false)}), len(prefixes(path))+1
	}
	branch := bson.D{{Key: "$arrayElemAt", Value: bson.A{bson.D{{Key: "$split", Value: bson.A{"$" + t.path, Separator}}}, depth}}}
	s.pipeline = append(s.pipeline, grouped(branch, totals))
	return s, func(c node) bson.RawValue { return stringValue(t.of(&c)[len(parentPath(t.of(&c))) : len(t.of(&c))-1]) }
}

func (t *nestedSet) inside(n node) source {
	own, err := t.span(n)
	if err != nil {
		return t.nothing()
	}
	return match(t.byLeft(), bson.D{between(t.left, own.left, own.right)})
}

// branches are ranges of left numbers, of which each begins with a child's.
func (t *nestedSet) branches(n *node, children []node, totals bson.D) (source, func(node) bson.RawValue) {
	from, to := int64(1), int64(end)
	if n != nil {
		own, err := t.span(*n)
		if err != nil {
			return t.nothing(), func(node) bson.RawValue { return null }
		}
		from, to = own.left+1, own.right-1
	}
	var begins []int64
	for _, c := range children {
		if own, err := t.span(c); err == nil && own.left >= from && own.left <= to && (len(begins) == 0 || own.left > begins[len(begins)-1]) {
			begins = append(begins, own.left)
		}
	}
	if len(begins) == 0 {
		return t.nothing(), func(node) bson.RawValue { return null }
	}
	s := match(t.byLeft(), bson.D{between(t.left, begins[0], to)}, grouped(t.begun(begins), totals))
	return s, func(c node) bson.RawValue { v, _ := model.ValueAt(c.raw, t.left); return v }
}

// begun is an expression for the greatest of some numbers that is not above a left number, by halves.
func (t *nestedSet) begun(begins []int64) any {
	if len(begins) == 1 {
		return begins[0]
	}
	half := len(begins) / 2
	below := bson.D{{Key: "$lt", Value: bson.A{"$" + t.left, begins[half]}}}
	return bson.D{{Key: "$cond", Value: bson.A{below, t.begun(begins[:half]), t.begun(begins[half:])}}}
}
