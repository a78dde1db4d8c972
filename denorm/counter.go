package denorm

import (
	"reflect"
	"time"

	"github.com/docmodel/docmodel/denorm/internal/counter"
	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// CounterSpec says what a [Counter] keeps in the parents. At least one field must be kept. Paths of parents and children
// lie outside arrays; those of parents don't overlap.
type CounterSpec struct {
	Count    string           // the parents' path of the number of children; "" means that it is not kept
	Sums     []Field          // numbers added up; a child without a value adds nothing
	Averages []CounterAverage // numbers' averages
	Mins     []Field          // the smallest number or date
	Maxs     []Field          // the greatest

	// Where are conditions on fields of a child, all of which must hold for it to count: {path: value} for equality, or
	// {path: {operator: value}} with $eq, $ne, $gt, $gte, $lt, $lte, $in or $exists, of scalars. They mean what they
	// mean in a query. By default every child that names a parent counts.
	Where bson.D

	// Tokens is the parents' path of an array of bson.ObjectID, which keeps the tokens of the latest operations, and
	// Pending the children's path of a *[CounterPending], tagged omitempty, which is there while an operation on the
	// child is under way. With both, operations are exact without transactions, and in a transaction no mark is stored.
	// With neither, they run in transactions; see Partial.
	//
	// A mark comes with the write that changes the child, and goes with a write of its own: the one command that it costs an
	// operation. Other readers of the children meet it meanwhile, and after a cut until somebody finishes the operation. Two
	// partial indexes find the children that have one ([Counter.Indexes]).
	Tokens  string
	Pending string

	// Keep is how many tokens a parent keeps: at least as many as operations on one
	// parent can be under way at a time, or come between an operation and its being run
	// again. Operations on its children that change no number count too. 0 means 100,
	// which is some 2 KB in each busy parent; at most 10,000.
	Keep int

	// Partial, without Tokens, lets operations run without a transaction, as two plain writes: for servers that have
	// none, where a count may be wrong. A cut or a race leaves what [Counter.Checks] finds and mends.
	Partial bool
}

// core is the spec without its types.
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

// A CounterAverage is a number of the children whose average the parents keep. The sum and how many have a value are
// what is kept exactly, in a document {sum, n} such as [Average]; the quotient follows from them.
type CounterAverage struct {
	From string // path in a child; a child without a value there is not averaged
	To   string // path in the parent of a document with sum and n

	// Value is the path in the parent of sum/n, which is written in the same update, for queries and sorts. "" means that it
	// is not stored.
	Value string
}

// An Average is kept by a [CounterAverage].
type Average struct {
	Sum float64 `bson:"sum"`
	N   int64   `bson:"n"`
}

// A CounterPending is what a child holds while an operation on it is under way: what the parents have still to learn.
type CounterPending struct {
	Op      bson.ObjectID   `bson:"op"`
	Parents []bson.RawValue `bson:"parents"`        // the one that the child leaves, and the one that it comes to
	Was     bson.Raw        `bson:"was,omitempty"`  // what it counted for before: {parent, values}
	Gone    bool            `bson:"gone,omitempty"` // it is being deleted, and doesn't count any more
}

// Counter keeps numbers in parents that are computed from the children which name them: how many books a publisher has,
// their pages in all, the price of the cheapest. Reading a parent then needs no child. Make it with [NewCounter].
//
// Every write to a child that the numbers depend on goes through the counter: [Counter.Insert], [Counter.Set] (another
// value, another parent, a condition that begins or ceases to hold), [Counter.Delete]. What is written past it,
// [Counter.Checks] finds. A child whose reference is missing or null, or leads nowhere, counts nowhere; a parent that is
// stored after its children begins with [Counter.Recount].
//
// Counts, sums and averages of integers and of bson.Decimal128 are exact, and an integer sum that leaves 64 bits is
// refused by the server. A sum of floats is as exact as adding them in the order of the operations: it drifts by
// rounding, and the check passes over 1e-9 of what was added. A smallest or greatest value that leaves is looked up again
// among the children.
//
// What the Read of an operation's [model.Change] returns, only its Decide understands. Decide(nil) plans as if Read had found
// nothing.
//
// # Consistency
//
// An operation with tokens is four writes at most, each of one document. The child is
// changed and marked as pending in one, guarded by what it held; so of two operations
// that read the same, one reads again, and each change of a child counts once. Then each
// parent that the child names, before or after, is changed by the difference, which may
// be nothing, and keeps the operation's token, unless it holds that already; then the
// mark is taken off, or the child deleted. Whoever meets a mark finishes that operation
// first. A cut therefore leaves a child and a parent that differ and say so: the same
// operation run again, the next one on the child, or [Counter.Settle] finishes it.
// Readers see a parent's numbers behind by the operations under way, and a child that is
// being deleted until it is.
//
// This holds while a parent keeps the tokens of what is under way, see CounterSpec.Keep.
// An operation that is finished after so many others counts twice, or is done again by a
// second run; Recount mends the numbers.
//
// A finished operation that is run again does nothing, whichever fields it sets, while a
// parent that the child names keeps its token. If the child names no stored parent, no
// document keeps the token, and the operation is done again. Fields that no number
// depends on can be written past the counter, by one command and without a token.
//
// # In a transaction
//
// In a transaction nothing is cut off: no mark is stored, and all writes of an operation are one command where the server has
// bulkWrite (MongoDB 8.0). The parents still keep the token, so that operations in transactions and others can meet. The
// parents are not read first. Their write asks instead that they are there, don't hold the token, and keep a smallest or
// greatest value beyond one that leaves. Where one of these isn't so, the transaction is run again, and reads them. This is for transactions
// that this module begins ([model.WithTransactions], [model.InTx]); in one that the caller began with the driver, the parents are
// read first.
//
// # Soft deletion
//
// Under a [model.Scope] with Delete, the numbers of a parent that is marked as deleted
// follow its children too, so that they are true when it is restored. The scope's Filter
// must have the condition on Delete's fields at its top, or the change is refused. For
// children that are deleted softly, give that condition as Where ({deletedAt: nil}):
// [Counter.Delete] under the scope marks the child and takes it off its parent, and
// [Counter.Set] of deletedAt to nil, under a scope without that condition, restores it
// and counts it again.
//
// Source: "countOfBooks", fields that are computed when written (seed 000, 003);
// https://www.mongodb.com/docs/manual/data-modeling/design-patterns/computed-values/computed-schema-pattern/.
//
// Indexes returns the indexes on the children: the reference, with each field whose smallest or greatest value is kept;
// and the two partial ones on the operations under way, which are next to empty.
//
// Checks returns the check of parents whose numbers differ from their children: children that the parent doesn't count, and
// numbers without a child. An operation under way can show. Mending writes the numbers that the check counted: with tokens
// only if no operation came between the reads, so that an operation under way is neither undone nor counted twice. A parent
// that changes meanwhile is left to the next run, or to [Counter.Recount].
//
// With CounterSpec.Partial the check can't see an operation under way: then its Age is one minute, else it is 0. The job counts
// such a parent, counts it again an Age later, and mends it if it is the same.
//
// With tokens a second check finds the operations that were begun and not finished: those that were cut, and for a moment those
// under way. Its job finishes what was begun a minute ago or earlier, as [Counter.Settle] does.
//
// Cost: see [model.Check]. The check reads every child by the index on the reference; with tokens the server also looks up,
// twice for each parent, the operations under way on it, by their partial index. Create both first ([Counter.Indexes]):
// without one of them the server reads all children for each parent. Mending writes one document each, by _id.
type Counter[C, CK, P, PK any] struct {
	model.Parts

	children *model.Collection[C, CK]
	parents  *model.Collection[P, PK]
	c        *counter.Counter
}

// NewCounter declares that the parents keep numbers of the children that name them at a reference's path. It panics with a
// [*model.DeclarationError] when a path doesn't exist, lies inside an array or overlaps another, when a type doesn't fit (a
// reference and the parents' _id, a number or date and where it is kept), when a condition is none of those that
// CounterSpec.Where names, when nothing is kept, and when only one of Tokens and Pending is given.
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

// Insert returns the change that stores a new child and counts it. op is the operation's token, a fresh
// bson.NewObjectID(). Another document under the same _id gives a model.ErrTaken. Run again with the same token it
// completes itself, and does nothing when it was done, even if the child was changed or deleted since. So a token that
// was spent on another child stores nothing, without an error: the result's Modified is 0.
//
// Cost: four commands, served by _id: the parent's tokens, then three writes of the child, the parent, the child. A
// child that names no parent is just stored.
//
// In a transaction it is one command; in one of the caller's, it is the driver's duplicate-key error that a taken _id gives.
// Without Tokens: two commands, the child and the parent, in a transaction.
func (x *Counter[C, CK, P, PK]) Insert(child C, op bson.ObjectID) model.Change[any] {
	return x.c.Insert(x.children.Insert(child), op)
}

// Set returns the change that sets fields of a child by their paths, and changes what its
// parent keeps by the difference; with the reference among the fields, what both parents
// keep. Any fields outside arrays may be set; nil stores null, and a null reference
// leaves the parent. A bson.RawValue is stored as it is, and one of type 0 removes the
// field. So [Copy.Fields] can be set together with the reference. A path below a counted
// one is refused: set that whole. No such child is model.ErrNotFound. The fields are set
// whatever the child holds by then; what it counts for is read and guarded, again after
// another writer, up to 100 times. Run again with the same token after a cut it completes
// itself; when it was done, it does nothing while the child's parent remembers the token,
// also if it changed no number. If another operation has given the child another parent
// since, it sets its fields again, and the numbers follow: nothing is counted twice.
//
// Cost: five commands, served by _id: the child and the parents' tokens read, then the
// child, the parents, the child written. Where a smallest or greatest value leaves its
// parent, one more read each, served by [Counter.Indexes]. Two commands when the child
// names no parent. In a transaction: two, with Tokens and without. It is run again, with the reads,
// where a smallest or greatest value leaves, or the operation was done before.
func (x *Counter[C, CK, P, PK]) Set(child CK, fields bson.D, op bson.ObjectID) model.Change[any] {
	return x.c.Set(child, fields, op)
}

// Move returns the change that gives a child another parent: [Counter.Set] of the reference alone.
//
// Cost: as Set.
func (x *Counter[C, CK, P, PK]) Move(child CK, parent PK, op bson.ObjectID) model.Change[any] {
	return x.c.Move(child, parent, op)
}

// Delete returns the change that deletes a child and takes it off what its parent keeps. The child is marked first,
// then taken off, then deleted: one that is not there any more was taken off, by this or another operation, and is not
// an error. A child that names no parent is just deleted.
//
// Cost: as Set.
func (x *Counter[C, CK, P, PK]) Delete(child CK, op bson.ObjectID) model.Change[any] {
	return x.c.Delete(child, op)
}

// Pending returns the query of children whose operation was begun before a moment, by the time in its token, and is
// still under way: cut, if no operation takes that long. [Counter.Settle] finishes it. It needs a spec with Pending.
//
// Cost: one command, served by the partial index of [Counter.Indexes].
func (x *Counter[C, CK, P, PK]) Pending(before time.Time) *model.Find[C] {
	filter, err := x.c.PendingBefore(before)
	return commands.Served(x.children.Find(filter), x.c.OpIndex().Name, err)
}

// Settle returns the change that finishes the operation that is under way on a child, if there is one. It may be run while
// that operation runs: each change counts once.
//
// Cost: one command when there is none; otherwise as the rest of the operation.
func (x *Counter[C, CK, P, PK]) Settle(child CK) model.Change[any] {
	return x.c.Settle(child)
}

// Recount returns the change that counts the children of one parent anew, and writes what differs. It returns what the check
// of [Counter.Checks] finds of this parent, with an empty Problem where nothing differs. No such parent is model.ErrNotFound.
//
// Consistency: with tokens it is exact whatever else runs: it reads the operations under way, the parent, the children,
// and again what is under way, in this order; when an operation came between, or the parent changes before the write,
// it begins again, up to 100 times. What was under way is counted with its child, and its token given to the parent. In
// a transaction it is exact too. With CounterSpec.Partial it is not: it can count a child whose parent is yet to be told of it.
//
// Cost: two commands, one document; it reads every child of the parent, by the index on the reference, and with tokens the
// operations under way on it, by their partial index.
func (x *Counter[C, CK, P, PK]) Recount(parent PK) model.Change[model.Finding] {
	return x.c.Recount(parent)
}
