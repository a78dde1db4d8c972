package paths

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/docmodel/docmodel/internal/mql"
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
	more  []source // other queries
}

// Fields of the queries, which no document is stored with.
const (
	up         = "_up"
	former     = "_former"
	orderFirst = "_order"
)

// onlyTreeFields is the stage that leaves what the check of a tree reads.
func (t *tree) onlyTreeFields() bson.D {
	project := bson.D{}
	for _, f := range slices.Concat(t.tied(), t.own) {
		project = append(project, mql.E(f, 1))
	}
	return bson.D{mql.E("$project", project)}
}

func (t *tree) suspects() []source {
	f := t.rep.fits()
	return append([]source{t.unfit(f), t.unordered(f)}, f.more...)
}

// unfit finds orphans, nodes without an order or with a bad number of a change, and those that don't fit to their parents.
func (t *tree) unfit(f fitting) source {
	parent, change := "$"+t.links.Parent, "$"+t.links.Change
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
		mql.E("from", t.docs), mql.E("localField", t.links.Parent), mql.E("foreignField", "_id"),
		mql.E("pipeline", mongo.Pipeline{t.onlyTreeFields()}), mql.E("as", up),
	}
	bad := bson.D{mql.E("$or", bson.A{
		bson.D{mql.E(t.links.Order, bson.D{mql.E("$not", bson.Regex{Pattern: keyPattern})})},
		bson.D{mql.E("$expr", mql.Op("$or",
			mql.Op("$not", bson.A{mql.Op("$cond", isRoot, root, bson.D{mql.E("$and", child)})}),
			mql.Op("$ne", mql.Op("$type", "$"+t.links.Order), "string"), // an array of a key matches the pattern too
			mql.Op("$not", bson.A{mql.Op("$in", mql.Op("$type", change), bson.A{"int", "long", "missing", "null"})}),
			mql.Op("$gt", change, int64(maxChange)),
		))},
	})}
	return source{pipeline: mongo.Pipeline{
		t.onlyTreeFields(), {mql.E("$lookup", lookup)}, {mql.E("$match", bad)}, {mql.E("$unset", up)},
	}}
}

// unordered finds siblings that have one order key, and those that don't come after the one before.
func (t *tree) unordered(f fitting) source {
	shift := func(path string) bson.D {
		return mql.Op("$shift", bson.D{mql.E("output", "$"+path), mql.E("by", -1)})
	}
	output := bson.D{mql.E(orderFirst, shift(t.links.Order))}
	bad := mql.Op("$eq", "$"+t.links.Order, "$"+orderFirst)
	if f.after != nil {
		output = append(output, mql.E(former, shift(f.prev)))
		bad = mql.Op("$or", bad, mql.Op("$not", bson.A{f.after}))
	}
	window := bson.D{
		mql.E("partitionBy", mql.Op("$ifNull", "$"+t.links.Parent, nil)), mql.E("sortBy", bson.D{mql.E(t.links.Order, 1)}), mql.E("output", output),
	}
	return source{pipeline: mongo.Pipeline{
		{mql.E("$match", bson.D{mql.E(t.links.Parent, bson.D{mql.E("$not", bson.D{mql.E("$type", "array")})})})}, // which none is partitioned by
		t.onlyTreeFields(), {mql.E("$setWindowFields", window)}, {mql.E("$match", bson.D{mql.E("$expr", bad)})},
		{mql.E("$unset", bson.A{orderFirst, former})},
	}}
}

// circular finds the nodes that are their own ancestors, by the links alone.
func (t *tree) circular() source {
	lookup := bson.D{
		mql.E("from", t.docs), mql.E("startWith", "$"+t.links.Parent), mql.E("connectFromField", t.links.Parent), mql.E("connectToField", "_id"), mql.E("as", up),
	}
	return source{pipeline: mongo.Pipeline{
		t.onlyTreeFields(), {mql.E("$graphLookup", lookup)}, {mql.E("$match", bson.D{mql.E("$expr", mql.Op("$in", "$_id", "$"+up+"._id"))})}, {mql.E("$unset", up)},
	}}
}

// keyPattern matches what checkKey takes.
var keyPattern = func() string {
	const digit = "[0-9A-Za-z]"
	var integers []string
	for head := range digits[10:] {
		letter := digits[10+head]
		integers = append(integers, string(letter)+digit+"{"+strconv.Itoa(integerLength(letter)-1)+"}")
	}
	return "^(?:" + strings.Join(integers, "|") + ")(?:" + digit + "*[1-9A-Za-z])?\\z"
}()

// suspicious reports whether one of the queries finds anything.
func (t *tree) suspicious(ctx context.Context, db *mongo.Database) (bool, error) {
	for _, s := range t.suspects() {
		s.pipeline = append(slices.Clone(s.pipeline), limit(1))
		for _, err := range t.aggregate(s).Each(ctx, db) {
			return true, err
		}
	}
	return false, nil
}
