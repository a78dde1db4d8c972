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
// Count, Sums, Averages, Mins and Maxs is required. Paths must lie outside arrays. Paths
// in the parent must not overlap.
type CounterSpec struct {
	Count    string           // path, in the parent, of the number of children; "" for none
	Sums     []Field          // sums of the children's numbers, exact except for floats; missing values add nothing
	Averages []CounterAverage // averages of the children's numbers
	Mins     []Field          // the children's smallest number or date
	Maxs     []Field          // the children's greatest number or date

	// Where are conditions on a child's fields. A child counts if all conditions are
	// true. A condition is {path: value} or {path: {operator: value}}, with scalars and
	// $eq, $ne, $gt, $gte, $lt, $lte, $in or $exists. By default every child with a
	// parent counts. If a [model.Scope] sets deletedAt in deleted children, Where must
	// contain {deletedAt: nil}.
	Where bson.D

	// Tokens is the path, in the parent, of an array of bson.ObjectID. The array stores
	// the tokens that identify the latest operations. Pending is the path, in a child, of
	// a *[CounterPending] tagged omitempty. It marks an unfinished operation. Give
	// both paths or neither. With both, operations are exact without transactions, and a
	// retry is safe. With neither, operations need transactions, unless Partial is set. A
	// retry of Insert can then give the duplicate key error of _id. Without Tokens, pass
	// bson.NilObjectID as the token of each operation.
	Tokens  string
	Pending string

	// Keep is the number of tokens that a parent keeps, at most 10,000. 0 means 100. A
	// retry counts again if the parent had Keep other operations since the first try.
	// [Counter.Recount] repairs this.
	Keep int

	// Partial lets operations without Tokens run outside transactions, as separate
	// writes. A crash or a race leaves wrong numbers. The job of [Counter.Checks] repairs
	// them, after it counts twice, a minute apart (Check.Age).
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
	From string // path in a child; missing values don't count
	To   string // path, in the parent, of the document {sum, n}

	// Value is the path, in the parent, where each update of {sum, n} also stores the
	// average, for queries and sorts. "" means that it isn't stored.
	Value string
}

// An Average is the stored document of a [CounterAverage].
type Average struct {
	Sum float64 `bson:"sum"`
	N   int64   `bson:"n"`
}

// A CounterPending marks a child with an unfinished operation.
type CounterPending struct {
	Op      bson.ObjectID   `bson:"op"`
	Parents []bson.RawValue `bson:"parents"`        // old and new parent, unordered
	Was     bson.Raw        `bson:"was,omitempty"`  // {parent, values}: what the child counted for before the operation
	Gone    bool            `bson:"gone,omitempty"` // the child is being deleted, and doesn't count
}

// Counter stores, in each parent, numbers that are computed from the parent's children:
// a publisher's number of books, the lowest price.
//
// Every write of a child that changes a number must be an operation: [Counter.Insert],
// [Counter.Set], [Counter.SetIf], [Counter.Move] or [Counter.Delete]. A child without a
// stored parent doesn't count. If you store a parent after its children, run
// [Counter.Recount].
//
// # Consistency
//
// Without CounterSpec.Tokens, an operation is a transaction, except with
// CounterSpec.Partial. With Tokens, pass each operation a new bson.NewObjectID(), the
// token. The operation writes the child and then the parents. A retry with the same
// token doesn't count twice (limit: CounterSpec.Keep). After a crash, readers see the
// old numbers. Retry the operation or run [Counter.Settle].
//
// # Several counters
//
// If a child counts in two parents, declare two Counters. Join their operations by
// [model.Change.Also], in a transaction. To count by a status without transactions, use
// one Counter. Its parents are documents for each status.
//
// To limit a number, join a write of the parent that has a condition, such as
//
//	{$expr: {$lt: ["$students", "$seats"]}}
//
// Source:
// https://www.mongodb.com/docs/manual/data-modeling/design-patterns/computed-values/computed-schema-pattern/.
//
// Indexes returns an index of the children on {reference, field} for each field of Mins
// and Maxs. Without such fields, the index is on the reference. Tokens add indexes on
// unfinished operations.
//
// Checks returns checks of
//
//   - wrong numbers. The repair corrects them. If an operation on a parent began or ended
//     during the repair, the parent is skipped. Run the job again.
//   - with Tokens, operations that are unfinished after a minute. The repair finishes the
//     operations.
//
// Cost: the first check reads every child, by index.
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
	out.Parts = model.NewParts(out.c.Indexes, out.c.Relations, out.c.Checks, out.c.Footprints, needs...)
	return out
}

