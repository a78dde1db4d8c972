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
	Sums     []Field          // sums of the children's numbers; missing values add nothing
	Averages []CounterAverage // averages of the children's numbers
	Mins     []Field          // the children's smallest number or date
	Maxs     []Field          // the children's greatest number or date

	// Where are conditions on a child's fields. A child counts if all conditions are
	// true. A condition is {path: value} or {path: {operator: value}}, with scalars and
	// $eq, $ne, $gt, $gte, $lt, $lte, $in or $exists. By default every child with a
	// parent counts.
	Where bson.D

	// Tokens is the path, in the parent, of an array of bson.ObjectID with the tokens of
	// the latest operations: their parameters token. Pending is the path, in a child, of
	// a *[CounterPending], tagged omitempty: the mark of an unfinished operation. Give
	// both or neither. With both, operations are exact without transactions. With
	// neither, operations don't use token: pass bson.NilObjectID. They then need
	// transactions, unless Partial is set.
	Tokens  string
	Pending string

	// Keep is the number of tokens that a parent keeps, at most 10,000. 0 means 100. A
	// retry of an operation counts again after that many other operations on the parent.
	Keep int

	// Partial lets operations without Tokens run outside transactions, as separate
	// writes. A crash or a race leaves wrong numbers, which [Counter.Checks] finds and
	// repairs.
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
	Parents []bson.RawValue `bson:"parents"`        // the old and the new parent
	Was     bson.Raw        `bson:"was,omitempty"`  // {parent, values}: what the child counted for before the operation
	Gone    bool            `bson:"gone,omitempty"` // the child is being deleted, and doesn't count
}

// Counter stores, in each parent, numbers that are computed from its children: a
// publisher's number of books, their lowest price.
//
// Every write that changes a number must be an operation: [Counter.Insert],
// [Counter.Set], [Counter.Move] or [Counter.Delete]. [Counter.Checks] finds the effects
// of other writes, such as an embed.Versioned's. A child whose reference is missing, null
// or leads nowhere doesn't count. Run [Counter.Recount] for a parent that is stored after
// its children.
//
// Counts, sums and averages of integers and of bson.Decimal128 are exact. The server
// refuses an integer sum over 64 bits. Sums of floats drift by rounding. The check
// ignores a difference of up to 1e-9 times the sum of the floats' absolute values.
//
// # Consistency
//
// With CounterSpec.Tokens, an operation has a token, a fresh bson.NewObjectID(), and
// writes one document at a time:
//
//  1. It changes the child and stores a mark in it.
//  2. It adds the difference to the child's old and new parent, and stores the token
//     there. It skips a parent that has the token.
//  3. It removes the mark, or deletes the child.
//
// After a crash, a retry, the next operation on the child or [Counter.Settle] finishes
// the marked operation. Until then readers see the old numbers, and a child whose
// deletion has begun.
//
// A retry of a finished operation does nothing while the child's parent keeps the token.
// Later a retry counts again, which [Counter.Recount] repairs. If the child has no stored
// parent, a retry applies the operation again.
//
// # In a transaction
//
// Operations store no mark, and all writes are one command if the server has bulkWrite
// (MongoDB 8.0). Parents still keep tokens.
//
// # Soft deletion
//
// Under a [model.Scope] whose field Delete is set, such as to {deletedAt: now},
// operations also update the numbers of softly deleted parents. If children are deleted
// softly, CounterSpec.Where must contain {deletedAt: nil}. [Counter.Delete] under the
// scope sets deletedAt and takes the child off its parent's numbers. To restore the
// child, set deletedAt to nil by [Counter.Set] under a scope whose Delete isn't set.
//
// # Several counters
//
// If a child counts in two parents, declare a Counter for each parent. Join the Counters'
// operations by [model.Change.Also], in a transaction. If you set a field by one Counter
// and then by the other, only the first updates its numbers.
//
// Source:
// https://www.mongodb.com/docs/manual/data-modeling/design-patterns/computed-values/computed-schema-pattern/.
//
// Indexes returns the children's indexes: on the reference, with each field of a smallest
// or greatest value, and two partial indexes on marks.
//
// Checks returns one check, or two with CounterSpec.Tokens:
//
//   - Parents with numbers that differ from their children. The repair writes the counted
//     numbers. It skips a parent that changed meanwhile or has an operation under way:
//     run the job again, or [Counter.Recount]. With CounterSpec.Partial (no marks) the
//     check can't see operations under way. So its job counts twice, a minute apart
//     (Check.Age), and repairs only parents for which both results are equal.
//   - Unfinished operations. The job finishes operations that are older than a minute, as
//     [Counter.Settle] does.
//
// Cost: the first check reads every child by the index on the reference.
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
// [Counter]. If another child's operation has the same token, Insert stores nothing and
// gives no error. The result's Modified is then 0. A taken _id gives model.ErrTaken or,
// in a transaction that the caller began, the driver's duplicate key error.
//
// Cost: four commands, by _id, or two with CounterSpec.Partial. A child without a parent
// costs one command. In a transaction: one command, or two before MongoDB 8.0.
func (x *Counter[C, CK, P, PK]) Insert(child C, token bson.ObjectID) model.Change[any] {
	return x.c.Insert(x.children.Insert(child), token)
}

