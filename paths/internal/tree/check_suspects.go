package tree

import (
	"context"
	"slices"

	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/paths/internal/forest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Queries that find, on the server, the documents that can't be right: all of a tree's are right when none of them finds any. Each
// looks at a document and its parent, or its sibling before it, only; that every node fits to its parent makes the whole a tree.

// fitting is how a sound node of a representation is told by its parent's document.
type fitting struct {
	root  any      // true of a sound root; nil for always
	child any      // true of a sound node whose parent's document is in the field up; nil for always
	prev  string   // a field of the sibling before that is read too, into the field before
	after any      // true of a sound node after that sibling; nil for always
	more  []Source // other queries
}

// Fields of the queries, which no document is stored with.
const (
	up         = "_up"
	former     = "_former"
	orderFirst = "_order"
	sizeField  = "_size" // the size of the whole document
)

// TreeFields is the projection to the fields that the tree reads.
func (t *Tree) TreeFields() bson.D {
	project := bson.D{}
	for _, f := range slices.Concat(t.Tied(), t.Own) {
		project = append(project, mql.E(f, 1))
	}
	return project
}

// onlyTreeFields is the stage that leaves what the check of a tree reads.
func (t *Tree) onlyTreeFields() bson.D { return mql.Op("$project", t.TreeFields()) }

func (t *Tree) suspects() []Source {
	f := t.Rep.fits()
	return append([]Source{t.unfit(f), t.unordered(f)}, f.more...)
}

// unfit finds orphans, nodes without an order or with a bad number of a change, and those that don't fit to their parents.
func (t *Tree) unfit(f fitting) Source {
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
		child = append(child, bson.D{mql.E("$let", bson.D{mql.E("vars", bson.D{mql.E("up", first)}), mql.E("in", f.child)})})
	}
	lookup := bson.D{
		mql.E("from", t.Collection), mql.E("localField", t.Links.Parent), mql.E("foreignField", "_id"),
		mql.E("pipeline", mongo.Pipeline{t.onlyTreeFields()}), mql.E("as", up),
	}
	bad := bson.D{mql.E("$or", bson.A{
		bson.D{mql.E(t.Links.Order, bson.D{mql.E("$not", bson.Regex{Pattern: forest.KeyPattern})})},
		bson.D{mql.E("$expr", mql.Op("$or",
			mql.Op("$not", bson.A{mql.Op("$cond", isRoot, root, bson.D{mql.E("$and", child)})}),
			mql.Op("$ne", mql.Op("$type", "$"+t.Links.Order), "string"), // an array of a key matches the pattern too
			mql.Op("$not", bson.A{mql.Op("$in", mql.Op("$type", change), bson.A{"int", "long", "missing", "null"})}),
			mql.Op("$gt", change, int64(maxChange)),
		))},
	})}
	return Source{Pipeline: mongo.Pipeline{
		t.onlyTreeFields(), {mql.E("$lookup", lookup)}, {mql.E("$match", bad)}, {mql.E("$unset", up)},
	}}
}

// unordered finds siblings that have one order key, and those that don't come after the one before.
func (t *Tree) unordered(f fitting) Source {
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
		mql.E("partitionBy", mql.Op("$ifNull", "$"+t.Links.Parent, nil)), mql.E("sortBy", bson.D{mql.E(t.Links.Order, 1)}), mql.E("output", output),
	}
	return Source{Pipeline: mongo.Pipeline{
		{mql.E("$match", bson.D{mql.E(t.Links.Parent, bson.D{mql.E("$not", bson.D{mql.E("$type", "array")})})})}, // which none is partitioned by
		t.onlyTreeFields(), {mql.E("$setWindowFields", window)}, {mql.E("$match", bson.D{mql.E("$expr", bad)})},
		{mql.E("$unset", bson.A{orderFirst, former})},
	}}
}

// circular finds the nodes that are their own ancestors, by the links alone.
func (t *Tree) circular() Source {
	lookup := bson.D{
		mql.E("from", t.Collection), mql.E("startWith", "$"+t.Links.Parent), mql.E("connectFromField", t.Links.Parent), mql.E("connectToField", "_id"), mql.E("as", up),
	}
	return Source{Pipeline: mongo.Pipeline{
		t.onlyTreeFields(), {mql.E("$graphLookup", lookup)}, {mql.E("$match", bson.D{mql.E("$expr", mql.Op("$in", "$_id", "$"+up+"._id"))})}, {mql.E("$unset", up)},
	}}
}

// suspicious reports whether one of the queries finds anything.
func (t *Tree) suspicious(ctx context.Context, db model.DB) (bool, error) {
	for _, s := range t.suspects() {
		s.Pipeline = append(slices.Clone(s.Pipeline), limit(1))
		for _, err := range t.Aggregate(s).Each(ctx, db) {
			return true, err
		}
	}
	return false, nil
}