// Insert returns the change that stores a new child and counts it. For token, see
// [Counter]. With another child's token, Insert can silently store nothing. A taken _id
// gives [model.ErrTaken]. In a transaction of the caller, it gives the driver's error.
//
// Cost: four commands, by _id. In a transaction: one command, or two before MongoDB 8.0.
func (x *Counter[C, CK, P, PK]) Insert(child C, token bson.ObjectID) model.Change[any] {
	return x.c.Insert(x.children.Insert(child), token)
}

// Set returns the change that sets fields (paths) of a child, and updates its parents'
// numbers. For token, see [Counter]. A nil value stores null. A bson.RawValue{} removes
// the field. A null reference takes the child off its parent. A missing child gives
// [model.ErrNotFound].
//
// Cost: five commands, by _id, or six commands if a parent loses its smallest or greatest
// value. In a transaction: two commands.
func (x *Counter[C, CK, P, PK]) Set(child CK, fields bson.D, token bson.ObjectID) model.Change[any] {
	return x.c.Set(child, fields, token)
}

// SetIf is [Counter.Set] for a child that must match the filter guard, such as {status:
// "open"}. If an existing child doesn't match, the change gives model.ErrGuard. With
// CounterSpec.Tokens, a retry after success does nothing. Without Tokens, a retry tests
// guard again.
//
// Cost: as [Counter.Set]. A child that doesn't match costs one or two more commands.
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
// Under a [model.Scope] with Delete, the child is only marked as deleted. To restore the
// child, use a scope without Delete, and set the mark to nil by [Counter.Set].
//
// Cost: as [Counter.Set].
func (x *Counter[C, CK, P, PK]) Delete(child CK, token bson.ObjectID) model.Change[any] {
	return x.c.Delete(child, token)
}

// Pending returns the query of the children with an unfinished operation that began
// before cutoff, by the time in its token (an ObjectID). Pass these children to
// [Counter.Settle]. Without CounterSpec.Pending the query gives a [*model.ValueError].
//
// Cost: one command, served by a partial index of [Counter.Indexes].
func (x *Counter[C, CK, P, PK]) Pending(cutoff time.Time) *model.Find[C] {
	filter, err := x.c.PendingBefore(cutoff)
	return commands.Served(x.children.Find(filter), x.c.OpIndex().Name, err)
}

// Settle returns the change that finishes an operation that a crash left half done. The
// child's mark (CounterSpec.Pending) shows such an operation. Settle is safe while the
// operation is still running. If the child has no mark, Settle does nothing. If
// CounterSpec.Pending isn't set, Settle gives a [*model.ValueError].
//
// Cost: one command if the child has no mark, otherwise also the rest of the operation.
func (x *Counter[C, CK, P, PK]) Settle(child CK) model.Change[any] {
	return x.c.Settle(child)
}

// Recount returns the change that counts the children of one parent and corrects its
// numbers. The finding's Problem is empty if no number differed. A missing parent gives
// [model.ErrNotFound].
//
// Consistency: exact even during other operations, unless CounterSpec.Partial is set.
//
// Cost: two commands, one document. It reads every child of the parent.
func (x *Counter[C, CK, P, PK]) Recount(parent PK) model.Change[model.Finding] {
	return x.c.Recount(parent)
}
