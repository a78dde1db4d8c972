package tree

// Queries that find damage on the server. If none of them finds a document, the tree is
// sound. Each query compares a node with its parent's document, or with the sibling
// before it. That is enough: if every node fits its parent, the whole is a tree. Where a
// representation's fields don't exclude cycles, circular nodes are searched too.

import (
	"context"
	"slices"

	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/paths/internal/forest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A fitting says how a sound node of a representation is recognised. Its expressions see
// the node's own fields, the parent's document as the variable $$up, and the field of the
// sibling before as _former.
type fitting struct {
	// root is an expression that is true for a sound root; nil means always.
	root any
	// child is an expression that is true for a sound node below its parent; nil means
	// always.
	child any
	// prev is the field of the sibling before that the expression after reads.
	prev string
	// after is an expression that is true for a sound node behind its sibling; nil means
	// always.
	after any
	// more are other queries, which find nothing in a sound tree.
	more []Source
}

// Fields of the queries, which no document is stored with.
const (
	// Fields that the queries compute. No document is stored with them.
	up         = "_up"
	former     = "_former"
	orderFirst = "_order"
	sizeField  = "_size" // the size of the whole document
)

// ProjectFields is the projection of the fields that the tree reads.
func (t *Tree) ProjectFields() bson.D {
	project := bson.D{}
	for _, f := range slices.Concat(t.ListTreePaths(), t.UserFields) {
		project = append(project, mql.E(f, 1))
	}
	return project
}

// projectStage is the stage of ProjectFields. It comes first, so that the server keeps
// small documents in memory.
func (t *Tree) projectStage() bson.D { return mql.Op("$project", t.ProjectFields()) }

// findSuspects returns the queries of damaged nodes.
func (t *Tree) findSuspects() []Source {
	f := t.Rep.describeFitting()
	return append([]Source{t.findUnfitNodes(f), t.findUnorderedSiblings(f)}, f.more...)
}

// findUnfitNodes is the query of orphans, of nodes with a bad order key or change number,
// and of nodes that don't fit their parent. The types of parent and _id are compared too:
// $lookup finds the int64 5 by the int32 5, and Go code would not.
func (t *Tree) findUnfitNodes(f fitting) Source {
	parent, change := "$"+t.Links.Parent, "$"+t.Links.Change
	isRoot := mql.Op("$in", mql.Op("$type", parent), bson.A{"missing", "null"})
	root, child := f.root, bson.A{
		mql.Op("$eq", mql.Op("$size", "$"+up), 1),
		mql.Op("$eq", mql.Op("$type", parent), mql.Op("$type", mql.Op("$arrayElemAt", "$"+up+"._id", 0))),
	}
	if root == nil {
		root = true
	}
	if f.child != nil {
		first := mql.Op("$arrayElemAt", "$"+up, 0)
		child = append(
			child, bson.D{mql.E("$let", bson.D{mql.E("vars", bson.D{mql.E("up", first)}), mql.E("in", f.child)})},
		)
	}
	lookup := bson.D{
		mql.E("from", t.Collection), mql.E("localField", t.Links.Parent), mql.E("foreignField", "_id"),
		mql.E("pipeline", mongo.Pipeline{t.projectStage()}), mql.E("as", up),
	}
	bad := bson.D{mql.E("$or", bson.A{
		bson.D{mql.E(t.Links.Order, bson.D{mql.E("$not", bson.Regex{Pattern: forest.KeyPattern})})},
		bson.D{mql.E("$expr", mql.Op("$or",
			mql.Op("$not", bson.A{mql.Op("$cond", isRoot, root, bson.D{mql.E("$and", child)})}),
			// The pattern also matches an array that contains a key.
			mql.Op("$ne", mql.Op("$type", "$"+t.Links.Order), "string"), // an array of a key matches the pattern too
			mql.Op("$not", bson.A{mql.Op("$in", mql.Op("$type", change), bson.A{"int", "long", "missing", "null"})}),
			mql.Op("$gt", change, int64(maxChange)),
		))},
	})}
	return Source{Pipeline: mongo.Pipeline{
		t.projectStage(), {mql.E("$lookup", lookup)}, {mql.E("$match", bad)}, {mql.E("$unset", up)},
	}}
}

// findUnorderedSiblings is the query of siblings with equal order keys, and of nodes that
// don't fit behind the sibling before. $setWindowFields with $shift shows each node the
// fields of that sibling:
// https://www.mongodb.com/docs/manual/reference/operator/aggregation/shift/.
func (t *Tree) findUnorderedSiblings(f fitting) Source {
	shift := func(path string) bson.D {
		return mql.Op("$shift", bson.D{mql.E("output", "$"+path), mql.E("by", -1)})
	}
	output := bson.D{mql.E(orderFirst, shift(t.Links.Order))}
	bad := mql.Op("$eq", "$"+t.Links.Order, "$"+orderFirst)
	if f.after != nil {
		output = append(output, mql.E(former, shift(f.prev)))
		bad = mql.Op("$or", bad, mql.Op("$not", bson.A{f.after}))
	}
	window := bson.D{
		mql.E("partitionBy", mql.Op("$ifNull", "$"+t.Links.Parent, nil)),
		mql.E("sortBy", bson.D{mql.E(t.Links.Order, 1)}), mql.E("output", output),
	}
	return Source{Pipeline: mongo.Pipeline{
		// which none is partitioned by
		// $setWindowFields fails if partitionBy is an array.
		{mql.E("$match", bson.D{mql.E(t.Links.Parent, bson.D{mql.E("$not", bson.D{mql.E("$type", "array")})})})},
		t.projectStage(), {mql.E("$setWindowFields", window)}, {mql.E("$match", bson.D{mql.E("$expr", bad)})},
		{mql.E("$unset", bson.A{orderFirst, former})},
	}}
}

// findCircularNodes is the query of nodes that are their own ancestors by the parent
// links.
func (t *Tree) findCircularNodes() Source {
	lookup := bson.D{
		mql.E("from", t.Collection), mql.E("startWith", "$"+t.Links.Parent), mql.E("connectFromField", t.Links.Parent),
		mql.E("connectToField", "_id"), mql.E("as", up),
	}
	return Source{Pipeline: mongo.Pipeline{
		t.projectStage(), {mql.E("$graphLookup", lookup)},
		{mql.E("$match", bson.D{mql.E("$expr", mql.Op("$in", "$_id", "$"+up+"._id"))})}, {mql.E("$unset", up)},
	}}
}

// hasSuspects reports whether one of the queries finds anything, and stops at the first.
func (t *Tree) hasSuspects(ctx context.Context, db model.DB) (bool, error) {
	for _, s := range t.findSuspects() {
		s.Pipeline = append(slices.Clone(s.Pipeline), limitTo(1))
		for _, err := range t.Aggregate(s).Each(ctx, db) {
			return true, err
		}
	}
	return false, nil
}
