package paths

import (
	"context"
	"slices"
	"strconv"
	"strings"

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
		project = append(project, e(f, 1))
	}
	return bson.D{e("$project", project)}
}

func (t *tree) suspects() []source {
	f := t.rep.fits()
	return append([]source{t.unfit(f), t.unordered(f)}, f.more...)
}

// unfit finds orphans, nodes without an order or with a bad number of a change, and those that don't fit to their parents.
func (t *tree) unfit(f fitting) source {
	parent, change := "$"+t.links.Parent, "$"+t.links.Change
	isRoot := op("$in", op("$type", parent), bson.A{"missing", "null"})
	root, child := f.root, bson.A{
		op("$eq", op("$size", "$"+up), 1),
		op("$eq", op("$type", parent), op("$type", op("$arrayElemAt", "$"+up+"._id", 0))),
	}
	if root == nil {
		root = true
	}
	if f.child != nil {
		first := op("$arrayElemAt", "$"+up, 0)
		child = append(child, bson.D{e("$let", bson.D{e("vars", bson.D{e("up", first)}), e("in", f.child)})})
	}
	lookup := bson.D{
		e("from", t.docs), e("localField", t.links.Parent), e("foreignField", "_id"),
		e("pipeline", mongo.Pipeline{t.onlyTreeFields()}), e("as", up),
	}
	bad := bson.D{e("$or", bson.A{
		bson.D{e(t.links.Order, bson.D{e("$not", bson.Regex{Pattern: keyPattern})})},
		bson.D{e("$expr", op("$or",
			op("$not", bson.A{op("$cond", isRoot, root, bson.D{e("$and", child)})}),
			op("$ne", op("$type", "$"+t.links.Order), "string"), // an array of a key matches the pattern too
			op("$not", bson.A{op("$in", op("$type", change), bson.A{"int", "long", "missing", "null"})}),
			op("$gt", change, int64(maxChange)),
		))},
	})}
	return source{pipeline: mongo.Pipeline{
		t.onlyTreeFields(), {e("$lookup", lookup)}, {e("$match", bad)}, {e("$unset", up)},
	}}
}

// unordered finds siblings that have one order key, and those that don't come after the one before.
func (t *tree) unordered(f fitting) source {
	shift := func(path string) bson.D {
		return op("$shift", bson.D{e("output", "$"+path), e("by", -1)})
	}
	output := bson.D{e(orderFirst, shift(t.links.Order))}
	bad := op("$eq", "$"+t.links.Order, "$"+orderFirst)
	if f.after != nil {
		output = append(output, e(former, shift(f.prev)))
		bad = op("$or", bad, op("$not", bson.A{f.after}))
	}
	window := bson.D{
		e("partitionBy", op("$ifNull", "$"+t.links.Parent, nil)), e("sortBy", bson.D{e(t.links.Order, 1)}), e("output", output),
	}
	return source{pipeline: mongo.Pipeline{
		{e("$match", bson.D{e(t.links.Parent, bson.D{e("$not", bson.D{e("$type", "array")})})})}, // which none is partitioned by
		t.onlyTreeFields(), {e("$setWindowFields", window)}, {e("$match", bson.D{e("$expr", bad)})},
		{e("$unset", bson.A{orderFirst, former})},
	}}
}

// circular finds the nodes that are their own ancestors, by the links alone.
func (t *tree) circular() source {
	lookup := bson.D{
		e("from", t.docs), e("startWith", "$"+t.links.Parent), e("connectFromField", t.links.Parent), e("connectToField", "_id"), e("as", up),
	}
	return source{pipeline: mongo.Pipeline{
		t.onlyTreeFields(), {e("$graphLookup", lookup)}, {e("$match", bson.D{e("$expr", op("$in", "$_id", "$"+up+"._id"))})}, {e("$unset", up)},
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
