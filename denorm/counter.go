package denorm

import (
	"reflect"
	"time"

	"github.com/docmodel/docmodel/denorm/internal/counter"
	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// CounterSpec says which numbers a [Counter] stores in each parent. At least one of
// Count, Sums, Averages, Mins and Maxs is required. Paths of numbers can't lead into
// arrays. Paths in the parent must not overlap.
type CounterSpec struct {
	Count    string           // path of the number of children; "" means no count
	Sums     []Field          // sums of the children's numbers; missing numbers add nothing
	Averages []CounterAverage // averages of the children's numbers
	Mins     []Field          // minimums of the children's numbers or dates
	Maxs     []Field          // maximums of the children's numbers or dates

	// Where selects the children that count, by {path: scalar} or {path: {operator:
	// scalar}}. The operators are comparisons, $exists, and $in with an array. If a
	// [model.Scope] sets deletedAt in deleted children, add {deletedAt: nil}.
	Where bson.D

	// Tokens and Pending are paths. Set both paths or neither path. With both paths,
	// operations are exact without transactions, and a retry is safe.
	//   - Tokens is a parent's array of bson.ObjectID, for the tokens ([Counter]).
	//   - Pending is a child's top-level *[CounterPending], tagged omitempty.
	//
	// With neither path, operations need transactions or Partial. Pass
	// bson.NilObjectID as their token. In a transaction, a retry of Insert writes nothing
	// if the child is unchanged. With Partial, a retry of Insert fails.
	Tokens  string
	Pending string

	// Keep is how many tokens a parent stores, at most 10,000. 0 means 100. If an
	// interrupted operation's token is gone, a retry can count twice. To repair the
	// numbers, run [Counter.Recount].
	Keep int

	// If Partial is set, operations need no transactions. A crash, or a concurrent
	// operation, can leave wrong numbers. The repair of [Counter.Checks] corrects the
	// numbers. Don't set both Partial and Tokens.
	Partial bool
}

// core returns the non-generic spec.
func (s CounterSpec) core() counter.Spec {
	fields := func(list []Field) (out []counter.Field) {
		for _, f := range list {
			out = append(out, counter.Field(f))
		}
		return out
	}
	out := counter.Spec{
		Count: s.Count, Sums: fields(s.Sums), Mins: fields(s.Mins), Maxs: fields(s.Maxs), Where: s.Where,
		Tokens: s.Tokens, Pending: s.Pending, PendingType: reflect.TypeFor[CounterPending](), Keep: s.Keep, Partial: s.Partial,
	}
	for _, a := range s.Averages {
		out.Averages = append(out.Averages, counter.Average(a))
	}
	return out
}

// A CounterAverage is the average of a field of the children. The parent stores the exact
// sum and the number of values in a document {sum, n}, such as [Average].
type CounterAverage struct {
	From string // the field's path in a child; missing values don't count
	To   string // the path of {sum, n} in the parent

	// Value is the optional path of the average in the parent, for queries and sorts.
	Value string
}

// An Average is the stored document of a [CounterAverage].
type Average struct {
	Sum float64 `bson:"sum"`
	N   int64   `bson:"n"`
}

// A CounterPending marks a child whose operation is unfinished.
type CounterPending struct {
	Op      bson.ObjectID   `bson:"op"`
	Parents []bson.RawValue `bson:"parents"`        // old and new parent, unordered
	Was     bson.Raw        `bson:"was,omitempty"`  // {parent, values}: the old parent, and what the child added to it
	Gone    bool            `bson:"gone,omitempty"` // the child is being deleted, and doesn't count
}

// Counter stores numbers in each parent, such as a publisher's number of books. The
// numbers are computed from the parent's children.
//
// If a write of a child changes a number, use an operation: [Counter.Insert],
// [Counter.Set], [Counter.SetIf], [Counter.Move] or [Counter.Delete]. If you store a
// parent after children that weren't inserted by [Counter.Insert], run [Counter.Recount].
//
// # Consistency
//
// With neither CounterSpec.Tokens nor CounterSpec.Partial, each operation is a
// transaction.
//
// With Tokens, pass each operation a new bson.NewObjectID() as token. After a crash,
// parents can have the old numbers. Retry the operation with the same token, or run
// [Counter.Settle]. A retry doesn't count twice: see CounterSpec.Keep.
//
// # Several counters
//
// If a child counts in two parents, declare two Counters. Join the operations by
// [model.Change.Also], in a transaction. To count by status, give each status its own
// parent document. This needs one Counter and no transaction.
//
// To limit a number, join an update of the parent by Also, in a transaction. Set its
// Write.Expect to [model.One]. Its filter has the condition:
//
//	{$expr: {$lt: ["$students", "$seats"]}}
//
// Source:
// https://www.mongodb.com/docs/manual/data-modeling/design-patterns/computed-values/computed-schema-pattern/.
type Counter[C, CK, P, PK any] struct {
	model.Parts

	children *model.Collection[C, CK]
	parents  *model.Collection[P, PK]
	c        *counter.Counter
}

// NewCounter declares that parents store numbers computed from their children. reference
// is the path, in a child, of its parent's _id. It panics with a
// [*model.DeclarationError] if a path or a type doesn't fit, or a field of spec is
// missing or invalid.
func NewCounter[C, CK, P, PK any](
	children *model.Collection[C, CK], reference string, parents *model.Collection[P, PK], spec CounterSpec,
) *Counter[C, CK, P, PK] {
	out := &Counter[C, CK, P, PK]{model.Parts{}, children, parents, counter.Declare(children.Docs(), reference, parents.Docs(), spec.core())}
	var needs []model.Need
	if spec.Tokens == "" && !spec.Partial {
		needs = []model.Need{{Feature: "transactions", Why: "operations on " + children.Name() + " without Tokens"}}
	}
	out.Parts = model.NewParts(out.c.Indexes, out.c.Relations, out.c.Checks, out.c.Footprints, needs...).
		WithDocs(children.Docs(), parents.Docs()).WithReactions(out.c.Reactions)
	return out
}

// Indexes returns indexes of the children by parent, and with Tokens also indexes on
// unfinished operations.
func (x *Counter[C, CK, P, PK]) Indexes() []model.Index { return x.Parts.Indexes() }

// Checks returns the checks that find
//
//   - wrong numbers. The repair skips parents with concurrent operations. Repair again.
//   - children that name a missing parent. There is no repair.
//   - with Tokens, operations that are unfinished after a minute. The repair finishes the
//     operations.
//
// Cost: the first check reads every child, by index.
func (x *Counter[C, CK, P, PK]) Checks() []model.Check { return x.Parts.Checks() }

// Insert returns the change that stores and counts a new child. For token, see [Counter].
// With another operation's token, Insert can silently store nothing. A taken _id gives
// [model.ErrTaken] (in the caller's transaction, the driver's error). A missing parent
// gives [model.ErrNotFound], and nothing is stored.
//
// Cost: four commands, by _id. In a transaction: one command, or two before MongoDB 8.0.
func (x *Counter[C, CK, P, PK]) Insert(child C, token bson.ObjectID) model.Change[any] {
	return x.c.Insert(x.children.Insert(child), token)
}

// Set returns the change that sets a child's fields by their paths, and updates the
// parents' numbers. A nil value stores null. A bson.RawValue{} removes the field. A null
// reference removes the child from its parent. A missing child, or a missing new parent,
// gives [model.ErrNotFound].
// For token, see [Counter].
//
// Cost: five commands by _id, or two in a transaction. If a parent loses its smallest or
// greatest value: six, or seven in a transaction.
func (x *Counter[C, CK, P, PK]) Set(child CK, fields bson.D, token bson.ObjectID) model.Change[any] {
	return x.c.Set(child, fields, token)
}

// SetIf is [Counter.Set] for a child that must match the filter guard, such as {status:
// "open"}. A child that doesn't match gives model.ErrGuard. A retry tests guard again.
// Exception: with CounterSpec.Tokens, if the child has a parent, a retry after success
// does nothing.
//
// Cost: as [Counter.Set]. Without a match, one or two more commands.
func (x *Counter[C, CK, P, PK]) SetIf(child CK, guard, fields bson.D, token bson.ObjectID) model.Change[any] {
	return x.c.SetIf(child, guard, fields, token)
}

// Move returns the change that gives a child another parent. The parameter parent is the
// new parent's _id. For token, see [Counter]. Errors are those of [Counter.Set].
//
// Cost: as [Counter.Set].
func (x *Counter[C, CK, P, PK]) Move(child CK, parent PK, token bson.ObjectID) model.Change[any] {
	return x.c.Move(child, parent, token)
}

// Delete returns the change that deletes a child and updates the parent's numbers. For
// token, see [Counter]. A missing child is not an error.
//
// If a [model.Scope] has Delete fields, the child stays stored and gets these fields.
// To restore the child, set these fields to nil with [Counter.Set]. For this,
// use a scope without Delete.
//
// Cost: see [Counter.Set].
func (x *Counter[C, CK, P, PK]) Delete(child CK, token bson.ObjectID) model.Change[any] {
	return x.c.Delete(child, token)
}

// Pending returns the query of the children whose unfinished operation began before
// cutoff. The time comes from the operation's token (an ObjectID). Pass each child's _id
// to [Counter.Settle]. Without CounterSpec.Pending, the query gives a
// [*model.ValueError].
//
// Cost: one command, served by a partial index of [Counter.Indexes].
func (x *Counter[C, CK, P, PK]) Pending(cutoff time.Time) *model.Find[C] {
	filter, err := x.c.PendingBefore(cutoff)
	return commands.Served(x.children.Find(filter), x.c.OpIndex().Name, err)
}

// Settle returns the change that finishes a child's unfinished operation, for example
// after a crash. The child's field at CounterSpec.Pending describes the operation. If
// that field is missing, Settle does nothing. Settle is safe while the operation is still
// running. If CounterSpec.Pending isn't set, Settle gives a [*model.ValueError].
//
// Cost: one command, and the rest of the operation.
func (x *Counter[C, CK, P, PK]) Settle(child CK) model.Change[any] {
	return x.c.Settle(child)
}

// Recount returns the change that counts a parent's children and corrects the parent's
// numbers. If all numbers were right, the Finding's Problem is empty. A missing parent
// gives [model.ErrNotFound].
//
// The numbers are exact even during other operations, unless CounterSpec.Partial is set.
//
// Cost: two commands, one document. The server reads every child.
func (x *Counter[C, CK, P, PK]) Recount(parent PK) model.Change[model.Finding] {
	return x.c.Recount(parent)
}
