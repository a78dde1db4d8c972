// Package counter keeps the count, sums, averages, minimums and maximums of a parent's children: see [Counter].
package counter

import (
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Spec says which numbers a [Counter] stores in each parent. At least one of
// Count, Sums, Averages, Mins and Maxs is required. Paths of numbers can't lead into
// arrays. Paths in the parent must not overlap.
type Spec struct {
	Count    string         // path of the number of children; "" means no count
	Sums     []Field        // sums of the children's numbers; missing numbers add nothing
	Averages []AverageField // averages of the children's numbers
	Mins     []Field        // minimums of the children's numbers or dates
	Maxs     []Field        // maximums of the children's numbers or dates

	// Where selects the children that count, by {path: scalar} or {path: {operator:
	// scalar}}. The operators are comparisons, $exists, and $in with an array. If a
	// [model.Scope] sets deletedAt in deleted children, add {deletedAt: nil}.
	Where bson.D
}

// A Field is a pair of paths: the parent's value at To is computed from the children's
// values at From.
type Field struct {
	From string // path of a field in the child, not inside an array
	To   string // path in the parent
}

// An AverageField is the average of a field of the children. The parent stores the exact
// sum and the number of values in a document {sum, n}, such as [Average].
type AverageField struct {
	From string // the field's path in a child; missing values don't count
	To   string // the path of {sum, n} in the parent

	// Value is the optional path of the average in the parent, for queries and sorts.
	Value string
}

// An Average is the stored document of an [AverageField].
type Average struct {
	Sum float64 `bson:"sum"`
	N   int64   `bson:"n"`
}

// Counter stores numbers in each parent, such as a publisher's number of books. The
// numbers are computed from the parent's children.
//
// Write the children by a [model.Store]. A new parent that doesn't exist gives
// [model.ErrNotFound]. A number that isn't finite gives a [*model.ValueError]. If you store
// a parent after its children, or write children in another way, run [Counter.Recount].
//
// # Consistency
//
// Each action counts once, with transactions and without: see [model.Store]. Without
// transactions, a parent has the old numbers until the action is finished. If some of a
// child's writers use transactions, and others don't, use transactions for
// [Counter.Recount] and the repair of [Counter].Checks, and don't set Mins or Maxs.
//
// # Several counters
//
// If a child counts in two parents, declare two Counters in the model. To count by status,
// you can also give each status its own parent document.
//
// To limit a number, join an update of the parent by [model.Change.Also], in a transaction.
// Set its Write.Expect to [model.One]. Its filter has the condition:
//
//	{$expr: {$lt: ["$students", "$seats"]}}
//
// Source:
// https://www.mongodb.com/docs/manual/data-modeling/design-patterns/computed-values/computed-schema-pattern/.
//
// # Indexes and checks
//
// Indexes returns the indexes by which a deletion finds the next minimum or maximum. Without
// Mins and Maxs, a Counter needs none.
//
// Checks returns the checks that find
//
//   - wrong numbers. Parents that an unfinished action has yet to change are skipped, and
//     parents that change meanwhile.
//   - children that name a missing parent. There is no repair.
//
// Cost: the first check reads every parent and every child once, and needs no index. The
// server groups them, so it keeps the numbers of all parents: in memory, or since MongoDB
// 6.0 on disk beyond 100 MB. In a transaction, it looks the children up for each parent. If
// numbers differ, it reads the children once more, for unfinished actions.
type Counter[C, CK, P, PK any] struct {
	model.Parts

	c *untypedCounter
}

// New declares that parents store numbers computed from their children. reference
// is the path, in a child, of its parent's _id. It panics with a
// [*model.DeclarationError] if a path or a type doesn't fit, or a field of spec is
// missing or invalid.
func New[C, CK, P, PK any](
	children *model.Collection[C, CK], reference string, parents *model.Collection[P, PK], spec Spec,
) *Counter[C, CK, P, PK] {
	out := &Counter[C, CK, P, PK]{
		Parts: model.Parts{},
		c:     declareCounter(children.Docs(), reference, parents.Docs(), spec),
	}
	out.Parts = model.NewParts(out.c.listIndexes, out.c.listRelations, out.c.listChecks, out.c.listFootprints).
		WithDocs(children.Docs(), parents.Docs()).WithReactions(out.c.makeReactions)
	return out
}

// Recount returns the change that counts a parent's children and corrects the parent's
// numbers. If all numbers were right, the Finding's Problem is empty. A missing parent
// gives [model.ErrNotFound]. If the numbers are wrong, and an unfinished action has yet to
// change them, Recount gives [model.ErrStale].
//
// The numbers are exact even during other actions: see [Counter].
//
// Cost: one command, which reads every child of the parent. If no index begins with the
// reference, it reads all children: parentref.ParentRef declares such an index. If a number
// is wrong, one more read, without an index, and one write.
func (x *Counter[C, CK, P, PK]) Recount(parent PK) model.ChangeOf[model.Finding] {
	return x.c.recountParent(parent)
}