// Set returns the change that sets fields of a child by their paths, and updates the
// numbers of its parent, or of both parents if the reference changes. token is the
// operation's token: see [Counter]. A nil value stores null. A null reference takes the
// child off its parent. A bson.RawValue{} removes the field. Fields inside arrays, or
// below a counted field, give a [*model.ValueError]. A missing child gives
// model.ErrNotFound. If another writer came first, the change reads again, up to 100
// times.
//
// Cost: five commands, by _id. If the smallest or greatest value leaves a parent, one
// more read, by [Counter.Indexes]. A child without a parent costs two commands. In a
// transaction: two commands. If such a value leaves, or the operation was already done,
// the transaction runs again and reads the parents too.
func (x *Counter[C, CK, P, PK]) Set(child CK, fields bson.D, token bson.ObjectID) model.Change[any] {
	return x.c.Set(child, fields, token)
}

// SetIf is [Counter.Set] of a child that matches the filter guard, such as {status:
// "open"}. If the child exists but doesn't match, the change gives model.ErrGuard. A
// retry of a finished operation does nothing while the child's parent keeps the token.
// Later, or without CounterSpec.Tokens, it applies guard again. An empty guard gives a
// [*model.ValueError].
//
// Cost: as [Counter.Set]. A child that doesn't match costs one or two commands more.
func (x *Counter[C, CK, P, PK]) SetIf(child CK, guard, fields bson.D, token bson.ObjectID) model.Change[any] {
	return x.c.SetIf(child, guard, fields, token)
}

// Move returns the change that gives a child another parent, by the parent's _id. It is
// [Counter.Set] of the reference.
//
// Cost: as [Counter.Set].
func (x *Counter[C, CK, P, PK]) Move(child CK, parent PK, token bson.ObjectID) model.Change[any] {
	return x.c.Move(child, parent, token)
}

// Delete returns the change that deletes a child and takes it off its parent's numbers.
// For token, see [Counter]. A missing child is not an error.
//
// Cost: as [Counter.Set].
func (x *Counter[C, CK, P, PK]) Delete(child CK, token bson.ObjectID) model.Change[any] {
	return x.c.Delete(child, token)
}

// Pending returns the query of the children with an unfinished operation whose token
// is older than cutoff. Pass these children to [Counter.Settle].
// Without CounterSpec.Pending the query gives a [*model.ValueError].
//
// Cost: one command, served by a partial index of [Counter.Indexes].
func (x *Counter[C, CK, P, PK]) Pending(cutoff time.Time) *model.Find[C] {
	filter, err := x.c.PendingBefore(cutoff)
	return commands.Served(x.children.Find(filter), x.c.OpIndex().Name, err)
}

// Settle returns the change that finishes an operation that a crash left half done, as
// the child's mark (CounterSpec.Pending) shows. It is safe while the operation is still
// running. Without a mark it does nothing. Without CounterSpec.Pending it gives a
// [*model.ValueError].
//
// Cost: one command if the child has no mark, otherwise also the rest of the operation.
func (x *Counter[C, CK, P, PK]) Settle(child CK) model.Change[any] {
	return x.c.Settle(child)
}

// Recount returns the change that counts the children of one parent and writes the
// numbers that differ. Running it returns the finding of [Counter.Checks], with an empty
// Problem if no number differs. A missing parent gives model.ErrNotFound.
//
// Consistency: the numbers are exact even while other operations run. With
// CounterSpec.Partial, Recount can count a child whose parent isn't updated yet. After a
// concurrent operation it starts again, up to 100 attempts.
//
// Cost: two commands, one document. It reads every child of the parent, by the index on
// the reference.
func (x *Counter[C, CK, P, PK]) Recount(parent PK) model.Change[model.Finding] {
	return x.c.Recount(parent)
}
