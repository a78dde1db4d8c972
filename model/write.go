package model

import (
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// Expect is the number of documents that a write must match.
type Expect uint8

const (
	Any Expect = iota // any number of matches, including zero
	One               // one match, or the plan stops with ErrStale or ErrNotFound
)

func (e Expect) String() string {
	if e == One {
		return "one"
	}
	return "any"
}

// A Write is one write to one collection. Run it by [Write.Run] or in a [Plan], or pass
// Model to the driver's BulkWrite.
type Write struct {
	Collection string
	Model      mongo.WriteModel

	// With Expect [One], a write that matches no document stops the plan. The error is
	// [ErrNotFound] if the filter has an _id and no document has this _id. Otherwise the
	// error is [ErrStale]. [Write.Done] and [Write.Reasons] can change this result.
	Expect Expect

	// Done is a filter that matches a document if an earlier run applied this write. If
	// a document matches, the plan continues. Run queries Done if
	//   - the write has Expect [One] and matches nothing
	//   - the write gives a duplicate key error outside a transaction of the caller
	Done bson.D

	// Reasons replace ErrStale and ErrNotFound by the error of the first [Reason] that
	// applies. Outside a transaction of the caller, Reasons also replace a duplicate key
	// error. If no Reason applies, Run returns the driver's error: see
	// [mongo.IsDuplicateKeyError].
	//
	// For a duplicate key error of an update or upsert, Reason.If must compare every
	// field of the unique index by equality.
	Reasons []Reason

	// Once says that a second run of the write changes nothing. For example, the filter
	// contains values that were read.
	Once bool

	// Deleted lets the write change documents that a [Scope] marked as deleted. All other
	// conditions of the Scope apply.
	Deleted bool

	// Final makes a delete remove a document that a [Scope] would mark as deleted. Use
	// Final if the document is stored elsewhere or computed again.
	Final bool

	// IfMarked adds update operators to a delete that a [Scope] turns into an update.
	IfMarked bson.D

	// Index is the name of the index that serves the filter. "" means unknown.
	Index string

	// Err reports bad input. Run returns Err.
	Err error

	mixed bool    // merged from a Deleted write and another write
	under *scoped // nil before a scope or a shard key was applied
}

// scoped is what the scopes of a database made of a write. Writes share it, so it never
// changes.
type scoped struct {
	plain, covered mongo.WriteModel // the model before and after
	within         bson.D           // the conditions on documents that the write reaches
	tenant         bson.D           // the tenant of the inserted document
	marks          bool             // the write was a delete
}

// scoping returns what scopes made of the write, or the zero value.
func (w Write) scoping() scoped {
	if w.under == nil {
		return scoped{}
	}
	return *w.under
}

// A Reason replaces a failed write's error by an error that says why the write failed,
// such as [ErrFull].
type Reason struct {
	// If is a filter on the write's collection. The reason applies if a document matches.
	// With a nil If, the reason always applies. For example, Reason{Err: ErrNotFound}
	// replaces [ErrStale] by [ErrNotFound] if the write's filter has no _id.
	If  bson.D
	Err error // the returned error

	// Instead are the steps that undo the plan's earlier steps if this reason applies.
	// Nil means [Plan.IfStale].
	Instead []Step
}

// Refused returns a write for bad input: running it sends nothing and returns err.
func Refused(collection string, err error) Write { return Write{Collection: collection, Err: err} }

func (Write) step() {}

// filter returns the write's filter, or nil for an insert.
func (w Write) filter() any {
	switch m := w.Model.(type) {
	case *mongo.UpdateOneModel:
		return m.Filter
	case *mongo.UpdateManyModel:
		return m.Filter
	case *mongo.ReplaceOneModel:
		return m.Filter
	case *mongo.DeleteOneModel:
		return m.Filter
	case *mongo.DeleteManyModel:
		return m.Filter
	}
	return nil
}

// String returns the write as a mongosh command, or as a comment if Err is set.
func (w Write) String() string {
	if w.Err != nil {
		return "// refused: " + w.Err.Error()
	}
	o := bson.D{}
	flag := func(key string, v any) { o = append(o, bson.E{Key: key, Value: v}) }
	update := func(method string, filter, update any, upsert *bool, af []any, collation *options.Collation, hint, sort any) string {
		if upsert != nil && *upsert {
			flag("upsert", true)
		}
		if len(af) > 0 {
			flag("arrayFilters", bson.A(af))
		}
		appendShared(&o, collation, hint, sort)
		return call(w.Collection, method, o, filter, update)
	}
	switch m := w.Model.(type) {
	case *mongo.InsertOneModel:
		return shellCall(w.Collection, "insertOne", m.Document)
	case *mongo.UpdateOneModel:
		return update("updateOne", m.Filter, m.Update, m.Upsert, m.ArrayFilters, m.Collation, m.Hint, m.Sort)
	case *mongo.UpdateManyModel:
		return update("updateMany", m.Filter, m.Update, m.Upsert, m.ArrayFilters, m.Collation, m.Hint, nil)
	case *mongo.ReplaceOneModel:
		return update("replaceOne", m.Filter, m.Replacement, m.Upsert, nil, m.Collation, m.Hint, m.Sort)
	case *mongo.DeleteOneModel:
		appendShared(&o, m.Collation, m.Hint, nil)
		return call(w.Collection, "deleteOne", o, m.Filter)
	case *mongo.DeleteManyModel:
		appendShared(&o, m.Collation, m.Hint, nil)
		return call(w.Collection, "deleteMany", o, m.Filter)
	}
	return fmt.Sprintf("// %s: a write without a model", w.Collection)
}

// call renders a command, without options if it has none.
func call(collection, method string, o bson.D, args ...any) string {
	if len(o) > 0 {
		args = append(args, o)
	}
	return shellCall(collection, method, args...)
}

func appendShared(o *bson.D, collation *options.Collation, hint, sort any) {
	if collation != nil {
		*o = append(*o, bson.E{Key: "collation", Value: collationD(collation)})
	}
	if hint != nil {
		*o = append(*o, bson.E{Key: "hint", Value: hint})
	}
	if sort != nil {
		*o = append(*o, bson.E{Key: "sort", Value: sort})
	}
}

// A MergeInto is a step of a [Plan]: an aggregation that ends in $merge or $out.
//
// Under a [Scope], reads get the scope's filter, and the written documents get the
// scope's fields. A target with a database name gives a [*ConflictError].
//
// A scope that can hide target documents refuses $out. It allows $merge only if
//
//   - whenMatched is "fail", or
//   - "on" lists all fields of [Scope.Tenant], and the scope has no Delete or Filter.
type MergeInto struct {
	Collection string // the source
	Pipeline   mongo.Pipeline
	Once       bool  // says that a second run leaves the same documents
	Err        error // see Write.Err
}

func (MergeInto) step() {}

// String returns the step as a mongosh command.
func (m MergeInto) String() string {
	if m.Err != nil {
		return "// refused: " + m.Err.Error()
	}
	return shellCall(m.Collection, "aggregate", m.Pipeline)
}

// check returns an error unless the pipeline ends in $merge or $out.
func (m MergeInto) check() error {
	if m.Err != nil {
		return m.Err
	}
	if m.Collection == "" {
		return &ValueError{Field: "Collection", Reason: "a step needs a collection"}
	}
	if n := len(m.Pipeline); n > 0 && len(m.Pipeline[n-1]) == 1 {
		switch m.Pipeline[n-1][0].Key {
		case "$merge", "$out":
			return nil
		}
	}
	return &ValueError{Collection: m.Collection, Field: "Pipeline", Reason: "must end in $merge or $out"}
}
